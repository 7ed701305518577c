"""Kernel ridge regression without intercept, for the linear, polynomial and Gaussian kernels.

The linear and the polynomial kernel are inner products of few features, so the regression is fitted
to these features. scikit-learn's KernelRidge solves the dual problem, which is equivalent in exact
arithmetic. It is singular in double precision when the records carry large noise, because the
polynomial kernel raises the noise to the sixth power.
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
    """Fit a kernel ridge regression and return its predictions (n,) for the records `asked`.

    Args:
        kernel: "linear", x^T y; "polynomial", (gamma x^T y + 1)^3; "rbf", exp(-gamma ||x - y||^2).
        fitted: The records of the fit, (N, m).
        targets: Their targets, (N,).
        asked: The records to predict, (n, m).
        ridge: Added to the diagonal of the kernel matrix, > 0.
        gamma: Scale of the kernel, > 0; the linear kernel has none.
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
    """Return features phi with phi(x)^T phi(y) = (gamma x^T y + 1)^3 for records (n, m).

    There is one feature per monomial of degree 3 in the m coordinates and the constant. Its weight
    is the square root of the multinomial coefficient.
    """
    scaled = np.column_stack([math.sqrt(gamma) * records, np.full(len(records), OFFSET**0.5)])
    chosen, weights = _monomials(scaled.shape[1])
    first, second, third = (scaled[:, factor] for factor in chosen)
    return np.ascontiguousarray(weights * (first * second * third))


@cache
def _monomials(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each monomial's three coordinates, (3, monomials), and its weight, (monomials,)."""
    chosen = list(combinations_with_replacement(range(count), DEGREE))
    repeats = (Counter(each).values() for each in chosen)
    weights = [math.factorial(DEGREE) / math.prod(map(math.factorial, each)) for each in repeats]
    return np.array(chosen).T, np.sqrt(weights)
