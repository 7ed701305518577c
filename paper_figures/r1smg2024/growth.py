"""How noise grows with the size of the answer: closed forms at large sizes."""

from __future__ import annotations

import math

import numpy as np

from experiments.noise_only import query_for
from mechanisms import Budget
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import calibrated, listed, verdict_on_statement


def power(values: list[float], sizes: list[float]) -> float:
    """The exponent of a power law through two points."""
    return math.log(values[1] / values[0]) / math.log(sizes[1] / sizes[0])


@judge()
def lower_order(claim: Claim, results: Results) -> Finding:
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
    return Finding(
        ours=f"published: loss over R1SMG's grows as {words}; exact: R1SMG needs "
        f"{reverse.min():.2g} to {reverse.max():.2g} times theirs",
        verdict=verdict_on_statement(follows),
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


@judge()
def figure_9(claim: Claim, results: Results) -> Finding:
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
    return Finding(
        ours=f"Gaussians M^{max(slopes):.4g}; R1SMG falls to {max(limits):.6g} times 2/epsilon",
        verdict=verdict_on_statement(linear and falls and reached),
        detail=(
            f"Closed-form E L, l2 sensitivity 1, delta {a['delta']:g}, epsilon "
            f"{listed(f'{e:g}' for e in a['epsilons'])}, M = {sizes[0]} to {sizes[-1]}. On the "
            "exact calibration (noise rescaled until the true delta is the claimed one) the Gaussians "
            f"stay linear, and R1SMG's loss grows as M^{max(exact):.3g} and is "
            f"{min(excess):.2g} to {max(excess):.2g} times theirs at the largest M."
        ),
        calibration="both",
    )
