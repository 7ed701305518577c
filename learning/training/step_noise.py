"""The mechanism that releases the gradient of one step, calibrated to the budget of a whole run.

The papers calibrate in three ways:

- DPSGD (Abadi et al. 2016) adds Gaussian noise. `MomentsAccountant` chooses its noise multiplier so
  that the total epsilon of all steps, by Renyi DP, is the budget's. In the study of r1smg2024 the
  classic Gaussian takes its place.
- r1smg2024 eq. (16) splits the total by strong composition, so that every step has a budget. All
  other mechanisms of that study are calibrated to this budget.
- imgm2022 Section 5 gives every step a share of the total by Theorem 3.4 of Kairouz, Oh and
  Viswanath. Its type II study allows (epsilon / q, delta / q) on a sample of rate q.

At the exact calibration the noise is rescaled until the upper bound by `SampledRun` on the total
delta at epsilon is the budget's delta. All mechanisms then have the same bound for the run.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from learning.releases import rescaled
from mechanisms import (
    AdditiveMechanism,
    Budget,
    Mechanism,
    Query,
    Unsupported,
)
from mechanisms.catalogue.gaussian import ClassicGaussian
from mechanisms.catalogue.training.moments_accountant import MomentsAccountant
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.sampling import kairouz
from mechanisms.privacy.sampling.poisson_sampling import SampledRun, step_budget


@dataclass(frozen=True, kw_only=True)
class SampledSteps(ABC):
    """The steps of a run on Poisson samples, and how a paper divides the total budget among them.

    Args:
        rate: Probability q in (0, 1] that a record is in the sample of a step.
        steps: Number of steps of the run.

    Attributes:
        by_renyi: The mechanisms whose noise is set by Renyi accounting of the whole run instead of
            by the budget of a step.
    """

    rate: float
    steps: int
    by_renyi: ClassVar[tuple[type[Mechanism], ...]] = (MomentsAccountant,)

    @abstractmethod
    def step_budget(self, total: Budget) -> Budget:
        """Return the budget of one release, for the records that were sampled.

        Raises:
            Unsupported: The total leaves no budget for a step.
        """

    def run(self, profile: PrivacyProfile | None) -> SampledRun | None:
        """Return all steps together, each with this profile, or None if no bounds are known."""
        if profile is None or not profile.symmetric:
            return None
        return SampledRun(step=profile, rate=self.rate, steps=self.steps)


@dataclass(frozen=True, kw_only=True)
class StrongCompositionSteps(SampledSteps):
    """The steps of r1smg2024, eq. (16).

    Args:
        epochs: Passes over the data, E of the equation.
        slack: delta', the part of delta that strong composition spends.
    """

    epochs: int
    slack: float
    # The classic Gaussian takes the place of the accountant.
    by_renyi: ClassVar[tuple[type[Mechanism], ...]] = (ClassicGaussian, MomentsAccountant)

    def step_budget(self, total: Budget) -> Budget:
        """Return epsilon_0 and delta_0 of eq. (16)."""
        try:
            epsilon, delta = step_budget(
                total.epsilon, total.delta, self.rate, self.epochs, self.slack
            )
        except ValueError:
            raise Unsupported(
                f"has no budget for a step: epsilon {total.epsilon:g} is more than eq. (16) of "
                "r1smg2024 gives where the rate times a step's epsilon is at most 1; lower epsilon"
            ) from None
        return Budget.of_part(epsilon=epsilon, delta=delta)


@dataclass(frozen=True, kw_only=True)
class AmplifiedShares(SampledSteps):
    """The steps of imgm2022: Theorem 3.4 of Kairouz et al. and amplification to first order.

    The paper's type II study, after Bassily et al. 2014, counts a mechanism that is (e, d)-DP on a
    sample of rate q as (q e, q d)-DP. The true epsilon is ln(1 + q (exp(e) - 1)), which is larger.
    """

    def step_budget(self, total: Budget) -> Budget:
        """Return the share of one step, divided by q."""
        each = kairouz.share(total, self.steps)
        return amplified(each, self.rate)


def amplified(budget: Budget, rate: float) -> Budget:
    """Return (epsilon / q, delta / q), the budget that imgm2022 allows on a sample of rate q.

    Raises:
        Unsupported: delta / q is 1 or more, which protects nothing.
    """
    if budget.delta >= rate:
        raise Unsupported(
            f"has no budget: delta {budget.delta:g} over the sampling rate {rate:g} is at least 1"
        )
    return Budget.of_part(epsilon=budget.epsilon / rate, delta=budget.delta / rate)


def step_mechanism(
    mechanism: type[Mechanism],
    published: Callable[[Query, Budget], Mechanism],
    query: Query,
    total: Budget,
    steps: SampledSteps,
    calibration: str,
) -> Mechanism:
    """Return the mechanism that releases the gradient of every step.

    Args:
        mechanism: The class of the mechanism.
        published: Calibrates the mechanism as its source does.
        query: The clipped sum of gradients.
        total: Budget of the whole run.
        steps: The steps of the run, and the budget of each.
        calibration: "published" or "exact"; see the docstring of this module.

    Raises:
        Unsupported: The mechanism refuses the query or the budget of a step, `total` leaves none,
            or there is no exact calibration, because the mechanism adds no noise, its profile is
            not exactly known, or no scale reaches `total`.
    """
    if mechanism in steps.by_renyi:
        # The accountant sets the noise, and the budget is that of the whole run.
        settings = {"rate": steps.rate, "steps": steps.steps}
        noise = MomentsAccountant.noise_for(query, total, **settings)
        found = mechanism(
            query=query, budget=total, settings=MappingProxyType(settings), noise=noise
        )
    elif mechanism.guarantee == "none":
        # Controls need no budget for a step. They may train without clipping, and then the sum has
        # no bound.
        found = replace(published(query, total), query=replace(query, frobenius_bound=None))
    else:
        found = published(query, steps.step_budget(total))
    if calibration == "published":
        return found
    return rescaled([found], steps.run(step_profile(found)), total)[0]


def step_profile(mechanism: Mechanism) -> PrivacyProfile | None:
    """Return the privacy profile of one release; `Mechanism.profile` may cover several."""
    if isinstance(mechanism, AdditiveMechanism):
        return mechanism.noise.profile(mechanism.query)
    return mechanism.profile()
