"""The profile of different releases together, each on all records or on samples of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from mechanisms.privacy.bounded_profile import BoundedProfile, enclosed
from mechanisms.privacy.composition import (
    CUTS,
    FINE,
    ComposedProfile,
    Likely,
    LossDistribution,
    LossSum,
    Parts,
    SummedProfile,
    chord_masses,
    chords,
    distribution,
    likely_sums,
    merged_cells,
    symmetric_cells,
    symmetric_chords,
)
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import IndependentLaplaceProfile, laplace_profile
from mechanisms.privacy.numerics import ULP, written, written_above
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count
from mechanisms.privacy.sampling.poisson_sampling import SampledRun
from mechanisms.privacy.sampling.sampled_profile import SampledGaussianProfile
from mechanisms.privacy.unequal_releases import UnequalReleasesProfile

# Losses at which the curve of every release is known: larger ones count as infinite. Chords between
# them end where e^loss is still finite.
_PROBES = np.r_[0.0, np.geomspace(1e-8, 1e12, 268), np.geomspace(1e12, 1e15, 41)[1:]]
_CHORDS = np.expm1(_PROBES[_PROBES < 700])
# A gap between probes is cut into so many parts, and one of these again, so many times: a gap of
# 3e-6 of the loss is left. Losses that lie close together beside their size are probed there too.
_PARTS, _AGAIN, _PROBES_AMONG = 16, 4, 64
# Share of the fall of delta before the losses that most mass has.
_BULK = 1e-6
# Places of the grid in a standard deviation of the sum: more where many releases add their errors,
# fewer where the losses of different ones take more places than these, all together.
_PLACES, _PLACES_OF_ALL, _PLACES_AT_LEAST = (1 << 12, 1 << 16), 1 << 23, 1 << 10
# Places up to the largest loss that matters.
_LONGEST = 1 << 20
# Losses at which the profile of one kind of release is evaluated, and those of all kinds together.
_NODES, _NODES_OF_ALL = (1024, 2048, 2048, 2048), 1 << 20
# Share of the upper bound in the value where the lower one is of no use.
_ALL = math.nextafter(1.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class TotalProfile(SummedProfile):
    """Independent releases with different profiles: all of them see the same record.

    The upper bound is the larger one of the two directions, removing a record from the samples of
    all releases and adding one. A pair that is not symmetric counts with the worse direction in
    both. The lower bound holds where one record is the worst case of every release. It takes a
    release whose P(L > epsilon) is not known or whose pair is not symmetric alone. Time grows with
    the number of different releases, not with how often each is made.

    parts: One release or more, of one adjacency.
    """

    parts: tuple[SampledRun, ...]

    def __post_init__(self) -> None:
        if len({run.adjacency for run in self.parts}) != 1:
            raise ValueError("parts must hold releases, all of the same adjacency")

    @cached_property
    def largest_loss(self) -> float:
        return _sum_of_largest(self.parts)

    @cached_property
    def stated(self) -> tuple[float, Fraction]:
        """Those of the releases, added up: basic composition."""
        epsilon = delta = Fraction(0)
        for run in self.parts:
            each, share = run.step.stated
            if each == math.inf:
                return math.inf, Fraction(0)
            if run.rate < 1:
                each = _amplified(run.rate, math.nextafter(each, math.inf)) * (1 + 4 * ULP)
            epsilon += run.steps * written(each)
            delta += run.steps * written(run.rate) * share
        return written_above(epsilon), delta

    @property
    def attains_largest_loss(self) -> bool:
        """Whether every release does."""
        return all(run.step.attains_largest_loss for run in self.parts)

    def compose(self, times: int) -> TotalProfile:
        check_count("times", times)
        return TotalProfile(
            parts=tuple(replace(run, steps=times * run.steps) for run in self.parts)
        )

    def _scaled(self, factor: float) -> TotalProfile:
        scaled = (replace(run, step=run.step.scaled(factor)) for run in self.parts)
        return TotalProfile(parts=tuple(scaled))

    def _epsilon(self, delta):
        # The bounds may be far apart.
        flat = delta.ravel()
        lower, value, upper = (self._crossing(flat, curve) for curve in range(3))
        attained = (run for run in self.parts if run.step.attains_largest_loss)
        pure = _sum_of_largest(attained, side=-1)
        start = Bounds(np.where(flat == 0, pure, lower), value, upper)
        return Bounds(*(each.reshape(delta.shape) for each in self._around(start, flat)))

    @property
    def _share_above(self):
        return _ALL if self._alone else 1 / 3

    @cached_property
    def _alone(self) -> frozenset[SampledRun]:
        """Those that the lower bound does not convolve."""
        return frozenset(run for run in self.parts if not _has_tails(run.step))

    def _log_apart(self, epsilon):
        singles = [run.log_step_delta(epsilon).lower for run in self._strongest]
        return np.max(singles, axis=0), self._log_basic(epsilon)

    def _log_basic(self, epsilon: np.ndarray) -> np.ndarray:
        """Basic composition."""
        at = epsilon / self._number
        strong = (math.log(run.steps) + run.log_step_delta(at).upper for run in self._strongest)
        with np.errstate(divide="ignore"):
            weak = np.log(np.interp(np.expm1(np.minimum(at, 700.0)), _CHORDS, self._weak))
        return np.logaddexp.reduce([weak, *strong], axis=0)

    @cached_property
    def _weak(self) -> np.ndarray:
        """The sum of the curves of all but the strongest, at the losses of `_CHORDS`."""
        weak = (run for run in self.parts if run not in self._strongest)
        curves = (run.steps * _curve(run)[: _CHORDS.size] for run in weak)
        return sum(curves, np.zeros(_CHORDS.size))

    @cached_property
    def _strongest(self) -> dict[SampledRun, None]:
        """Releases with the largest delta at a probe, whose bounds are computed one by one."""
        worst = np.argmax([_curve(run) for run in self.parts], axis=0)
        return dict.fromkeys(self.parts[i] for i in worst)

    def _reaches(self, level: int) -> tuple[float, ...]:
        return (FINE, math.inf) if max(top for _, top in self._ends(level)) > FINE else (math.inf,)

    def _sum(self, side: str, level: int, reach: float) -> _WorseDirection:
        if (side, level, reach) not in self._known:
            laws = [
                (self._laws(run, ends, side, level, reach), run.steps)
                for run, ends in zip(self.parts, self._ends(level), strict=True)
                if side == "above" or run not in self._alone
            ]
            nothing = distribution(np.zeros(1, int), np.ones(1), self._spacing(level, reach))
            self._known[side, level, reach] = _WorseDirection(
                laws or [([nothing], 1)], functools.partial(self._likely, (side, level, reach))
            )
        return self._known[side, level, reach]

    def _laws(
        self, run: SampledRun, ends: tuple[float, float], side: str, level: int, reach: float
    ) -> list[LossDistribution]:
        """Of one loss of a release: for each direction, or one that serves both."""
        laws_of = _laws_above if side == "above" else _laws_below
        return laws_of(run, self._places(ends, level, reach), self._spacing(level, reach))

    def _likely(self, key: tuple, way: int, parts: tuple, tilt: float, tilted: Parts) -> Likely:
        """The sum of tilted losses of one side, level, reach and direction."""
        return likely_sums(tilted)

    def _places(self, ends: tuple[float, float], level: int, reach: float) -> np.ndarray:
        """From 0 to the loss that matters, half of them geometric, half even where most mass is."""
        bottom, top = np.minimum(ends, reach) / self._spacing(level, reach)
        size = max(math.ceil(top), 1)
        half = min(_NODES[level], max(_NODES_OF_ALL // len(self.parts), 128)) // 2
        start = math.floor(bottom) if bottom < size else 0
        places = np.r_[0, np.linspace(start, size, half), np.geomspace(1, size, half)]
        return np.unique(np.round(places).astype(int))

    def _ends(self, level: int) -> list[tuple[float, float]]:
        if ("ends", level) not in self._known:
            cut = CUTS[level] / self._number
            self._known["ends", level] = [_ends(run, cut) for run in self.parts]
        return self._known["ends", level]

    @cached_property
    def _number(self) -> int:
        return sum(run.steps for run in self.parts)

    def _spacing(self, level: int, reach: float) -> float:
        if ("spacing", level, reach) not in self._known:
            ends = self._ends(level)
            variance = sum(
                run.steps * _variance(run, reach, *each)
                for run, each in zip(self.parts, ends, strict=True)
            )
            places = np.clip(128 * math.sqrt(self._number), *_PLACES)
            tops = [min(top, reach) for _, top in ends]
            coarse = min(math.sqrt(variance) / _PLACES_AT_LEAST, sum(tops) / _PLACES_OF_ALL)
            spacing = max(math.sqrt(variance) / places, coarse, max(tops) / _LONGEST) or 1.0
            # A better pair cannot have more than its largest loss, which may be likely: on the
            # grid.
            atoms = ((run.steps * _largest(run) ** 2, _largest(run)) for run in self.parts)
            _, largest = max((atom for atom in atoms if math.isfinite(atom[1])), default=(0.0, 0.0))
            if largest > spacing:
                spacing = largest * (1 + 8 * ULP) / math.ceil(largest / spacing)
            self._known["spacing", level, reach] = spacing
        return self._known["spacing", level, reach]


class _WorseDirection:
    """The larger delta of two sums: removing a record, and adding one."""

    def __init__(
        self, laws: list[tuple[list[LossDistribution], int]], likely: Callable[..., Likely]
    ):
        self.sums = [
            LossSum(
                *((each[way % len(each)], times) for each, times in laws),
                likely=functools.partial(likely, way),
            )
            for way in range(max(len(each) for each, _ in laws))
        ]
        self.spacing = self.sums[0].spacing

    def log_delta(self, epsilon: np.ndarray, *, tilted: bool) -> tuple[np.ndarray, np.ndarray]:
        """As `LossSum.log_delta`; the allowance is that of both."""
        found = [each.log_delta(epsilon, tilted=tilted) for each in self.sums]
        return tuple(np.max(part, axis=0) for part in zip(*found, strict=True))


def total(releases: Iterable[SampledRun]) -> PrivacyProfile:
    """The profile of all releases, in closed form where there is one.

    Gaussian noise on all records is merged exactly. One release or more, all of one adjacency;
    ValueError otherwise.
    """
    releases = list(releases)
    above, below = (
        [part for run in releases for part in _parts(run, side(run.step))]
        for side in (_most, _least)
    )
    return enclosed(_joint(above), _joint(below) if below else None)


def _joint(runs: list[SampledRun]) -> PrivacyProfile:
    parts = _merged(runs)
    if len(parts) == 1 and parts[0].rate == 1:
        step, times = parts[0].step, parts[0].steps
        if times == 1 or type(step).compose is not PrivacyProfile.compose:
            return step.compose(times)
    return TotalProfile(parts=parts)


def _merged(runs: list[SampledRun]) -> tuple[SampledRun, ...]:
    """Equal releases counted together, and Gaussian noise on all records as one release."""
    counted, distances = {}, []
    for run in runs:
        if run.rate == 1 and isinstance(run.step, GaussianProfile):
            distances.append(math.sqrt(run.steps) * run.step.mu)
        else:
            kind = replace(run, steps=1)
            counted[kind] = counted.get(kind, 0) + run.steps
    found = [replace(kind, steps=steps) for kind, steps in counted.items()]
    if distances and (any(distances) or not found):
        noise = GaussianProfile(mu=math.hypot(*distances))
        found.append(replace(runs[0], step=noise, steps=1, rate=1.0))
    return tuple(found)


def _most(profile: PrivacyProfile) -> PrivacyProfile:
    return _most(profile.above) if isinstance(profile, BoundedProfile) else profile


def _least(profile: PrivacyProfile) -> PrivacyProfile | None:
    """A profile that is attained, or None where none is known."""
    if isinstance(profile, BoundedProfile):
        return profile.below and _least(profile.below)
    return None if isinstance(profile, PureProfile) else profile


def _parts(run: SampledRun, profile: PrivacyProfile | None) -> list[SampledRun]:
    """A release as independent ones that are simpler, where it is made of such."""

    def several(*parts: tuple[PrivacyProfile, int]) -> list[SampledRun]:
        found = (replace(run, step=each, steps=run.steps * times) for each, times in parts)
        return [simple for part in found for simple in _parts(part, part.step)]

    if profile is None:
        return []
    if run.rate < 1:
        return [replace(run, step=profile)]
    match profile:
        case ComposedProfile():
            return several((profile.base, profile.times))
        case UnequalReleasesProfile():
            return several(*profile.parts)
        case PureProfile(times=times) if times > 1:
            return several((replace(profile, times=1), times))
        case IndependentLaplaceProfile(width=width, rest=rest, scale=scale) if (
            profile.components > 1 or rest
        ):
            sizes = ((width, profile.components), (rest, 1))
            return several(
                *(
                    (laplace_profile(components=1, width=size, rest=0.0, scale=scale), count)
                    for size, count in sizes
                    if size
                )
            )
        case SampledGaussianProfile(rate=rate, steps=steps) if run.adjacency == "add-remove":
            step = GaussianProfile(mu=profile.mu)
            return [replace(run, step=step, rate=rate, steps=run.steps * steps)]
    return [replace(run, step=profile)]


def _has_tails(profile: PrivacyProfile) -> bool:
    """Whether P(L > epsilon) of a symmetric pair is known."""
    try:
        return profile.symmetric and bool(profile.survival(1.0) >= 0)
    except NotImplementedError:
        return False


def _laws_above(run: SampledRun, nodes: np.ndarray, spacing: float) -> list[LossDistribution]:
    """Losses of worse pairs for each direction, or of one that serves both."""
    # Rounding in the profile must not become infinite loss.
    possible = nodes * spacing < _largest(run)
    if run.rate == 1:
        upper = possible * np.asarray(run.step.delta(nodes * spacing).upper)
        return [symmetric_chords(nodes, upper, spacing)]
    possible = np.r_[np.ones(nodes.size - 1, bool), possible]
    nodes = np.r_[-nodes[:0:-1], nodes]
    return [chords(nodes, possible * curve, spacing) for curve in run.step_curves(nodes * spacing)]


def _laws_below(run: SampledRun, nodes: np.ndarray, spacing: float) -> list[LossDistribution]:
    if run.rate == 1:
        value = np.asarray(run.step.delta(nodes * spacing).value)
        return [symmetric_cells(run.step, nodes, value, spacing)]
    losses = np.r_[-nodes[:0:-1], nodes] * spacing
    cells = (merged_cells(losses, *tails, spacing) for tails in run.step_tails(losses))
    return [distribution(*each, spacing) for each in cells]


@functools.lru_cache(maxsize=1 << 14)
def _curve(run: SampledRun) -> np.ndarray:
    """Upper bounds of one release's delta at the probes."""
    return _curve_at(run, _PROBES)


def _curve_at(run: SampledRun, losses: np.ndarray) -> np.ndarray:
    base, weight = run.removed(losses)
    return np.minimum.accumulate(weight * np.asarray(run.step.delta(base).upper))


def _sum_of_largest(runs: Iterable[SampledRun], side: int = 1) -> float:
    """The sum of the largest losses, as they are written, rounded up; with side -1, down."""
    losses = [(run.steps, _largest(run, side)) for run in runs]
    if any(loss == math.inf for _, loss in losses):
        return math.inf
    exact = sum((n * written(loss) for n, loss in losses), Fraction(0))
    # 0.0 is added, as -0.0 is no bound to show.
    return side * written_above(side * exact) + 0.0


def _largest(run: SampledRun, side: int = 1) -> float:
    """The largest loss of one release; where it is sampled, no less, or with side -1 no more."""
    loss = run.step.largest_loss
    if run.rate == 1 or not math.isfinite(loss):
        return loss
    # The decimal that is meant is next to its float at most; each function is within an ulp.
    return _amplified(run.rate, math.nextafter(loss, side * math.inf)) * (1 + side * 4 * ULP)


def _amplified(rate: float, loss: float) -> float:
    """ln(1 + q (e^loss - 1))."""
    return math.log1p(rate * math.expm1(min(loss, 700.0))) + max(loss - 700.0, 0.0)


def _ends(run: SampledRun, cut: float) -> tuple[float, float]:
    """Losses between which delta falls from that at 0 to its least, but for the cut.

    Of Gaussian noise with a large mu they lie close together, far from 0: there a probe is not near
    enough, and they are searched.
    """
    curve, found = _curve(run), []
    probes = [int(np.argmax(below)) for below in _fallen(curve, curve, cut)]
    close = _PROBES[probes[1]] < 2 * _PROBES[probes[0]]
    for which, probe in enumerate(probes):
        low, high = _PROBES[max(probe - 1, 0)], _PROBES[probe]
        for _ in range(_AGAIN if close else 0):
            at = np.linspace(low, high, _PARTS + 1)
            below = _fallen(_curve_at(run, at), curve, cut)[which]
            first = max(int(np.argmax(below)), 1)
            low, high = at[first - 1], at[first]
        found.append(min(float((low, high)[which]), _largest(run)))
    return found[0], found[1]


def _fallen(at: np.ndarray, curve: np.ndarray, cut: float) -> tuple[np.ndarray, np.ndarray]:
    """Where delta is no longer nearly that at 0, and where it is no more than the cut."""
    return at < (1 - _BULK) * curve[0] + _BULK * curve[-1], at - curve[-1] <= cut


def _variance(run: SampledRun, reach: float, bottom: float, top: float) -> float:
    """Of one loss up to the reach, near enough to choose a grid."""
    probes, curve = _PROBES, _curve(run)
    if 2 * bottom > top:
        probes = np.unique(np.r_[_PROBES, np.linspace(bottom, top, _PROBES_AMONG)])
        curve = _curve_at(run, probes)
    losses, masses = probes[1:], chord_masses(probes, curve, 1.0)[1:]
    masses = np.where(losses <= reach, masses, 0.0)
    mirrored = masses * np.exp(-losses)
    mean, rest = float((masses - mirrored) @ losses), max(1.0 - (masses + mirrored).sum(), 0.0)
    return float(masses @ (losses - mean) ** 2 + mirrored @ (losses + mean) ** 2 + rest * mean**2)
