"""A mechanism as the noise of one step of a run with a total budget.

Published ways to calibrate are not the same:

- DPSGD of Abadi et al. 2016: Gaussian noise whose multiplier makes the total epsilon of all steps,
  by Renyi DP, the budget's: `MomentsAccountant`. r1smg2024's study means this by Gaussian noise.
- r1smg2024 eq. (16), made for R1SMG: strong composition gives every step a budget of its own. All
  other mechanisms are calibrated to that one.
- imgm2022 Section 5: a share of the budget by Theorem 3.4 of Kairouz, Oh and Viswanath, amplified
  by sampling as (epsilon / q, delta / q).

At the exact calibration the noise of any of them is rescaled until the total delta at epsilon, bounded
from above by `SampledRun`, is the budget's: all mechanisms then have one true budget for the run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import MappingProxyType

from experiments.contract.study import Variant
from learning.releases.joint_calibration import rescaled
from mechanisms import (
    AdditiveMechanism,
    Budget,
    Mechanism,
    Query,
    Unsupported,
)
from mechanisms.accounting import kairouz
from mechanisms.accounting.poisson_sampling import SampledRun, step_budget
from mechanisms.gaussian import ClassicGaussian
from mechanisms.moments_accountant import MomentsAccountant
from mechanisms.profiles.profile import PrivacyProfile


@dataclass(frozen=True, kw_only=True)
class Steps(ABC):
    """The steps of a run: sampling rate q and their number; what a paper leaves to each of them."""

    rate: float
    steps: int

    @abstractmethod
    def step_budget(self, total: Budget) -> Budget:
        """What is left to one release on all records that were sampled.

        Raises:
            Unsupported: It is no budget.
        """

    @abstractmethod
    def accounted(self, mechanism: type[Mechanism]) -> bool:
        """Whether its noise comes from the total by Renyi DP, not from the step's budget."""

    def run(self, profile: PrivacyProfile) -> SampledRun:
        """All steps with noise of this profile."""
        return SampledRun(step=profile, rate=self.rate, steps=self.steps)


@dataclass(frozen=True, kw_only=True)
class Schedule(Steps):
    """r1smg2024's: its epochs, and delta' of eq. (16)."""

    epochs: int
    slack: float

    def step_budget(self, total: Budget) -> Budget:
        """What eq. (16) leaves to one step."""
        args = (total.epsilon, total.delta, self.rate, self.epochs, self.slack)
        epsilon, delta = step_budget(*args)
        return Budget(epsilon=epsilon, delta=delta)

    def accounted(self, mechanism: type[Mechanism]) -> bool:
        """The classic Gaussian stands for DPSGD."""
        return mechanism in (ClassicGaussian, MomentsAccountant)


@dataclass(frozen=True, kw_only=True)
class AmplifiedShares(Steps):
    """imgm2022's: Theorem 3.4 of Kairouz, Oh and Viswanath, and amplification to first order.

    A step on a sample of rate q that is (e, d)-DP on it counts as (q e, q d)-DP, as the paper has
    it from Bassily et al. 2014. It is ln(1 + q (exp(e) - 1)) in truth, which is larger.
    """

    def step_budget(self, total: Budget) -> Budget:
        """The share of one step over q."""
        each = kairouz.share(total, self.steps)
        return amplified(each, self.rate)

    def accounted(self, mechanism: type[Mechanism]) -> bool:
        """The moments accountant is a mechanism of its own beside the classic Gaussian."""
        return mechanism is MomentsAccountant


def amplified(budget: Budget, rate: float) -> Budget:
    """(epsilon / q, delta / q), which imgm2022 takes a sample of rate q to be worth.

    Raises:
        Unsupported: delta / q is 1 or more: nothing would be left to protect.
    """
    if budget.delta >= rate:
        raise Unsupported(
            f"has no budget: delta {budget.delta:g} over the sampling rate {rate:g} is at least 1"
        )
    return Budget(epsilon=budget.epsilon / rate, delta=budget.delta / rate)


def calibrated(
    variant: Variant, query: Query, total: Budget, schedule: Steps, calibration: str
) -> Mechanism:
    """The mechanism that releases every step's gradient; see the head of this module.

    Raises:
        Unsupported: As `Mechanism.calibrate` does; or no exact calibration: the mechanism adds no
            noise, its profile is not exactly known, or no scale reaches the budget.
    """
    if schedule.accounted(variant.mechanism):
        published = _accounted(variant, query, total, schedule)
    else:
        budget = schedule.step_budget(total)
        published = variant.mechanism.calibrate(query, budget, "published", **variant.options)
    if calibration == "published":
        return published
    profile = step_profile(published)
    return rescaled([published], None if profile is None else schedule.run(profile), total)[0]


def _accounted(variant: Variant, query: Query, total: Budget, schedule: Steps) -> AdditiveMechanism:
    """The accountant's noise under the name of the variant; its `budget` is that of the run."""
    settings = {"rate": schedule.rate, "steps": schedule.steps}
    noise = MomentsAccountant.noise_for(query, total, **settings)
    return variant.mechanism(
        query=query, budget=total, settings=MappingProxyType(settings), noise=noise
    )


def step_profile(mechanism: Mechanism) -> PrivacyProfile | None:
    """Of a single release; a mechanism's own profile may be that of several."""
    if isinstance(mechanism, AdditiveMechanism):
        return mechanism.noise.profile(mechanism.query)
    return mechanism.profile()
