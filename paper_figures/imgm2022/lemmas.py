"""Lemmas 1 to 3 of imgm2022, and what it says of directional noise, in closed form."""

import math

import numpy as np
import scipy

from claims.comparisons import statement, universal
from claims.judged_rows import calibrated
from claims.judges import Count, Delta, Epsilon, Positive, Shape, judge
from claims.verdicts import Finding
from mechanisms import Budget
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.query.box_query import box_query
from paper_figures.mvg2018.numbers import REGRESSION, binary_allocation


@judge
def loss_variable(*, shape: Shape, draws: Count, tolerance: float) -> Finding:
    """Lemma 1: the privacy loss is normal with mean eta and variance 2 eta.

    At every drawn output the log ratio of the two densities, from the precision matrices, has to be
    eta + <N, D'> with D' = U1^-1 D U2^-T: linear in the standard normals N, with variance ||D'||^2.
    """
    rng = np.random.default_rng(0)
    m, n = shape
    gaps, variances = [], []
    for _ in range(draws):
        u1, u2, normals = rng.normal(size=(m, m)), rng.normal(size=(n, n)), rng.normal(size=shape)
        change = rng.normal(size=shape)
        noise = u1 @ normals @ u2.T
        precisions = [np.linalg.inv(factor @ factor.T) for factor in (u1, u2)]
        losses = [
            np.trace(precisions[1] @ value.T @ precisions[0] @ value) / 2
            for value in (noise, noise + change)
        ]
        moved = np.linalg.solve(u1, np.linalg.solve(u2, change.T).T)
        eta = np.sum(moved**2) / 2
        ratio = losses[1] - losses[0]
        gaps.append(abs(ratio / (eta + np.sum(normals * moved)) - 1))
        variances.append(np.sum(moved**2) / (2 * eta))
    return Finding(
        parts=[
            statement(
                "the loss is eta + <N, D'>,",
                max(gaps) <= tolerance,
                f"up to {max(gaps):.1g} (relative)",
            ),
            universal("variance 2 eta", [abs(v - 1) <= tolerance for v in variances]),
        ],
        detail=f"{draws} random pairs of factors, changes and outputs of shape {m}x{n}.",
    )


@judge
def loss_condition(
    *, epsilons: list[Epsilon], deltas: list[Delta], shift: Positive, tolerance: float
) -> Finding:
    """Lemmas 2 and 3: delta from the tails of the loss, and the B at which it is delta.

    Lemma 2: P(L >= epsilon) - e^epsilon P(L' <= -epsilon), by the normal laws of Lemma 1. Lemma 3:
    it is at most delta exactly where ||D'|| <= B; a little more than B must exceed delta.
    """
    tails, sides = [], []
    for epsilon in epsilons:
        for delta in deltas:
            b = float(mu_for(epsilon, delta))
            eta = b**2 / 2
            above, below = (scipy.special.ndtr((sign * eta - epsilon) / b) for sign in (1, -1))
            tails.append(abs((above - math.exp(epsilon) * below) / delta - 1) <= tolerance)
            less, more = (
                GaussianProfile(mu=b * factor).delta(epsilon).value
                for factor in (1 - shift, 1 + shift)
            )
            sides.append(less < delta < more)
    return Finding(
        parts=[
            universal("Lemma 2, the tails give delta", tails),
            universal("Lemma 3, B is the largest distance", sides),
        ],
        detail=f"{len(tails)} pairs of epsilon and delta.",
    )


@judge
def only_the_product(*, shape: Shape, split: Positive, tolerance: float) -> Finding:
    """Section 4.1: other smallest singular values of the two factors with the same product."""
    rng = np.random.default_rng(0)
    m, n = shape
    one = MatrixGaussian(row_std=np.full(m, split), column_std=np.full(n, 1 / split))
    even = MatrixGaussian(row_std=np.ones(m), column_std=np.ones(n))
    seed = int(rng.integers(2**32))
    gap = np.abs(
        one.sample(np.random.default_rng(seed), 1) - even.sample(np.random.default_rng(seed), 1)
    ).max()
    return Finding(
        parts=[statement("another split changes the noise,", gap > tolerance, f"by {gap:.1g}")],
        detail=(
            f"Factors {split:g} I and I / {split:g} against I and I, the same draws. The "
            "covariance of the noise is the Kronecker product of both, so that only the product of "
            "the singular values matters."
        ),
    )


@judge
def magnitude_of_directions(*, shares: list[float], informative: list[int]) -> Finding:
    """Section 4.1: whether directional noise leaves the magnitude of MVG's noise as it is."""
    setting = REGRESSION
    size = setting.query.shape[0]
    even = calibrated("mvg", setting.query, setting.budget).expected_loss()
    ratios = []
    for share in shares:
        precision = binary_allocation(size, informative, share)
        noise = calibrated("mvg", setting.query, setting.budget, precision=precision)
        ratios.append(noise.expected_loss() / even)
    shown = ", ".join(
        f"{ratio:.3g} at tau {tau:g}" for ratio, tau in zip(ratios, shares, strict=True)
    )
    return Finding(
        parts=[universal("no more noise,", [ratio <= 1 + 1e-9 for ratio in ratios], shown)],
        detail=(
            "E||Z||^2 of MVG's noise in Experiment I of mvg2018, over that with equal precision, "
            "at the same budget."
        ),
        calibration="published",
    )


@judge
def applies_to_matrices(*, shapes: list[Shape], epsilon: Epsilon, delta: Delta) -> Finding:
    """Section 6: the analytic Gaussian on a matrix is that on its vector."""
    budget = Budget(epsilon=epsilon, delta=delta)
    losses = [
        [
            calibrated(key, box_query(shape, -1.0, 1.0), budget).expected_loss()
            for key in ("gaussian-analytic", "imgm")
        ]
        for shape in shapes
    ]
    same = all(math.isclose(*pair, rel_tol=1e-9) for pair in losses)
    return Finding(
        parts=[
            statement("it has no solution for matrices,", not same, "IMGM's noise is its noise")
        ],
        detail=(
            "The l2 norm of a vector is the Frobenius norm of the matrix with its entries; the "
            f"noise of both has the same variance at {len(shapes)} shapes."
        ),
    )
