"""mixtures2026: the scales that its published code computes, against delta at every shift.

The formulas are written again from the code in Julia. The sensitivity is 1.
"""

import math

import numpy as np
import scipy
from pydantic import BaseModel

from claims.comparisons import universal
from claims.judges import STRICT, Delta, Epsilon, judge
from claims.verdicts import Finding
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.mixtures2026.noise import STEPS, quasi_gaussian

# Where the code looks for the extremes of a density between 0 and 1.
_PLACES = np.linspace(0, 1, 10_001)


class Goal(BaseModel):
    """A budget of one release."""

    model_config = STRICT

    epsilon: Epsilon
    delta: Delta

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})"


@judge
def quasi_gaussian_is_private(*, budgets: list[Goal], tolerance: float) -> Finding:
    """Whether quasi-Gaussian noise is (epsilon, delta)-DP at the larger of the two scales."""
    noises = [
        quasi_gaussian(each.epsilon, quasi_scale(each.epsilon, each.delta)) for each in budgets
    ]
    parts, amplitudes = [], []
    for budget, noise in zip(budgets, noises, strict=True):
        least, most = (bound / budget.delta for bound in noise.bounds(budget.epsilon))
        private = True if most <= 1 + tolerance else None
        parts.append(
            universal(
                str(budget),
                [False if least > 1 + tolerance else private],
                f"true over claimed delta {rounded_down(least, 7)} to {rounded_up(most, 7)}",
            )
        )
        gaussian = math.sqrt(2 / math.pi) / mu_for(budget.epsilon, budget.delta)
        amplitudes.append(f"{noise.amplitude() / gaussian:.2f} at {budget}")
    return Finding(
        parts=parts,
        detail=(
            "The bound below is by an event at one shift. The one above is for all shifts up to 1, "
            f"but for a relative error below 1e-5 from cells of width 1/{STEPS}. E|Z| over that of "
            f"the analytic Gaussian mechanism: {', '.join(amplitudes)}."
        ),
        calibration="published",
    )


def quasi_scale(epsilon: float, delta: float) -> float:
    """sigma of `calibrate_quasi_sigma`: the larger of two roots.

    At the first, delta is that of a half-line at a shift of 1; it is 0 where delta is large. At the
    second, densities between 0 and 1 differ by a factor of e^epsilon.
    """

    def half_line(sigma: float) -> float:
        normal = scipy.special.ndtr
        far, near = normal(-epsilon * sigma - 1 / sigma), normal(-epsilon * sigma + 1 / sigma)
        total = math.exp(epsilon) + 2 * normal(1 / sigma)
        return math.exp(2 * epsilon) * far - near + total * delta

    def ratio(sigma: float) -> float:
        central = epsilon - _PLACES**2 / (2 * sigma**2)
        logs = np.logaddexp(central, -((1 - _PLACES) ** 2) / (2 * sigma**2))
        return float(logs.max() - logs.min()) - epsilon

    first = 0.0
    if math.exp(epsilon) + 2 < 1 / delta:
        most = math.sqrt(2 * (epsilon - math.log(delta))) / epsilon
        first = scipy.optimize.brentq(half_line, 1e-8, most, xtol=1e-14, rtol=1e-14)
    high = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    while ratio(high) > 0:
        high *= 2
    return max(first, scipy.optimize.brentq(ratio, 1e-3, high, xtol=1e-14, rtol=1e-14))
