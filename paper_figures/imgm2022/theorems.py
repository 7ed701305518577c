"""Judges of imgm2022's theorems, by closed forms and exact profiles.

Only the judge of Theorem 2 reads rows, those of the study guarantee.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import scipy

from claims.comparisons import number, statement, universal
from claims.guarantee import verified
from claims.judged_rows import calibrated, listed, listed_numbers
from claims.judges import Count, Delta, Epsilon, Shape, judge
from claims.matrix_formulas import inequality
from claims.verdicts import Finding
from mechanisms import Budget, Query
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.words import rounded_down
from mechanisms.verification.verification import HOLDS
from paper_figures.power_law import power
from runs.results import Results


@judge(studies=("guarantee",))
def tight_guarantee(results: Results, *, mechanism: str, draws: Count, tolerance: float) -> Finding:
    """Judge Theorem 2: the condition on the smallest singular values is necessary and sufficient.

    At every setting that attains its stated sensitivity, the published noise must have exactly the
    claimed delta. For random U1 and U2 the exact mu over the l2 ball, computed from the Kronecker
    product, must be s over the product of the smallest singular values.
    """
    table = verified(results.rows, mechanism)
    queries = [setting.query for setting in table["setting"]]
    table = table[[query.reach >= query.l2_sensitivity * (1 - 1e-12) for query in queries]]
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
            f"{max(errors):.1g}). The condition is necessary on the l2 ball only: where the "
            "answers also lie in a box, less directional noise can be enough."
        ),
        calibration="both",
    )


@judge
def composition(*, epsilon: Epsilon, delta: Delta, times: list[int], tolerance: float) -> Finding:
    """Judge Theorem 4 for several T by the exact profile and by a convolution of T losses."""
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
        # Singular values are from nearly equal to widely spread.
        values = [np.exp(rng.uniform(0, 3) * rng.random(side)) for side in (m, n)]
        # Scale them to meet Theorem 2 with equality.
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
    approaching = bool(np.all(np.diff(errors) < 0))
    found = f"relative difference {errors[-1]:.1g} at epsilon {epsilons[-1]:g}"
    return Finding(
        parts=(statement("", bool(approaching and errors[-1] <= tolerance), found),),
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

    The paper states it as mn tends to infinity, however the sides grow. So matrices with a fixed
    smaller side are judged as well as square ones with as many elements.
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
    """Judge eq. (52) by the Renyi divergence of IMGM's noise, which is alpha B^2/2.

    Three parts are judged: the equality; the step from it to a bound, which takes eta = B^2/2 as
    at most B/2 and so needs B <= 1; and the bound, from which the paper's RDP guarantee follows.
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
    """Return the expression that eq. (52) equates with the divergence, at B = mu, eta = mu^2/2."""
    eta = mu**2 / 2
    return (2 * orders + 1) * eta / (orders - 1) * np.exp(eta * (orders**2 + orders))


def rdp_bound(orders: np.ndarray, mu: float) -> np.ndarray:
    """Return the last line of eq. (52) at B = mu, the epsilon' of the (alpha, epsilon')-RDP."""
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

    With U1 U1' = Sigma and U2 U2' = Psi, the norm of the singular values of an inverse is at least
    the largest of them. So with MVG's right-hand side P, the product of the least singular values
    of U1 and U2 is at least 1 / sqrt(P), whereas IMGM asks for s / B.
    """
    ratios = {"published": [], "sqrt": []}
    for shape in shapes:
        # gamma is at least s / 2, for answers in a ball of this radius. A larger gamma makes MVG
        # allow less.
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
    """Judge Section 4.2: at a fixed sensitivity, IMGM's variance is the same at all shapes."""
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
