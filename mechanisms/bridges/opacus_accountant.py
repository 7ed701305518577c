"""An accountant of opacus for any noise, together with other releases of the same records."""

from collections.abc import Callable, Iterable

from opacus.accountants import IAccountant
from opacus.optimizers import DPOptimizer

from mechanisms.plans.plan import Entry, Release, compose
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import PrivacyProfile


class ProfileAccountant(IAccountant):
    """Steps on Poisson samples by the profile of their noise, one record added or removed.

    Gaussian noise counts by its noise multiplier, and the noise of a `MechanismOptimizer` by the
    profile of its mechanism.

    others: Further releases of the records, as in `mechanisms.plans.plan.compose`.
    """

    def __init__(self, others: Iterable[Entry] = ()) -> None:
        # Profile, sample rate and number of steps, as opacus keeps noise multipliers.
        self.history: list[tuple[PrivacyProfile, float, int]] = []
        self._others = tuple(others)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count one step with Gaussian noise of this multiplier, > 0."""
        self.add(GaussianProfile(mu=1 / noise_multiplier), sample_rate)

    def add(self, profile: PrivacyProfile, sample_rate: float) -> None:
        """Count one step with the noise of a profile."""
        steps = 0
        if self.history and self.history[-1][:2] == (profile, sample_rate):
            steps = self.history.pop()[2]
        self.history.append((profile, sample_rate, steps + 1))

    def get_epsilon(self, delta: float) -> float:
        """The upper bound of epsilon of all steps and the other releases; 0 before the first."""
        steps = [Release(of=profile, rate=rate, times=n) for profile, rate, n in self.history]
        entries = [*steps, *self._others]
        return float(compose(entries).epsilon(delta).upper) if entries else 0.0

    def __len__(self) -> int:
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        return "profile"

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[DPOptimizer], None]:
        """As opacus' own; a `MechanismOptimizer` takes it for all its noise."""

        def hook(optimizer: DPOptimizer) -> None:
            mechanism = getattr(optimizer, "mechanism", None)
            rate = sample_rate * optimizer.accumulated_iterations
            if mechanism is None:
                self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=rate)
            else:
                self.add(Release(of=mechanism).profile, rate)

        hook.any_noise = True
        return hook
