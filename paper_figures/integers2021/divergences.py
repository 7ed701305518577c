"""integers2021: Renyi divergences of noise of whole numbers, against the bounds of the theorems.

The counts have independent noise, so that the divergence of k counts that change by one is k times
that of one; so are both bounds. The laws are symmetric: both directions have one divergence.
"""

import math

import numpy as np
import scipy

from claims.comparisons import universal
from claims.judges import judge
from claims.verdicts import Finding
from mechanisms.privacy.integer_profile import (
    DiscreteGaussianProfile,
    IntegerShiftProfile,
    SkellamProfile,
)

LAWS = {"discrete-gaussian": DiscreteGaussianProfile, "skellam": SkellamProfile}


def concentrated(order: float, variance: float) -> float:
    """alpha / (2 sigma^2) for one count: 1 / (2 sigma^2)-concentrated DP."""
    return order / (2 * variance)


def skellam(order: float, variance: float) -> float:
    """Of variance v where one count changes by one, so that both sensitivities are 1."""
    second = (2 * order - 1 + 6) / (4 * variance**2)
    return concentrated(order, variance) + min(second, 3 / (2 * variance))


BOUNDS = {"discrete-gaussian": concentrated, "skellam": skellam}


def renyi_divergence(law: IntegerShiftProfile, order: float) -> float:
    """D_alpha(X || X + 1) of a law of whole numbers, alpha > 1, by its sum."""
    # The terms peak alpha below zero at most; the law's tails fall faster than any power.
    reach = math.ceil(40 * law.std + 2 * order) + 400
    logs = law.log_masses(np.arange(-reach - 1.0, reach + 1))
    terms = order * logs[1:] + (1 - order) * logs[:-1]
    return float(scipy.special.logsumexp(terms)) / (order - 1)


@judge
def renyi_bound(
    *, mechanism: str, variances: list[float], orders: list[float], tolerance: float
) -> Finding:
    """Whether the divergence stays within the theorem's bound at every order and variance."""
    law, bound = LAWS[mechanism], BOUNDS[mechanism]
    ratios = {
        (variance, order): renyi_divergence(law(std=math.sqrt(variance)), order)
        / bound(order, variance)
        for variance in variances
        for order in orders
    }
    held = [ratio <= 1 + tolerance for ratio in ratios.values()]
    found = f"{min(ratios.values()):.4g} to {max(ratios.values()):.6g} times the bound"
    return Finding(
        parts=[universal("divergence", held, found)],
        detail=(
            f"Renyi divergences by their sums, at {len(orders)} orders from "
            f"{min(orders):g} to {max(orders):g} and {len(variances)} variances "
            f"from {min(variances):g} to {max(variances):g}: within the bound at "
            f"{sum(held)} of {len(held)}."
        ),
        calibration="published",
    )
