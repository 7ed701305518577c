"""The profile of independent releases with different profiles, on one lattice of losses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from mechanisms.privacy.composition import (
    FFT_ERROR,
    LossDistribution,
    merged_cells,
    symmetric_chords,
)
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count

# delta at which the losses of all releases together are cut off.
_CUT = 1e-15
# Lattice steps in a quarter of the root of the sum of squared largest losses.
_CELLS = 1 << 11
# The lattice wraps around beyond this many roots of that sum from the mean: by Hoeffding's
# inequality with probability 2 e^-41.
_REACH = math.sqrt(2 * 41)


@dataclass(frozen=True, kw_only=True)
class UnequalReleasesProfile(PrivacyProfile):
    """Profile of independent releases: (profile, number of releases with it), one pair or more.

    Every profile must belong to a symmetric pair and know P(L > epsilon). The largest loss is
    exact. Bounds of delta are proven but for an allowance of 1e-12, absolute, for the FFT: below
    about 1e-10 delta is not resolved. The first use computes the convolutions, in time
    proportional to the number of different profiles.
    """

    parts: tuple[tuple[PrivacyProfile, int], ...]

    calibrated_curve = "upper"

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("parts must hold at least one profile")
        for _, times in self.parts:
            check_count("times", times)

    @property
    def largest_loss(self) -> float:
        return float(sum(times * profile.largest_loss for profile, times in self.parts))

    def compose(self, times: int) -> UnequalReleasesProfile:
        check_count("times", times)
        return replace(self, parts=tuple((profile, times * n) for profile, n in self.parts))

    def scaled(self, factor: float) -> UnequalReleasesProfile:
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

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        above, below, shift = self._distributions
        private = epsilon >= self.largest_loss
        upper, near, lower = (
            above.delta(epsilon),
            below.delta(epsilon),
            below.delta(epsilon + shift),
        )
        value = np.where(private, 0.0, (upper + 2 * near) / 3)
        lower = np.clip(lower - _CUT - FFT_ERROR, 0.0, value)
        upper = np.where(private, 0.0, np.clip(upper + FFT_ERROR, value, 1.0))
        with np.errstate(divide="ignore"):
            return Bounds(np.log(lower), np.log(value), np.log(upper))

    @cached_property
    def _distributions(self) -> tuple[LossDistribution, LossDistribution, float]:
        """The composed distributions above and below, and the shift of the proven lower bound."""
        releases = sum(times for _, times in self.parts)
        tops = [_top(profile, _CUT / releases) for profile, _ in self.parts]
        spread = math.sqrt(
            sum(times * top**2 for (_, times), top in zip(self.parts, tops, strict=True))
        )
        spacing = spread / (4 * _CELLS)
        above, below = [], []
        for (profile, times), top in zip(self.parts, tops, strict=True):
            nodes = np.arange(math.ceil(top / spacing) + 1)
            epsilon = nodes * spacing
            delta = profile.delta(epsilon)
            above.append((symmetric_chords(nodes, epsilon, delta.upper, spacing), times))
            survival = profile.survival(epsilon)
            below.append((merged_cells(epsilon, delta.value, survival, spacing), times))
        reach = math.ceil(_REACH * spread / spacing)
        return _convolved(above, reach), _convolved(below, reach), releases * spacing


def _top(profile: PrivacyProfile, cut: float) -> float:
    top = float(profile.epsilon(cut).upper)
    if not np.isfinite(top):
        raise ValueError(f"{profile} has an infinite loss, which cannot be composed numerically")
    # A largest loss that close may be an atom, which has to lie within the lattice.
    return float(profile.largest_loss) if top > 0.999 * profile.largest_loss else top


def _convolved(parts: list[tuple[LossDistribution, int]], reach: int) -> LossDistribution:
    """The sum of independent losses, on the lattice points within `reach` of its mean."""
    spacing = parts[0][0].spacing
    longest = max(each.masses.size for each, _ in parts)
    length = scipy.fft.next_fast_len(max(2 * reach + 1, longest), real=True)
    spectrum, log_finite, mean = np.ones(length // 2 + 1, complex), 0.0, 0.0
    for each, times in parts:
        spectrum *= scipy.fft.rfft(each.masses, length) ** times
        log_finite += times * np.log1p(-each.infinite)
        mean += times * float(each.masses @ np.arange(each.masses.size))
    # Point k of the cyclic sum is loss sum(first) + k; `low` is the first point of the window.
    low = max(math.floor(mean) - reach, 0)
    masses = np.roll(scipy.fft.irfft(spectrum, length), -low)
    return LossDistribution(
        spacing=spacing,
        first=sum(times * each.first for each, times in parts) + low,
        masses=np.maximum(masses, 0.0),
        infinite=float(-np.expm1(log_finite)),
    )
