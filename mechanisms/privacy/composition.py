"""Independent releases of one kind: the privacy-loss distribution, convolved by FFT.

Two discretisations of the loss L of one release enclose the truth. With nodes
0 <= e_0 < ... < e_n, mirrored to the negative side by the symmetry of the pair:

- above: the profile is convex in e^epsilon, so joining its values at the nodes by chords gives
  the profile of a worse pair (connect the dots, Doroshenko et al. 2022, Algorithm 1);
- below: merging all outputs whose loss lies between two nodes is post-processing; the cell then
  has loss log P(cell) / Q(cell), and gives a better pair.

Both orders survive composition (Zhu, Dong and Wang 2022, Theorem 10; the proof also holds for
measures of mass below one, so that the mass beyond e_n counts as infinite loss above, and as
nothing below). A merged loss falls between two points of the grid of spacing h on which the
convolution runs; its mass is shared between them so that the mean is kept, which moves losses by
less than h each: subtracting `times` h from the composed loss gives a proven lower bound.

The chords err upwards about twice as much as the merged cells err downwards, to leading order in
the spacing of the nodes: the value that is reported weighs them 1 : 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from dp_accounting.pld import pld_pmf

from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count

# delta at which the loss of one release is cut off, and the tail cut from the convolution.
_CUT = 1e-15
# Absolute error of the FFT in delta: about ten times the largest seen against closed forms.
_FFT_ERROR = 1e-12
_NODES = 512
_GRID = 1 << 16
_SAMPLES_AT_ONCE = 1 << 22


@dataclass(frozen=True, kw_only=True)
class ComposedProfile(PrivacyProfile):
    """Profile of `times` independent releases, each with the profile `base`; times >= 1.

    `base` must know P(L > epsilon). Bounds are proven but for an allowance of 1e-12, absolute, for
    the FFT: below about 1e-10 delta is not resolved. The first use computes the convolution.
    """

    base: PrivacyProfile
    times: int

    def __post_init__(self) -> None:
        check_count("times", self.times)

    @property
    def largest_loss(self) -> float:
        return self.times * self.base.largest_loss

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
        above, below, shift = self._distributions
        flat = epsilon.ravel()
        upper = np.array([above.get_delta_for_epsilon(each) for each in flat])
        near = np.array([below.get_delta_for_epsilon(each) for each in flat])
        lower = np.array([below.get_delta_for_epsilon(each + shift) for each in flat])
        value = np.where(flat < self.largest_loss, np.clip((upper + 2 * near) / 3, 0.0, 1.0), 0.0)
        lower = np.clip(lower - _CUT - _FFT_ERROR, 0.0, value)
        upper = np.where(flat < self.largest_loss, np.clip(upper + _FFT_ERROR, value, 1.0), 0.0)
        with np.errstate(divide="ignore"):
            return Bounds(*(np.log(each).reshape(epsilon.shape) for each in (lower, value, upper)))

    @cached_property
    def _distributions(self) -> tuple[pld_pmf.PLDPmf, pld_pmf.PLDPmf, float]:
        """The composed distributions above and below, and the shift of the proven lower bound."""
        top = float(min(self.base.largest_loss, self.base.epsilon(_CUT / self.times).upper))
        if not np.isfinite(top):
            raise ValueError(f"{self.base} keeps an infinite loss, which cannot be composed here")
        # The composed loss spreads like sqrt(times): a coarser grid keeps the FFT affordable.
        size = int(_GRID / max(1.0, np.sqrt(self.times) / 8))
        spacing = top / size
        nodes = _nodes(size)
        epsilon = np.minimum(nodes * spacing, top)
        delta = self.base.delta(epsilon)
        above = _chords(nodes, epsilon, delta.upper, spacing)
        survival = self.base.survival(epsilon)
        below = _merged(epsilon, delta.value, survival, spacing)
        composed = (each.self_compose(self.times, _CUT) for each in (above, below))
        return *composed, self.times * spacing


def _nodes(size: int) -> np.ndarray:
    """Multiples of the grid spacing from 0 to `size`: half of them even, half geometric."""
    even = np.linspace(0, size, _NODES // 2)
    geometric = np.geomspace(1, size, _NODES // 2)
    return np.unique(np.round(np.r_[even, geometric]).astype(int))


def _chords(nodes, epsilon, delta, spacing) -> pld_pmf.PLDPmf:
    """Connect the dots; delta(-e) = 1 - e^(-e) (1 - delta(e)) for a symmetric pair."""
    mirrored = 1 - np.exp(-epsilon[:0:-1]) * (1 - delta[:0:-1])
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots(
        spacing, np.r_[-nodes[:0:-1], nodes], np.r_[mirrored, delta]
    )
    return pmf.to_dense_pmf()


def _merged(epsilon, delta, survival, spacing) -> pld_pmf.PLDPmf:
    """Cells between the nodes, their mirror images, and the outputs of loss exactly zero."""
    survival_q = np.exp(-epsilon) * np.maximum(survival - delta, 0.0)  # Q(L > epsilon)
    mass_p = np.maximum(-np.diff(survival), 0.0)
    mass_q = np.maximum(-np.diff(survival_q), 0.0)
    kept = (mass_p > 0) & (mass_q > 0)
    mass_p, mass_q = mass_p[kept], mass_q[kept]
    inside = np.log(mass_p / mass_q).clip(epsilon[:-1][kept], epsilon[1:][kept])
    zero = max(1 - survival[0] - survival_q[0], 0.0)
    losses = np.r_[-inside, 0.0, inside] / spacing
    masses = np.r_[mass_q, zero, mass_p]
    left = np.floor(losses)
    share = losses - left
    first = int(left.min())
    index = left.astype(int) - first
    size = index.max() + 2
    probs = np.bincount(index, masses * (1 - share), size)
    probs += np.bincount(index + 1, masses * share, size)
    return pld_pmf.DensePLDPmf(spacing, first, probs, 0.0, pessimistic_estimate=False)
