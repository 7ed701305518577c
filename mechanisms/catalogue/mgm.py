"""The matrix Gaussian mechanisms of mgm2021: MGM, UDN and IDN."""

import math

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.matrix_gaussian import MatrixGaussian, orthonormal
from mechanisms.query.option import matrix
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import matrix_shape


def zeta(size: int, delta: float) -> float:
    """Return zeta of mgm2021 Lemma 2: zeta^2 = -2 ln delta + 2 sqrt(-mn ln delta) + mn."""
    return math.sqrt(-2 * math.log(delta) + 2 * math.sqrt(-size * math.log(delta)) + size)


def norm_bound(size: int, budget: Budget) -> float:
    """Return sqrt(zeta^2 + 2 epsilon) - zeta, computed without cancellation.

    Theorems 1 to 3 hold if ||U1^-1 D U2^-T||_F is at most this for every change D of the answer.
    Each theorem bounds that norm in its own way.
    """
    z = zeta(size, budget.delta)
    return 2 * budget.epsilon / (z + math.sqrt(z**2 + 2 * budget.epsilon))


def frobenius_bound(query: Query, budget: Budget) -> float:
    """Return B of mgm2021 Theorems 1 and 2: ((-zeta + sqrt(zeta^2 + 2 epsilon)) / s)^2.

    It equals (-beta + sqrt(beta^2 + 8 alpha epsilon))^2 / (4 alpha^2) with alpha = s^2 and
    beta = 2 zeta s.
    """
    return (norm_bound(query.size, budget) / query.l2_sensitivity) ** 2


def direction_weights(name: str, workload, directions, size: int) -> np.ndarray:
    """Return P_i = sum_j (W W_U)_{ji}^2 (mgm2021, before eq. 23), (size,); 1 without a workload.

    W_U are the directions, one per column.

    Raises:
        ValueError: The workload does not have `size` columns, or it ignores a direction (P_i = 0),
            along which the optimal noise is infinite.
    """
    if workload is None:
        return np.ones(size)
    workload = np.asarray(workload, dtype=float)
    if workload.shape[1] != size:
        raise ValueError(f"option {name} must have {size} columns, got {workload.shape}")
    seen = workload if directions is None else workload @ directions
    squares = np.sum(seen**2, axis=0)
    if not squares.all():
        raise ValueError(
            f"option {name} must not ignore direction {squares.argmin()}, whose optimal noise is "
            "infinite"
        )
    return squares


def optimal_variances(squares: np.ndarray, bound: float) -> np.ndarray:
    """Return the sigma_k^2 that minimise sum_k P_k sigma_k^2 if sum_k sigma_k^-2 <= bound.

    sigma_k^2 = sum_i sqrt(P_i) / (sqrt(P_k) bound) by the KKT conditions. mgm2021 eq. (25) has B
    inside the root, which contradicts its eq. (26).
    """
    roots = np.sqrt(squares)
    return roots.sum() / (roots * bound)


class MGM(AdditiveMechanism):
    """U1 N U2^T with ||U1^-1||_F^2 ||U2^-1||_F^2 = B, utility-optimal for Y = W1 f(X) W2^T."""

    key = "mgm"
    title = "MGM"
    paper = "mgm2021"
    theorem = "Theorem 1"
    guarantee = "approximate"
    look = ("#CC79A7", "v", 7)
    options = {
        "workload": matrix("W1, with m columns"),
        "column_workload": matrix("W2, with n columns"),
        "directions": matrix("orthonormal row directions, one per column"),
        "column_directions": matrix("orthonormal column directions, one per column"),
    }

    @classmethod
    def noise_for(
        cls,
        query: Query,
        budget: Budget,
        *,
        workload,
        column_workload,
        directions,
        column_directions,
    ):
        m, n = matrix_shape(query)
        rows = orthonormal("directions", directions, m)
        columns = orthonormal("column_directions", column_directions, n)
        row_squares = direction_weights("workload", workload, rows, m)
        column_squares = direction_weights("column_workload", column_workload, columns, n)
        # Only the product of the two bounds matters; it must be B.
        bound = frobenius_bound(query, budget)
        return MatrixGaussian(
            row_std=np.sqrt(optimal_variances(row_squares, bound)),
            column_std=np.sqrt(optimal_variances(column_squares, 1.0)),
            row_directions=rows,
            column_directions=columns,
        )


class UDN(AdditiveMechanism):
    """Unimodal directional noise: U2 = I, ||U1^-1||_F^2 = B, utility-optimal for W f(X)."""

    key = "udn"
    title = "MGM-UDN"
    paper = "mgm2021"
    theorem = "Theorem 2"
    guarantee = "approximate"
    look = ("#AA4499", "P", 8)
    options = {
        "workload": matrix("W, with m columns"),
        "directions": matrix("orthonormal row directions, one per column"),
    }

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, workload, directions):
        m, n = matrix_shape(query)
        rows = orthonormal("directions", directions, m)
        squares = direction_weights("workload", workload, rows, m)
        std = np.sqrt(optimal_variances(squares, frobenius_bound(query, budget)))
        return MatrixGaussian(row_std=std, column_std=np.ones(n), row_directions=rows)


class IDN(AdditiveMechanism):
    """Independent directional noise: U1 diagonal, U2 = I, elements of the answer in [a, b].

    ||U1^-1||_F^2 = (m / s_hat^2) (-zeta + sqrt(zeta^2 + 2 epsilon))^2, s_hat = (b - a) sqrt(mn).
    The l2 sensitivity of the query is not used.
    """

    key = "idn"
    title = "MGM-IDN"
    paper = "mgm2021"
    theorem = "Theorem 3"
    guarantee = "approximate"
    look = ("#56B4E9", "*", 9)
    options = {"workload": matrix("W, with m columns")}

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, workload):
        m, n = matrix_shape(query)
        if query.element_range is None:
            raise Unsupported("needs element_range (a, b): Theorem 3 assumes elements in [a, b]")
        a, b = query.element_range
        bound = m * (norm_bound(m * n, budget) / ((b - a) * math.sqrt(m * n))) ** 2
        squares = direction_weights("workload", workload, None, m)
        std = np.sqrt(optimal_variances(squares, bound))
        return MatrixGaussian(row_std=std, column_std=np.ones(n))
