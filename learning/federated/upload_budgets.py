"""Budgets of uploads that repeat round after round, as in mgm2021 Section 8.2.

Claimed. The total (epsilon, delta) of a run is shared among all its uses (uploaded matrices, over
all rounds) by the composition theorem of Kairouz, Oh and Viswanath. Where a round sees a random
sample of the records, each use's epsilon is the one before sampling by the paper's Theorem 6, which
is stated for pure DP; delta stays unchanged, which is conservative. The paper applies the
composition theorem to MVG, MGM and the matrix mechanism. Here all mechanisms get the same share,
including the paper's Gaussian, which splits it once more over the elements (gaussian-per-element),
as its Table 4 does. Read literally, Section 8.2 gives every element the epsilon of the figure, mn
times as much in total: that Gaussian's noise would be mn times smaller, far below IDN's.

True. All uploads of a round move to opposite corners of their boxes together, so that Gaussian
noise composes over layers and rounds exactly, by mu^2 = sum mu_i^2. `Spent` says how much sampling
the records amplifies; it amplifies nothing where an upload depends on more than its own sample. The
claim is far from this truth. At the exact calibration one factor rescales all noise until the true
total equals the budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from learning.releases.joint_calibration import rescaled
from mechanisms import Budget, Mechanism, Query
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.sampling import kairouz
from mechanisms.privacy.sampling.known_samples import KnownSamplesProfile
from mechanisms.privacy.sampling.poisson_sampling import SampledRun

# Secret samples gain little above this epsilon; composing large losses is skipped there.
_LARGEST_SECRET = 300.0


@dataclass(frozen=True, kw_only=True)
class Uploads:
    """The same uploads in each of `rounds` rounds, each round on a sample of the records.

    Args:
        rounds: Number of rounds, at least 1.
        rate: The probability in (0, 1] that a record is in the sample of a round.
        fresh: Whether an upload depends only on the records of its own sample and on earlier
            uploads. Local models that keep learning from the records themselves carry earlier
            samples into every later upload: then sampling amplifies no true budget.
        composed: Whether the claimed budget is that of the run, shared by composition, or that of
            every single use.
    """

    rounds: int
    rate: float = 1.0
    fresh: bool = True
    composed: bool = True

    @property
    def true_rate(self) -> float:
        """The rate that truly amplifies."""
        return self.rate if self.fresh else 1.0

    def use_budget(self, total: Budget, per_round: int) -> Budget:
        """The budget of one of the `per_round` uploads of a round, before sampling."""
        use = kairouz.share(total, self.rounds * per_round) if self.composed else total
        if self.rate == 1:
            return use
        return replace(use, epsilon=kairouz.before_sampling(use.epsilon, self.rate))

    def calibrate_round(
        self,
        published: Callable[[Query, Budget], Mechanism],
        queries: Sequence[Query],
        total: Budget,
        calibration: str,
    ) -> tuple[Mechanism, ...]:
        """One mechanism per upload of a round, in the order of `queries`.

        Args:
            published: Calibrates the mechanism as its source does.
            calibration: "published" or "exact".

        Raises:
            Unsupported: As `Mechanism.calibrate` does; or there is no exact calibration, because
                the exact total privacy loss is not known or no scale reaches the budget.
        """
        use = self.use_budget(total, len(queries))
        made = {query: published(query, use) for query in dict.fromkeys(queries)}
        found = tuple(made[query] for query in queries)
        if calibration == "published":
            return found
        return rescaled(found, self.spent(found), total)

    def worst_delta(self, profile: PrivacyProfile, epsilon: float) -> float:
        """delta of one fresh upload at epsilon, a lower bound on that of the run."""
        run = SampledRun(step=profile, rate=self.rate, steps=1, adjacency="replace")
        return float(run.step_delta(epsilon).lower)

    def spent(self, mechanisms: Sequence[Mechanism]) -> Spent | None:
        """The true spending of the run, or None where no bounds on it are known."""
        joint = joint_profile([mechanism.profile() for mechanism in mechanisms])
        return Spent(round=joint, uploads=self) if joint is not None and joint.symmetric else None


def joint_profile(profiles: Sequence[PrivacyProfile | None]) -> PrivacyProfile | None:
    """The profile of independent releases whose worst pairs occur together.

    Known for Gaussian noise and for releases with equal profiles; None otherwise.
    """
    if any(profile is None for profile in profiles):
        return None
    if all(isinstance(profile, GaussianProfile) for profile in profiles):
        return GaussianProfile(mu=math.hypot(*(profile.mu for profile in profiles)))
    first = profiles[0]
    if all(profile == first for profile in profiles):
        return first.compose(len(profiles))
    return None


@dataclass(frozen=True)
class Spent:
    """Upper bounds on what a run spends, exact for Gaussian noise that sees all records.

    The least of the bounds that apply: known samples, for Gaussian noise; secret samples
    (`SampledRun`), for other noise, and for Gaussian noise up to `_LARGEST_SECRET`.
    """

    round: PrivacyProfile
    uploads: Uploads

    def delta(self, epsilon: float) -> float:
        """delta of the run at epsilon."""
        found = [float(profile.delta(epsilon).upper) for profile in self._known()]
        return min(found + [run.delta(epsilon) for run in self._secret(epsilon)])

    def epsilon(self, delta: float) -> float:
        """epsilon of the run at delta; inf where no bound reaches delta."""
        known = min(
            [float(profile.epsilon(delta).upper) for profile in self._known()] or [math.inf]
        )
        return min([known] + [run.epsilon(delta) for run in self._secret(known)])

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """The factor on all noise that gives the run delta at epsilon.

        Raises:
            ValueError: No factor reaches it.
        """
        runs = [*self._known(), *self._secret(epsilon)]
        factors, reasons = [], []
        for run in runs:
            try:
                factors.append(run.scale_factor(epsilon, delta))
            except ValueError as reason:
                reasons.append(reason)
        if not factors:
            raise reasons[0]
        return min(factors)

    def _known(self) -> list[PrivacyProfile]:
        rate, steps = self.uploads.true_rate, self.uploads.rounds
        if not isinstance(self.round, GaussianProfile):
            return []
        if rate == 1 or self.round.mu == 0:
            return [self.round.compose(steps)]
        return [KnownSamplesProfile(mu=self.round.mu, rate=rate, steps=steps)]

    def _secret(self, epsilon: float) -> list[SampledRun]:
        """The bound by secret samples, where it may be the better one at epsilon."""
        rate, steps = self.uploads.true_rate, self.uploads.rounds
        gaussian = isinstance(self.round, GaussianProfile)
        if gaussian and (rate == 1 or self.round.mu == 0 or epsilon > _LARGEST_SECRET):
            return []
        return [SampledRun(step=self.round, rate=rate, steps=steps, adjacency="replace")]
