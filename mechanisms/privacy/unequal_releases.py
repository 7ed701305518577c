"""The profile of independent releases with different profiles, on one lattice of losses."""

import math
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.privacy.composition import ConvolvedProfile
from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import PrivacyProfile, check_count

# Cells in the root of the sum of squared largest losses, each of _WIDE places of the lattice, or of
# one where so many different profiles make the convolutions slow.
_CELLS, _WIDE, _MANY = 1 << 13, 8, 16


@dataclass(frozen=True, kw_only=True)
class UnequalReleasesProfile(ConvolvedProfile):
    """Profile of independent releases: (profile, number of releases with it), one pair or more.

    Every profile must belong to a symmetric pair and know P(L > epsilon). The largest loss is
    exact. The convolutions take time proportional to the number of different profiles.
    """

    parts: tuple[tuple[PrivacyProfile, int], ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("parts must hold at least one profile")
        for _, times in self.parts:
            check_count("times", times)

    @property
    def largest_loss(self) -> float:
        return float(sum(times * profile.largest_loss for profile, times in self.parts))

    def compose(self, times: int) -> PrivacyProfile:
        check_count("times", times)
        return replace(self, parts=tuple((profile, times * n) for profile, n in self.parts))

    def _scaled(self, factor: float) -> PrivacyProfile:
        return replace(self, parts=tuple((p.scaled(factor), times) for p, times in self.parts))

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """As for every profile; for delta = 0 the largest loss becomes epsilon.

        The latter holds for losses inversely proportional to the scale, as those of Laplace noise.
        """
        if delta == 0 and np.isfinite(self.largest_loss):
            return self.largest_loss / epsilon
        return super().scale_factor(epsilon, delta)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Sums of the losses of all releases."""
        total = np.zeros(check_count("n", n))
        for profile, times in self.parts:
            total += profile.compose(times).sample_losses(rng, n, reverse=reverse)
        return total

    @property
    def _releases(self):
        return self.parts

    @property
    def _places_per_cell(self):
        return _WIDE if len(self.parts) <= _MANY else 1

    @property
    def _share_above(self):
        return 1 / 3 if self._places_per_cell > 1 else 2 / 3

    def _grid(self, tops, level):
        numbers, wide = (times for _, times in self.parts), self._places_per_cell
        spread = math.hypot(*(math.sqrt(n) * top for n, top in zip(numbers, tops, strict=True)))
        spacing = spread / (_CELLS * wide) or 1.0
        return spacing, [wide * np.arange(math.ceil(top / spacing / wide) + 1) for top in tops]

    def _at_the_top(self, epsilon):
        """Where every loss is its largest: P of that, times 1 - e^(epsilon - largest loss)."""
        if not math.isfinite(self.largest_loss):
            return super()._at_the_top(epsilon)
        just_below = (np.nextafter(profile.largest_loss, 0.0) for profile, _ in self.parts)
        atoms = (
            times * np.log(profile.survival(at))
            for (profile, times), at in zip(self.parts, just_below, strict=True)
        )
        # The sum of the losses is known to a few ulps.
        gap = np.minimum(epsilon - self.largest_loss * (1 - 8 * ULP), 0.0)
        return (sum(atoms) + log1mexp(gap)) * (1 + 8 * ULP) - 8 * ULP * self._number
