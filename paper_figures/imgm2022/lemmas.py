"""Lemmas 1 to 3 of imgm2022, and what it says of directional noise, in closed form."""

import math
from collections.abc import Callable

import numpy as np
import scipy

from claims.comparisons import statement, universal
from claims.judged_rows import calibrated
from claims.judges import Count, Delta, Epsilon, Positive, Shape, judge
from claims.verdicts import Finding, Outcome, Part
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
    """Section 4.1: "any direction change" adds noise, but for a trade of rows against columns.

    The exception has the smallest singular values `split` and 1 / `split` of the factors, not 1 and
    1; the other values are equal to the smallest, as in eq. (13). In a change of direction, some of
    them are larger.
    """
    directional, before, after = (
        _variances(shape, least, kept)
        for least, kept in (
            ((1, 1), max(split, 1 / split)),
            ((1, 1), 0.0),
            ((split, 1 / split), 0.0),
        )
    )
    overhead = directional.sum() / math.prod(shape)
    added, change = after.sum() / before.sum(), after / before
    return Finding(
        parts=[
            statement(
                "a change of direction adds noise,", overhead > 1, f"E||Z||^2 {overhead:.4g} times"
            ),
            statement(
                "the exception adds none,", bool(added <= 1 + 1e-12), f"E||Z||^2 {added:.4g} times"
            ),
            statement(
                "the exception trades row-wise against column-wise noise,",
                bool(change.max() > change.min() * (1 + 1e-12)),
                "every element keeps its variance",
            ),
        ],
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
    """Section 4.1: whether directional noise leaves the magnitude of MVG's noise as it is.

    The magnitude is E||Z||^2, or the l2 norm of the precisions' singular values, which the
    constraint fixes. Noise changes its directions by other shares of the precision, or by a
    rotation.
    """
    setting = REGRESSION
    size = setting.query.shape[0]
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((size, size)))[0]
    even, *allocated, rotated = (
        calibrated("mvg", setting.query, setting.budget, **options).noise
        for options in (
            {},
            *({"precision": binary_allocation(size, informative, share)} for share in shares),
            {"directions": rotation},
        )
    )

    def parts(magnitude: Callable[[MatrixGaussian], float]) -> tuple[Part, ...]:
        ratios = [magnitude(noise) / magnitude(even) for noise in (*allocated, rotated)]
        same = [math.isclose(ratio, 1.0, rel_tol=1e-9) for ratio in ratios]
        shown = ", ".join(f"{r:.3g} at tau {tau:g}" for r, tau in zip(ratios, shares, strict=False))
        return (
            universal("the same with any share of the precision:", same[:-1], shown),
            statement("the same with rotated directions:", same[-1], f"{ratios[-1]:.3g}"),
        )

    return Finding(
        choice="what magnitude means",
        outcomes=[
            Outcome(
                choice="the expected squared norm of the noise",
                parts=parts(lambda noise: noise.loss().mean),
            ),
            Outcome(
                choice="the l2 norm of the precisions, which the constraint fixes",
                parts=parts(lambda noise: float(np.linalg.norm(noise.row_std**-2.0))),
            ),
        ],
        detail=(
            "MVG's noise in Experiment I of mvg2018, over that with equal precision along the "
            "axes, at the same budget."
        ),
        calibration="published",
    )


@judge
def rows_of_a_product(*, shape: Shape, draws: Count) -> Finding:
    """Eq. (35): the first t rows of U Sigma V have the squares of the t largest singular values."""
    rng = np.random.default_rng(0)
    equal, below = [], []
    for _ in range(draws):
        matrix = rng.normal(size=shape)
        squares = np.linalg.svd(matrix, compute_uv=False) ** 2
        gaps = np.cumsum(squares)[:-1] / np.cumsum((matrix**2).sum(axis=1))[:-1]
        equal += list(np.isclose(gaps, 1.0))
        below += list(gaps >= 1 - 1e-12)
    return Finding(
        parts=[universal("the two sides are equal,", equal)],
        detail=(
            f"{draws} random matrices of shape {shape[0]}x{shape[1]}, t below the number of rows. "
            "The left side is at most the right one, "
            f"{'in every case' if all(below) else 'but not always'}, which is all that Lemma 4 "
            "needs."
        ),
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
