"""Lemmas 1 to 3 of imgm2022, and what it says of directional noise, in closed form."""

import math

import numpy as np
import scipy

from claims.comparisons import statement, universal
from claims.judged_rows import calibrated
from claims.judges import Count, Delta, Epsilon, Positive, Shape, judge
from claims.verdicts import Finding
from mechanisms import Budget
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
    gaps = []
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
    return Finding(
        parts=[
            statement(
                "the loss is eta + <N, D'>,",
                max(gaps) <= tolerance,
                f"up to {max(gaps):.1g} (relative)",
            ),
        ],
        detail=(
            f"{draws} random pairs of factors, changes and outputs of shape {m}x{n}. N is standard "
            "normal and ||D'||^2 is 2 eta: so the loss is normal, with mean eta and variance 2 eta."
        ),
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
def split_of_the_smallest(*, shape: Shape, split: Positive) -> Finding:
    """Section 4.1: smallest singular values `split` and 1 / `split` of the factors, not 1 and 1.

    The paper calls this an exception to "any direction change would increase the noise overhead".
    The other singular values stay equal to the smallest of their factor, as in eq. (13), or keep
    values that are larger. Either way the noise is to move without more of it.
    """
    parts = []
    for words, kept in {
        "equal to the smallest": 0.0,
        "kept at larger values": max(split, 1 / split),
    }.items():
        before, after = (_variances(shape, least, kept) for least in ((1, 1), (split, 1 / split)))
        change, overhead = after / before, after.sum() / math.prod(shape)
        moves = bool(change.max() > change.min() * (1 + 1e-12))
        found = (
            f"an element has {change.min():.4g} to {change.max():.4g} times its variance, and "
            f"E||Z||^2 is {overhead:.4g} times that of i.i.d. noise, "
            f"{before.sum() / math.prod(shape):.4g} times without the split"
            if moves
            else "every element keeps its variance"
        )
        name = f"with other singular values {words}, noise moves without more of it:"
        parts.append(statement(name, moves and bool(overhead <= 1 + 1e-12), found))
    return Finding(
        parts=parts,
        detail=(
            f"Smallest singular values {split:g} and {1 / split:g} against 1 and 1: both meet "
            "Theorem 2 with equality. An element of the noise has the product of a singular value "
            "of either factor as its standard deviation; each is at least the product of the "
            "smallest. So E||Z||^2 is at least mn times its square, and equal to it only where all "
            "elements are alike: then a split changes nothing."
        ),
    )


def _variances(shape: tuple[int, int], least: tuple[float, float], kept: float) -> np.ndarray:
    """Of the elements; one singular value of a factor is `least`, others too or larger: `kept`."""
    rows, columns = (
        np.array([low, *[max(low, kept)] * (size - 1)])
        for size, low in zip(shape, least, strict=True)
    )
    return np.outer(rows, columns) ** 2


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
        parts=[
            universal(
                "E||Z||^2 over that with equal precision:", [r <= 1 + 1e-9 for r in ratios], shown
            )
        ],
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
            statement(
                "its noise on the vector of a matrix:",
                not same,
                "that of IMGM" if same else "not that of IMGM",
            )
        ],
        detail=(
            "The l2 norm of a vector is the Frobenius norm of the matrix with its entries; the "
            f"noise of both has the same variance at {len(shapes)} shapes."
        ),
    )
