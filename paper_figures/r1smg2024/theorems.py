"""Judges of r1smg2024's theorems and further statements, in closed form; they read no study.

They cover the hidden clue (Section 4), the null space (Section 5.4), Property 1, Theorems 4 and 7,
both corollaries, Lemma 2, Proposition 1 and eq. (17); sensitivity and losses of the count query
(Section 7.1); and the statements about MVG in Appendices B and C.
"""

import itertools
import math
from dataclasses import replace
from typing import Literal

import numpy as np
import scipy

from claims.comparisons import number, statement, universal
from claims.judged_rows import calibrated, listed, listed_numbers, range_text
from claims.judges import Count, Delta, Epsilon, Positive, judge
from claims.verdicts import Finding, Outcome, Part, Sizes
from mechanisms import Budget, Query
from mechanisms.catalogue.mvg import harmonic
from mechanisms.catalogue.r1smg import log_psi
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.power_law import power
from paper_figures.r1smg2024.count_query import paper_noise
from paper_figures.r1smg2024.noise_only import noise_of
from paper_figures.r1smg2024.pca import ZETAS, relative_spread
from paper_figures.style import mechanism_title
from papers.r1smg2024 import setting as stated_setting
from papers.settings import PAPER_SETTINGS
from studies.noise_only import family_query


def stated_constant(
    mechanism: str, m: int, n: int, epsilon: float, delta: float
) -> tuple[str, float]:
    """Return the name and value of C_C, C_A, C_M (Theorem 4) or C_R (Theorem 7), m x n elements.

    The paper states C s^2, with s the l2 sensitivity, as a lower bound on the expected loss.

    Raises:
        KeyError: The paper states no constant for the mechanism.
    """
    size, r = m * n, min(m, n)
    if mechanism == "gaussian":
        return "C_C", 2 * math.log(1.25 / delta) / epsilon**2 * size
    if mechanism == "gaussian-analytic":
        return "C_A", (scipy.special.ndtri(delta) ** 2 + epsilon) / epsilon**2 * size
    if mechanism == "mvg":
        return "C_M", (1.25 * harmonic(r) + 0.25 * harmonic(r, 0.5)) / (2 * epsilon) * size
    if mechanism == "r1smg":
        return "C_R", 2 / epsilon * math.exp(-log_psi(size, delta))
    raise KeyError(mechanism)


@judge
def one_coefficient(*, setting: str) -> Finding:
    """Judge Section 4: whether noise along one basis vector b_1 is as private as in all directions.

    For neighbours that differ along b_1 the other coefficients of Gaussian noise reveal nothing.
    For neighbours that differ along another direction, noise along b_1 alone leaves the difference
    in plain sight.
    """
    at = stated_setting(setting)
    query, budget = at.query, at.budget
    whole = calibrated("gaussian-analytic", query, budget)
    along = GaussianProfile(mu=query.l2_sensitivity / whole.noise.sigma)
    deltas = [profile.delta(budget.epsilon).value for profile in (whole.profile(), along)]
    return Finding(
        parts=(
            statement(
                "for neighbours that differ along b_1:",
                math.isclose(*deltas, rel_tol=1e-9),
                f"delta({budget.epsilon:g}) = {deltas[1]:.4g}, with all directions {deltas[0]:.4g}",
            ),
            statement(
                "for all neighbours:",
                # The release shows a difference orthogonal to b_1 without any noise.
                budget.delta >= 1,
                f"delta({budget.epsilon:g}) = 1 where they differ in another direction",
            ),
        ),
        detail=(
            f"Gaussian noise of standard deviation {whole.noise.sigma:.4g} in every direction, "
            f"calibrated to ({budget.epsilon:g}, {budget.delta:g}) on the count query, against "
            "noise of that size along b_1 alone. Differences of neighbours lie in many directions, "
            "and b_1 cannot be parallel to all of them."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{budget.epsilon:g}"),
    )


@judge
def required_noise(*, setting: str, sizes: tuple[Count, Count]) -> Finding:
    """Judge Property 1: the noise that (epsilon, delta)-DP needs can stay the same as M grows.

    The paper derives the property from R1SMG, whose theorem covers every query, but explains it by
    elements that depend on each other. Both readings are outcomes: one query refutes the property
    for all queries, and another shows it for some.
    """
    budget = stated_setting(setting).budget
    small, large = sizes
    query = Query(shape=(small,), l2_sensitivity=1.0)
    enough = calibrated("gaussian-analytic", query, budget).expected_loss()
    needed = large * least_variance(budget)
    along = {size: noise_along_one_direction(size, budget) for size in (small, large)}
    name = f"no more noise at M = {large:g} than at M = {small:g}:"
    every = statement(
        name,
        needed <= enough,
        f"E L at least {rounded_down(needed)} s^2 is needed at M = {large:g}, "
        f"{rounded_up(enough)} s^2 is enough at M = {small:g}",
    )
    one = statement(
        name,
        along[large] <= along[small] * (1 + 1e-9),
        f"E L = {along[large]:.3g} s^2 is enough at M = {large:g}, {along[small]:.3g} s^2 at "
        f"M = {small:g}",
    )
    return Finding(
        choice='what "can" covers',
        outcomes=(
            Outcome(choice="every query: neighbours differ in every direction", parts=(every,)),
            Outcome(choice="some query: neighbours differ along one direction", parts=(one,)),
        ),
        detail=(
            f"({budget.epsilon:g}, {budget.delta:g})-DP. In every direction: any mechanism, "
            "additive or not, on answers that take all values and whose neighbours may differ by "
            "any vector of norm s. Its worst error is at least that of some additive noise. The "
            f"least error at M = {large:g} is at least {large / small:,.0f} times that at M = "
            f"{small:g}, whatever the budget (docs/the_limit.md). Here, by group privacy for k "
            "shifts in a row, the variance along any unit vector is at least the maximum over k of "
            "(k s)^2 (1 - t)/8, with t the total variation distance that the guarantee of k shifts "
            f"allows; the sum over a basis grows as M. The noise that is enough at M = {small:g} "
            "is the analytic Gaussian's. Along one direction, all elements alike: the analytic "
            "Gaussian's noise for a scalar, along that direction alone. The least noise is the "
            "same at every M there: a release projected on the direction is one of a scalar, with "
            "no more noise."
        ),
        sizes=Sizes(epsilons=f"{budget.epsilon:g}"),
    )


def noise_along_one_direction(size: int, budget: Budget) -> float:
    """Return an E||noise||^2 that suffices if neighbours differ along (1, ..., 1), by norm 1.

    All elements are equal, as if one query were asked `size` times. The noise is the analytic
    Gaussian's for the scalar product with the direction, times the direction. The release then
    reveals that scalar and nothing else.
    """
    direction = np.full(size, 1 / math.sqrt(size))
    scalar = Query(shape=(1,), l2_sensitivity=float(np.linalg.norm(direction)))
    spread = calibrated("gaussian-analytic", scalar, budget).noise.sigma * direction
    return float(np.sum(spread**2))


def least_variance(budget: Budget) -> float:
    """Return a lower bound on the variance of scalar noise that is DP for shifts by 1.

    By group privacy a shift by k is (k epsilon, delta_k)-DP with
    delta_k = delta (e^(k epsilon) - 1)/(e^epsilon - 1). The noise Z and Z + k therefore have total
    variation distance at most t = (e^(k epsilon) - 1 + 2 delta_k)/(e^(k epsilon) + 1). The events
    |Z - E Z| < k/2 and |Z + k - E Z| < k/2 exclude each other, and their probabilities differ by at
    most t. The first thus has probability at most (1 + t)/2, and Chebyshev gives the bound.
    """
    shifts = np.unique(np.geomspace(1, 10 / budget.epsilon, 400).round())
    grown = np.expm1(shifts * budget.epsilon)
    delta = budget.delta * grown / math.expm1(budget.epsilon)
    distance = np.minimum(1.0, (grown + 2 * delta) / (grown + 2))
    return float(np.max(shifts**2 * (1 - distance) / 8))


@judge
def null_space(*, setting: str) -> Finding:
    """Judge whether a direction fixed before the noise is drawn lies in R1SMG's null space.

    The projection of the noise on a unit vector u is sqrt(sigma_*) z t, where z is normal, sigma_*
    is the variance along the random direction, and t is the cosine between u and that direction,
    with t^2 ~ Beta(1/2, (M-1)/2). If u points along the difference of two answers, the event
    E = {projection < s/2} gives delta >= P(E) - e^epsilon Q(E) for the laws P, Q of their releases.
    """
    at = stated_setting(setting)
    size, s = at.query.size, at.query.l2_sensitivity
    epsilon, claimed = at.budget.epsilon, at.budget.delta
    sigma = math.sqrt(2 / epsilon) * s * math.exp(-log_psi(size, claimed) / 2)
    threshold = s / 2 / sigma

    def density(z: float) -> float:
        cosine = min(1.0, (threshold / z) ** 2)
        return 2 * scipy.stats.norm.pdf(z) * scipy.special.betainc(0.5, (size - 1) / 2, cosine)

    inside_null_space = scipy.stats.beta.cdf(0, 0.5, (size - 1) / 2)
    kinks = [threshold, threshold * math.sqrt(size)]
    inside, error = scipy.integrate.quad(density, 0, 40, points=kinks, limit=200)
    delta = (1 + inside) / 2 - math.exp(epsilon) * (1 - inside) / 2 - error
    return Finding(
        parts=(
            statement(
                "a fixed vector is not in the null space",
                inside_null_space == 0,
                f"(probability {inside_null_space:g}); from the noise along a fixed vector "
                f"delta({epsilon:g}) >= {rounded_down(delta, 4)}, claimed {claimed:g}",
            ),
        ),
        detail=(
            f"Count query, M = {size}, s = {s:.4g}: the squared cosine of the random direction "
            "with a fixed one is 1/M on average, so along the difference of two answers the noise "
            f"has standard deviation {sigma / math.sqrt(size):.3g}, against {sigma:.3g} along its "
            "own direction. The bound is that of one event of this projection, by quadrature."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{epsilon:g}"),
    )


@judge
def expected_loss(
    *, deltas: list[Delta], sizes: list[int], draws: Count, tolerance: float
) -> Finding:
    """Judge Theorem 7: E L is the variance sigma_*, and C_R falls with M to 2/epsilon."""
    # C_R epsilon / 2 = 1 / psi, with a row per delta.
    excess = np.exp([[-log_psi(size, delta) for size in sizes] for delta in deltas])
    falls = np.all(np.diff(excess, axis=1) < 0)
    noise = noise_of("r1smg", 10)
    variance = noise.scale**2 / 2
    losses = noise.squared_norms(np.random.default_rng(0), draws) / variance
    error = losses.std(ddof=1) / math.sqrt(len(losses))
    exact = math.isclose(noise.loss().mean, variance, rel_tol=1e-12)
    sampled = abs(losses.mean() - 1) <= 4 * error
    return Finding(
        parts=(
            statement(
                "E L = sigma*:",
                exact and sampled,
                f"sampled {losses.mean():.3g} +- {error:.1g} times it",
            ),
            statement("C_R falls with M,", falls, f"from {excess[:, 0].max():.3g} times 2/epsilon"),
            number(
                f"C_R over 2/epsilon at M = {sizes[-1]:.0g}", excess[:, -1].max(), 1.0, tolerance
            ),
        ),
        detail=(
            f"C_R over 2/epsilon falls at every step of M = {sizes[0]} to "
            f"{sizes[-1]:.0g}, delta {listed_numbers(deltas)}. The mean is "
            "exact and sampled at M = 100. The theorem's range epsilon < 1/M shrinks as M grows, "
            "so no fixed epsilon reaches the limit within it. No mechanism for all answers in R^M "
            "has so little loss (docs/the_limit.md)."
        ),
        calibration="published",
        sizes=Sizes(trials=draws),
    )


@judge
def loss_bound(
    *, mechanism: Literal["gaussian", "gaussian-analytic", "mvg"], shown: str, tolerance: float
) -> Finding:
    """Judge a lower bound C s^2 of Theorem 4 by the expected loss in closed form."""
    ratios, numbers_there = [], ""
    for each in PAPER_SETTINGS:
        query, budget = each.query, each.budget
        if len(query.shape) != 2 or budget.delta == 0:
            continue
        if mechanism == "mvg" and query.frobenius_bound is None:
            continue
        loss = calibrated(mechanism, query, budget).expected_loss()
        _, constant = stated_constant(mechanism, *query.shape, budget.epsilon, budget.delta)
        bound = constant * query.l2_sensitivity**2
        ratios.append(loss / bound)
        if each.name == shown:
            numbers_there = f"E L = {loss:.4g}, bound {bound:.4g} (count query)"
    return Finding(
        parts=(statement("", min(ratios) >= 1 - tolerance, numbers_there),),
        detail=(
            f"Loss over bound is {range_text(f'{min(ratios):.4g}', f'{max(ratios):.4g}')} at "
            f"{len(ratios)} settings of the papers with matrix-valued queries, in closed form. "
            "MVG's loss is that at the gamma of each setting."
        ),
        calibration="published",
    )


@judge
def lower_order(*, sides: list[int], setting: str, others: list[str], tolerance: float) -> Finding:
    """Judge Corollary 1: how the others' loss over R1SMG's grows with M, at both calibrations.

    The stated constants also show whether C_R is of the order of epsilon C_C/M, C_A/M and
    C_M/(MN), in M and in 1/epsilon. If it is, the exponent of each ratio tends to 0.
    """
    budget = stated_setting(setting).budget
    sizes = [side**2 for side in sides]

    def over_r1smg(key: str, calibration: str) -> list[float]:
        return [
            _loss(key, side, budget, calibration) / _loss("r1smg", side, budget, calibration)
            for side in sides
        ]

    powers = {key: power(over_r1smg(key, "published")[-2:], sizes[-2:]) for key in others}
    reverse = 1 / np.array([over_r1smg(key, "exact") for key in others])
    ratios = {key: [_ratio_to_c_r(key, side, budget) for side in sides] for key in others}
    smaller = [budget, replace(budget, epsilon=budget.epsilon / 10)]
    inverse = [1 / each.epsilon for each in smaller]
    in_epsilon = {key: [_ratio_to_c_r(key, sides[-1], each) for each in smaller] for key in others}
    return Finding(
        parts=(
            *(
                statement(
                    f"{mechanism_title(key)} over R1SMG",
                    exponent >= 1 - tolerance,
                    f"grows as M^{exponent:.2f}",
                )
                for key, exponent in powers.items()
            ),
            *(
                _same_order(f"{change}, C_R of the order of {ORDERS[key]}", at[key], *of, tolerance)
                for change, at, *of in (
                    ("as M grows", ratios, "M", sizes),
                    ("as epsilon falls", in_epsilon, "(1/epsilon)", inverse),
                )
                for key in others
            ),
        ),
        detail=(
            f"Closed-form E||noise||^2 at ({budget.epsilon:g}, {budget.delta:g}), l2 sensitivity "
            f"1, M = {listed(map(str, sizes))}; the exponent is that between the last two. MVG "
            "with gamma = 1, which the paper leaves open. At the exact calibration every noise is "
            "rescaled until its true delta is the claimed one: R1SMG's loss is then "
            f"{reverse.min():.2g} to {reverse.max():.2g} times theirs. C_M/(MN) over C_R at these "
            f"M: {listed(f'{ratio:.3g}' for ratio in ratios['mvg'])}; H_(r,1/2) in C_M grows as 2 "
            "sqrt(r), r the smaller side. The exponent of 1/epsilon is that down to a tenth of "
            "epsilon, at the largest M."
        ),
        calibration="both",
        sizes=Sizes(epsilons=f"{budget.epsilon:g}"),
    )


# The orders in Corollary 1, as the paper writes them.
ORDERS = {
    "gaussian": "epsilon C_C/M",
    "gaussian-analytic": "C_A/M",
    "mvg": "C_M/(MN)",
}


def _ratio_to_c_r(key: str, side: int, budget: Budget) -> float:
    """Return the order that the paper states for C_R over C_R itself, for side x side answers."""
    at = (side, side, budget.epsilon, budget.delta)
    constant = stated_constant(key, *at)[1] * (budget.epsilon if key == "gaussian" else 1.0)
    return constant / side**2 / stated_constant("r1smg", *at)[1]


def _same_order(
    name: str, ratios: list[float], of: str, values: list[float], tolerance: float
) -> Part:
    """Judge whether a stated order over C_R stays the same between the last two values."""
    exponent = power(ratios[-2:], values[-2:])
    return statement(
        f"{name}:",
        abs(exponent) <= tolerance,
        f"over C_R it grows as {of}^{0.0 if abs(exponent) < 5e-3 else exponent:.2f}",
    )


def _loss(key: str, side: int, budget: Budget, calibration: str) -> float:
    query = family_query("fixed-sensitivity", (side, side))
    return calibrated(key, query, budget, calibration).expected_loss()


# The smallest number of elements that R1SMG's theorem allows.
SMALLEST = 3


@judge
def angle_bound(*, sizes: list[int], angles: Count) -> Finding:
    """Judge Lemma 2 by the exact probability of |theta - pi/2| >= theta_0 on a grid of theta_0.

    For random directions in P dimensions, cos^2 theta has the law Beta(1/2, (P - 1)/2), and the
    event is |cos theta| >= sin theta_0.

    Args:
        sizes: The dimensions P.
        angles: The number of angles theta_0 in [0, pi/2).
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
    all_options = {
        "gaussian": {},
        "gaussian-analytic": {},
        "mvg": {"precision": uneven / uneven.sum()},
    }
    parts = []
    for key, options in all_options.items():
        noise = noise_of(key, side, **options)
        draws = noise.sample(np.random.default_rng(0), 4000).reshape(4000, -1)
        eigenvalues = np.linalg.eigvalsh(np.cov(draws, rowvar=False))
        ratio = eigenvalues.sum() / noise.loss().mean
        parts.append(number(f"{key}, sampled trace over E L", ratio, 1.0, tolerance))
        parts.append(statement(f"{key}, all eigenvalues positive", eigenvalues.min() > 0))
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
        spreads = [relative_spread(name, side) for name in ("r1smg", key)]
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
def squared_sensitivity(*, cells: Count, stated: float, tolerance: float) -> Finding:
    """Judge the largest ||f(x) - f(x')||^2 over all neighbours, which differ in one pickup."""
    one_pickup = np.eye(cells)
    adjacencies = {
        "one pickup is replaced": [one - other for one in one_pickup for other in one_pickup],
        "one pickup is added or removed": one_pickup,
    }
    outcomes = []
    for choice, changes in adjacencies.items():
        largest = max(np.sum(change**2) for change in changes)
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
