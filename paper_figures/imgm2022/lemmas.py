"""Judges of imgm2022's further statements, by closed forms or random matrices.

They cover Lemmas 1 to 4, Theorem 1, eq. (35), the branches of Algorithm 2, directional noise
(Section 4.1), flattened matrices (Section 6), and the budget (epsilon / q, delta / q) of a batch.
"""

import itertools
import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy

from claims.comparisons import statement, universal
from claims.judged_rows import calibrated, listed, listed_numbers
from claims.judges import Count, Delta, Epsilon, Positive, Shape, judge
from claims.verdicts import Finding, Outcome, Part
from datasets.titles import dataset_title
from mechanisms import Budget
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.query.box_query import box_query
from papers.mvg2018 import REGRESSION, binary_allocation


@judge
def loss_variable(*, shape: Shape, draws: Count, tolerance: float) -> Finding:
    """Judge Lemma 1: the privacy loss is normal with mean eta and variance 2 eta.

    At every drawn output the log ratio of the two densities must be eta + <N, D'> with
    D' = U1^-1 D U2^-T. This is linear in the standard normals N and has variance ||D'||^2.
    """
    rng = np.random.default_rng(0)
    m, n = shape
    gaps = []
    for _ in range(draws):
        u1, u2 = rng.normal(size=(m, m)), rng.normal(size=(n, n))
        normals, change = rng.normal(size=(2, m, n))
        noise = u1 @ normals @ u2.T
        law = scipy.stats.matrix_normal(rowcov=u1 @ u1.T, colcov=u2 @ u2.T)
        moved = np.linalg.solve(u1, np.linalg.solve(u2, change.T).T)
        stated = np.sum(moved**2) / 2 + np.sum(normals * moved)
        gaps.append(abs((law.logpdf(noise) - law.logpdf(noise + change)) / stated - 1))
    found = f"up to {max(gaps):.1g} (relative)"
    return Finding(
        parts=[statement("the loss is eta + <N, D'>,", max(gaps) <= tolerance, found)],
        detail=(
            f"{draws} random pairs of factors, changes and outputs of shape {m}x{n}. N is standard "
            "normal and ||D'||^2 is 2 eta: so the loss is normal, with mean eta and variance 2 eta."
        ),
    )


@judge
def loss_condition(
    *, epsilons: list[Epsilon], deltas: list[Delta], shift: Positive, tolerance: float
) -> Finding:
    """Judge Lemmas 2 and 3, on delta from the tails of the loss and on the B that attains it.

    By Lemma 2 and the normal laws of Lemma 1, delta is P(L >= epsilon) - e^epsilon P(L' <=
    -epsilon). By Lemma 3 this is at most delta exactly if ||D'|| <= B: so it must be below delta
    slightly below B, and above delta slightly above B.
    """
    tails, sides = [], []
    for epsilon, delta in itertools.product(epsilons, deltas):
        b = float(mu_for(epsilon, delta))
        eta = b**2 / 2
        above, below = (scipy.special.ndtr((sign * eta - epsilon) / b) for sign in (1, -1))
        tails.append(abs((above - math.exp(epsilon) * below) / delta - 1) <= tolerance)
        less, more = (
            GaussianProfile(mu=b * factor).delta(epsilon).value for factor in (1 - shift, 1 + shift)
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
    """Judge Section 4.1: "any direction change" adds noise, except a trade of rows for columns.

    In the exception the smallest singular values of the factors are `split` and 1 / `split` instead
    of 1 and 1, and the other values equal the smallest, as in eq. (13). A change of direction makes
    some of them larger.
    """
    (m, n), larger = shape, max(split, 1 / split)
    rows, columns = (np.array([1.0, *[larger] * (side - 1)]) for side in shape)
    # Where all singular values are 1, every element has the variance 1.
    overhead = np.mean(np.outer(rows, columns) ** 2)
    after = np.outer(np.full(m, split), np.full(n, 1 / split)) ** 2
    added = after.mean()
    return Finding(
        parts=[
            statement(
                "a change of direction adds noise,", overhead > 1, f"E||Z||^2 {overhead:.4g} times"
            ),
            statement(
                "the exception adds none,", added <= 1 + 1e-12, f"E||Z||^2 {added:.4g} times"
            ),
            statement(
                "the exception trades row-wise against column-wise noise,",
                after.max() > after.min() * (1 + 1e-12),
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


@judge
def magnitude_of_directions(*, shares: list[float], informative: list[int]) -> Finding:
    """Judge Section 4.1: whether directional noise keeps the magnitude of MVG's noise.

    The magnitude is read as E||Z||^2, or as the l2 norm of the precisions' singular values, which
    the constraint fixes. Directions change by other shares of the precision or by a rotation.
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
    """Judge eq. (35): the first t rows of U Sigma V have the norm of the t largest of Sigma.

    The left side is at most the right one, which is all that Lemma 4 needs.
    """
    matrices = np.random.default_rng(0).normal(size=(draws, *shape))
    squares = np.linalg.svd(matrices, compute_uv=False) ** 2
    rows = np.sum(matrices**2, axis=2)
    equal = np.isclose(*(np.cumsum(each, axis=1)[:, :-1] for each in (rows, squares))).ravel()
    return Finding(
        parts=[universal("the two sides are equal", equal, f"{sum(equal)} of {len(equal)} times")],
        detail=(
            f"{draws} random matrices of shape {shape[0]}x{shape[1]}, t below the number of rows."
        ),
    )


@judge
def applies_to_matrices(*, shapes: list[Shape], epsilon: Epsilon, delta: Delta) -> Finding:
    """Judge Section 6: the analytic Gaussian applies to a matrix by its flattened vector."""
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


@judge
def largest_distance(*, shapes: list[Shape], draws: Count, tolerance: float) -> Finding:
    """Judge Lemma 4 and Theorem 1: ||U1^-1 D U2^-T||_F is at most the bound of eq. (8)."""
    rng = np.random.default_rng(0)
    largest, aligned = [], []
    for (m, n), _ in itertools.product(shapes, range(draws)):
        # The condition numbers of the factors are at most e^6.
        first, second = (_random_factor(rng, size) for size in (m, n))
        change = rng.standard_normal((m, n)) * rng.gamma(0.5, size=n)
        largest.append(distance_over_bound(first, change, second))
        aligned.append(distance_over_bound(first, _align(first, change, second), second))
    apart = max(abs(ratio - 1) for ratio in aligned)
    return Finding(
        parts=(
            statement(
                "an upper bound",
                max(largest) <= 1 + tolerance,
                f"at most {max(largest):.6g} times the bound",
            ),
            statement(
                "attained",
                apart <= tolerance,
                f"by aligned directions, within {apart:.1g} of it (relative)",
            ),
        ),
        detail=(
            f"{len(largest)} random triples. Random matrices can only refute the bound; it follows "
            "from Horn's inequalities between the singular values of a product and of its factors."
        ),
    )


def distance_over_bound(first: np.ndarray, change: np.ndarray, second: np.ndarray) -> float:
    """Divide ||U1^-1 D U2^-T||_F by the root of the left side of eq. (8), for square factors."""
    distance = np.linalg.norm(np.linalg.solve(first, np.linalg.solve(second, change.T).T))
    inner = np.linalg.svd(change, compute_uv=False)
    # Eq. (8) counts the factors' singular values from the smallest.
    rows, columns = (np.linalg.svd(u, compute_uv=False)[::-1] for u in (first, second))
    r = len(inner)
    return float(distance / np.linalg.norm(inner / (rows[:r] * columns[:r])))


def _random_factor(rng: np.random.Generator, size: int) -> np.ndarray:
    """Draw an invertible square matrix; its singular values differ by a factor of up to e^6."""
    left, right = (np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2))
    return left * np.exp(rng.uniform(0, 6) * rng.random(size)) @ right


def _align(first: np.ndarray, change: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rotate a change into the factors' directions of least noise, keeping its singular values."""
    inner = np.linalg.svd(change, compute_uv=False)
    rows, columns = (np.linalg.svd(u)[0][:, ::-1] for u in (first, second))
    return rows[:, : len(inner)] * inner @ columns[:, : len(inner)].T


@judge
def least_noise_in_any_direction(
    *, shape: Shape, epsilon: Epsilon, delta: Delta, draws: Count, tolerance: float
) -> Finding:
    """Judge Section 4.1: in no direction does noise that meets Theorem 2 beat i.i.d. noise.

    If its variance is no smaller in any direction, its covariance is at least that of i.i.d. noise
    in the order of matrices. Then no utility that falls with the noise gains from directional
    noise.
    """
    m, n = shape
    budget = Budget(epsilon=epsilon, delta=delta)
    independent = 1 / float(mu_for(budget.epsilon, budget.delta)) ** 2
    rng = np.random.default_rng(0)
    least, weighted = [], []
    for _ in range(draws):
        first, second = _random_factor(rng, m), _random_factor(rng, n)
        covariance = np.kron(second @ second.T, first @ first.T)
        # Scale the factors to meet Theorem 2 with equality at sensitivity 1.
        floor = np.linalg.norm(first, -2) * np.linalg.norm(second, -2)
        covariance *= independent / floor**2
        least.append(np.linalg.eigvalsh(covariance)[0] / independent)
        weights = rng.standard_normal((3, m * n))
        loss = np.trace(weights @ covariance @ weights.T)
        weighted.append(loss / (independent * np.sum(weights**2)))
    return Finding(
        parts=(
            statement(
                "no direction has less noise",
                min(least) >= 1 - tolerance,
                f"at least {min(least):.9g} times the variance of i.i.d. noise",
            ),
            statement(
                "no weighted loss is smaller",
                min(weighted) >= 1 - tolerance,
                f"{min(weighted):.4g} to {max(weighted):.3g} times that of i.i.d. noise",
            ),
        ),
        detail=(
            f"{len(least)} random pairs U1, U2 for a {m}x{n} query at ({epsilon:g}, "
            f"{delta:g}), and random weights of three linear functions of the answer. The "
            "smallest eigenvalue of the covariance is the squared product of the smallest singular "
            "values, which Theorem 2 bounds from below by the variance of i.i.d. noise."
        ),
        calibration="both",
    )


@judge
def branches(*, epsilons: list[Epsilon], deltas: list[Delta], tolerance: float) -> Finding:
    """Judge Algorithm 2: compare B from its two branch functions with the root of g(B) = delta.

    T, the number of releases in Theorem 4, is 1 in Lemma 3; the algorithm does not define it.
    """
    errors: dict[str, list[float]] = {"delta >= delta_0": [], "delta < delta_0": []}
    for epsilon, delta in itertools.product(epsilons, deltas):
        branch, root = algorithm_2(epsilon, delta)
        errors[branch].append(abs(root / float(mu_for(epsilon, delta)) - 1))
    return Finding(
        parts=tuple(
            statement(
                branch,
                max(found) <= tolerance,
                f"B differs by {max(found):.1g} (relative) at {len(found)} budgets",
            )
            for branch, found in errors.items()
        ),
        detail=(
            f"At epsilon {listed_numbers(epsilons)} and delta "
            f"{listed_numbers(deltas)}. Line 7 is printed with T in one of its two terms."
        ),
        calibration="published",
    )


def algorithm_2(epsilon: float, delta: float) -> tuple[str, float]:
    """Return the branch that Algorithm 2 takes at T = 1, and the B that it returns."""
    growth = math.exp(epsilon)
    large = delta >= 0.5 - growth * scipy.special.ndtr(-math.sqrt(2 * epsilon))
    sign, most = (1, 1e6) if large else (-1, 1e9)

    def excess(v: float) -> float:
        tail = scipy.special.ndtr(-math.sqrt(epsilon * (v + 2)))
        return scipy.special.ndtr(sign * math.sqrt(epsilon * v)) - growth * tail - delta

    v = scipy.optimize.brentq(excess, 0, most, xtol=1e-300, rtol=1e-14)
    alpha = math.sqrt(1 + v / 2) - sign * math.sqrt(v / 2)
    branch = "delta >= delta_0" if large else "delta < delta_0"
    return branch, math.sqrt(2 * epsilon) / alpha


@judge
def amplified_budget(
    *,
    batch: Count,
    records: dict[str, int],
    epsilons: list[Epsilon],
    delta: Delta,
    readings: dict[Literal["released", "sampled"], str],
    tolerance: float,
) -> Finding:
    """Judge whether noise for (epsilon / q, delta / q) on a batch is (epsilon, delta)-DP.

    IMGM's noise spends its budget exactly (imgm-thm2), with the profile of a Gaussian. If every
    record is released in some batch, the whole release has this profile. If a batch is a secret
    Poisson sample at rate q that may lack the record, then delta(epsilon) is exactly
    q delta'(ln(1 + (e^epsilon - 1) / q)), where delta' is the profile.
    """

    def true_delta(reading: str, epsilon: float, rate: float) -> float:
        profile = GaussianProfile(mu=float(mu_for(epsilon / rate, delta / rate)))
        if reading == "released":
            return profile.delta(epsilon).value
        return rate * profile.delta(math.log1p(math.expm1(epsilon) / rate)).value

    def part(reading: str, dataset: str, size: int) -> Part:
        spent = [true_delta(reading, epsilon, batch / size) for epsilon in epsilons]
        return universal(
            dataset_title(dataset),
            (true <= delta * (1 + tolerance) for true in spent),
            f"a claimed delta of {delta:g} is {listed(f'{d:.2g}' for d in spent)}",
        )

    outcomes = [
        Outcome(choice=words, parts=tuple(part(reading, *each) for each in records.items()))
        for reading, words in readings.items()
    ]
    return Finding(
        choice="whether a batch is a secret sample",
        outcomes=outcomes,
        detail=(
            f"IMGM at (epsilon / q, delta / q), q = {batch} / N, at the claimed epsilon "
            f"{listed_numbers(epsilons)}. Sampling at rate q turns epsilon' into "
            "ln(1 + q (e^epsilon' - 1)), which at epsilon' = epsilon / q is above epsilon for "
            "every q < 1."
        ),
        calibration="published",
    )
