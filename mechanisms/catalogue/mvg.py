"""The matrix-variate Gaussian mechanism of mvg2018."""

import math

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.matrix_gaussian import MatrixGaussian, orthonormal
from mechanisms.query.option import choice, matrix, weights
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import matrix_shape


def harmonic(r: int, order: float = 1.0) -> float:
    """Return H_{r,order} = sum_{i <= r} i^{-order}."""
    return float(np.sum(np.arange(1, r + 1, dtype=float) ** -order))


def precision_bound(query: Query, budget: Budget, zeta: str) -> float:
    """Return the right-hand side of mvg2018 Theorem 3, for an m x n query of l2 sensitivity s.

    ||sv(Sigma^-1)||_2 ||sv(Psi^-1)||_2 <= (-beta + sqrt(beta^2 + 8 alpha epsilon))^2 / (4 alpha^2)
    with alpha = (H_r + H_{r,1/2}) gamma^2 + 2 H_r gamma s and
    beta = 2 (mn)^{1/4} zeta H_r s, r = min(m, n), gamma = query.frobenius_bound, delta > 0.
    `zeta` is "published" for 2 sqrt(-mn ln delta) - 2 ln delta + mn, "sqrt" for its square root.
    """
    m, n = query.shape
    r, s, gamma = min(m, n), query.l2_sensitivity, query.frobenius_bound
    log_delta = math.log(budget.delta)
    value = 2 * math.sqrt(-m * n * log_delta) - 2 * log_delta + m * n
    if zeta == "sqrt":
        value = math.sqrt(value)
    h = harmonic(r)
    alpha = (h + harmonic(r, 0.5)) * gamma**2 + 2 * h * gamma * s
    beta = 2 * (m * n) ** 0.25 * value * h * s
    # The base equals (-beta + sqrt(.))/(2 alpha), without the cancellation at small epsilon.
    return (4 * budget.epsilon / (beta + math.sqrt(beta**2 + 8 * alpha * budget.epsilon))) ** 2


class MVG(AdditiveMechanism):
    """Matrix Gaussian noise N(0, Sigma, Psi) under mvg2018 Theorem 3, by its Algorithm 1 or 2.

    Direction i with weight theta_i gets the singular value 1 / sqrt(theta_i P) of Sigma. Let B be
    the bound of Theorem 3. The precision budget P is B^2 / n for the unimodal noise of Algorithm 1
    (Psi = I), and B for the equi-modal noise of Algorithm 2 (Sigma = Psi, a square query).
    """

    key = "mvg"
    title = "MVG"
    paper = "mvg2018"
    theorem = "Theorem 3"
    guarantee = "approximate"
    look = ("#009E73", "D", 5)
    variants = {
        "mvg-sqrt": ("square root", ("#66BB66", "d", 6)),
    }
    options = {
        "zeta": choice(
            "published",
            "sqrt",
            description="zeta(delta) as printed in mvg2018, or its square root as in mgm2021",
        ),
        "mode": choice(
            "unimodal", "equimodal", description="Algorithm 1 (Psi = I) or 2 (Sigma = Psi)"
        ),
        "directions": matrix("orthonormal directions of Sigma, one per column"),
        "precision": weights("theta, the share of the precision budget of each direction"),
    }

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, zeta, mode, directions, precision):
        m, n = matrix_shape(query)
        if query.frobenius_bound is None:
            raise Unsupported("needs frobenius_bound = sup ||f(x)||_F (gamma in Theorem 3)")
        if mode == "equimodal" and m != n:
            raise Unsupported(f"needs a square query for equi-modal noise, got shape {query.shape}")
        theta = np.full(m, 1 / m) if precision is None else np.asarray(precision, dtype=float)
        if theta.shape != (m,):
            raise ValueError(f"option precision must have {m} weights, got {theta.shape}")
        directions = orthonormal("directions", directions, m)
        bound = precision_bound(query, budget, zeta)
        if mode == "unimodal":
            std = (theta * bound**2 / n) ** -0.25
            return MatrixGaussian(row_std=std, column_std=np.ones(n), row_directions=directions)
        std = (theta * bound) ** -0.25
        return MatrixGaussian(
            row_std=std, column_std=std, row_directions=directions, column_directions=directions
        )
