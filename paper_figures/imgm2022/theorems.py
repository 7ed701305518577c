"""Judge imgm2022's theory by closed forms, exact privacy profiles or random matrices.

The judges cover Lemmas 1 to 4, Theorems 1, 2 and 4, the branches of Algorithm 2, the limits,
regions and directional noise of Sections 3 and 4, flattened matrices (Section 6), and eqs. (35) and
(52). Only the judge of Theorem 2 reads rows; they are those of the study guarantee.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy

from claims.comparisons import number, statement, universal
from claims.guarantee import verified
from claims.judged_rows import calibrated, listed, listed_numbers
from claims.judges import Count, Delta, Epsilon, Positive, Shape, judge
from claims.matrix_formulas import inequality
from claims.verdicts import Finding, Outcome, Part
from mechanisms import Budget, Query
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.query.box_query import box_query
from mechanisms.query.words import rounded_down
from mechanisms.verification.verification import HOLDS
from paper_figures.power_law import power
from papers.mvg2018 import REGRESSION, binary_allocation
from runs.results import Results

# Smaller differences are rounding, which depends on the processor.
ROUNDING = 1e-12


@judge(studies=("guarantee",))
def tight_guarantee(results: Results, *, mechanism: str, draws: Count, tolerance: float) -> Finding:
    """Judge Theorem 2: the condition on the smallest singular values is necessary and sufficient.

    At every setting that attains its stated sensitivity s, the published noise must have exactly
    the claimed delta. For random U1 and U2 the exact mu over the l2 ball, computed from the
    Kronecker product, must be s over the product of the smallest singular values.
    """
    table = verified(results.rows, mechanism)
    table = table[[s.query.reach >= s.query.l2_sensitivity * (1 - 1e-12) for s in table["setting"]]]
    excess = float((table["true_delta"] / table["claimed_delta"] - 1).abs().max())
    wasted = float((table["wasted_variance"] - 1).abs().max())
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(draws):
        u1, u2 = rng.standard_normal((3, 3)), rng.standard_normal((4, 4))
        largest_mu = np.linalg.norm(np.linalg.inv(np.kron(u2, u1)), 2)
        errors.append(abs(largest_mu * np.linalg.norm(u1, -2) * np.linalg.norm(u2, -2) - 1))
    return Finding(
        parts=(
            statement(
                "sufficient",
                bool((table["verdict"] == HOLDS).all()),
                f"at {len(table)} settings",
            ),
            statement(
                "necessary",
                max(excess, wasted, *errors) <= tolerance,
                "delta and the variance that is needed differ by at most "
                f"{max(excess, wasted):.1g} (relative)",
            ),
        ),
        detail=(
            "The published calibration against the exact one; and, for "
            f"{len(errors)} random pairs of a 3x3 U1 and a 4x4 U2, the exact mu over the l2 ball "
            "against s over the product of the smallest singular values (difference at most "
            f"{max(*errors, ROUNDING):.1g}). The condition is necessary on the l2 ball only: where "
            "the answers also lie in a box, less directional noise can be enough."
        ),
        calibration="both",
    )


@judge
def composition(*, epsilon: Epsilon, delta: Delta, times: list[int], tolerance: float) -> Finding:
    """Judge Theorem 4 for several numbers of releases T, by exact profiles and by convolutions."""
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    query = Query(shape=(2, 2), l2_sensitivity=1.0)
    budget = Budget(epsilon=epsilon, delta=delta)
    exact, convolved = [], []
    for count in times:
        mechanism = calibrated("imgm", query, budget, compositions=count)
        exact.append(abs(mechanism.profile().delta(epsilon).value / delta - 1))
        losses = from_gaussian_mechanism(mechanism.noise.sigma).self_compose(count)
        convolved.append(abs(losses.get_epsilon_for_delta(delta) / epsilon - 1))
    return Finding(
        parts=(
            statement(
                "by the exact profile", max(exact) <= 1e-9, f"delta differs by {max(exact):.1g}"
            ),
            statement(
                "by a convolution",
                max(convolved) <= tolerance,
                f"epsilon differs by {max(convolved):.1g}",
            ),
        ),
        detail=(
            f"At ({epsilon:g}, {delta:g}) for T = {listed(map(str, times))}: the "
            "exact profile of T releases, and dp_accounting's privacy loss distributions, which "
            "are pessimistic by their discretisation."
        ),
        calibration="both",
    )


@judge
def iid_least(*, shape: Shape, epsilon: Epsilon, delta: Delta, draws: Count) -> Finding:
    """Judge Section 3.1: no noise that meets Theorem 2 has a smaller E||Z||^2 than i.i.d. noise."""
    query = Query(shape=shape, l2_sensitivity=1.0)
    least = calibrated("imgm", query, Budget(epsilon=epsilon, delta=delta)).expected_loss()
    floor = 1 / float(mu_for(epsilon, delta))

    def ratio(rng: np.random.Generator, m: int, n: int) -> float:
        # The singular values range from nearly equal to widely spread.
        values = [np.exp(rng.uniform(0, 3) * rng.random(side)) for side in (m, n)]
        # They are scaled to meet Theorem 2 with equality.
        return least / math.prod(floor * np.sum((each / each.min()) ** 2) for each in values)

    because = (
        "Every product of singular values is at least s/B, so E||Z||^2 >= mn (s/B)^2, which IMGM "
        "attains. Only Gaussian noise is compared, and only the l2 sensitivity is used."
    )
    return replace(inequality(ratio, [shape], draws, because), calibration="both")


@judge
def limit_at_zero(*, deltas: list[Delta], epsilons: list[Epsilon], tolerance: float) -> Finding:
    """Judge Section 4.2: B tends to 2 PhiInv((delta + 1)/2) as epsilon falls."""
    limit = 2 * scipy.special.ndtri((1 + np.array(deltas)) / 2)
    errors = np.abs(mu_for(np.array(epsilons)[:, None], np.array(deltas)) / limit - 1).max(axis=1)
    approached = np.all(np.diff(errors) < 0) and errors[-1] <= tolerance
    found = f"relative difference {errors[-1]:.1g} at epsilon {epsilons[-1]:g}"
    return Finding(
        parts=(statement("", bool(approached), found),),
        detail=(
            f"delta {listed_numbers(deltas)}; largest relative difference "
            f"{listed(f'{e:.1g} at {x:g}' for e, x in zip(errors, epsilons, strict=True))}."
        ),
    )


@judge
def mvg_limit(
    *,
    columns: int,
    rows: tuple[int, int],
    exponent: float,
    epsilon: Epsilon,
    delta: Delta,
    tolerance: float,
) -> Finding:
    """Judge eq. (16): the exponent of mn in MVG's bound at fixed s and gamma.

    The paper states it for mn that tends to infinity, however the sides grow. So matrices with a
    fixed smaller side are judged, and square matrices with as many elements.
    """
    fixed = [(m, columns) for m in rows]
    square = [(math.isqrt(m * n),) * 2 for m, n in fixed]
    parts = []
    for words, shapes in {f"smaller side {columns}": fixed, "square matrices": square}.items():
        bounds = [
            precision_bound(
                Query(shape=shape, l2_sensitivity=1.0, frobenius_bound=1.0),
                Budget(epsilon=epsilon, delta=delta),
                "published",
            )
            for shape in shapes
        ]
        found = power(bounds, [math.prod(shape) for shape in shapes])
        parts.append(number(f"exponent of mn, {words}:", found, exponent, tolerance))
    return Finding(
        parts=parts,
        detail=(
            f"mvg2018's right-hand side with its zeta, s = gamma = 1, ({epsilon:g}, "
            f"{delta:g}), between mn = {math.prod(fixed[0]):.1g} and "
            f"{math.prod(fixed[1]):.1g}. The paper's Theta leaves out H_r, which grows as ln r."
        ),
        calibration="published",
    )


@judge
def renyi_divergence(
    *,
    epsilon: Epsilon,
    large_epsilon: Epsilon,
    delta: Delta,
    orders: list[float],
    tolerance: float,
) -> Finding:
    """Judge eq. (52) by the Renyi divergence of IMGM's noise, which is alpha B^2/2 at order alpha.

    Three statements are judged: the equality; the step from it to a bound, which replaces
    eta = B^2/2 by B/2 and so needs B <= 1; and the bound, from which the paper's RDP guarantee
    follows. The step is judged at `large_epsilon`.
    """
    mu = float(mu_for(epsilon, delta))
    alphas = np.array(orders)
    true = alphas * mu**2 / 2
    equal = rdp_expression(alphas, mu)
    looseness = rdp_bound(alphas, mu) / true
    larger = float(mu_for(large_epsilon, delta))
    step = rdp_bound(alphas, larger) / rdp_expression(alphas, larger)
    return Finding(
        parts=(
            *(
                number(f"equal at alpha = {alpha:g}:", t, e, tolerance)
                for alpha, t, e in zip(orders, true, equal, strict=True)
            ),
            universal(
                f"the expression is at most the bound at epsilon {large_epsilon:g},",
                step >= 1,
                f"the bound is {step.min():.3g} to {step.max():.3g} times the expression",
            ),
            universal(
                "the final bound holds",
                looseness >= 1,
                f"{looseness.min():.3g} to {looseness.max():.3g} times the divergence",
            ),
        ),
        detail=(
            f"At B = {mu:.5g}, the B of ({epsilon:g}, {delta:g}), the divergence is alpha B^2/2, "
            f"as for all Gaussian noise. At epsilon {large_epsilon:g}, B is {larger:.3g}. The "
            "final bound is "
            "above that at every B > 0 and alpha > 1, because e^x > x and (2 alpha + 1)(alpha + 1) "
            "> 2 (alpha - 1)."
        ),
        calibration="published",
    )


def rdp_expression(orders: np.ndarray, mu: float) -> np.ndarray:
    """Return the expression that eq. (52) equates with the divergence, at B = mu."""
    eta = mu**2 / 2
    return (2 * orders + 1) * eta / (orders - 1) * np.exp(eta * (orders**2 + orders))


def rdp_bound(orders: np.ndarray, mu: float) -> np.ndarray:
    """Return the last line of eq. (52) at B = mu: the epsilon' of (alpha, epsilon')-RDP."""
    growth = np.exp(mu * (orders**2 + orders) / 2)
    return (2 * orders + 1) * mu / (2 * (orders - 1)) * growth


@judge
def mvg_at_small_epsilon(
    *, shape: Shape, delta: Delta, epsilons: list[Epsilon], tolerance: float
) -> Finding:
    """Judge eq. (17): as epsilon falls, MVG's expected loss diverges and IMGM's stays bounded."""
    query = Query(shape=shape, l2_sensitivity=1.0, frobenius_bound=1.0)
    losses = {
        key: [
            calibrated(key, query, Budget(epsilon=e, delta=delta)).expected_loss() for e in epsilons
        ]
        for key in ("mvg", "imgm")
    }
    exponent = power(losses["mvg"][-2:], epsilons[-2:])
    limit = query.size / (2 * scipy.special.ndtri((1 + delta) / 2)) ** 2
    return Finding(
        parts=(
            statement(
                "MVG's variance grows without bound",
                exponent <= -0.5,
                f"as epsilon^{exponent:.2f}",
            ),
            statement(
                "IMGM's variance stays bounded",
                max(losses["imgm"]) <= limit * (1 + tolerance),
                f"at most {max(losses['imgm']) / limit:.6g} times its limit",
            ),
        ),
        detail=(
            f"E||Z||^2 at epsilon {listed_numbers(epsilons)}, delta "
            f"{delta:g}, s = gamma = 1. MVG's right-hand side falls as epsilon^2. At epsilon "
            "= 0 IMGM's noise has the delta that is claimed."
        ),
        calibration="published",
    )


@judge
def larger_region(*, shapes: list[Shape], epsilons: list[Epsilon], deltas: list[Delta]) -> Finding:
    """Judge Section 4.1: MVG's theorem allows a strict subset of the factors that IMGM's allows.

    Let Sigma = U1 U1^T and Psi = U2 U2^T. The l2 norm of the singular values of an inverse is at
    least the largest of them. So with MVG's right-hand side P, the product of the smallest singular
    values of U1 and U2 is at least 1 / sqrt(P), whereas IMGM requires s / B.
    """
    ratios = {"published": [], "sqrt": []}
    for shape in shapes:
        # gamma is at least s / 2, its value for answers in a ball of this radius. With a larger
        # gamma, MVG allows fewer factors.
        query = Query(shape=shape, l2_sensitivity=1.0, frobenius_bound=0.5)
        for epsilon, delta in itertools.product(epsilons, deltas):
            largest = float(mu_for(epsilon, delta))
            for zeta, found in ratios.items():
                bound = precision_bound(query, Budget(epsilon=epsilon, delta=delta), zeta)
                found.append(largest / math.sqrt(bound))
    return Finding(
        parts=[
            statement(
                f"IMGM's region is larger, {words}",
                min(ratios[zeta]) > 1,
                f"MVG needs {rounded_down(min(ratios[zeta]), 3)} times the product or more at each",
            )
            for zeta, words in (("published", "zeta as published"), ("sqrt", "square root of zeta"))
        ],
        detail=(
            f"Least singular values of U1 times those of U2, at {len(ratios['sqrt'])} settings: "
            f"{listed('x'.join(map(str, shape)) for shape in shapes)}, epsilon {epsilons[0]:g} to "
            f"{epsilons[-1]:g}, delta {deltas[-1]:g} to {deltas[0]:g}, with the least gamma, s / 2."
        ),
        calibration="published",
    )


@judge
def variance_over_shapes(
    *, shapes: list[Shape], epsilon: Epsilon, delta: Delta, tolerance: float
) -> Finding:
    """Judge Section 4.2: at a fixed sensitivity, IMGM's variance is the same for all shapes."""
    budget = Budget(epsilon=epsilon, delta=delta)
    queries = [Query(shape=s, l2_sensitivity=1.0) for s in shapes]
    variances = [calibrated("imgm", q, budget).expected_loss() / q.size for q in queries]
    spread = max(variances) / min(variances)
    found = f"largest over smallest {spread:.6g}"
    return Finding(
        parts=[
            statement("IMGM's variance is the same at all shapes", spread <= 1 + tolerance, found)
        ],
        detail=(
            f"Variance of one element at {listed('x'.join(map(str, s)) for s in shapes)}, "
            f"({epsilon:g}, {delta:g}), s = 1. In the study of mgm2021, partly by the same "
            "authors, s is 2 sqrt(mn), with which every mechanism's variance grows."
        ),
        calibration="published",
    )


@judge
def loss_variable(*, shape: Shape, draws: Count, tolerance: float) -> Finding:
    """Judge Lemma 1: the privacy loss is normal with mean eta and variance 2 eta.

    D is the difference between neighbours, and D' = U1^-1 D U2^-T. At every drawn output the log
    ratio of the two densities must be eta + <N, D'>. This is linear in the standard normals N and
    has the variance ||D'||^2 = 2 eta.
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
    """Judge Lemmas 2 and 3: the tails of the loss give delta, and the distance B attains it.

    By Lemma 2, the true delta is P(L >= epsilon) - e^epsilon P(L' <= -epsilon), where the losses L
    and L' have the normal laws of Lemma 1. By Lemma 3 it is at most the claimed delta if and only
    if ||D'|| <= B. So it must be smaller slightly below B, and larger slightly above B.
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

    In the exception, all singular values of one factor are `split` and all of the other factor are
    1 / `split`, as in eq. (13), instead of 1 and 1. A change of direction makes some singular
    values larger than the smallest.
    """
    (m, n), larger = shape, max(split, 1 / split)
    rows, columns = (np.array([1.0, *[larger] * (side - 1)]) for side in shape)
    # If all singular values are 1, every element has the variance 1.
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

    "Magnitude" is read as E||Z||^2, or as the l2 norm of the precisions, which MVG's constraint
    fixes. The directions change by other shares of the precision, or by a rotation.
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
    """Judge eq. (35): the first t rows of U Sigma V have the norm of the t largest values of Sigma.

    The left side is at most the right side, and Lemma 4 needs no more.
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
    """Judge Section 6: whether the analytic Gaussian on a flattened matrix differs from IMGM."""
    ratios = [imgm_over_gaussian(shape, epsilon, delta) for shape in shapes]
    is_same = all(math.isclose(ratio, 1, rel_tol=1e-9) for ratio in ratios)
    return Finding(
        parts=[
            statement(
                "its noise on the vector of a matrix:",
                not is_same,
                "that of IMGM" if is_same else "not that of IMGM",
            )
        ],
        detail=(
            "The l2 norm of a vector is the Frobenius norm of the matrix with its entries; the "
            f"noise of both has the same variance at {len(shapes)} shapes."
        ),
    )


def imgm_over_gaussian(shape: Shape, epsilon: float, delta: float) -> float:
    """Return IMGM's E||Z||^2 over the analytic Gaussian's, for elements in [-1, 1]."""
    query, budget = box_query(shape, -1.0, 1.0), Budget(epsilon=epsilon, delta=delta)
    imgm, gaussian = (
        calibrated(key, query, budget).expected_loss() for key in ("imgm", "gaussian-analytic")
    )
    return imgm / gaussian


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
    """Return ||U1^-1 D U2^-T||_F over the root of the left side of eq. (8).

    The factors U1 and U2 are square, and `change` is D, the difference between neighbours.
    """
    distance = np.linalg.norm(np.linalg.solve(first, np.linalg.solve(second, change.T).T))
    inner = np.linalg.svd(change, compute_uv=False)
    # Eq. (8) counts the factors' singular values from the smallest.
    rows, columns = (np.linalg.svd(u, compute_uv=False)[::-1] for u in (first, second))
    r = len(inner)
    return float(distance / np.linalg.norm(inner / (rows[:r] * columns[:r])))


def _random_factor(rng: np.random.Generator, size: int) -> np.ndarray:
    """Draw an invertible square matrix whose singular values differ by a factor of up to e^6."""
    left, right = (np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2))
    return left * np.exp(rng.uniform(0, 6) * rng.random(size)) @ right


def _align(first: np.ndarray, change: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rotate a change to the factors' directions of least noise, keeping its singular values."""
    inner = np.linalg.svd(change, compute_uv=False)
    rows, columns = (np.linalg.svd(u)[0][:, ::-1] for u in (first, second))
    return rows[:, : len(inner)] * inner @ columns[:, : len(inner)].T


@judge
def least_noise_in_any_direction(
    *, shape: Shape, epsilon: Epsilon, delta: Delta, draws: Count, tolerance: float
) -> Finding:
    """Judge Section 4.1: in no direction does noise that meets Theorem 2 beat i.i.d. noise.

    If the variance is no smaller in any direction, the covariance is at least that of i.i.d. noise
    in the order of matrices. Then no utility that falls with the noise gains from directions.
    """
    m, n = shape
    budget = Budget(epsilon=epsilon, delta=delta)
    independent = 1 / float(mu_for(budget.epsilon, budget.delta)) ** 2
    rng = np.random.default_rng(0)
    least, weighted = [], []
    for _ in range(draws):
        first, second = _random_factor(rng, m), _random_factor(rng, n)
        covariance = np.kron(second @ second.T, first @ first.T)
        # The covariance is scaled to meet Theorem 2 with equality at sensitivity 1.
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
    """Judge Algorithm 2: whether B from its two branches is the root of g(B) = delta.

    The algorithm does not define T. Here T is 1 as in Lemma 3; in Theorem 4, T counts the releases.
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
    """Return the branch that Algorithm 2 takes at T = 1, and the B that the algorithm returns."""
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
