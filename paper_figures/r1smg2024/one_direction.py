"""Noise along one direction, r1smg2024 Section 4 (the "hidden clue") and Property 1: verdicts."""

import math

import numpy as np

from claims.comparisons import statement
from claims.judged_rows import calibrated
from claims.judges import Count, judge
from claims.verdicts import Finding, Outcome, Sizes
from mechanisms import Budget, Query
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.r1smg2024.numbers import setting as stated_setting


@judge
def one_coefficient(*, setting: str) -> Finding:
    """Section 4: Gaussian noise in all directions against its part along one basis vector b_1.

    For a pair of neighbours that differ along b_1 the other coefficients say nothing. For a pair
    that differs along another direction, noise along b_1 alone leaves the difference as it is.
    """
    at = stated_setting(setting)
    query, budget = at.query, at.budget
    whole = calibrated("gaussian-analytic", query, budget)
    scalar = Query(shape=(1,), l2_sensitivity=query.l2_sensitivity, adjacency=query.adjacency)
    single = calibrated("gaussian-analytic", scalar, budget)
    along = single.profile().scaled(whole.noise.sigma / single.noise.sigma)
    deltas = [profile.delta(budget.epsilon).value for profile in (whole.profile(), along)]
    # A difference orthogonal to b_1 shows in the release without any noise.
    bare = 1.0
    # The same variance along one random direction, which is what R1SMG makes of it.
    rank_one = calibrated("r1smg", query, budget)
    factor = whole.noise.sigma / (rank_one.noise.scale / math.sqrt(2))
    secret = rank_one.profile().scaled(factor).delta(budget.epsilon).lower
    return Finding(
        parts=(
            statement(
                "for neighbours that differ along b_1:",
                math.isclose(*deltas, rel_tol=1e-9),
                f"delta({budget.epsilon:g}) = {deltas[1]:.4g}, with all directions {deltas[0]:.4g}",
            ),
            statement(
                "for all neighbours:",
                bare <= budget.delta,
                f"delta({budget.epsilon:g}) = {bare:g} where they differ in another direction",
            ),
        ),
        detail=(
            f"Gaussian noise of standard deviation {whole.noise.sigma:.4g} in every direction, "
            f"calibrated to ({budget.epsilon:g}, {budget.delta:g}) on the count query, against "
            "noise of that size along b_1 alone. Differences of neighbours lie in many directions, "
            "and b_1 cannot be parallel to all of them. Along one random secret direction instead, "
            f"as in R1SMG, noise of that size has delta >= {rounded_down(secret)}."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{budget.epsilon:g}"),
    )


@judge
def required_noise(*, setting: str, sizes: tuple[Count, Count]) -> Finding:
    """Property 1: whether the noise that (epsilon, delta)-DP needs can stay the same as M grows.

    The paper derives the property from R1SMG, which it states for every query, and explains it by
    elements that depend on each other, with which it is possible. Both readings are outcomes: a
    query that refutes the property for all, and one that shows it possible.
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
    """E||noise||^2 that is enough where all differences are multiples of (1, ..., 1), of norm 1.

    Every element has the same number, as where one query is asked `size` times. The noise is that
    of the analytic Gaussian for the scalar product with the direction, times the direction: what it
    releases is that scalar and nothing else.
    """
    direction = np.full(size, 1 / math.sqrt(size))
    scalar = Query(shape=(1,), l2_sensitivity=float(np.linalg.norm(direction)))
    spread = calibrated("gaussian-analytic", scalar, budget).noise.sigma * direction
    return float(np.sum(spread**2))


def least_variance(budget: Budget) -> float:
    """Lower bound on the variance of scalar noise that is DP for shifts by 1.

    A shift by k is (k epsilon, delta_k)-DP, so that the noise Z and Z + k have total variation
    distance at most t = (e^(k epsilon) - 1 + 2 delta_k)/(e^(k epsilon) + 1). The events
    |Z - E Z| < k/2 and |Z + k - E Z| < k/2 exclude each other, and their probabilities differ by at
    most t: the first has probability at most (1 + t)/2, and Chebyshev gives the bound.
    """
    shifts = np.unique(np.geomspace(1, 10 / budget.epsilon, 400).round())
    grown = np.expm1(shifts * budget.epsilon)
    delta = budget.delta * grown / math.expm1(budget.epsilon)
    distance = np.minimum(1.0, (grown + 2 * delta) / (grown + 2))
    return float(np.max(shifts**2 * (1 - distance) / 8))
