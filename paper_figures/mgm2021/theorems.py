"""Judge mgm2021's theorems, lemmas and costs, in closed form and by solvers.

The judges read no study's rows. They cover the text on MVG's condition, the bounds and the exact
entries of Table 4, Theorem 6, Lemma 1, eqs. (24) to (26), (28), (30) and (31), and the matrix
mechanism: its seconds, where it applies, and where it equals the paper's Gaussian mechanism. The
claims of (epsilon, delta)-DP (Theorems 1 to 3) are judged in claims/guarantee.py.
"""

import math
import timeit
from collections.abc import Callable
from typing import Literal

import numpy as np

from claims.comparisons import confirm_or_leave_open, number, statement, universal
from claims.judged_rows import calibrated
from claims.judges import Count, Delta, Epsilon, Positive, Shape, judge
from claims.matrix_formulas import inequality
from claims.verdicts import Finding, Outcome, Part
from datasets.titles import dataset_title
from mechanisms import Budget, Query
from mechanisms.catalogue.gaussian import classic_multiplier
from mechanisms.catalogue.mgm import frobenius_bound, optimal_variances
from mechanisms.catalogue.mvg import harmonic, precision_bound
from mechanisms.query.box_query import box_query
from mechanisms.query.words import rounded_up
from mechanisms.strategies.optimal_strategy import sdp_strategy
from paper_figures.power_law import power
from paper_figures.selections import outcome_fields
from papers import mgm2021


@judge
def mvg_right_hand_side(*, tolerance: float) -> Finding:
    """Judge the bound of eq. (28) over the bound of eq. (27), in units of H_r^2.

    H_r is the harmonic number of the smaller side. The settings are those of Table 2 at epsilon 1,
    and the features of Table 3 at the smallest and the largest epsilon of Figure 3.
    """
    cases = {
        dataset_title(setting.name.removeprefix("mgm2021-")): (setting.query, setting.budget)
        for setting in mgm2021.SETTINGS
    }
    for dataset, shape in mgm2021.FEATURES.items():
        for epsilon in mgm2021.VERTICAL_EPSILONS:
            budget = Budget(epsilon=epsilon, delta=mgm2021.DELTA)
            cases[f"features of {dataset_title(dataset)}, epsilon {epsilon}"] = (
                box_query(shape, -1.0, 1.0),
                budget,
            )
    return Finding(
        parts=[
            number(f"{words}, over H_r^2:", _bound_ratio(*at), 1.0, tolerance)
            for words, at in cases.items()
        ],
        detail=(
            "At the four shapes of Table 2, epsilon 1, and at those of Table 3, without "
            "amplification by sampling; delta 1e-5, gamma = s/2, zeta with the square root."
        ),
        calibration="published",
    )


def _bound_ratio(query: Query, budget: Budget) -> float:
    """Return MGM's bound over MVG's in units of H_r^2, both as bounds on the norms in eq. (28)."""
    scale = math.sqrt(query.size) * harmonic(min(query.shape)) ** 2
    return frobenius_bound(query, budget) / precision_bound(query, budget, "sqrt") / scale


@judge
def singular_values(*, shape: Shape, bound: float, draws: Count, tolerance: float) -> Finding:
    """Judge eqs. (25) and (26) by a geometric program with random weights P."""
    import cvxpy

    m, n = shape
    rng = np.random.default_rng(0)
    gaps, slacks = [], []
    for _ in range(draws):
        rows, columns = rng.gamma(2.0, size=m), rng.gamma(2.0, size=n)
        variances = np.outer(optimal_variances(rows, bound), optimal_variances(columns, 1.0))
        ours = float(np.sum(np.outer(rows, columns) * variances))
        slacks.append(abs(float(np.sum(1 / variances)) / bound - 1))
        x, y = cvxpy.Variable(m, pos=True), cvxpy.Variable(n, pos=True)
        problem = cvxpy.Problem(
            cvxpy.Minimize((rows @ x) * (columns @ y)),
            [cvxpy.sum(cvxpy.inv_pos(x)) * cvxpy.sum(cvxpy.inv_pos(y)) <= bound],
        )
        problem.solve(gp=True, solver="CLARABEL")
        gaps.append(abs(ours / float(problem.value) - 1))
    optimal = max(gaps) <= tolerance and max(slacks) <= 1e-9
    found = f"objective differs from the solver's by {max(gaps):.1g} (relative)"
    return Finding(
        parts=(statement("", optimal, found),),
        detail=(
            f"{len(gaps)} random weights for a {m}x{n} query, B = {bound:g}, against CVXPY's "
            f"geometric program; the condition is met with equality to {max(slacks):.1g}. Eq. (25) "
            "has B under the root in our copy, which does not give eq. (26) and breaks the "
            "condition where B < 1: the reading that gives eq. (26) is judged."
        ),
    )


@judge
def beats_gaussian(
    *,
    shapes: list[Shape],
    epsilon: Epsilon,
    delta: Delta,
    beside: dict[str, str],
    tolerance: float,
) -> Finding:
    """Judge IDN's expected error against that of Table 4's Gaussian, and report other readings.

    The settings are the gradient shapes and clip values of Table 2. "The same order" is judged by
    the power of mn with which the ratio grows between the two `shapes`. "Less if optimised" is
    judged by the best case: for any workload with weights P_i, the optimised noise has at least 1/m
    of the error of isotropic noise, because (sum sqrt(P_i))^2 >= sum P_i.
    """
    budget = Budget(epsilon=epsilon, delta=delta)
    growing = [box_query(shape, -1.0, 1.0) for shape in shapes]

    def ratio(name: str, query: Query, at: Budget) -> float:
        return GAUSSIAN_LOSSES[name](query, at) / calibrated("idn", query, at).expected_loss()

    # The ratios at the settings of Table 2, and the powers of mn with which they grow.
    ratios = {
        name: np.array([ratio(name, s.query, s.budget) for s in mgm2021.SETTINGS])
        for name in ("composed", *beside)
    }
    powers = {
        name: power([ratio(name, query, budget) for query in growing], [q.size for q in growing])
        for name in ratios
    }
    over, order = ratios["composed"], powers["composed"]
    best = over * [s.query.shape[0] for s in mgm2021.SETTINGS]
    others = [
        f"{words} has {1 / ratios[key].max():.3g} to {1 / ratios[key].min():.3g} times less error "
        f"than isotropic IDN, and the ratio of IDN's to its error grows as (mn)^{-powers[key]:.2f}"
        for key, words in beside.items()
    ]
    return Finding(
        parts=(
            statement(
                "the same order",
                abs(order) <= tolerance,
                f"Gaussian over IDN grows as (mn)^{order:.2f}",
            ),
            statement(
                "less error of IDN if optimised",
                best.min() > 1,
                f"Gaussian over IDN {over.min():.3g} to {over.max():.3g}; at best "
                f"{best.min():.3g} to {best.max():.3g} with the best workload",
            ),
        ),
        detail=(
            "Ratios of E||Z||^2 at the four gradient shapes and clip values of Table 2, claimed "
            "budget (1, 1e-5), elements in [-C, C], l2 sensitivity 2 C sqrt(mn). The Gaussian is "
            "that of Table 4: each element gets (epsilon, delta) / mn. Others: "
            f"{'; '.join(others)}."
        ),
        calibration="published",
    )


# E||Z||^2 of the classic Gaussian under each reading of Section 8.2.
# "literal" spends the whole budget on every element.
GAUSSIAN_LOSSES: dict[str, Callable[[Query, Budget], float]] = {
    "composed": lambda query, budget: calibrated(
        "gaussian-per-element", query, budget
    ).expected_loss(),
    "whole": lambda query, budget: calibrated("gaussian", query, budget).expected_loss(),
    "literal": lambda query, budget: (
        query.size * (query.linf_sensitivity * classic_multiplier(budget)) ** 2
    ),
}


@judge
def amplification(*, budgets: list[tuple[Epsilon, Epsilon]], tolerance: float) -> Finding:
    """Judge Theorem 6 by the worst mechanisms with two outputs, over a grid.

    A is epsilon*-DP between a record and its absence, so that two values of the record are up to
    2 epsilon* apart. B runs A on a sample that has the record with probability q. Let A's output
    have the probability p0 if the record is absent, and p1 and p2 for two values of the record.
    The ratio of B's probabilities is ((1 - q) p0 + q p1) / ((1 - q) p0 + q p2).
    """
    ratios = []
    for before, after in budgets:
        growth = math.exp(before)
        rate = math.expm1(after) / (growth + math.exp(after) - math.exp(after - before) - 1)
        absent = np.geomspace(1e-12, 1 - 1e-12, 100_000)
        most = np.minimum(growth * absent, 1 - (1 - absent) / growth)
        least = np.maximum(absent / growth, 1 - growth * (1 - absent))
        ratio = ((1 - rate) * absent + rate * most) / ((1 - rate) * absent + rate * least)
        ratios.append(math.log(ratio.max()) / after)
    away = rounded_up(max(abs(ratio - 1) for ratio in ratios), 1)
    found = f"the worst mechanism's epsilon equals epsilon, up to {away} (relative)"
    return Finding(
        parts=[statement("B is epsilon-DP:", max(ratios) <= 1 + tolerance, found)],
        detail=(
            f"{len(ratios)} pairs of epsilon* and epsilon. The formula is tight where the worst "
            "mechanism attains epsilon. Adjacency: epsilon* compares a record with its absence, "
            "and epsilon one value of a record with another."
        ),
    )


# The multiplications of lines 3 to 8 of Algorithm 1 for an m x n answer, by the kind of workloads:
# the weights P from W1 W_U1 and W2 W_U2, and the products of singular values.
CLOSED_FORM_COSTS: dict[str, Callable[[int, int], int]] = {
    # The columns of orthogonal directions have norm 1, so P is all ones.
    "identity": lambda m, n: m * n,
    # W1 has m rows, and W2 has n.
    "dense": lambda m, n: m**3 + n**3 + m * n,
}


@judge
def closed_form_cost(
    *, rows: int, columns: tuple[int, int], inputs: dict[str, str], tolerance: float
) -> Finding:
    """Judge Section 7.1: the closed form takes O(m n^2), and less than the matrix mechanism.

    Multiplications are counted. The power of n is taken at fixed m, and that of m at fixed n.
    """
    wide, tall = [(rows, n) for n in columns], [(m, rows) for m in columns]
    parts = []
    for key, words in inputs.items():
        count = CLOSED_FORM_COSTS[key]
        over_n, over_m = (power([count(m, n) for m, n in kind], columns) for kind in (wide, tall))
        below = all(count(m, n) < m**4 * (m + n) ** 4 for m, n in (*wide, *tall))
        parts += [
            statement(f"O(m n^2) for m < n, {words}:", over_n <= 2 + tolerance, f"n^{over_n:.2f}"),
            statement(f"O(m n^2) for m > n, {words}:", over_m <= 1 + tolerance, f"m^{over_m:.2f}"),
            statement(f"fewer than the matrix mechanism's, {words}", below),
        ]
    return Finding(
        parts=parts,
        detail=(
            "Multiplications of lines 3 to 8 of Algorithm 1: the weights from W1 W_U1 and W2 W_U2, "
            "and the products of singular values. The matrix mechanism's count is the paper's "
            "O(m^4 (m + n)^4) for its semidefinite program."
        ),
    )


@judge
def norm_inequality(*, shapes: list[Shape], draws: Count) -> Finding:
    """Judge Lemma 1, ||U1 Y U2||_F <= ||Y||_F ||U1||_F ||U2||_F, by random matrices."""

    def ratio(rng: np.random.Generator, m: int, n: int) -> float:
        u1, y, u2 = (rng.normal(size=size) for size in ((m, m), (m, n), (n, n)))
        bound = math.prod(np.linalg.norm(each) for each in (y, u1, u2))
        return np.linalg.norm(u1 @ y @ u2) / bound

    return inequality(ratio, shapes, draws, "The Frobenius norm is submultiplicative.")


@judge
def exact_entries(
    *, shape: Shape, epsilon: Epsilon, delta: Delta, draws: Count, tolerance: float
) -> Finding:
    """Judge Table 4: E||Z||^2 of isotropic noise (Type I) and of the best diagonal noise (Type II).

    The bounds limit ||U1^-1||_F^2 at U2 = I. UDN's bound is the B of Theorem 1, and IDN's is m
    times that, by Sections 5.1 and 5.2. Type II minimises n sum_i P_i a_i^2 over the standard
    deviations a_i of the rows, subject to sum_i a_i^-2 <= B.
    """
    m, n = shape
    query, budget = box_query(shape, -1.0, 1.0), Budget(epsilon=epsilon, delta=delta)
    base = frobenius_bound(query, budget)
    bounds = {"udn": base, "idn": m * base}
    parts = []
    for key, bound in bounds.items():
        over = loss_on_box(key, shape, budget) * bound / (m * m * n)
        parts.append(number(f"Type I, {key.upper()} over m^2 n / B", over, 1, tolerance))
    every = loss_on_box("gaussian-per-element", shape, budget)
    single = Budget(epsilon=epsilon / query.size, delta=delta / query.size)
    alone = loss_on_box("gaussian", (1,), single)
    parts.append(number("Gaussian over mn sigma^2", every / (query.size * alone), 1, tolerance))
    parts.append(_type_2(m, n, bounds["idn"], draws, tolerance))
    return Finding(
        parts=parts,
        detail=(
            f"{m}x{n} in [-1, 1], epsilon {epsilon:g}, delta {delta:g}. The Gaussian is on each "
            f"element with basic composition. Type II against {draws} random row deviations that "
            "spend the bound, and the closed form's own. MVG's entry is judged by its growth "
            "(mgm-t4-orders): the paper does not define B_MVG."
        ),
        calibration="published",
    )


def _type_2(m: int, n: int, bound: float, draws: int, tolerance: float) -> Part:
    """Judge whether n (sum sqrt(P_i))^2 / B is the least weighted error, and is attained."""
    rng = np.random.default_rng(0)
    weights = rng.lognormal(size=(draws, m))
    roots = np.sqrt(weights)
    totals = roots.sum(axis=1, keepdims=True)
    # These are precisions a_i^-2 that spend the bound: random ones, and those of the closed form.
    random, best = rng.dirichlet(np.ones(m), draws) * bound, roots / totals * bound
    stated = n * totals[:, 0] ** 2 / bound
    over, least = (n * np.sum(weights / each, axis=1) / stated for each in (random, best))
    cases = [*(over >= 1 - tolerance), *(abs(least - 1) <= tolerance)]
    return universal("Type II, the entry is the minimum", cases)


@judge
def condition_in_the_norms_of_mvg(*, shapes: list[Shape], draws: Count) -> Finding:
    """Judge eq. (28): if it holds for the precisions, so does the condition of Theorem 1.

    Eq. (28) bounds the product of the l2 norms of the factors' precisions by B / sqrt(mn). The
    condition bounds the product of their sums, ||U1^-1||_F^2 ||U2^-1||_F^2, by B.
    """

    def ratio(rng: np.random.Generator, m: int, n: int) -> float:
        spread = rng.uniform(0, 3)
        spectra = [np.exp(spread * rng.normal(size=size)) for size in (m, n)]
        norms = math.prod(np.linalg.norm(each) for each in spectra) * math.sqrt(m * n)
        return math.prod(each.sum() for each in spectra) / norms

    return inequality(ratio, shapes, draws, "The inequality is Cauchy and Schwarz's.")


@judge
def convex_constraint(*, shape: Shape, draws: Count) -> Finding:
    """Judge the convex form of eq. (24): whether the printed g_1, with e^x, is the constraint."""
    rng = np.random.default_rng(0)
    rows, columns = (rng.gamma(2.0, size=(draws, side)) for side in shape)
    # The printed e^x is sigma^2, but the constraint has 1 / sigma^2.
    printed, constraint = (
        np.sum(rows**power, axis=1) * np.sum(columns**power, axis=1) for power in (1, -1)
    )
    equal = np.isclose(printed, constraint)
    return Finding(
        parts=[
            universal("g_1 as printed is the constraint", equal, f"{sum(equal)} of {draws} spectra")
        ],
        detail=(
            f"{draws} random spectra. The printed g_1 has e^x, which is sigma^2; the constraint "
            "has 1 / sigma^2, e^-x. With that sign, eq. (25) and (26) follow (mgm-eq25-optimal)."
        ),
    )


@judge
def solver_seconds(*, shape: Shape, sides: list[int], far: Positive) -> Finding:
    """Judge Table 5: an optimisation in CVXPY takes far longer than a draw of Gaussian noise.

    The workload is the identity, as in the paper's study. Because seconds vary and depend on the
    machine, a part says only whether the ratio is above `far`.
    """
    mechanism = calibrated("gaussian", box_query(shape, -1, 1), Budget(epsilon=0.5, delta=1e-5))
    rng, value = np.random.default_rng(0), np.zeros(shape)
    draw = min(timeit.repeat(lambda: mechanism.release(value, rng), number=1, repeat=20))
    ratios = [
        timeit.timeit(lambda side=side: sdp_strategy(np.eye(side)), number=1) / draw
        for side in sides
    ]
    return Finding(
        parts=[
            statement(
                f"MM far above a draw, {side} x {side}",
                ratio > far,
                f"{far:g} times or {'more' if ratio > far else 'less'}",
            )
            for side, ratio in zip(sides, ratios, strict=True)
        ],
        detail=(
            "Semidefinite program of the identity in CVXPY with Clarabel, timed while it is "
            f"judged, over the least of 20 draws at {shape[0]}x{shape[1]}."
        ),
    )


@judge
def only_for_small_data(*, shapes: dict[str, Shape], memory: Positive | None = None) -> Finding:
    """Judge whether the matrix mechanism cannot be applied to answers on large data sets.

    Args:
        shapes: The shape of the answer, by data set.
        memory: None if the workload is the identity. If the paper leaves the workload open, the
            size in GiB above which the matrix of the optimisation for another workload is too
            large; a smaller matrix decides nothing.
    """
    parts, others = [], []
    for dataset, axes in shapes.items():
        shape, title = "x".join(map(str, axes)), dataset_title(dataset)
        same = same_noise_on_whole(title, axes)
        refused = same.verdict != "confirmed"
        parts.append(statement(f"cannot be applied to {title}, {shape},", refused, same.found))
        size = 8 * math.prod(axes) ** 2 / 2**30
        large = statement(f"too large for {title},", size > (memory or 0), f"{size:.3g} GiB")
        others.append(confirm_or_leave_open(large, "the matrix fits; the optimisation was not run"))
    outcomes = [Outcome(choice="the identity", parts=tuple(parts))]
    if memory:
        outcomes.append(Outcome(choice="any other, by optimisation", parts=tuple(others)))
    return Finding(
        **outcome_fields("the workload", outcomes),
        detail=(
            "With the identity as the workload, the matrix mechanism has a closed form: i.i.d. "
            "noise, the classic Gaussian's. It takes a draw, and no optimisation."
        ),
    )


def loss_on_box(key: str, shape: Shape, budget: Budget, **options) -> float:
    """Return a mechanism's E||Z||^2 as published, for elements in [-1, 1] that may all change."""
    return calibrated(key, box_query(shape, -1.0, 1.0), budget, **options).expected_loss()


# Any budget with epsilon below 1 would do, because both noises depend on it in the same way.
_BUDGET = Budget(epsilon=0.5, delta=1e-5)


def same_noise_on_elements(name: str, shape: Shape) -> Part:
    """Judge whether the matrix mechanism is the Gaussian, both per element.

    Each of the mn elements gets (epsilon, delta) / mn, so that all elements together spend
    (epsilon, delta) by basic composition.
    """
    elements = math.prod(shape)
    share = Budget(epsilon=_BUDGET.epsilon / elements, delta=_BUDGET.delta / elements)
    element = loss_on_box("matrix-mechanism", (1, 1), share)
    return _same(name, elements * element / loss_on_box("gaussian-per-element", shape, _BUDGET))


def same_noise_on_whole(name: str, shape: Shape) -> Part:
    """Judge whether the matrix mechanism is the Gaussian, both on the whole answer."""
    matrix_mechanism = loss_on_box("matrix-mechanism", shape, _BUDGET)
    return _same(name, matrix_mechanism / loss_on_box("gaussian", shape, _BUDGET))


def _same(name: str, ratio: float) -> Part:
    # Rounding alone makes the ratio of equal noise differ from 1.
    return statement(
        name, abs(ratio - 1) <= 1e-9, f"the same noise: ratio of expected squares {ratio:.6g}"
    )


@judge
def clipped_uploads(*, tolerance: float) -> Finding:
    """Judge the sensitivity in eq. (30): a record may change every element of a clipped upload."""
    return Finding(
        parts=[
            number(
                dataset_title(setting.name.removeprefix("mgm2021-")),
                _between_corners(setting.query.shape, setting.query.element_range),
                setting.query.l2_sensitivity,
                tolerance,
            )
            for setting in mgm2021.SETTINGS
        ],
        detail=(
            "Uploads are clipped to [-C, C] as a whole, after training on all records: a record "
            "may change every element."
        ),
    )


@judge
def features_of_a_batch(
    *, features: dict[str, Shape], readings: dict[Literal["row", "all"], str], tolerance: float
) -> Finding:
    """Judge the sensitivity in eq. (31): a record changes its row of features, or all features."""
    outcomes = []
    for reading, words in readings.items():
        parts = tuple(
            number(
                dataset_title(dataset),
                _between_corners((1 if reading == "row" else m, n), (-1.0, 1.0)),
                2 * (m * n) ** 0.5,
                tolerance,
            )
            for dataset, (m, n) in features.items()
        )
        outcomes.append(Outcome(choice=words, parts=parts))
    return Finding(choice="what one record changes of the features", outcomes=outcomes)


def _between_corners(shape: tuple[int, ...], limits: tuple[float, float]) -> float:
    """Return the distance between opposite corners of a box of answers."""
    low, high = (np.full(shape, limit) for limit in limits)
    return float(np.linalg.norm(high - low))
