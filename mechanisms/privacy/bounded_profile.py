"""The profile of a worst pair that is not known: bounds that enclose it."""

from dataclasses import dataclass, field, replace

import numpy as np

from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count

# An attained loss within this relative distance of the largest loss counts as the largest.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class BoundedProfile(PrivacyProfile):
    """Profile of an unknown worst pair: at most `above` and at least `below` at every epsilon.

    Such bounds arise if a release is computed from measurements (post-processing), or if the worst
    change of the answer is not known. The reported value and the sampled losses are those of
    `above`, whose pair may belong to no two data sets.

    The upper bound can prove a claim, and the lower bound can refute one. There is no exact
    calibration unless delta is 0 and the largest loss is known.

    Args:
        above: Dominates every pair of neighbours.
        below: Profile of some pair of neighbours, or None if none is known: then delta >= 0.
        attained_loss: A loss, >= 0, that some neighbours have or come arbitrarily close to. Noise
            multiplied by a factor divides this loss by the factor, as with Laplace noise. The loss
            that `below` attains need not be stated.
        slack: Why the worst pair is not known, as in `PrivacyProfile`.
    """

    above: PrivacyProfile
    below: PrivacyProfile | None = None
    attained_loss: float = 0.0
    slack: str = field()

    @property
    def calibrated_curve(self) -> str:
        """The calibrated curve of `above`."""
        return self.above.calibrated_curve

    @property
    def largest_loss(self) -> float:
        return self.above.largest_loss

    @property
    def symmetric(self) -> bool:
        """Whether the pair of `above` is symmetric."""
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
        """Return the factor of `above`.

        It gives enough noise, and for delta = 0 the least noise if the largest loss is attained.
        """
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
    """Return `above` if it equals `below`, the profile of some neighbours; else both as bounds."""
    if above == below:
        return above
    return BoundedProfile(above=above, below=below, slack=slack)
