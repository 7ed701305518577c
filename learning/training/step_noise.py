"""The mechanism that releases the gradient of one step, calibrated to the budget of a whole run.

The papers calibrate in three ways:

- DPSGD (Abadi et al. 2016) adds Gaussian noise. Its noise multiplier is chosen so that the total
  epsilon of all steps, by Renyi DP, is that of the budget: `MomentsAccountant`. In the study of
  r1smg2024 the classic Gaussian takes its place.
- r1smg2024 eq. (16) splits the total by strong composition, so that every step has a budget. All
  other mechanisms of that study are calibrated to it.
- imgm2022 Section 5 gives every step a share of the total by Theorem 3.4 of Kairouz, Oh and
  Viswanath. Its type II takes sampling at rate q to be worth (epsilon / q, delta / q).

At the exact calibration the noise is rescaled until the total delta at epsilon, bounded from above
by `SampledRun`, is that of the budget. All mechanisms then have the same true budget for the run.
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
        by_renyi: The mechanisms whose noise Renyi accounting of the total sets, in place of the
            budget of a step.
    """

    rate: float
    steps: int
    by_renyi: ClassVar[tuple[type[Mechanism], ...]] = (MomentsAccountant,)

    @abstractmethod
    def step_budget(self, total: Budget) -> Budget:
        """The budget of one release for the records that were sampled.

        Raises:
            Unsupported: The total leaves none.
        """

    def run(self, profile: PrivacyProfile | None) -> SampledRun | None:
        """All steps together, each with noise of this profile; None where no bounds are known."""
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
        """epsilon_0 and delta_0 of eq. (16)."""
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

    The paper's type II study, after Bassily et al. 2014, counts what is (e, d)-DP on a sample of
    rate q as (q e, q d)-DP. The true epsilon is ln(1 + q (exp(e) - 1)), which is larger.
    """

    def step_budget(self, total: Budget) -> Budget:
        """The share of one step, divided by q."""
        each = kairouz.share(total, self.steps)
        return amplified(each, self.rate)


def amplified(budget: Budget, rate: float) -> Budget:
    """(epsilon / q, delta / q), the budget that imgm2022 allows on a sample of rate q.

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
    """The mechanism that releases the gradient of every step.

    Args:
        mechanism: Its class.
        published: Calibrates it as its source does.
        query: The clipped sum of gradients.
        total: Budget of the whole run.
        calibration: "published" or "exact"; see the docstring of this module.

    Raises:
        Unsupported: As `Mechanism.calibrate` does; or there is no exact calibration, because the
            mechanism adds no noise, its profile is not exactly known, or no scale reaches `total`.
    """
    if mechanism in steps.by_renyi:
        # The noise is the accountant's, and the budget that of the run.
        settings = {"rate": steps.rate, "steps": steps.steps}
        noise = MomentsAccountant.noise_for(query, total, **settings)
        found = mechanism(
            query=query, budget=total, settings=MappingProxyType(settings), noise=noise
        )
    elif mechanism.guarantee == "none":
        # Controls need no budget for a step. They may train without clipping: then no bound on the
        # sum holds.
        found = replace(published(query, total), query=replace(query, frobenius_bound=None))
    else:
        found = published(query, steps.step_budget(total))
    if calibration == "published":
        return found
    return rescaled([found], steps.run(step_profile(found)), total)[0]


def step_profile(mechanism: Mechanism) -> PrivacyProfile | None:
    """The profile of a single release; the mechanism's own may be that of several."""
    if isinstance(mechanism, AdditiveMechanism):
        return mechanism.noise.profile(mechanism.query)
    return mechanism.profile()
