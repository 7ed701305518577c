"""The cells of a run; a cell is a study on a data set with a mechanism at a calibration."""

import functools
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mechanisms import get_mechanism
from runs.cell_spec import CellSpec
from runs.sources import digest_of_text, packages_of, source_files, syntax_digest_of
from studies.base.case import Point
from studies.base.coordinates import TYPES
from studies.base.study import Study, all_studies
from studies.base.study_settings import StudySettings

# These settings only choose which cells, points and jobs exist.
GRID = {
    "datasets",
    "mechanisms",
    "mechanisms_for",
    "calibrations",
    "calibrations_for",
    "calibrations_on",
    "least_exact_epsilon",
    "split_trials",
    "split_epsilons",
    "cells_per_job",
    "epsilons",
    "epsilons_for",
    "epsilons_on",
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The unit that is measured, resumed and redone as a whole.

    It loops over its trials and over a grid of shapes, epsilons and deltas. If the config splits
    trials or epsilons, `trial` or `epsilon` is the one of this cell; else they are None.
    """

    study: str
    dataset: str
    mechanism: str
    calibration: str
    trial: int | None = None
    epsilon: float | None = None

    @property
    def stem(self) -> str:
        """The path of its files below results/<run>/cells/, without a suffix."""
        stem = f"{self.study}/{self.dataset}/{self.mechanism}--{self.calibration}"
        stem += "" if self.trial is None else f"--{self.trial}"
        return stem if self.epsilon is None else f"{stem}--epsilon-{self.epsilon!r}"

    @property
    def _study(self) -> Study:
        return all_studies()[self.study]

    @property
    def files(self) -> str:
        """The data set whose files it reads, which is `dataset` unless the study names another."""
        return self._study.files_of(self.dataset)

    @property
    def data_source(self) -> str:
        """The source of its data: official, bundled, simulated or none."""
        return self._study.datasets[self.dataset]

    def downloads(self, config: dict) -> list[str]:
        """Return the entries of `datasets` that have to be fetched first."""
        files = [self.files] if self.data_source == "official" else []
        return files + self._study.also_reads(config["studies"][self.study], self.dataset)

    def points(self, config: dict) -> list[Point]:
        """Return its grid points, in order."""
        settings = config["studies"][self.study]
        points = self._study.points(settings, self.mechanism, self.dataset)
        if self.calibration != "published":
            least = settings.least_exact_epsilon.get(self.dataset, 0.0)
            points = [point for point in points if point.epsilon >= least]
        return [point for point in points if self.epsilon in (None, point.epsilon)]

    def sources(self, config: dict) -> frozenset[str]:
        """Return the source files that its numbers depend on; a change of code reruns the cell."""
        return _files_of_modules(self._modules(config))

    def _modules(self, config: dict) -> frozenset[str]:
        loaders = {self.files, *self.downloads(config)}
        modules = (
            "runs.worker",
            f"studies.{self.study}",
            # Loaders are chosen by name, so no import statement leads to them.
            *(f"datasets.loaders.{name}" for name in loaders),
            get_mechanism(variant_of(config, self.mechanism)[0]).__module__,
        )
        return frozenset(modules)

    def spec(self, config: dict) -> CellSpec:
        """Return everything in a checked config that its numbers depend on."""
        use, options = variant_of(config, self.mechanism)
        mechanism = get_mechanism(use)
        modules = self._modules(config)
        fields = {
            "paper": self._study.paper,
            "dataset": self.dataset,
            "data_source": self.data_source,
            "mechanism": self.mechanism,
            "calibration": self.calibration,
            "options": options,
            "columns": {column.name: TYPES[column.type] for column in self._study.coordinates},
            "points": tuple(self.points(config)),
            "seed": config["seed"],
            "trial": self.trial,
        }
        study_settings = config["studies"][self.study]
        own = study_settings.of_one(
            self.dataset, self.mechanism, self.calibration, split=self.trial is not None
        )
        # Budgets only decide which points exist.
        own = {name: value for name, value in own.items() if name not in {*GRID, "budgets"}}
        points = [asdict(point) for point in fields["points"]]
        asked = json.dumps(fields | {"points": points, "settings": own}, sort_keys=True)
        return CellSpec(
            stem=self.stem,
            code=_digest_of_modules(modules),
            asked=digest_of_text(asked),
            packages=tuple(sorted(_packages_of_modules(modules))),
            reads=tuple(self.downloads(config)),
            study=self.study,
            use=f"{mechanism.__module__}:{mechanism.__qualname__}",
            settings=study_settings.model_dump(mode="json", exclude=GRID),
            data_folder=config["data"]["folder"],
            **fields,
        )


@functools.cache
def _files_of_modules(modules: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*map(source_files, modules))


@functools.cache
def _packages_of_modules(modules: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*map(packages_of, modules))


@functools.cache
def _digest_of_modules(modules: frozenset[str]) -> str:
    return syntax_digest_of(_files_of_modules(modules))


def variant_of(config: dict, mechanism: str) -> tuple[str, dict]:
    """Return the mechanism's key (or module:Class) and options behind a name in the config."""
    variant = config["variants"].get(mechanism, {"use": mechanism, "options": {}})
    return variant["use"], variant["options"]


def cells_of(config: dict) -> list[Cell]:
    """Return every cell of a checked config.

    A mechanism has no cell at the exact calibration if it claims no privacy (the non-private
    control), or if all its epsilons lie below `least_exact_epsilon` of the data set.
    """
    cells = [
        Cell(
            study=study,
            dataset=dataset,
            mechanism=mechanism,
            calibration=calibration,
            trial=trial,
        )
        for study, settings in config["studies"].items()
        for dataset in settings.datasets
        for mechanism in settings.mechanisms_for.get(dataset, settings.mechanisms)
        for calibration in settings.calibrations_for.get(mechanism, settings.calibrations)
        if calibration in settings.calibrations_on.get(dataset, settings.calibrations)
        if calibration == "published"
        or get_mechanism(variant_of(config, mechanism)[0]).guarantee != "none"
        for trial in _trials(settings, dataset, calibration)
    ]
    return [part for cell in cells if cell.points(config) for part in _split_epsilons(cell, config)]


def _split_epsilons(cell: Cell, config: dict) -> list[Cell]:
    """Return the cell itself, or one cell for each epsilon if the config splits them."""
    if not config["studies"][cell.study].split_epsilons:
        return [cell]
    epsilons = dict.fromkeys(point.epsilon for point in cell.points(config))
    return [replace(cell, epsilon=epsilon) for epsilon in epsilons]


def _trials(settings: StudySettings, dataset: str, calibration: str) -> range | list[None]:
    """Return the trials that have cells of their own, or [None] if one cell has them all."""
    return range(settings.trial_count(dataset, calibration)) if settings.split_trials else [None]


def results_folder(config: dict) -> Path:
    """Return results/<run>."""
    return Path("results") / config["run"]
