"""What a study is: grid points, and what is measured at one of them."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mechanisms import Budget, Inconsistent, Mechanism, Query
from mechanisms.verification.self_check import QUICK, require_consistent, require_stated_norms
from studies.base.coordinates import Coordinate
from studies.base.seeds import seed_of

# The folder of the studies, which this package does not import.
FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, kw_only=True)
class Point:
    """One grid point of a cell."""

    shape: tuple[int, ...]
    epsilon: float
    delta: float

    def to_list(self) -> list:
        """As JSON data: [shape, epsilon, delta]."""
        return [list(self.shape), self.epsilon, self.delta]

    @classmethod
    def from_list(cls, data: list) -> Point:
        """The point that `to_list` wrote."""
        shape, epsilon, delta = data
        return cls(shape=tuple(shape), epsilon=epsilon, delta=delta)

    @property
    def shape_name(self) -> str:
        """The shape as tables write it, "89x89"."""
        return "x".join(map(str, self.shape))


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A mechanism as a cell uses it: its name in the tables, its class and its options."""

    name: str
    mechanism: type[Mechanism]
    options: dict[str, Any] = field(default_factory=dict)
    # For each calibration, shape and budget that was checked the contradiction found, or None.
    _checked: dict[tuple, str | None] = field(default_factory=dict, repr=False, compare=False)

    def calibrate(
        self, query: Query, budget: Budget, calibration: str = "published", **options
    ) -> Mechanism:
        """The mechanism of `timed_calibration` alone."""
        return self.timed_calibration(query, budget, calibration, **options)[0]

    def timed_calibration(
        self, query: Query, budget: Budget, calibration: str = "published", **options
    ) -> tuple[Mechanism, float]:
        """The mechanism for a query and a budget, and the seconds that its calibration took.

        Every study calibrates here, because the first mechanism of each calibration and shape is
        compared with itself (`self_check`), and at every further budget the norms of its releases
        are. The check takes few releases and has its own seed, so that no other
        draw changes. Its time is not part of the seconds.

        Args:
            options: Of the mechanism, such as public side information; they take precedence over
                those of the variant.

        Raises:
            Inconsistent: The releases contradict the moments or the privacy that are stated.
            Unsupported, TypeError, ValueError: As `Mechanism.calibrate` does.
        """
        clock = time.perf_counter()
        mechanism = self.mechanism.calibrate(query, budget, calibration, **(self.options | options))
        seconds = time.perf_counter() - clock
        self._require_consistent(mechanism, calibration)
        return mechanism, seconds

    def _require_consistent(self, mechanism: Mechanism, calibration: str) -> None:
        """Compare a mechanism with itself, unless that was done at its shape and budget.

        What is inconsistent at the first budget of a shape is so at all of them.
        """
        query = calibration, mechanism.query.shape
        here = *query, mechanism.budget
        seed = seed_of("self-check", self.name, calibration, list(mechanism.query.shape))
        if query not in self._checked:
            found = _contradiction(require_consistent, mechanism, seed=seed, effort=QUICK)
            self._checked[query] = self._checked[here] = found
        if here not in self._checked:
            found = _contradiction(require_stated_norms, mechanism, seed=seed)
            self._checked[here] = self._checked[query] or found
        if self._checked[here]:
            raise Inconsistent(self._checked[here])


def _contradiction(check: Callable, mechanism: Mechanism, **arguments) -> str | None:
    """The sentence of a check that a mechanism fails, or None."""
    try:
        check(mechanism, **arguments)
    except Inconsistent as contradiction:
        return str(contradiction)
    return None


@dataclass(frozen=True)
class Value:
    """One measured number; `timing` marks wall-clock seconds and memory, kept apart from results.

    Args:
        metric: Name of the number.
        value: Finite.
        trial: Trial number from 0, or None for an exact value or a statistic over trials.
        at: Where it was measured: values of the study's COORDINATES, such as {"epoch": 3}.
        seed: The seed that was drawn from, or None.
    """

    metric: str
    value: float
    trial: int | None = None
    at: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    timing: bool = False


@dataclass(frozen=True, kw_only=True)
class Names:
    """The words that determine a cell's seeds (not the calibration: both see the same draws).

    `folder` is not part of a seed: it is where the cell may keep unfinished work, such as
    checkpoints, until it is done; None outside a cell's process.
    """

    base_seed: int
    study: str
    dataset: str
    mechanism: str
    folder: Path | None = None

    def seed(self, point: Point, *more: object) -> int:
        """The seed of one trial, or another named draw, at a point.

        delta is not part of it: points that differ only in delta share their draws, as calibrations
        do. Epsilons of 1 and 1.0 are the same.
        """
        names = (self.base_seed, self.study, self.dataset, self.mechanism)
        return seed_of(*names, point.shape_name, float(point.epsilon), *more)

    def shared_seed(self, *more: object) -> int:
        """A seed that all mechanisms share: splits of the data, random workloads."""
        return seed_of(self.base_seed, self.study, self.dataset, *more)


class Study(Protocol):
    """A module of ``studies`` with these names is a study.

    NAME: Its name in configs and tables.
    PAPER: Key of the paper whose study it carries out.
    DATASETS: Names of the data sets it can run on, with their source.
    Settings: Its settings in a config, a subclass of `StudySettings`.
    NEEDS: What it needs of mechanisms, see `mechanism_sets.CAPABILITIES`. "any" if left out.
    METRICS: What it measures: name -> meaning with the unit, seconds and memory included.
    TOLERANCES: How far a metric may lie from its value on another machine; see
        `studies.base.tolerances`. A metric without an entry is exact. May be left out.
    COORDINATES: The columns it adds to the tidy table; see `studies.base.coordinates`.
    MAPS: Metrics whose values are whole maps, kept in a separate file. May be left out.
    FILES: For a data set of the study that is derived from an entry of `datasets`, the name
        of that entry. May be left out.
    also_reads: From settings and a data set to further entries of `datasets` that
        `load` reads, such as the weights of a network. May be left out.
    SLOW_IMPORTS: Modules that `load` and `measure` import inside their functions, as planning needs
        none of them. The process of a batch imports them once for all of its cells. May be left
        out.
    SPLITS_TRIALS: True where `measure` asks `trials_of` which trials to run, so that a config can
        give every trial its own job. May be left out.
    """

    NAME: str
    PAPER: str
    DATASETS: dict[str, str]
    METRICS: dict[str, str]
    COORDINATES: tuple[Coordinate, ...]

    def points(self, settings: dict, variant: str, dataset: str) -> list[Point]:
        """The grid of one cell, in order."""

    def load(self, settings: dict, dataset: str, folder: Path, names: Names) -> Any:
        """The problem: data and everything else that all mechanisms share."""

    def measure(
        self, problem: Any, variant: Variant, calibration: str, point: Point, names: Names
    ) -> Iterator[Value]:
        """Run one grid point; Unsupported and other exceptions become rows."""


def trial_count(settings: dict, dataset: str | None = None) -> int:
    """Trials on a data set: `trials`, unless the study has `trials_for` with an entry for it."""
    return settings.get("trials_for", {}).get(dataset, settings["trials"])


def trials_of(settings: dict, dataset: str | None = None) -> range:
    """The trials of a cell: all of them, or one where trials are split."""
    only = settings.get("trial")
    return range(trial_count(settings, dataset)) if only is None else range(only, only + 1)


def files_of(study: Study, dataset: str) -> str:
    """The entry of `datasets` that a data set of a study is derived from."""
    return getattr(study, "FILES", {}).get(dataset, dataset)


def also_read(study: Study, settings: dict, dataset: str) -> list[str]:
    """The entries of `datasets` that a study reads besides the files of the data set."""
    further = getattr(study, "also_reads", None)
    return further(settings, dataset) if further else []


@functools.cache
def all_studies() -> dict[str, Study]:
    """Every study by name: the modules of this folder that declare NAME and measure."""
    found = {}
    for info in pkgutil.iter_modules([str(FOLDER)], "studies."):
        if info.ispkg:
            continue
        module = importlib.import_module(info.name)
        if hasattr(module, "NAME") and hasattr(module, "measure"):
            found[module.NAME] = module
    return dict(sorted(found.items()))


def maps_of(study: Study) -> tuple[str, ...]:
    """The metrics of a study that are whole maps."""
    return getattr(study, "MAPS", ())
