"""What profiles of Gaussian releases on random samples have in common."""

from dataclasses import dataclass, replace
from typing import Self

from mechanisms.privacy.profile import PrivacyProfile, check_count, check_positive


@dataclass(frozen=True, kw_only=True)
class GaussianSamples(PrivacyProfile):
    """`steps` Gaussian releases, each on a Poisson sample; only upper bounds are calibrated.

    Args:
        mu: Mahalanobis distance of one release on a sample with the record, > 0.
        rate: Sampling probability, in (0, 1].
        steps: At least 1.
    """

    mu: float
    rate: float
    steps: int

    calibrated_curve = "upper"

    def __post_init__(self) -> None:
        check_positive("mu", self.mu)
        check_count("steps", self.steps)
        if not 0 < self.rate <= 1:
            raise ValueError(f"rate must be a probability in (0, 1], got {self.rate}")

    def compose(self, times: int) -> Self:
        return replace(self, steps=self.steps * check_count("times", times))

    def _scaled(self, factor: float) -> Self:
        return replace(self, mu=self.mu / factor)
