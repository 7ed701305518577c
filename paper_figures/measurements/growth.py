"""How noise grows with the size of the answer: closed forms at large sizes."""

from __future__ import annotations

import math

import numpy as np

from experiments.noise_only import query_for
from mechanisms import Budget, Query
from mechanisms.mvg import precision_bound
from paper_figures.drawings import Results
from paper_figures.judging import calibrated, judge_statement, listed
from paper_figures.ledger import Claim, Measured, measurement


def power(values: list[float], sizes: list[float]) -> float:
    """The exponent of a power law through two points."""
    return math.log(values[1] / values[0]) / math.log(sizes[1] / sizes[0])


@measurement()
def error_orders(claim: Claim, results: Results) -> Measured:
    """mgm2021 Table 4: powers of m and n of E||Z||^2, with elements in [-1, 1] that all change.

    Arguments: rows [m1, m2] and columns [n1, n2] with m2 <= n1, between which the powers are
    taken; entries, {name: {mechanism, options, powers of m and n, log: whether ln^2(m+1) goes
    with them}}; vector, the mechanism that is told besides; epsilon, delta.
    """
    a = claim.arguments
    right, wrong, told = [], [], []
    for name, entry in a["entries"].items():
        found = _powers(entry["mechanism"], a, **entry.get("options", {}))
        if entry.get("log"):
            found[0] -= power([math.log(m + 1) ** 2 for m in a["rows"]], a["rows"])
        agree = np.abs(np.subtract(found, entry["powers"])).max() <= claim.tolerance
        (right if agree else wrong).append(name)
        logarithm = " ln^2(m+1)" if entry.get("log") else ""
        told.append(f"{name} m^{found[0]:.2f} n^{found[1]:.2f}{logarithm}")
    vector = _powers(a["vector"], a)
    return Measured(
        ours="; ".join(told),
        verdict=judge_statement(not wrong),
        detail=(
            f"Slopes of the closed-form E||Z||^2 between m = {a['rows'][0]} and {a['rows'][1]}, n "
            f"= {a['columns'][0]} and {a['columns'][1]}, at ({a['epsilon']:g}, {a['delta']:g}), l2 "
            "sensitivity 2 sqrt(mn). Gaussian is the paper's, per element under basic composition; "
            f"the textbook's vector Gaussian grows as m^{vector[0]:.2f} n^{vector[1]:.2f}. MVG is "
            "isotropic with mgm2021's own zeta: the least noise that mvg2018's Theorem 3 allows, "
            "and a zeta without the square root adds another power of mn. Within "
            f"{claim.tolerance:g} of the stated powers: {listed(right) if right else 'none'}."
        ),
        calibration="published",
    )


def _powers(key: str, a: dict, **options) -> list[float]:
    """The powers of m and of n."""
    budget = Budget(epsilon=a["epsilon"], delta=a["delta"])
    (m1, m2), (n1, n2) = a["rows"], a["columns"]
    corner, taller, wider = (
        calibrated(key, query_for("growing-sensitivity", shape), budget, **options).expected_loss()
        for shape in ((m1, n1), (m2, n1), (m1, n2))
    )
    return [power([corner, taller], a["rows"]), power([corner, wider], a["columns"])]


@measurement()
def mvg_limit(claim: Claim, results: Results) -> Measured:
    """imgm2022 eq. (16): the exponent of mn in MVG's bound, s and gamma fixed.

    Arguments: columns (r is fixed at this), rows [m1, m2]; exponent; epsilon, delta.
    """
    a = claim.arguments
    fixed = [(m, a["columns"]) for m in a["rows"]]
    # The same numbers of elements as squares, where r grows too.
    square = [(math.isqrt(m * n),) * 2 for m, n in fixed]
    exponents = []
    for shapes in (fixed, square):
        bounds = [
            precision_bound(
                Query(shape=shape, l2_sensitivity=1.0, frobenius_bound=1.0),
                Budget(epsilon=a["epsilon"], delta=a["delta"]),
                "published",
            )
            for shape in shapes
        ]
        exponents.append(power(bounds, [math.prod(shape) for shape in shapes]))
    return Measured(
        ours=f"exponent {exponents[0]:.4f} at fixed r, {exponents[1]:.3f} for square shapes",
        verdict=judge_statement(abs(exponents[0] - a["exponent"]) <= claim.tolerance),
        detail=(
            f"mvg2018's right-hand side with its zeta, s = gamma = 1, ({a['epsilon']:g}, "
            f"{a['delta']:g}), between mn = {math.prod(fixed[0]):.1g} and "
            f"{math.prod(fixed[1]):.1g}; r = {a['columns']} for the first exponent. The paper does "
            "not say how r grows, and its Theta leaves H_r out."
        ),
        calibration="published",
    )


@measurement()
def lower_order(claim: Claim, results: Results) -> Measured:
    """r1smg2024 Corollary 1: how the others' loss over R1SMG's grows with M, on both calibrations.

    Arguments: sides (rising), epsilon, delta, others (mechanisms).
    """
    a = claim.arguments
    budget = Budget(epsilon=a["epsilon"], delta=a["delta"])
    sizes = [side**2 for side in a["sides"]]
    powers, exact = {}, {}
    for key in a["others"]:
        ratios = {
            calibration: [
                _loss(key, side, budget, calibration) / _loss("r1smg", side, budget, calibration)
                for side in a["sides"]
            ]
            for calibration in ("published", "exact")
        }
        powers[key] = power(ratios["published"][-2:], sizes[-2:])
        exact[key] = ratios["exact"]
    follows = all(exponent >= 1 - claim.tolerance for exponent in powers.values())
    words = listed(f"{key} M^{exponent:.2f}" for key, exponent in powers.items())
    reverse = 1 / np.array(list(exact.values()))
    return Measured(
        ours=f"published: loss over R1SMG's grows as {words}; exact: R1SMG needs "
        f"{reverse.min():.2g} to {reverse.max():.2g} times theirs",
        verdict=judge_statement(follows),
        detail=(
            f"Closed-form E||noise||^2 at ({a['epsilon']:g}, {a['delta']:g}), l2 sensitivity 1, "
            f"M = {listed(map(str, sizes))}; the exponent is that between the last two. MVG with "
            "gamma = 1, which the paper leaves open. At the exact calibration every noise is rescaled "
            "until its true delta is the claimed one."
        ),
        calibration="both",
    )


def _loss(key: str, side: int, budget: Budget, calibration: str = "published") -> float:
    query = query_for("fixed-sensitivity", (side, side))
    return calibrated(key, query, budget, calibration).expected_loss()


@measurement()
def figure_9(claim: Claim, results: Results) -> Measured:
    """r1smg2024 Figure 9: linear growth of the Gaussians, R1SMG's fall to 2/epsilon.

    Arguments: sides (rising), epsilons, delta, linear (mechanisms).
    """
    a = claim.arguments
    sizes = [side**2 for side in a["sides"]]
    ends = (a["sides"][0], a["sides"][-1])
    slopes, limits, falls, exact, excess = [], [], True, [], []
    for epsilon in a["epsilons"]:
        budget = Budget(epsilon=epsilon, delta=a["delta"])
        for key in a["linear"]:
            losses = [_loss(key, side, budget) for side in a["sides"]]
            slopes.append(power([losses[0], losses[-1]], [sizes[0], sizes[-1]]))
        losses = [_loss("r1smg", side, budget) for side in a["sides"]]
        falls &= bool(np.all(np.diff(losses) < 0))
        limits.append(losses[-1] * epsilon / 2)
        rescaled = [_loss("r1smg", side, budget, "exact") for side in ends]
        exact.append(power(rescaled, [sizes[0], sizes[-1]]))
        excess.append(rescaled[-1] / _loss("gaussian-analytic", ends[-1], budget, "exact"))
    linear = max(abs(slope - 1) for slope in slopes) <= claim.tolerance
    reached = max(abs(limit - 1) for limit in limits) <= claim.tolerance
    return Measured(
        ours=f"Gaussians M^{max(slopes):.4g}; R1SMG falls to {max(limits):.6g} times 2/epsilon",
        verdict=judge_statement(linear and falls and reached),
        detail=(
            f"Closed-form E L, l2 sensitivity 1, delta {a['delta']:g}, epsilon "
            f"{listed(f'{e:g}' for e in a['epsilons'])}, M = {sizes[0]} to {sizes[-1]}. On the "
            "exact calibration (noise rescaled until the true delta is the claimed one) the Gaussians "
            f"stay linear, and R1SMG's loss grows as M^{max(exact):.3g} and is "
            f"{min(excess):.2g} to {max(excess):.2g} times theirs at the largest M."
        ),
        calibration="both",
    )
