"""A total that is asked for after every release, each time with what the last one has computed.

The grid of the losses stays until it is twice as fine as needed or four times as many releases are
on it, and so do their laws on it. The transform of a sum is the product of those of its parts, and
that of the last total is multiplied by what is new. The bounds are those of `TotalProfile` on that
grid: at most twice as wide as on a new one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from mechanisms.privacy.composition import (
    Likely,
    LossDistribution,
    Parts,
    likely_sums,
    limits_of,
    log_moments,
    orders_of,
    transform_of,
)
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.sampling.poisson_sampling import SampledRun
from mechanisms.privacy.sampling.total_profile import TotalProfile

# How fine and how coarse a kept grid may be, in spacings of a new one, and how many times as many
# releases it may have as at first: what each cuts off as infinite loss is a share of all of them.
_FINEST, _COARSEST, _MORE = 1 / 2, 5 / 4, 4
# A circle has room for sums so many times as wide as when it is made.
_ROOM = 2
# Transforms that are kept, those of the last use, and the places of the longest sum that is: some
# hundred MiB at most.
_KEPT, _LONGEST = 24, 1 << 19
# What a sum wraps is that of the kept one and of the whole one.
_SUMS = 2
Losses = tuple[tuple[LossDistribution, int], ...]


@dataclass(frozen=True, kw_only=True)
class RunningTotal(TotalProfile):
    """A total that takes what it can from the ones before it.

    memory: Shared by all of them; it has no part in what they are equal to.
    """

    memory: Memory = field(compare=False, repr=False)

    def _spacing(self, level, reach):
        if ("spacing", level, reach) not in self._known:
            own = super()._spacing(level, reach)
            kept = self.memory.spacing((level, reach), own, self._number)
            self._known["spacing", level, reach] = kept
        return self._known["spacing", level, reach]

    def _laws(self, run, ends, side, level, reach):
        key = side, level, reach, self._spacing(level, reach), replace(run, steps=1)
        if key not in self.memory.laws:
            self.memory.laws[key] = super()._laws(run, ends, side, level, reach)
        return self.memory.laws[key]

    def _likely(self, key, way, parts, tilt, tilted):
        return self.memory.likely((*key, way, tilt), parts, tilted)


def running(profile: PrivacyProfile, memory: Memory) -> PrivacyProfile:
    """A total with a memory; what has a closed form or is no total of releases stays as it is."""
    if type(profile) is not TotalProfile:
        return profile
    memory.forget_all_but({replace(run, steps=1) for run in profile.parts})
    return RunningTotal(parts=profile.parts, memory=memory)


class Memory:
    """What the totals of growing plans share: spacings, laws on these grids, and their sums."""

    def __init__(self) -> None:
        self.laws: dict[tuple, list[LossDistribution]] = {}
        self._grids: dict[tuple, tuple[float, int]] = {}
        self._sums: dict[tuple, _Sum] = {}

    def forget_all_but(self, kinds: set[SampledRun]) -> None:
        """Forget the laws of releases that a total no longer has, such as merged noise."""
        self.laws = {key: laws for key, laws in self.laws.items() if key[-1] in kinds}

    def spacing(self, grid: tuple, needed: float, number: int) -> float:
        """The kept spacing where it serves so many releases, or else the one that is needed."""
        kept, first = self._grids.get(grid, (math.inf, number))
        if not (_FINEST * needed <= kept <= _COARSEST * needed and number <= _MORE * first):
            self._grids[grid] = needed, number
            for store in (self.laws, self._sums):
                for key in [key for key in store if key[1:3] == grid]:
                    del store[key]
        return self._grids[grid][0]

    def likely(self, key: tuple, parts: Losses, tilted: Parts) -> Likely:
        """As `likely_sums`, of losses whose laws are known again: each is equal to itself alone."""
        kept = self._sums.pop(key, None)
        found = kept and kept.extended(parts, tilted)
        if not found:
            (low, high), masses = likely_sums(tilted)
            if high - low >= _LONGEST:
                return (low, high), masses
            kept = _Sum(parts, tilted, kept.last if kept else {}, _ROOM * (high - low + 1))
            found = kept.extended(parts, tilted)
        self._sums[key] = kept
        if len(self._sums) > _KEPT:
            del self._sums[next(iter(self._sums))]
        return found


class _Sum:
    """The transform of a sum of tilted losses, on a circle with room for more.

    Its parts are those that two totals in a row had: noise that is merged anew in each of them,
    such as Gaussian noise on all records, is multiplied each time and not kept.

    last: How often the last total had each law.
    length: Places of the circle, at least.
    """

    def __init__(
        self, parts: Losses, tilted: Parts, last: dict[LossDistribution, int], length: int
    ) -> None:
        settled = [i for i, (law, times) in enumerate(parts) if last.get(law) == times]
        chosen = settled or range(len(parts))
        own = [tilted[i] for i in chosen]
        self.orders, self.last = orders_of(tilted), last
        self.held = {parts[i][0]: parts[i][1] for i in chosen}
        self.ends, self.moments = self._added(own)
        (self.first, high), masses = likely_sums(own)
        self.length = scipy.fft.next_fast_len(max(length, high - self.first + 1), real=True)
        self.spectrum = scipy.fft.rfft(masses(), self.length)

    def extended(self, parts: Losses, tilted: Parts) -> Likely | None:
        """The sum of these parts; None where one of its own is gone or the circle is too short."""
        now = dict(parts)
        if any(now.get(law, 0) < times for law, times in self.held.items()):
            return None
        settled, new = [], []
        for (law, times), (places, weights, _) in zip(parts, tilted, strict=True):
            held = self.held.get(law, 0)
            stays = max(min(self.last.get(law, 0), times), held)
            if stays > held:
                settled.append((places, weights, stays - held))
                self.held[law] = stays
            if times > stays:
                new.append((places, weights, times - stays))
        moved, spectrum = self._multiplied(settled, self.spectrum)
        self.first, self.spectrum = first, spectrum = self.first + moved, spectrum
        ends, moments = self._added(settled)
        self.ends, self.moments = self.ends + ends, self.moments + moments
        ends, moments = self._added(new)
        low, high = limits_of(self.ends + ends, self.moments + moments, self.orders, _SUMS)
        if high - low >= self.length:
            return None
        self.last = now

        def masses() -> np.ndarray:
            # Of this sum: by now another total may have extended what is kept.
            moved, whole = self._multiplied(new, spectrum)
            circle = scipy.fft.irfft(whole, self.length)
            return np.roll(circle, first + moved - low)[: high - low + 1]

        return (low, high), masses

    def _multiplied(self, parts: Iterable[tuple], spectrum: np.ndarray) -> tuple[int, np.ndarray]:
        """The places that some parts add to the first one, and a transform with them."""
        moved = 0
        for part in parts:
            first, own = transform_of(*part, self.length)
            moved, spectrum = moved + first, spectrum * own
        return moved, spectrum

    def _added(self, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a sum, and the logarithms of its moments."""
        ends, moments = np.zeros(2, int), np.zeros(self.orders.size)
        for places, masses, times in parts:
            ends += times * places[[0, -1]]
            moments += times * log_moments(places, masses, self.orders)
        return ends, moments
