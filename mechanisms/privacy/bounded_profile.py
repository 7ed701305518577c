"""The profile of a worst pair that is not known: bounds that enclose it."""

from dataclasses import dataclass, field, replace

import numpy as np

from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count

# Relative rounding within which an attained loss is the largest.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class BoundedProfile(PrivacyProfile):
    """A worst pair between two profiles: at most `above` and at least `below` at every epsilon.

    Such bounds arise where a release is computed from measurements (post-processing), or where
    the worst change of the answer is not known. The value reported is that of `above`. Sampled
    losses are those of `above` too: a pair that may belong to no two data sets.

    Its upper bound can prove a claim and its lower bound refute one. It has no exact calibration
    unless delta is 0 and the largest loss is known.

    Args:
        above: Dominates every pair of neighbours.
        below: Profile of some pair of neighbours; None where none is known: delta >= 0 then.
        attained_loss: Pairs of neighbours have losses up to this one, or arbitrarily close to it;
            >= 0. Noise multiplied by a factor divides it by that factor, as with Laplace noise.
            The loss that `below` attains need not be stated.
        slack: Why the worst pair is not known, as in `PrivacyProfile`.
    """

    above: PrivacyProfile
    below: PrivacyProfile | None = None
    attained_loss: float = 0.0
    slack: str = field()

    @property
    def calibrated_curve(self) -> str:
        """As that of `above`."""
        return self.above.calibrated_curve

    @property
    def largest_loss(self) -> float:
        return self.above.largest_loss

    @property
    def symmetric(self) -> bool:
        """As that of `above`."""
        return self.above.symmetric

    @property
    def attains_largest_loss(self) -> bool:
        return self._attained >= self.largest_loss * (1 - _ROUNDING)

    @property
    def _attained(self) -> float:
        known = self.below and self.below.attains_largest_loss
        return max(self.attained_loss, self.below.largest_loss if known else 0.0)

    def compose(self, times: int) -> PrivacyProfile:
        return replace(
            self,
            above=self.above.compose(times),
            below=self.below and self.below.compose(times),
            attained_loss=self.attained_loss * check_count("times", times),
        )

    def _scaled(self, factor: float) -> PrivacyProfile:
        return replace(
            self,
            above=self.above.scaled(factor),
            below=self.below and self.below.scaled(factor),
            attained_loss=self.attained_loss / factor,
        )

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """That of `above`: enough noise, and the least for delta = 0 if the loss is attained."""
        return self.above.scale_factor(epsilon, delta)

    def sample_losses(self, rng, n, *, reverse=False):
        return self.above.sample_losses(rng, n, reverse=reverse)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        bounds = self.above._log_delta(epsilon)
        if self.below is None:
            lower = np.full(epsilon.shape, -np.inf)
        else:
            lower = self.below._log_delta(epsilon).lower
        return Bounds(np.minimum(lower, bounds.value), bounds.value, bounds.upper)

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        return self.above._survival(epsilon)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        bounds = self.above._epsilon(delta)
        lower = np.zeros(delta.shape) if self.below is None else self.below._epsilon(delta).lower
        # At delta = 0 epsilon is the largest loss.
        lower = np.where(delta == 0, max(self._attained, 0.0), lower)
        return Bounds(np.minimum(lower, bounds.value), bounds.value, bounds.upper)


def enclosed(above: PrivacyProfile, below: PrivacyProfile, slack: str) -> PrivacyProfile:
    """`above` if `below`, the profile of a pair of neighbours, equals it; else both as bounds."""
    if above == below:
        return above
    return BoundedProfile(above=above, below=below, slack=slack)
