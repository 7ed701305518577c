"""The base class of studies: names, data sets, metrics, settings, and the measurement itself."""

import functools
import importlib
import inspect
import pkgutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from mechanisms import Mechanism
from mechanisms.query.extensions import modules_of
from studies.base.case import Case, Point, Setup, Value
from studies.base.coordinates import TYPES, Coordinate, UndeclaredValue
from studies.base.families import Family
from studies.base.metrics import Metric
from studies.base.study_settings import StudySettings

# The folder in which the studies are found; no list names them.
FOLDER = Path(__file__).resolve().parents[1]


class Study(ABC):
    """A study. A subclass has these attributes and lives in the file of `studies` with its name.

    Attributes:
        name: The name in configs and tables. Seeds depend on it.
        paper: The key of the paper whose study it carries out, or "suite".
        datasets: The names of the data sets that it can run on, with their source: official,
            bundled, simulated or none.
        Settings: The class of its settings in a config.
        metrics: The metrics that it measures, wall-clock seconds among them.
        coordinates: The columns that it adds to the tidy table.
        needs: The class that it requires of mechanisms. Only the calibration shows whether a
            mechanism supports the query; if not, its rows are `unsupported`.
        files: For a data set that is derived from another entry of `datasets`, the name of that
            entry.
        slow_imports: Modules that `load` and `measure` import inside their functions, because
            planning does not need them. The process of a batch imports them once for all its cells.
        splits_trials: Whether `measure` runs only the trials of `Case.trials`, so that a config can
            give every trial its own cell.
        family: The leaderboard that ranks mechanisms by this study, if any.
        query: A sentence for that leaderboard: the query, and how neighbouring data sets differ.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    datasets: ClassVar[Mapping[str, str]]
    Settings: ClassVar[type[StudySettings]]
    metrics: ClassVar[tuple[Metric, ...]]
    coordinates: ClassVar[tuple[Coordinate, ...]] = ()
    needs: ClassVar[type[Mechanism]] = Mechanism
    files: ClassVar[Mapping[str, str]] = {}
    slow_imports: ClassVar[tuple[str, ...]] = ()
    splits_trials: ClassVar[bool] = False
    family: ClassVar[Family | None] = None
    query: ClassVar[str] = ""

    @abstractmethod
    def points(self, settings: Any, variant: str, dataset: str) -> list[Point]:
        """Return the grid of one cell, in order; `settings` is an instance of `Settings`."""

    def load(self, setup: Setup, folder: Path) -> Any:
        """Load the problem: data and everything else that all mechanisms share; None by default.

        Args:
            setup: The settings and the shared seeds.
            folder: The folder of downloaded data.
        """
        return None

    @abstractmethod
    def measure(self, problem: Any, case: Case, point: Point) -> Iterator[Value]:
        """Yield the values at one grid point; Unsupported and other exceptions become rows."""

    def also_reads(self, settings: Any, dataset: str) -> list[str]:
        """Return the entries of `datasets` that `load` reads besides those of the data set."""
        return []

    @property
    def title(self) -> str:
        """The question of the study, in one line."""
        # There are no docstrings under python -OO.
        text = inspect.getdoc(sys.modules[type(self).__module__]) or self.name
        return text.splitlines()[0]

    @property
    def maps(self) -> tuple[str, ...]:
        """The names of the metrics that are whole maps."""
        return tuple(metric.name for metric in self.metrics if metric.is_map)

    @property
    def ranked(self) -> tuple[Metric, ...]:
        """The metrics that a leaderboard ranks by, the main one first."""
        return tuple(metric for metric in self.metrics if metric.title)

    def files_of(self, dataset: str) -> str:
        """Return the entry of `datasets` whose files a data set is read from."""
        return self.files.get(dataset, dataset)

    def metric(self, name: str) -> Metric:
        """Return the metric with this name.

        Raises:
            UndeclaredValue: The study declares no such metric.
        """
        for metric in self.metrics:
            if metric.name == name:
                return metric
        known = [metric.name for metric in self.metrics]
        raise UndeclaredValue(f"the metric {name!r} is not declared; metrics has {known}")

    def check_declared(self, value: Value) -> None:
        """Raise UndeclaredValue unless the study declares the value's metric and coordinates.

        Types are checked too; a column of numbers also takes whole numbers.
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
    """Return the study that a module defines, if any."""
    for found in vars(module).values():
        if inspect.isclass(found) and issubclass(found, Study) and "name" in vars(found):
            # Skip studies that the module only imports.
            if found.__module__ != module.__name__:
                continue
            return found()
    return None


def study_named(name: str) -> Study:
    """Return the study of this name, importing only its module and what that module needs."""
    return study_in(importlib.import_module(f"studies.{name}"))


@functools.cache
def all_studies() -> dict[str, Study]:
    """Return all studies by name; a broken file is named on stderr and left out."""
    names = pkgutil.iter_modules([str(FOLDER)], "studies.")
    found = map(study_in, modules_of(each.name for each in names if not each.ispkg))
    return {study.name: study for study in sorted(filter(None, found), key=lambda each: each.name)}
