"""Groups of records: what a profile for one record says of several that change together.

For neighbours P and R of Q, and any real epsilons a and b,

    P(S) <= e^a Q(S) + delta(a) <= e^(a + b) R(S) + delta(a) + e^a delta(b),

with delta(-a) = 1 - e^-a (1 - delta(a)). The least of these over all a with a + b = epsilon is the
profile that two trade-off curves, one after the other, allow (Dong, Roth and Su, Gaussian
Differential Privacy, JRSS B 2022, Theorem 2.14). A record that is replaced is one that is removed
and one that is added: a group of two.
"""

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.privacy.composition import CUTS, RESOLVED, at_negative
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.numerics import ULP
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile

# Epsilons on either side of zero, and the logarithm of what they leave out for each record.
_NODES, _LOG_CUT = 1200, math.log(3e-13)
# Where the first grid may end, and does if all leave more out.
_REACHES, _REACH = np.geomspace(1e-9, 1e9, 433), 60.0
# A grid serves what is this much above its end; the next one, of the rest, ends twice as far away.
_LOG_RESOLVED, _LARGEST_REACH = math.log(1e6), 1e15


@dataclass(frozen=True, kw_only=True)
class GroupProfile(PrivacyProfile):
    """An upper bound for groups of `size` records from the profile `base` of one, size >= 2.

    It is exact for Gaussian noise but for the grid; see `group_profile`. The lower bound is 0.
    """

    base: PrivacyProfile
    size: int

    calibrated_curve = "upper"
    attains_largest_loss = False  # not known
    floor = CUTS[-1] * RESOLVED

    def __post_init__(self) -> None:
        check_count("size", self.size, 2)

    @property
    def largest_loss(self) -> float:
        return self.size * self.base.largest_loss

    def _scaled(self, factor: float) -> PrivacyProfile:
        return replace(self, base=self.base.scaled(factor))

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        upper, reach, end = np.zeros(epsilon.shape), self._first_reach, 0.0
        unresolved = epsilon < self.largest_loss
        upper[~unresolved] = -np.inf
        while unresolved.any():
            found = self._on_grid(reach, epsilon[unresolved])
            upper[unresolved] = np.minimum(upper[unresolved], found)
            before, end = end, self._curve(reach)[1][-1]
            unresolved &= upper < end + _LOG_RESOLVED
            # A delta that no larger loss lowers, or that none needs.
            if end >= before or end < math.log(self.floor) or reach >= self._last_reach:
                break
            reach = min(2 * reach, self._last_reach)
        return Bounds(np.full(epsilon.shape, -np.inf), upper, upper)

    def _on_grid(self, reach: float, epsilon: np.ndarray) -> np.ndarray:
        """log of an upper bound of delta, from one of the curves; epsilon a flat array.

        Chords between the nodes: delta is convex in e^epsilon, and falls beyond the last one.
        Everywhere rounded to the private side.
        """
        spacing, logs = self._curve(reach)
        position = np.minimum(epsilon / spacing * (1 - 4 * ULP), logs.size - 1)
        cell = np.minimum(position.astype(int), logs.size - 2)
        # expm1(part spacing) / expm1(spacing), in terms that cannot overflow.
        part = position - cell
        share = np.exp((part - 1) * spacing) * (np.expm1(-part * spacing) / np.expm1(-spacing))
        with np.errstate(divide="ignore"):
            upper = np.logaddexp(logs[cell] + np.log1p(-share), logs[cell + 1] + np.log(share))
        return upper * (1 - 8 * ULP) + 8 * ULP

    @property
    def _last_reach(self) -> float:
        return min(_LARGEST_REACH, self.base.largest_loss)

    @functools.cached_property
    def _first_reach(self) -> float:
        # Group privacy with the same epsilon for each record has factors e^epsilon, ... of delta.
        factor = np.log(self.size) + (self.size - 1) * _REACHES
        left = np.asarray(self.base.log_delta(_REACHES).upper) + factor
        enough = left <= self.size * _LOG_CUT
        return min(float(_REACHES[np.argmax(enough)]) if enough.any() else _REACH, self._last_reach)

    @functools.cached_property
    def _known(self) -> dict[float, tuple[float, np.ndarray]]:
        return {}

    def _curve(self, reach: float) -> tuple[float, np.ndarray]:
        """The spacing of the nodes from 0 on, and log of an upper bound of delta there.

        reach: The largest loss of one record that is not counted as infinite.
        """
        if reach not in self._known:
            spacing = max(self.size * reach / _NODES, 1e-12)
            nodes = np.minimum(spacing * np.arange(_NODES + 1), reach)
            one = np.asarray(self.base.log_delta(nodes).upper)
            found, power, left = None, one, self.size
            while left:
                if left % 2:
                    found = power if found is None else _joined(found, power, spacing)
                left //= 2
                if left:
                    power = _joined(power, power, spacing)
            self._known[reach] = spacing, found
        return self._known[reach]


def _joined(first: np.ndarray, second: np.ndarray, spacing: float) -> np.ndarray:
    """log delta of two changes, one after the other, from those of each at the same nodes."""
    last = first.size - 1
    epsilon = spacing * np.arange(-last, last + 1)
    one, two = (_both_signs(each, spacing) for each in (first, second))
    found = np.empty(first.size)
    for i in range(first.size):
        # a from i - last to last, and b = i - a.
        a = np.arange(i, 2 * last + 1)
        found[i] = np.logaddexp(one[a], epsilon[a] + two[i + 2 * last - a]).min()
    return np.minimum(found * (1 - 8 * ULP) + 8 * ULP * (1 + epsilon[-1]), 0.0)


def _both_signs(logs: np.ndarray, spacing: float) -> np.ndarray:
    positive = spacing * np.arange(1, logs.size)
    return np.r_[np.log(at_negative(positive, np.exp(logs[1:])))[::-1], logs]


def has_closed_form(base: PrivacyProfile) -> bool:
    """Whether the profile of a group is that of the same noise at a larger distance."""
    return isinstance(base, GaussianProfile | SphericalProfile)


def group_profile(base: PrivacyProfile, size: int) -> PrivacyProfile:
    """An upper bound for groups of `size` records, >= 1: a closed form where there is one.

    Answers to data that differ in `size` records are `size` times as far apart, at most.
    """
    if check_count("size", size) == 1:
        return base
    match base:
        case GaussianProfile(mu=mu):
            return GaussianProfile(mu=size * mu)
        case SphericalProfile(sensitivity=sensitivity):
            return replace(base, sensitivity=size * sensitivity)
    return GroupProfile(base=base, size=size)
