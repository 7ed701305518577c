"""Judges of r1smg2024's further statements; they read no study.

They cover Lemma 2, Proposition 1, eq. (17) and Corollary 2; sensitivity and losses of the count
query (Section 7.1); query, noise and stability of accuracy in Section 7.2; and the statements about
MVG (Section 7.2, Appendices B and C).
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import scipy

from claims.comparisons import number, statement, universal
from claims.judged_rows import calibrated, listed, listed_numbers
from claims.judges import Count, Delta, Epsilon, Positive, judge
from claims.verdicts import Finding, Outcome, Sizes
from mechanisms import Budget, Query
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.r1smg2024.count_query import paper_noise
from paper_figures.r1smg2024.noise_only import noise_of
from papers.r1smg2024 import (
    PCA_DELTA,
    PCA_EPSILONS,
    PCA_FEATURES,
    PCA_RATIO,
    PCA_RECORDS,
)
from papers.r1smg2024 import setting as stated_setting

# The smallest number of elements that R1SMG's theorem allows.
SMALLEST = 3


@judge
def angle_bound(*, sizes: list[int], angles: Count) -> Finding:
    """Judge Lemma 2: compare P(|theta - pi/2| >= theta_0) with the bound on a grid of angles.

    cos^2 theta has the law Beta(1/2, (P - 1)/2), and the event is |cos theta| >= sin theta_0.
    """
    ratios = {}
    for size in sizes:
        factor = math.exp(
            0.5 * math.log(math.pi) + math.lgamma(size / 2) - math.lgamma((size - 1) / 2)
        )
        for angle in np.linspace(0, math.pi / 2, angles, endpoint=False):
            exact = scipy.special.betaincc(0.5, (size - 1) / 2, math.sin(angle) ** 2)
            if exact > 1e-290:
                ratios[size, angle] = factor * math.cos(angle) ** (size - 2) / exact
    least = min(ratios.values())
    found = f"at least {rounded_down(least)} times the probability"
    return Finding(
        parts=[universal("the bound is", [ratio >= 1 for ratio in ratios.values()], found)],
        detail=f"Exact beta tails at P = {listed(map(str, sizes))} and {angles} angles.",
    )


@judge
def trace_of_covariance(*, side: Count, tolerance: float) -> Finding:
    """Judge Proposition 1: E L is the trace of the covariance, a sum of M positive eigenvalues."""
    uneven = 1.0 / np.arange(1, side + 1) ** 2
    options = {"gaussian": {}, "gaussian-analytic": {}, "mvg": {"precision": uneven / uneven.sum()}}
    parts = []
    for key, own in options.items():
        noise = noise_of(key, side, **own)
        draws = noise.sample(np.random.default_rng(0), 4000).reshape(4000, -1)
        eigenvalues = np.linalg.eigvalsh(np.cov(draws, rowvar=False))
        exact, sampled = noise.loss().mean, float(eigenvalues.sum())
        parts.append(number(f"{key}, sampled trace over E L", sampled / exact, 1.0, tolerance))
        parts.append(statement(f"{key}, all eigenvalues positive", bool(eigenvalues.min() > 0)))
    return Finding(
        parts=parts,
        detail=f"4,000 draws of M = {side**2} elements; MVG with uneven precision.",
        calibration="published",
    )


@judge
def harmonic_inequality(*, sizes: list[tuple[int, int]], draws: Count) -> Finding:
    """Judge eq. (17), on products of norms of spectra and of their inverses, by random spectra."""
    rng = np.random.default_rng(0)
    ratios = []
    for size, _ in itertools.product(sizes, range(draws)):
        ratio = 1.0
        for count in size:
            values = rng.lognormal(sigma=2.0, size=count)
            ratio *= np.linalg.norm(values) * np.linalg.norm(1 / values) / count
        ratios.append(ratio)
    found = f"left over right {min(ratios):.3g} to {max(ratios):.3g}"
    return Finding(
        parts=[universal("it holds,", [ratio >= 1 - 1e-12 for ratio in ratios], found)],
        detail=(
            f"{len(ratios)} random pairs of spectra. It follows from Cauchy and Schwarz: "
            "sum a^2 times sum 1/a^2 is at least M^2."
        ),
    )


@judge
def outperforms(*, others: list[str], side: Count) -> Finding:
    """Judge Corollary 2: lower expected loss and higher stability, at the count query.

    The corollary is stated for every M > 2, so the loss is judged at the smallest M too, with one
    budget for all mechanisms in the range of R1SMG's theorem.
    """
    own, theirs = (stated_setting(f"r1smg2024-count-{e}") for e in ("1e-05", "0.5"))
    small = Query(shape=(SMALLEST, 1), l2_sensitivity=1.0, frobenius_bound=1.0)
    little = Budget(epsilon=0.9 / SMALLEST, delta=theirs.budget.delta)
    parts = []
    for key in others:
        for where, at, budgets in (
            ("at the count query", theirs.query, (own.budget, theirs.budget)),
            (f"at {SMALLEST} elements", small, (little, little)),
        ):
            ours, other = (
                calibrated(name, at, budget).expected_loss()
                for name, budget in zip(("r1smg", key), budgets, strict=True)
            )
            parts.append(
                statement(f"loss below {key} {where}", ours < other, f"{ours / other:.2g} times")
            )
        spreads = [_relative_spread(name, side) for name in ("r1smg", key)]
        parts.append(
            statement(
                f"more stable than {key},",
                spreads[0] < spreads[1],
                f"standard deviation over mean {spreads[0]:.3g} against {spreads[1]:.2g}",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            "Losses as published, at the paper's budgets of the count query, 1e-5 for R1SMG and "
            f"0.5 for the others; at {SMALLEST} elements, epsilon {little.epsilon:g}, which is "
            f"below 1/M, for all. Spreads at M = {side**2}."
        ),
        calibration="published",
    )


def _relative_spread(key: str, side: int) -> float:
    """Return the standard deviation of the loss over its mean."""
    loss = noise_of(key, side).loss()
    return math.sqrt(loss.variance) / loss.mean


@judge
def component_sensitivity(*, stated: Positive, tolerance: float) -> Finding:
    """Judge Section 7.2: the sensitivity to one replaced record of Swarm Behaviour.

    Records lie in [-1, 1]^2400.
    """
    size = PCA_FEATURES
    one = np.ones(size)
    other = np.where(np.arange(size) % 2, 1.0, -1.0)
    # ||x x^T - y y^T||^2 = |x|^4 + |y|^4 - 2 (x.y)^2, at most 2 size^2.
    change = math.sqrt(2 * size**2 - 2 * (one @ other) ** 2) / PCA_RECORDS
    return Finding(
        parts=[number("s", change, stated, tolerance)],
        detail="Two orthogonal corners of the box attain it; no pair in the box exceeds it.",
    )


@judge
def noise_of_components(*, others: list[str], much: Positive) -> Finding:
    """Judge Section 7.2: R1SMG's noise on the covariance, at epsilon / 1e7, is below the others'.

    The magnitude of noise is its squared norm (Sections 1 and 7.1), here in expectation.

    Args:
        much: The largest ratio to the others' noise that counts as "much smaller".
    """
    parts = []
    for key in others:
        ratios = [_square("r1smg", e / PCA_RATIO) / _square(key, e) for e in PCA_EPSILONS]
        found = f"{min(ratios):.3g} to {max(ratios):.3g} times"
        parts.append(universal(f"below {key},", [ratio < 1 for ratio in ratios], found))
        much_below = [ratio <= much or None for ratio in ratios]
        parts.append(universal(f"much below {key},", much_below, found))
    return Finding(
        parts=parts,
        detail=(
            f"Mean square of the noise on one of 2400 x 2400 elements, epsilon "
            f"{PCA_EPSILONS[0]:g} to {PCA_EPSILONS[-1]:g}, R1SMG at 1e-7 of it, as published. A "
            "typical draw of R1SMG is smaller than its mean square."
        ),
        calibration="published",
    )


def _square(key: str, epsilon: Epsilon) -> Positive:
    query = stated_setting(f"r1smg2024-pca-{PCA_EPSILONS[-1]:g}").query
    noise = calibrated(key, query, Budget(epsilon=epsilon, delta=PCA_DELTA))
    return noise.expected_loss() / query.size


@judge
def ordered_losses(*, below: list[tuple[str, str]]) -> Finding:
    """Judge Section 7.1: the order of the exact expected losses on the map, as published.

    Each mechanism has its epsilon of Figures 4 and 5: 1e-5 for R1SMG, 0.5 for the others. MVG has
    the smallest possible gamma, s/2, which favours it.
    """
    losses = {key: paper_noise(key).expected_loss() for key in itertools.chain(*below)}
    return Finding(
        parts=[
            statement(
                f"{less} below {more}:",
                losses[less] < losses[more],
                f"{losses[less]:.3g} and {losses[more]:.3g}",
            )
            for less, more in below
        ],
        detail="E||noise||^2 in closed form, 89 x 89 cells, delta 1e-7.",
        calibration="published",
    )


@judge
def stable_accuracy(*, others: list[str], side: Count, bell: Positive) -> Finding:
    """Judge Section 7.2: a leptokurtic and right-skewed loss, and "the most stable" accuracy.

    Args:
        bell: The largest skewness that counts as bell-shaped.
    """
    loss = noise_of("r1smg", side).loss()
    parts = [
        statement("leptokurtic,", loss.central_kurtosis > 3, f"{loss.central_kurtosis:.3g}"),
        statement("right-skewed,", loss.central_skewness > 0, f"{loss.central_skewness:.3g}"),
    ]
    skews = [abs(noise_of(key, side).loss().central_skewness) for key in others]
    found = f"skewness at most {max(skews):.2g}"
    parts.append(statement("the others bell-shaped,", max(skews) <= bell, found))
    own, *theirs = (_relative_spread(key, side) for key in ("r1smg", *others))
    parts += [
        statement(f"spread below {key},", own < spread, f"{own:.3g} against {spread:.2g}")
        for key, spread in zip(others, theirs, strict=True)
    ]
    return Finding(
        parts=parts,
        detail=f"Standard deviation of the loss over its mean, in closed form, M = {side**2}.",
        calibration="published",
    )


@judge
def squared_sensitivity(*, cells: Count, stated: float, tolerance: float) -> Finding:
    """Judge the largest ||f(x) - f(x')||^2 over all neighbours, which differ in one pickup."""
    one_pickup = np.eye(cells)
    adjacencies = {
        "one pickup is replaced": [one - other for one in one_pickup for other in one_pickup],
        "one pickup is added or removed": one_pickup,
    }
    outcomes = []
    for choice, changes in adjacencies.items():
        largest = max(float(np.sum(change**2)) for change in changes)
        part = number("squared l2 sensitivity", largest, stated, tolerance)
        outcomes.append(Outcome(choice=choice, parts=(part,)))
    return Finding(
        choice="how neighbouring data sets differ",
        outcomes=outcomes,
        detail=(
            f"All changes of one pickup among {cells} cells. A pickup that is "
            "moved leaves one cell and enters another; one that is absent leaves its cell alone. "
            "The expected loss of R1SMG and of i.i.d. Gaussian noise is proportional to s^2. All "
            "other numbers here take replacement, which gives the paper's s^2."
        ),
    )


# Descriptions of the readings of zeta(delta) in MVG's theorem.
ZETAS = {"published": "zeta as printed", "sqrt": "zeta with a square root"}


def _least_noise(name: str):
    """Return the query of a setting at the smallest possible gamma, s/2, and its budget.

    MVG's noise grows with gamma, which the paper does not state.
    """
    at = stated_setting(name)
    return replace(at.query, frobenius_bound=at.query.l2_sensitivity / 2), at.budget


@judge
def decomposition_bound(*, setting: str, stated: float, tolerance: float) -> Finding:
    """Judge Section 7.2: the largest bound that MVG's Theorem 3 can give there.

    The bound falls with gamma, and gamma >= s/2 for every query.
    """
    query, budget = _least_noise(setting)
    m = PCA_FEATURES
    return Finding(
        parts=[
            number(
                f"largest for any gamma, {words}",
                precision_bound(query, budget, zeta),
                stated,
                tolerance,
            )
            for zeta, words in ZETAS.items()
        ],
        detail=(
            f"{m} x {m}, s = {m} sqrt(2)/{PCA_RECORDS}, epsilon {budget.epsilon:g}, delta "
            f"{budget.delta:g}. The bound falls with gamma, and gamma >= s/2, where it has the "
            "values given."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{budget.epsilon:g}"),
    )


@judge
def epsilon_for_components(*, setting: str, needed: Epsilon) -> Finding:
    """Judge Section 7.2: below a stated epsilon MVG's noise exceeds every possible eigenvalue.

    The eigenvalues of a covariance of d features in [-1, 1] are at most d. Noise with d x d
    independent elements of standard deviation sigma becomes symmetric as (N + N^T)/2 (footnote 4).
    Its variance off the diagonal is then sigma^2/2, and its spectral norm is about
    sqrt(2) sigma sqrt(d).
    """
    query, budget = _least_noise(setting)
    side = query.shape[0]

    def norm_over_eigenvalue(epsilon: float, zeta: str) -> float:
        noise = calibrated("mvg", query, replace(budget, epsilon=epsilon), zeta=zeta)
        return symmetric_norm(math.sqrt(noise.expected_loss() / query.size), side) / side

    return Finding(
        parts=[
            statement(
                f"noise hides every component below epsilon {needed:g}, {words}:",
                norm_over_eigenvalue(needed, zeta) > 1,
                f"noise is at least {rounded_down(norm_over_eigenvalue(needed, zeta), 2)} times "
                "the largest possible eigenvalue",
            )
            for zeta, words in ZETAS.items()
        ],
        detail=(
            "Spectral norm of MVG's noise with equal precision, made symmetric as in the paper's "
            f"footnote 4, {side} x {side}, delta "
            f"{budget.delta:g}, at the smallest possible gamma, s/2, and at epsilon "
            f"{needed:g} itself: below it there is more noise."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{needed:g}"),
    )


@judge
def more_noise(*, sides: list[int], epsilons: list[Epsilon], delta: Delta) -> Finding:
    """Judge Appendix B: MVG has more expected loss than the analytic Gaussian everywhere.

    MVG has the smallest possible gamma, s/2, which is the least noise that its theorem allows under
    either reading of zeta.
    """
    budgets = [Budget(epsilon=epsilon, delta=delta) for epsilon in epsilons]
    # The queries have square answers, l2 sensitivity 1 and the smallest possible gamma.
    queries = [Query(shape=(m, m), l2_sensitivity=1.0, frobenius_bound=0.5) for m in sides]
    parts = []
    for zeta, words in ZETAS.items():
        ratios = [
            calibrated("mvg", query, budget, zeta=zeta).expected_loss()
            / calibrated("gaussian-analytic", query, budget).expected_loss()
            for query in queries
            for budget in budgets
        ]
        parts.append(
            universal(
                f"more noise than the analytic Gaussian, {words}:",
                [ratio > 1 for ratio in ratios],
                f"at least {rounded_down(min(ratios))} times",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            f"Expected losses at {listed(f'{side} x {side}' for side in sides)}, l2 "
            f"sensitivity 1, epsilon {listed_numbers(epsilons)}, delta "
            f"{delta:g}; MVG with equal precision and gamma = s/2: a larger gamma or uneven "
            "precision means more noise. At equal true privacy the noise with equal precision is "
            "the analytic Gaussian's."
        ),
        calibration="published",
        sizes=Sizes(epsilons=listed_numbers(epsilons)),
    )


def symmetric_norm(sigma: float, side: int) -> float:
    """Return the approximate spectral norm of (N + N^T)/2 for side x side normal elements N.

    The elements are independent, with standard deviation sigma.
    """
    return sigma * math.sqrt(2 * side)


@judge
def gamma_removed(
    *, setting: str, side: int, draws: Count, gammas: tuple[Positive, Positive], tolerance: float
) -> Finding:
    """Judge Appendix C: the identity behind MVG without gamma^2, and its noise's exact privacy."""
    rng = np.random.default_rng(0)
    errors = [_identity_error(rng, side) for _ in range(draws)]
    at = stated_setting(setting)
    losses = [
        calibrated("mvg", replace(at.query, frobenius_bound=gamma), at.budget, "exact")
        for gamma in gammas
    ]
    ratio = losses[1].expected_loss() / losses[0].expected_loss()
    return Finding(
        parts=(
            statement(
                "the quadratic terms cancel,",
                max(errors) <= tolerance,
                f"relative error at most {rounded_up(max(errors), 1)}",
            ),
            number(
                f"noise at equal true privacy, gamma {gammas[1]:g} over {gammas[0]:g}",
                ratio,
                1.0,
                tolerance,
            ),
        ),
        detail=(
            f"Both sides of the identity on {draws} random sets of {side} x "
            f"{side} matrices. The true privacy of Gaussian noise depends on "
            "Sigma^(-1/2) (f(x) - f(x')) Psi^(-1/2) alone, so that no bound on the answer itself "
            "is needed."
        ),
        calibration="exact",
        sizes=Sizes(epsilons=f"{at.budget.epsilon:g}"),
    )


def _identity_error(rng: np.random.Generator, side: int) -> float:
    """Return the relative difference between eq. (20) and its form without quadratic terms."""
    first, second, release, *roots = rng.standard_normal((5, side, side))
    row, column = (root @ root.T for root in roots)
    moved = first - second
    plain = column @ (
        release.T @ row @ moved
        + moved.T @ row @ release
        + second.T @ row @ second
        - first.T @ row @ first
    )
    without = column @ ((release - second).T @ row @ moved + moved.T @ row @ (release - first))
    return abs(np.trace(plain) - np.trace(without)) / np.linalg.norm(plain)
