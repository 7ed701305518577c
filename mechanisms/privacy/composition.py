"""Independent releases of one kind: the privacy-loss distribution, convolved by FFT.

Two discretisations of the loss L of one release enclose the truth. With nodes
0 <= e_0 < ... < e_n, mirrored to the negative side by the symmetry of the pair:

- above: the profile is convex in e^epsilon, so that chords between its values at the nodes are
  the profile of a worse pair (connect the dots, Doroshenko et al. 2022, Algorithm 1);
- below: merging all outputs whose loss lies between two nodes is post-processing; the cell then
  has loss log P(cell) / Q(cell), and gives a better pair.

Both orders survive composition (Zhu, Dong and Wang 2022, Theorem 10; the proof also holds for
measures of mass below one, so that the mass beyond e_n counts as infinite loss above, and as
nothing below). A merged loss falls between two points of the grid of spacing h on which the
convolution runs; its mass is shared between them so that the mean is kept, which moves losses by
less than h each: subtracting `times` h from the composed loss gives a proven lower bound.

The chords err upwards about twice as much as the merged cells err downwards, to leading order in
the spacing of the nodes: the value that is reported weighs them 1 : 2. Above the floor of the FFT,
its relative error against closed forms is mostly within 1e-6. It reaches a sixth where the losses
of a release are very large (Gaussians with mu of 20 or more) or the releases very many (10^5 or
more): there the bounds hold too, but are wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count

# delta at which the loss of one release is cut off, and the tail cut from the convolution.
_CUT = 1e-15
# Absolute error of the FFT in delta: about ten times the largest seen against closed forms.
FFT_ERROR = 1e-12
_NO_MASS = 1e-290
_NODES = 512
_GRID = 1 << 16
_SAMPLES_AT_ONCE = 1 << 22


@dataclass(frozen=True, kw_only=True)
class ComposedProfile(PrivacyProfile):
    """Profile of `times` independent releases, each with the profile `base`; times >= 1.

    `base` must be symmetric and know P(L > epsilon). Bounds are proven but for an allowance of
    1e-12, absolute, for the FFT: below about 1e-10 delta is not resolved. The first use computes
    the convolution.
    """

    base: PrivacyProfile
    times: int

    calibrated_curve = "upper"

    def __post_init__(self) -> None:
        check_count("times", self.times)
        if not self.base.symmetric:
            raise ValueError(
                f"base must be the profile of a symmetric pair, got {type(self.base).__name__}; "
                "compose its closed form"
            )

    @property
    def largest_loss(self) -> float:
        return self.times * self.base.largest_loss

    @property
    def attains_largest_loss(self) -> bool:
        """As that of one release."""
        return self.base.attains_largest_loss

    def compose(self, times: int) -> ComposedProfile:
        return ComposedProfile(base=self.base, times=self.times * check_count("times", times))

    def scaled(self, factor: float) -> ComposedProfile:
        return ComposedProfile(base=self.base.scaled(factor), times=self.times)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Sums of `times` losses of one release."""
        total = np.empty(check_count("n", n))
        at_once = max(1, _SAMPLES_AT_ONCE // self.times)
        for start in range(0, n, at_once):
            count = min(at_once, n - start)
            single = self.base.sample_losses(rng, count * self.times, reverse=reverse)
            total[start : start + count] = single.reshape(count, self.times).sum(axis=1)
        return total

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        near = self._below.delta(epsilon)
        shifted = self._below.delta(epsilon + self.times * self._below.spacing)
        private = epsilon >= self.largest_loss
        value = np.where(private, 0.0, (self._above.delta(epsilon) + 2 * near) / 3)
        lower = np.clip(shifted - _CUT - FFT_ERROR, 0.0, value)
        with np.errstate(divide="ignore"):
            return Bounds(np.log(lower), np.log(value), self._log_upper(epsilon))

    def _log_upper(self, epsilon: np.ndarray) -> np.ndarray:
        upper = np.minimum(self._above.delta(epsilon) + FFT_ERROR, 1.0)
        with np.errstate(divide="ignore"):
            return np.log(np.where(epsilon >= self.largest_loss, 0.0, upper))

    def _log_calibrated(self, epsilon):
        # Half of the work: the distribution below has no part in the upper bound.
        return float(self._log_upper(np.asarray(epsilon)))

    def _resolution(self, delta):
        # Rounding moves delta by about a hundredth of the allowance for it.
        return float(np.clip(1e-2 * FFT_ERROR / delta, super()._resolution(delta), 1e-7))

    @cached_property
    def _above(self) -> LossDistribution:
        nodes, epsilon, delta, spacing = self._single
        return symmetric_chords(nodes, epsilon, np.asarray(delta.upper), spacing).power(self.times)

    @cached_property
    def _below(self) -> LossDistribution:
        _, epsilon, delta, spacing = self._single
        survival = self.base.survival(epsilon)
        return merged_cells(epsilon, np.asarray(delta.value), survival, spacing).power(self.times)

    @cached_property
    def _single(self) -> tuple[np.ndarray, np.ndarray, Bounds, float]:
        """Of one release: nodes, their losses, the profile there, and the spacing of the grid."""
        largest = self.base.largest_loss
        top = float(self.base.epsilon(_CUT / self.times).upper)
        if not np.isfinite(top):
            raise ValueError(
                f"{self.base} has an infinite loss, which cannot be composed numerically"
            )
        # A largest loss that close may be an atom, which has to lie within the grid.
        top = float(largest) if top > 0.999 * largest else top
        # The composed loss spreads like sqrt(times): a coarser grid keeps the FFT affordable.
        size = int(_GRID / max(1.0, np.sqrt(self.times) / 4))
        spacing = top / size
        nodes = _nodes(size)
        epsilon = np.minimum(nodes * spacing, top)
        return nodes, epsilon, self.base.delta(epsilon), spacing


@dataclass(frozen=True, kw_only=True)
class LossDistribution:
    """Masses of the losses first * spacing, (first + 1) * spacing, ..., and of infinite loss."""

    spacing: float
    first: int
    masses: np.ndarray
    infinite: float

    def power(self, times: int) -> LossDistribution:
        """Distribution of the sum of `times` independent losses."""
        if times == 1:
            return self
        low, high = self._likely_sums(times)
        length = scipy.fft.next_fast_len(max(high - low + 1, self.masses.size), real=True)
        # Sums outside of [low, high], of mass below the cut, wrap around.
        wrapped = scipy.fft.irfft(scipy.fft.rfft(self.masses, length) ** times, length)
        masses = np.roll(wrapped, -low)[: high - low + 1]
        infinite = -np.expm1(times * np.log1p(-self.infinite))
        if self.infinite > 0:
            infinite += _CUT
        return LossDistribution(
            spacing=self.spacing,
            first=self.first * times + low,
            masses=np.maximum(masses, 0.0),
            infinite=float(infinite),
        )

    def _likely_sums(self, times: int) -> tuple[int, int]:
        """The first and the last index of sums that matter: beyond is less mass than _CUT.

        Chernoff bounds at the forty orders of dp_accounting, from the few losses
        that have any mass. A largest loss of hardly any mass would make them overflow.
        """
        places = np.flatnonzero(self.masses >= _NO_MASS)
        orders = np.r_[-20:0, 1:21] / self.masses.size
        masses = self.masses[places]
        # One order at a time: there may be half a million masses. Where they are a thousand,
        # `special.logsumexp` takes longer to begin than to sum.
        logs = np.log(masses)
        exponents = (t * places + logs for t in orders)
        log_moments = np.array([e.max() + np.log(np.exp(e - e.max()).sum()) for e in exponents])
        ends = (times * log_moments + np.log(2 / _CUT)) / orders
        low = max(0, int(np.floor(ends[orders < 0].max())))
        high = min((self.masses.size - 1) * times, int(np.ceil(ends[orders > 0].min())))
        return low, max(high, low + 1)

    def delta(self, epsilon: np.ndarray) -> np.ndarray:
        """delta(epsilon): linear in e^epsilon between the losses of the grid."""
        position = np.clip(epsilon / self.spacing - self.first, 0.0, self.masses.size - 1.0)
        cell = np.minimum(position.astype(int), self.masses.size - 2)
        # expm1(part h) / expm1(h), in terms that cannot overflow.
        part, h = position - cell, self.spacing
        share = np.exp((part - 1) * h) * (np.expm1(-part * h) / np.expm1(-h))
        left, right = self._profile[cell], self._profile[cell + 1]
        return self.infinite + left + share * (right - left)

    @cached_property
    def _profile(self) -> np.ndarray:
        """Finite part of delta at every loss of the grid, from the right end.

        With B_i = sum_{j > i} p_j e^(l_i - l_j), delta_i = sum_{j > i} p_j - B_i, and
        B_i = e^-spacing (B_{i+1} + p_{i+1}); equally delta_i = delta_{i+1} + (1 - e^-spacing)
        (B_{i+1} + p_{i+1}), which adds positive terms only.
        """
        decay = np.exp(-self.spacing)
        shifted = np.r_[0.0, self.masses[:0:-1]]
        inside = scipy.signal.lfilter([1.0], [1.0, -decay], shifted)  # B_{i+1} + p_{i+1}, reversed
        return (np.cumsum(inside) * -np.expm1(-self.spacing))[::-1]


def _nodes(size: int) -> np.ndarray:
    """Multiples of the grid spacing from 0 to `size`: half of them even, half geometric."""
    even = np.linspace(0, size, _NODES // 2)
    geometric = np.geomspace(1, size, _NODES // 2)
    return np.unique(np.round(np.r_[even, geometric]).astype(int))


def symmetric_chords(
    nodes: np.ndarray, epsilon: np.ndarray, delta: np.ndarray, spacing: float
) -> LossDistribution:
    """Chords through the profile at the nodes and at their mirror images."""
    mirrored = at_negative(epsilon[:0:-1], delta[:0:-1])
    return chords(np.r_[-nodes[:0:-1], nodes], np.r_[mirrored, delta], spacing)


def at_negative(epsilon: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """delta(-epsilon) = 1 - e^(-epsilon) (1 - delta(epsilon)) for a symmetric pair."""
    return 1 - np.exp(-epsilon) * (1 - delta)


def chords(nodes: np.ndarray, delta: np.ndarray, spacing: float) -> LossDistribution:
    """Connect the dots: a worse pair, whose profile has `delta` at the losses nodes * spacing.

    nodes: increasing integers, two or more. What is left beyond the last becomes infinite loss.
    """
    delta = np.minimum.accumulate(delta)
    gap, fall = np.diff(nodes) * spacing, -np.diff(delta)
    # A fall over one gap is P(right end) and beyond, less e^-gap of it: Algorithm 1.
    from_left = np.r_[1 - delta[0], fall / -np.expm1(-gap)]
    from_right = np.r_[np.exp(-gap) * fall / -np.expm1(-gap), 0.0]
    masses = np.zeros(nodes[-1] - nodes[0] + 1)
    masses[nodes - nodes[0]] = np.maximum(from_left - from_right, 0.0)
    return LossDistribution(
        spacing=spacing, first=int(nodes[0]), masses=masses, infinite=float(delta[-1])
    )


def merged_cells(
    epsilon: np.ndarray, delta: np.ndarray, survival: np.ndarray, spacing: float
) -> LossDistribution:
    """Cells between the nodes, their mirror images, and the outputs of loss exactly zero."""
    survival_q = np.exp(-epsilon) * np.maximum(survival - delta, 0.0)  # Q(L > epsilon)
    mass_p = np.maximum(-np.diff(survival), 0.0)
    mass_q = np.maximum(-np.diff(survival_q), 0.0)
    kept = mass_p > 0
    mass_p, mass_q = mass_p[kept], mass_q[kept]
    # Beyond a loss of some 700 Q(cell) is zero to all digits: the cell has the loss of its left
    # end, which is better still.
    with np.errstate(divide="ignore", over="ignore"):
        inside = np.log(mass_p / mass_q)
    inside[mass_q < np.finfo(float).tiny] = 0.0
    inside = inside.clip(epsilon[:-1][kept], epsilon[1:][kept])
    zero = max(1 - survival[0] - survival_q[0], 0.0)
    losses = np.r_[-inside, 0.0, inside] / spacing
    masses = np.r_[mass_q, zero, mass_p]
    left = np.floor(losses)
    share = losses - left
    first = int(left.min())
    index = left.astype(int) - first
    size = index.max() + 2
    shared = np.bincount(index, masses * (1 - share), size)
    shared += np.bincount(index + 1, masses * share, size)
    return LossDistribution(spacing=spacing, first=first, masses=shared, infinite=0.0)
