"""The cells of a run: each study, data set, mechanism and calibration of its config."""

import functools
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mechanisms import get_mechanism
from runs.cell_spec import CellSpec
from runs.sources import digest_of_text, packages_of, source_files, syntax_digest_of
from studies.base.case import Point
from studies.base.coordinates import TYPES
from studies.base.grid import EpsilonGrid
from studies.base.study import Study, all_studies

# These settings only choose which cells, points and jobs exist.
GRID = set(EpsilonGrid.model_fields) - {"delta"}


def cells_of(config: dict) -> list[CellSpec]:
    """Return every cell of a checked config.

    A mechanism has no cell at the exact calibration if it claims no privacy (the non-private
    control), or if all its epsilons lie below `least_exact_epsilon` of the data set.
    """
    return [
        cell
        for study, settings in config["studies"].items()
        for dataset in settings.datasets
        for mechanism in settings.mechanisms_for.get(dataset, settings.mechanisms)
        for calibration in settings.calibrations_for.get(mechanism, settings.calibrations)
        if calibration in settings.calibrations_on.get(dataset, settings.calibrations)
        for cell in _split(config, all_studies()[study], dataset, mechanism, calibration)
    ]


def _split(
    config: dict, study: Study, dataset: str, mechanism: str, calibration: str
) -> Iterator[CellSpec]:
    """Yield a cell for each trial and epsilon, as far as the config splits them."""
    settings = config["studies"][study.name]
    points = study.points(settings, mechanism, dataset)
    if calibration != "published":
        if get_mechanism(variant_of(config, mechanism)[0]).guarantee == "none":
            return
        least = settings.least_exact_epsilon.get(dataset, 0.0)
        points = [point for point in points if point.epsilon >= least]
    trials, parts = [None], {None: points}
    if settings.split_trials:
        trials = range(settings.trial_count(dataset, calibration))
    if settings.split_epsilons:
        parts = {each.epsilon: [p for p in points if p.epsilon == each.epsilon] for each in points}
    for trial in trials:
        for epsilon, part in parts.items():
            if part:
                yield _cell(
                    config, study, part,
                    dataset=dataset, mechanism=mechanism, calibration=calibration,
                    trial=trial, epsilon=epsilon,
                )  # fmt: skip


def _cell(
    config: dict,
    study: Study,
    points: list[Point],
    *,
    dataset: str,
    mechanism: str,
    calibration: str,
    trial: int | None,
    epsilon: float | None,
) -> CellSpec:
    settings = config["studies"][study.name]
    stem = f"{study.name}/{dataset}/{mechanism}--{calibration}"
    stem += "" if trial is None else f"--{trial}"
    stem += "" if epsilon is None else f"--epsilon-{epsilon!r}"
    source = study.datasets[dataset]
    reads = [study.files_of(dataset)] if source == "official" else []
    reads += study.also_reads(settings, dataset)
    key, options = variant_of(config, mechanism)
    found = get_mechanism(key)
    use = f"{found.__module__}:{found.__qualname__}"
    _, packages, digest = _code_of(_modules(study, dataset, reads, use))
    fields = {
        "paper": study.paper,
        "dataset": dataset,
        "data_source": source,
        "mechanism": mechanism,
        "calibration": calibration,
        "options": options,
        "columns": {column.name: TYPES[column.type] for column in study.coordinates},
        "seed": config["seed"],
        "trial": trial,
    }
    relevant = settings.of_one(dataset, mechanism, calibration, split=trial is not None)
    return CellSpec(
        stem=stem,
        code=digest,
        asked=_digest_of_settings(fields, points, relevant),
        packages=tuple(sorted(packages)),
        reads=tuple(reads),
        study=study.name,
        use=use,
        points=tuple(points),
        settings=settings.model_dump(mode="json", exclude=GRID),
        data_folder=config["data"]["folder"],
        **fields,
    )


def _digest_of_settings(
    fields: dict[str, Any], points: list[Point], relevant: dict[str, Any]
) -> str:
    """Hash what a config says about a cell; `relevant` are the settings that concern it."""
    # Budgets only decide which points exist.
    excluded = {*GRID, "budgets"}
    settings = {name: value for name, value in relevant.items() if name not in excluded}
    asked = fields | {"points": list(map(asdict, points)), "settings": settings}
    return digest_of_text(json.dumps(asked, sort_keys=True))


def sources_of(cell: CellSpec) -> frozenset[str]:
    """Return the source files that a cell's numbers depend on; new code there reruns the cell."""
    modules = _modules(all_studies()[cell.study], cell.dataset, cell.reads, cell.use)
    return _code_of(modules)[0]


def _modules(study: Study, dataset: str, reads: Iterable[str], use: str) -> frozenset[str]:
    # Loaders are chosen by name, so no import statement leads to them.
    loaders = [f"datasets.loaders.{name}" for name in (study.files_of(dataset), *reads)]
    return frozenset(["runs.worker", f"studies.{study.name}", *loaders, use.partition(":")[0]])


@functools.cache
def _code_of(modules: frozenset[str]) -> tuple[frozenset[str], frozenset[str], str]:
    """Return the source files of modules, the packages that they import, and the files' digest."""
    files = frozenset().union(*map(source_files, modules))
    packages = frozenset().union(*map(packages_of, modules))
    return files, packages, syntax_digest_of(files)


def variant_of(config: dict, mechanism: str) -> tuple[str, dict]:
    """Return the mechanism's key (or module:Class) and options behind a name in the config."""
    variant = config["variants"].get(mechanism, {"use": mechanism, "options": {}})
    return variant["use"], variant["options"]


def results_folder(config: dict) -> Path:
    """Return results/<run>."""
    return Path("results") / config["run"]
