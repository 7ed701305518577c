"""Judges of formulas for matrix-variate Gaussian noise that several papers print."""

from collections.abc import Callable

import numpy as np
import scipy

from claims.comparisons import statement, universal
from claims.intervals import Mean
from claims.judges import Count, Delta, Shape, judge
from claims.verdicts import Finding, Sizes
from mechanisms.catalogue.mgm import zeta
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.query.words import rounded_up


def inequality(
    ratio: Callable[[np.random.Generator, int, int], float],
    shapes: list[Shape],
    draws: int,
    because: str,
) -> Finding:
    """Judge an inequality by the ratio of its left side to its right side for random matrices.

    Args:
        ratio: A function of a generator, m and n that draws an m x n case and returns its ratio.
        shapes: The pairs (m, n).
        draws: The number of cases for each pair.
        because: A sentence that says why the inequality holds.
    """
    rng = np.random.default_rng(0)
    ratios = [ratio(rng, m, n) for m, n in shapes for _ in range(draws)]
    found = f"the left side is at most {max(ratios):.3g} times the right one"
    return Finding(
        parts=[universal("", [each <= 1 + 1e-12 for each in ratios], found)],
        detail=f"{len(ratios)} random cases. {because}",
    )


@judge
def matrix_normal_density(*, shape: Shape, rows: int, columns: int) -> Finding:
    """Judge the normalisation |Sigma_1|^(rows/2) |Sigma_2|^(columns/2) of the density of U1 N U2^T.

    The square of the normalisation is compared with the determinant of the covariance of the
    entries, the Kronecker product of Sigma_2 = U2 U2^T and Sigma_1 = U1 U1^T, for a random pair of
    U1 (m x m) and U2 (n x n).

    Args:
        shape: (m, n).
        rows: The printed exponent of |Sigma_1|, times 2.
        columns: The printed exponent of |Sigma_2|, times 2.
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


@judge
def expected_norm(*, shape: Shape, draws: Count, tolerance: float) -> Finding:
    """Judge the covariance of U1 N U2^T, and E||U1 N U2^T||^2 = ||U1||_F^2 ||U2||_F^2.

    The entries of N are standard normals. The second formula is mgm2021 Theorem 4, a consequence of
    mvg2018 Lemma 4.

    Args:
        shape: (m, n), the shape of N.
        draws: The number of samples of the norm.
        tolerance: The relative tolerance of the exact parts.
    """
    m, n = shape
    rng = np.random.default_rng(0)
    noise = MatrixGaussian(
        row_std=rng.gamma(2.0, size=m),
        column_std=rng.gamma(2.0, size=n),
        row_directions=np.linalg.qr(rng.standard_normal((m, m)))[0],
        column_directions=np.linalg.qr(rng.standard_normal((n, n)))[0],
    )
    u1, u2 = noise.row_directions * noise.row_std, noise.column_directions * noise.column_std
    # Row (k, l) has the entries of U1 N U2^T for the N that is 1 at (k, l) and 0 elsewhere.
    images = np.einsum("ik,jl->klij", u1, u2).reshape(m * n, m * n)
    covariance, product = images.T @ images, np.kron(u1 @ u1.T, u2 @ u2.T)
    away = float(np.abs(covariance - product).max() / np.abs(product).max())
    stated, trace = float(np.sum(u1**2) * np.sum(u2**2)), float(np.trace(covariance))
    loss = Mean(noise.squared_norms(rng, draws))
    exact = abs(trace / stated - 1) <= tolerance
    sampled = abs(loss.value - stated) <= 4 * loss.standard_error
    return Finding(
        parts=(
            statement(
                "covariance of the entries, the product of U1 U1^T and U2 U2^T",
                away <= tolerance,
                f"{rounded_up(away, 1)} apart, relative to the largest",
            ),
            statement("trace of the covariance", exact, f"{trace:.6g} (stated {stated:.6g})"),
            statement("mean of samples", sampled, f"{loss.value:.4g} +- {loss.standard_error:.2g}"),
        ),
        detail=f"One random pair U1, U2 for a {m}x{n} query; covariance formed in full.",
        sizes=Sizes(trials=loss.trials),
    )


@judge
def norm_bound(*, lengths: list[Count], deltas: list[Delta]) -> Finding:
    """Judge P(||N||_F > zeta(delta)) <= delta for m x n standard normals by the chi-squared tail.

    This is mgm2021 Lemma 2, and mvg2018 Theorem 2 for the squares of both sides.

    Args:
        lengths: The numbers of elements mn.
        deltas: The values of delta.
    """
    shares = {
        (size, delta): float(scipy.special.chdtrc(size, zeta(size, delta) ** 2)) / delta
        for size in lengths
        for delta in deltas
    }
    worst = max(shares, key=shares.get)
    found = (
        f"at most {rounded_up(shares[worst])} times delta (mn = {worst[0]:,}, delta {worst[1]:g})"
    )
    return Finding(
        parts=[universal("the tail is", [share <= 1 for share in shares.values()], found)],
        detail=f"{len(shares)} pairs of mn and delta.",
    )
