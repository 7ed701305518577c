"""Kernel ridge regression without intercept, for the linear, polynomial and Gaussian kernels.

The first two kernels are inner products of few features, so they are fitted in these features. The
dual problem of scikit-learn's KernelRidge is the same in exact arithmetic, but singular to double
precision when the records carry large noise: the polynomial kernel raises it to the sixth power.
"""

import math
from collections import Counter
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

# scikit-learn's defaults for its kernel "polynomial".
DEGREE, OFFSET = 3, 1.0
KERNELS = ("linear", "polynomial", "rbf")


def predict(
    kernel: str,
    fitted: np.ndarray,
    targets: np.ndarray,
    asked: np.ndarray,
    *,
    ridge: float,
    gamma: float | None = None,
) -> np.ndarray:
    """Predictions of a kernel ridge regression at `asked`, (n,).

    Args:
        kernel: "linear", x^T y; "polynomial", (gamma x^T y + 1)^3; "rbf", exp(-gamma ||x - y||^2).
        fitted: The records of the fit, (N, m).
        targets: Their targets, (N,).
        asked: The records to predict, (n, m).
        ridge: Added to the diagonal of the kernel matrix, > 0.
        gamma: Scale of the kernel, > 0; the linear one has none.
    """
    # Imported here: scikit-learn takes a second to load, and reading a config does not need it.
    if kernel == "rbf":
        from sklearn.kernel_ridge import KernelRidge

        regressor = KernelRidge(kernel="rbf", gamma=gamma, alpha=ridge)
        return regressor.fit(fitted, targets).predict(asked)
    from sklearn.linear_model import Ridge

    if kernel == "polynomial":
        fitted, asked = (polynomial_features(records, gamma) for records in (fitted, asked))
    regressor = Ridge(alpha=ridge, fit_intercept=False, solver="svd")
    return regressor.fit(fitted, targets).predict(asked)


def polynomial_features(records: np.ndarray, gamma: float) -> np.ndarray:
    """Features phi with phi(x)^T phi(y) = (gamma x^T y + 1)^3, of (n, m) records.

    One feature per monomial of degree 3 in the m coordinates and the constant; its weight is the
    root of the multinomial coefficient.
    """
    scaled = np.column_stack([math.sqrt(gamma) * records, np.full(len(records), OFFSET**0.5)])
    chosen, weights = _monomials(scaled.shape[1])
    first, second, third = (scaled[:, factor] for factor in chosen)
    return np.ascontiguousarray(weights * (first * second * third))


@cache
def _monomials(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Three coordinates of each monomial, (3, monomials), and its weight, (monomials,)."""
    chosen = list(combinations_with_replacement(range(count), DEGREE))
    repeats = (Counter(each).values() for each in chosen)
    weights = [math.factorial(DEGREE) / math.prod(map(math.factorial, each)) for each in repeats]
    return np.array(chosen).T, np.sqrt(weights)
