"""The cells of a run: one is a study on a data set with a mechanism at a calibration."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mechanisms import get_mechanism
from runs.sources import digest_of, source_files
from studies.base.coordinates import TYPES
from studies.base.study import (
    Names,
    Point,
    Variant,
    all_studies,
    also_read,
    files_of,
    trial_count,
)

# Settings that say which cells and points there are; no number depends on them otherwise.
_GRID = (
    "datasets",
    "mechanisms",
    "mechanisms_for",
    "calibrations",
    "calibrations_for",
    "split_trials",
    "cells_per_job",
    "epsilons",
    "epsilons_for",
)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What is measured, resumed and redone as one.

    The grid over shapes, epsilon and delta is a loop inside it. So are the trials, unless the
    config splits them: then `trial` is the one of this cell.
    """

    study: str
    dataset: str
    mechanism: str
    calibration: str
    trial: int | None = None

    @property
    def stem(self) -> str:
        """Path of its files below results/<run>/cells/, without an ending."""
        stem = f"{self.study}/{self.dataset}/{self.mechanism}--{self.calibration}"
        return stem if self.trial is None else f"{stem}--{self.trial}"

    @property
    def files(self) -> str:
        """The data set whose files it reads: the one of its name unless its study has another."""
        return files_of(all_studies()[self.study], self.dataset)

    def downloads(self, config: dict) -> list[str]:
        """Entries of `datasets` that have to be fetched before it."""
        study = all_studies()[self.study]
        official = data_source(self.study, self.dataset) == "official"
        settings = config["studies"][self.study]
        return [self.files] * official + also_read(study, settings, self.dataset)

    def takes_gpu(self, config: dict) -> bool:
        """Whether it uses a CUDA device where there is one."""
        return config["studies"][self.study].get("device") == "auto"

    def names(self, config: dict) -> Names:
        """The words that determine its seeds."""
        return Names(
            base_seed=config["seed"],
            study=self.study,
            dataset=self.dataset,
            mechanism=self.mechanism,
        )

    def variant(self, config: dict) -> Variant:
        """The mechanism with its options."""
        use, options = variant_of(config, self.mechanism)
        return Variant(name=self.mechanism, mechanism=get_mechanism(use), options=options)

    def points(self, config: dict) -> list[Point]:
        """Its grid, in order."""
        study = all_studies()[self.study]
        settings = config["studies"][self.study]
        return study.points(settings, self.mechanism, self.dataset)

    def sources(self, config: dict) -> frozenset[str]:
        """The files of code that its numbers depend on: editing one of them reruns the cell."""
        return _files_of_modules(self._modules(config))

    def _modules(self, config: dict) -> frozenset[str]:
        loaders = {self.files, *self.downloads(config)}
        modules = (
            "runs.runner",
            "runs.worker",
            f"studies.{self.study}",
            # Loaders are chosen by name, so no import statement leads to them.
            *(f"datasets.loaders.{name}" for name in loaders),
            self.variant(config).mechanism.__module__,
        )
        return frozenset(modules)

    def planned(self, config: dict) -> dict[str, Any]:
        """What `runner.run_batch` needs to know of it, as JSON data.

        The digest is a hash of all that its numbers depend on: its specification and its sources.
        """
        specification = self.specification(config)
        text = json.dumps(specification, sort_keys=True) + digest_of(self.sources(config))
        digest = hashlib.sha256(text.encode()).hexdigest()
        return {"stem": self.stem, "digest": digest, "specification": specification}

    def specification(self, config: dict) -> dict[str, Any]:
        """What the cell needs of the config, as JSON data; its numbers depend on nothing else."""
        use, options = variant_of(config, self.mechanism)
        mechanism = get_mechanism(use)
        settings = config["studies"][self.study]
        chosen = {key: settings[key] for key in settings if key not in _GRID}
        return {
            "paper": all_studies()[self.study].PAPER,
            "study": self.study,
            "dataset": self.dataset,
            "mechanism": self.mechanism,
            "calibration": self.calibration,
            # Named by module, so that the cell's process loads this family only.
            "use": f"{mechanism.__module__}:{mechanism.__qualname__}",
            "options": options,
            # Names and types of the columns that the study declares.
            "columns": {
                column.name: TYPES[column.type] for column in all_studies()[self.study].COORDINATES
            },
            "data_source": data_source(self.study, self.dataset),
            "points": [point.to_list() for point in self.points(config)],
            "settings": chosen if self.trial is None else chosen | {"trial": self.trial},
            "seed": config["seed"],
            "data_folder": config["data"]["folder"],
        }


@functools.cache
def _files_of_modules(modules: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(source_files(module) for module in modules))


def variant_of(config: dict, mechanism: str) -> tuple[str, dict]:
    """The mechanism's key (or module:Class) and options behind a name in the config."""
    variant = config["variants"].get(mechanism, {"use": mechanism, "options": {}})
    return variant["use"], variant["options"]


def cells_of(config: dict) -> list[Cell]:
    """Every cell of a checked config.

    A mechanism that claims no privacy (the non-private control) has no exact calibration.
    """
    return [
        Cell(
            study=study,
            dataset=dataset,
            mechanism=mechanism,
            calibration=calibration,
            trial=trial,
        )
        for study, settings in config["studies"].items()
        for dataset in settings["datasets"]
        for mechanism in settings["mechanisms_for"].get(dataset, settings["mechanisms"])
        for calibration in settings["calibrations_for"].get(mechanism, settings["calibrations"])
        if calibration == "published"
        or get_mechanism(variant_of(config, mechanism)[0]).guarantee != "none"
        for trial in (range(trial_count(settings, dataset)) if settings["split_trials"] else [None])
    ]


def data_source(study: str, dataset: str) -> str:
    """official, bundled, simulated or none."""
    return all_studies()[study].DATASETS[dataset]


def results_folder(config: dict) -> Path:
    """results/<run>."""
    return Path("results") / config["run"]
