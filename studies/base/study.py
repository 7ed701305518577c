"""What a study is: its names, data sets, metrics and settings, and what it measures at a point."""

import functools
import importlib
import inspect
import pkgutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from mechanisms.query.extensions import modules_of
from studies.base.case import Case, Point, Setup, Value
from studies.base.coordinates import TYPES, Coordinate, UndeclaredValue
from studies.base.families import Family
from studies.base.metrics import Metric
from studies.base.study_settings import StudySettings

# The folder of the studies, which this package does not import.
FOLDER = Path(__file__).resolve().parents[1]


class Study(ABC):
    """A study: a subclass with these attributes, in the file of `studies` that has its name.

    Attributes:
        name: Its name in configs and tables. Seeds are made of it.
        paper: Key of the paper whose study it carries out, or "suite".
        datasets: Names of the data sets it can run on, with their source: official, bundled,
            simulated or none.
        Settings: Its settings in a config.
        metrics: What it measures, seconds and memory included.
        coordinates: The columns it adds to the tidy table.
        needs: What it needs of mechanisms, see `mechanism_sets.CAPABILITIES`.
        files: For a data set that is derived from another entry of `datasets`, the name of that
            entry.
        slow_imports: Modules that `load` and `measure` import inside their functions, as planning
            needs none of them. The process of a batch imports them once for all of its cells.
        splits_trials: Whether `measure` runs the trials of `Case.trials`, so that a config can
            give every trial its own job.
        family: The leaderboard that ranks mechanisms by this study, if any.
        query: What is asked of the data, and what neighbouring data sets differ in: a sentence for
            that leaderboard.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    datasets: ClassVar[Mapping[str, str]]
    Settings: ClassVar[type[StudySettings]]
    metrics: ClassVar[tuple[Metric, ...]]
    coordinates: ClassVar[tuple[Coordinate, ...]] = ()
    needs: ClassVar[str] = "any"
    files: ClassVar[Mapping[str, str]] = {}
    slow_imports: ClassVar[tuple[str, ...]] = ()
    splits_trials: ClassVar[bool] = False
    family: ClassVar[Family | None] = None
    query: ClassVar[str] = ""

    @abstractmethod
    def points(self, settings: Any, variant: str, dataset: str) -> list[Point]:
        """The grid of one cell, in order; `settings` is an instance of `Settings`."""

    def load(self, setup: Setup, folder: Path) -> Any:
        """The problem: data and everything else that all mechanisms share; None without any.

        Args:
            folder: Where downloaded data are.
        """
        return None

    @abstractmethod
    def measure(self, problem: Any, case: Case, point: Point) -> Iterator[Value]:
        """Run one grid point; Unsupported and other exceptions become rows."""

    def also_reads(self, settings: Any, dataset: str) -> list[str]:
        """Entries of `datasets` that `load` reads besides the files of the data set."""
        return []

    @property
    def title(self) -> str:
        """What it asks, in a line."""
        # Python run with -OO has no docstrings.
        text = inspect.getdoc(sys.modules[type(self).__module__]) or self.name
        return text.splitlines()[0]

    @property
    def maps(self) -> tuple[str, ...]:
        """Names of the metrics that are whole maps."""
        return tuple(metric.name for metric in self.metrics if metric.is_map)

    @property
    def ranked(self) -> tuple[Metric, ...]:
        """The metrics that a leaderboard ranks by, the main one first."""
        return tuple(metric for metric in self.metrics if metric.title)

    def files_of(self, dataset: str) -> str:
        """The entry of `datasets` that a data set is derived from."""
        return self.files.get(dataset, dataset)

    def metric(self, name: str) -> Metric:
        """A metric by its name.

        Raises:
            UndeclaredValue: There is none.
        """
        for metric in self.metrics:
            if metric.name == name:
                return metric
        known = [metric.name for metric in self.metrics]
        raise UndeclaredValue(f"the metric {name!r} is not declared; metrics has {known}")

    def check_declared(self, value: Value) -> None:
        """Raise UndeclaredValue unless the study declares the value's metric and coordinates.

        Types are checked too: a number may be a whole number, and nothing else is converted.
        """
        self.metric(value.metric)
        known = {coordinate.name: coordinate.type for coordinate in self.coordinates}
        for name, found in value.at.items():
            if name not in known:
                raise UndeclaredValue(
                    f"{value.metric} uses the column {name!r}, which coordinates does not declare; "
                    f"it has {list(known)}"
                )
            allowed = (int, float) if known[name] is float else known[name]
            if not isinstance(found, allowed) or isinstance(found, bool):
                raise UndeclaredValue(
                    f"{value.metric} has {name} = {found!r}; the column holds a "
                    f"{TYPES[known[name]]}"
                )


def study_in(module: Any) -> Study | None:
    """The study that a module defines, if any."""
    for found in vars(module).values():
        if inspect.isclass(found) and issubclass(found, Study) and "name" in vars(found):
            # Not one that it imports.
            if found.__module__ != module.__name__:
                continue
            return found()
    return None


def study_named(name: str) -> Study:
    """A study by its name; no other is imported."""
    return study_in(importlib.import_module(f"studies.{name}"))


@functools.cache
def all_studies() -> dict[str, Study]:
    """Every study by name; a file that is broken is named on stderr and left out."""
    names = pkgutil.iter_modules([str(FOLDER)], "studies.")
    found = map(study_in, modules_of(each.name for each in names if not each.ispkg))
    return {study.name: study for study in sorted(filter(None, found), key=lambda each: each.name)}
