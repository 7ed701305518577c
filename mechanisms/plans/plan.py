"""Releases that are composed: their total profile, a running total, and noise that fits a budget.

All bounds hold for releases whose privacy is fixed beforehand; a query may depend on earlier
answers, its sensitivity and its noise may not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import scipy

from mechanisms.base.mechanism import Mechanism
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.group_profile import group_profile, has_closed_form
from mechanisms.privacy.numerics import written
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count, check_target
from mechanisms.privacy.sampling.poisson_sampling import SampledRun, check_rate
from mechanisms.privacy.sampling.running_total import Memory, running
from mechanisms.privacy.sampling.total_profile import TotalProfile, total
from mechanisms.privacy.search_profile import SearchProfile, check_runs
from mechanisms.privacy.worst_profile import WorstProfile
from mechanisms.query.query import ADJACENCIES as STATED

ADJACENCIES = ("add-remove", "replace")
# Alternatives of parallel groups that are composed one by one.
_MOST_WORLDS = 64
# The search for a factor of the noise stays within e^+-40, and ends within 1e-4.
_LARGEST_LOG_FACTOR, _WITHIN = 40.0, 1e-4
_LOG_NOTHING = -1e4


@dataclass(frozen=True, kw_only=True)
class Release:
    """`times` independent releases, each on its own Poisson sample of the records.

    Args:
        of: A calibrated mechanism, whose profile of one release counts, or a profile.
        times: At least 1.
        rate: The probability of each record to be in a sample; 1: all records.
        adjacency: Of the profile: "add-remove", "replace" or "local"; by default that of the
            mechanism's query, or of the plan. With sampling under "replace" the profile must also
            cover a record that is absent.
        fixed: Whether planning leaves the noise as it is.

    Raises ValueError for a mechanism whose profile is not known, TypeError or ValueError for an
    argument that is not allowed.
    """

    of: Mechanism | PrivacyProfile
    times: int = 1
    rate: float = 1.0
    adjacency: str | None = None
    fixed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.of, Mechanism | PrivacyProfile):
            raise TypeError(f"a release is of a Mechanism or a PrivacyProfile, got {self.of!r}")
        if isinstance(self.of, Mechanism) and self.of.profile_of_release() is None:
            raise ValueError(
                f"the privacy profile of {self.of.key} is not known; state a guarantee in its place"
            )
        if self.adjacency not in (None, *STATED):
            raise ValueError(
                f"adjacency must be one of {', '.join(STATED)}, got {self.adjacency!r}"
            )
        if not isinstance(self.fixed, bool):
            raise TypeError(f"fixed must be True or False, got {self.fixed!r}")
        check_rate(self.rate)
        check_count("times", self.times)

    @property
    def profile(self) -> PrivacyProfile:
        """Of one release on the sampled records."""
        return self.of.profile_of_release() if isinstance(self.of, Mechanism) else self.of

    def stated(self, adjacency: str) -> str:
        """The adjacency of the profile, in a plan with `adjacency`; local counts as replace."""
        own = self.of.query.adjacency if isinstance(self.of, Mechanism) else adjacency
        return {"local": "replace"}.get(self.adjacency or own, self.adjacency or own)

    def scaled(self, factor: float) -> Release:
        if self.fixed:
            return self
        own = self.of.query.adjacency if isinstance(self.of, Mechanism) else None
        return replace(self, of=self.profile.scaled(factor), adjacency=self.adjacency or own)


@dataclass(frozen=True)
class Parallel:
    """Releases of which every record is in the data of one only, such as one for each region.

    Add-remove only: a record that is replaced may leave one part and enter another.

    Args:
        releases: One or more; also parts that are divided further. As those of `compose`.
    """

    releases: tuple[Entry, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "releases", tuple(_entries(self.releases)))

    def scaled(self, factor: float) -> Parallel:
        return Parallel(tuple(each.scaled(factor) for each in self.releases))


@dataclass(frozen=True, kw_only=True)
class Search:
    """Of a random number of runs, each with all these releases, the best one is released.

    Args:
        releases: Of one run, with the release of its score. As those of `compose`.
        runs, eta: As `SearchProfile` has them: the mean number of runs, and its distribution.
    """

    releases: tuple[Entry, ...]
    runs: float
    eta: float | None = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "releases", tuple(_entries(self.releases)))
        check_runs(self.runs, self.eta)

    def scaled(self, factor: float) -> Search:
        return replace(self, releases=tuple(each.scaled(factor) for each in self.releases))


Entry = Release | Parallel | Search


def _entries(releases: Iterable[Entry | Mechanism | PrivacyProfile]) -> list[Entry]:
    """One entry or more; a mechanism or a profile counts as one release."""
    entries = [each if isinstance(each, Entry) else Release(of=each) for each in releases]
    if not entries:
        raise ValueError("releases must hold at least one release")
    return entries


def compose(
    releases: Iterable[Entry | Mechanism | PrivacyProfile],
    *,
    adjacency: str = "add-remove",
    group: int = 1,
) -> PrivacyProfile:
    """The profile of independent releases together.

    `epsilon(delta)`, `delta(epsilon)` and `mechanisms.privacy.trade_off.type_two_error` have its
    lower and upper bounds.

    Args:
        releases: One or more; a mechanism or a profile counts once.
        adjacency: What neighbouring data sets are: "add-remove" or "replace". Under "replace" a
            release that is stated for add-remove counts as one record removed and one added.
        group: How many records change together.

    Raises ValueError where a release states "replace" in a plan for add-remove: it does not say
    what adding a record changes.
    """
    if adjacency not in ADJACENCIES:
        raise ValueError(f"adjacency must be add-remove or replace, got {adjacency!r}")
    one = _composed(_entries(releases), adjacency)
    if check_count("group", group) == 1:
        return one
    parts = (SampledRun(step=each, rate=1.0, steps=1) for each in _grouped(_above(one), group))
    return BoundedProfile(above=_above(total(parts)), below=one)


def _composed(entries: Sequence[Entry], adjacency: str) -> PrivacyProfile:
    if adjacency == "replace":
        other = [each for each in entries if _is_for_add_remove(each)]
        entries = [each for each in entries if not _is_for_add_remove(each)]
        if other:
            two = _grouped(_above(_composed(other, "add-remove")), 2)
            entries += [Release(of=BoundedProfile(above=each)) for each in two]
    worlds = list(itertools.islice(_worlds(entries), _MOST_WORLDS + 1))
    if len(worlds) > _MOST_WORLDS:
        raise ValueError(
            f"parallel groups have more than {_MOST_WORLDS} different combinations; leave out "
            "members that reveal less than another one"
        )
    found = tuple(total([_run(each, adjacency) for each in world]) for world in worlds)
    return found[0] if len(found) == 1 else WorstProfile(profiles=found)


def _is_for_add_remove(entry: Entry) -> bool:
    """Whether an entry of a plan for replacements is stated for one record added or removed."""
    if isinstance(entry, Search):
        return False
    return isinstance(entry, Parallel) or entry.stated("replace") == "add-remove"


def _worlds(entries: Sequence[Entry]) -> Iterable[tuple[Release | Search, ...]]:
    """What one record may see: of each parallel group one member."""
    return itertools.product(*(dict.fromkeys(_alternatives(each)) for each in entries))


def _alternatives(entry: Entry) -> Iterator[Release | Search]:
    if isinstance(entry, Parallel):
        for each in entry.releases:
            yield from _alternatives(each)
    else:
        yield entry


def _run(entry: Release | Search, adjacency: str) -> SampledRun:
    if isinstance(entry, Search):
        one = _composed(entry.releases, adjacency)
        found = SearchProfile(base=one, runs=entry.runs, eta=entry.eta)
        return SampledRun(step=BoundedProfile(above=found), rate=1.0, steps=1, adjacency=adjacency)
    if entry.stated(adjacency) != adjacency:
        raise ValueError(
            f"a release is stated for {entry.stated(adjacency)} and the plan for {adjacency}; "
            "state the sensitivity of its query for add-remove, or make the plan one for replace"
        )
    return SampledRun(step=entry.profile, rate=entry.rate, steps=entry.times, adjacency=adjacency)


def _grouped(profile: PrivacyProfile, size: int) -> list[PrivacyProfile]:
    """Independent releases that reveal no less of a group than those of a total reveal of one.

    Noise on all records whose closed form holds for groups is apart from the others.
    """
    if not isinstance(profile, TotalProfile):
        return [group_profile(profile, size)]
    noise = [run for run in profile.parts if run.rate == 1 and has_closed_form(run.step)]
    others = tuple(run for run in profile.parts if run not in noise)
    apart = [group_profile(run.step, size).compose(run.steps) for run in noise]
    return [*apart, group_profile(total(others), size)] if others else apart


def _above(profile: PrivacyProfile) -> PrivacyProfile:
    return profile.above if isinstance(profile, BoundedProfile) else profile


class Odometer:
    """The running total of releases as they are added.

    Equal releases are counted, and a bound takes what it can from the one before it: asked after
    every release, it takes about as long among many different ones as among few. Its bounds are at
    most about twice as wide as those of `compose`, see `mechanisms.privacy.sampling.running_total`.

    Args:
        adjacency, group: As in `compose`.
    """

    def __init__(self, *, adjacency: str = "add-remove", group: int = 1) -> None:
        self._settings = {"adjacency": adjacency, "group": group}
        self._counts: dict[Entry, int] = {}
        self._total: PrivacyProfile | None = None
        self._memory = Memory()

    def add(self, release: Entry | Mechanism | PrivacyProfile) -> None:
        """Count one more entry; as those of `compose`."""
        entry = release if isinstance(release, Entry) else Release(of=release)
        kind, times = entry, 1
        if isinstance(entry, Release):
            kind, times = replace(entry, times=1), entry.times
        self._counts[kind] = self._counts.get(kind, 0) + times
        self._total = None

    @property
    def total(self) -> PrivacyProfile:
        """The profile of all releases so far, of which there must be one."""
        if self._total is None:
            entries = []
            for kind, times in self._counts.items():
                counted = isinstance(kind, Release)
                entries += [replace(kind, times=times)] if counted else [kind] * times
            self._total = running(compose(entries, **self._settings), self._memory)
        return self._total

    def epsilon(self, delta: float) -> Bounds:
        return self.total.epsilon(delta)

    def delta(self, epsilon: float) -> Bounds:
        return self.total.delta(epsilon)


def noise_factor(
    releases: Iterable[Entry | Mechanism | PrivacyProfile],
    epsilon: float,
    delta: float,
    *,
    adjacency: str = "add-remove",
    group: int = 1,
) -> float:
    """The factor of all noise that is not fixed at which the plan is (epsilon, delta)-DP.

    The upper bound of the plan meets the budget, within 1e-4 of the factor and on the private side.
    Raises ValueError where no factor does.
    """
    check_target(epsilon, delta)
    entries = _entries(releases)

    def excess(log_factor: float) -> float:
        factor = math.exp(log_factor)
        scaled = [each.scaled(factor) for each in entries]
        found = _above(compose(scaled, adjacency=adjacency, group=group))
        if delta == 0:
            largest = float(found.epsilon(0.0).upper)
            return max(math.log(largest / epsilon), _LOG_NOTHING) if largest else _LOG_NOTHING
        enough, least = found.stated
        if enough <= epsilon and least <= written(delta):
            return _LOG_NOTHING
        return max(float(found.log_delta(epsilon).upper), _LOG_NOTHING) - math.log(delta)

    low, high = _bracket(excess)
    root = scipy.optimize.brentq(excess, low, high, xtol=_WITHIN / 2)
    while excess(root) > 0:
        root += _WITHIN / 2
    return math.exp(root)


def _bracket(excess: Callable[[float], float]) -> tuple[float, float]:
    """Two points around the root of a falling function of a logarithm."""
    step = 0.25 if excess(0.0) > 0 else -0.25
    near, far = 0.0, step
    while excess(far) * step > 0:
        near, far = far, 2 * far
        if abs(far) > _LARGEST_LOG_FACTOR:
            raise ValueError(
                "no factor of the noise makes the plan meet the budget; fixed releases may exceed "
                "it alone, or the noise may have no guarantee of this kind"
            )
    return min(near, far), max(near, far)
