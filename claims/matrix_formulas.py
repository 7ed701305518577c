"""The rule on the density of matrix-variate Gaussian noise, which several papers print."""

import numpy as np

from claims.comparisons import statement
from claims.judges import Shape, judge
from claims.verdicts import Finding


@judge
def matrix_normal_density(*, shape: Shape, rows: int, columns: int) -> Finding:
    """The normalisation |Sigma_1|^(rows/2) |Sigma_2|^(columns/2) of the density of U1 N U2^T.

    Against the determinant of the covariance of its entries, Sigma_2 x Sigma_1 (Kronecker), for one
    random pair of factors. U1 is m x m and U2 n x n.
    """
    rng = np.random.default_rng(0)
    first, second = (rng.normal(size=(side, side)) for side in shape)
    sigma_1, sigma_2 = first @ first.T, second @ second.T
    exact = np.linalg.slogdet(np.kron(sigma_2, sigma_1)).logabsdet
    printed = rows * np.linalg.slogdet(sigma_1).logabsdet
    printed += columns * np.linalg.slogdet(sigma_2).logabsdet
    m, n = shape
    return Finding(
        parts=[
            statement(
                f"the root of the determinant is |Sigma_1|^({rows}/2) |Sigma_2|^({columns}/2),",
                bool(np.isclose(printed, exact, rtol=1e-9)),
                f"its logarithm is {exact / 2:.4g} (printed {printed / 2:.4g})",
            )
        ],
        detail=(
            f"m = {m}, n = {n}. Every column of N meets Sigma_1, and every row Sigma_2: so Sigma_1 "
            "has the exponent n/2, and Sigma_2 has m/2."
        ),
    )
