"""A mechanism as the noise of one step of a run with a total budget.

Two ways to calibrate are published, and they are not the same:

- DPSGD of Abadi et al. 2016: Gaussian noise whose multiplier makes the total epsilon of all steps,
  by Renyi DP, the budget's. Here this is what the classic Gaussian does.
- r1smg2024 eq. (16), made for R1SMG: strong composition gives every step a budget of its own. All
  other mechanisms are calibrated to that one.

On the exact footing the noise of either way is rescaled until the total delta at epsilon, bounded
from above by `SampledRun`, is the budget's: all mechanisms then have one true budget for the run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from experiments.experiment import Variant
from mechanisms import AdditiveMechanism, Budget, Mechanism, Query, Unsupported
from mechanisms.gaussian import ClassicGaussian
from mechanisms.noise import IndependentGaussian
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.sampling import SampledRun, noise_multiplier, step_budget


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The steps of a run: sampling rate q, their number, epochs, and delta' of eq. (16)."""

    rate: float
    steps: int
    epochs: int
    slack: float

    def step_budget(self, total: Budget) -> Budget:
        """What eq. (16) leaves to one step."""
        args = (total.epsilon, total.delta, self.rate, self.epochs, self.slack)
        epsilon, delta = step_budget(*args)
        return Budget(epsilon=epsilon, delta=delta)

    def run(self, profile: PrivacyProfile) -> SampledRun:
        """All steps with noise of this profile."""
        return SampledRun(step=profile, rate=self.rate, steps=self.steps)


def calibrated(
    variant: Variant, query: Query, total: Budget, schedule: Schedule, footing: str
) -> Mechanism:
    """The mechanism that releases every step's gradient; see the head of this module.

    Raises:
        Unsupported: As `Mechanism.calibrate` does; or no exact footing: the mechanism adds no
            noise, its profile is not exactly known, or no scale reaches the budget.
    """
    if variant.mechanism is ClassicGaussian:
        published = _accounted(query, total, schedule)
    else:
        budget = schedule.step_budget(total)
        published = variant.mechanism.calibrate(query, budget, "published", **variant.options)
    if footing == "published":
        return published
    profile = published.profile()
    if profile is None or not isinstance(published, AdditiveMechanism):
        raise Unsupported("adds no noise with an exact profile, so it has no exact footing")
    if slack := published.slack():
        raise Unsupported(f"has no exact footing here: {slack}")
    try:
        factor = schedule.run(profile).scale_factor(total.epsilon, total.delta)
    except ValueError as reason:
        raise Unsupported(f"has no exact footing here: {reason}") from None
    return replace(published, footing="exact", noise=published.noise.scaled(factor))


def _accounted(query: Query, total: Budget, schedule: Schedule) -> ClassicGaussian:
    """Gaussian noise by the accountant of DPSGD; its `budget` is that of the run."""
    multiplier = noise_multiplier(total.epsilon, total.delta, schedule.rate, schedule.steps)
    sigma = multiplier * query.l2_sensitivity
    return ClassicGaussian(
        query=query,
        budget=total,
        settings=MappingProxyType({}),
        noise=IndependentGaussian(shape=query.shape, sigma=sigma),
    )
