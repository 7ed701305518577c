"""What a run will take, from the seconds and the memory that a finished run has measured.

A cell has a match where the finished run has the same study, data set, mechanism and calibration.
Its seconds grow with its grid points and trials; they do not follow other settings, and where those
differ the estimate names them. A cell without a match gets the median of the cells of its study and
data set. Where there are none either, nothing is known of it, and it is not in the total.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mechanisms.query.words import rounded_down, rounded_up
from runs.batches import batches_of
from runs.cells import Cell, cells_of
from runs.frames import read_frame
from runs.result_table import CELL, METRICS_OF_EVERY_STUDY, PEAK_MEMORY, POINT, read_file
from runs.stored import tables_of
from studies.base.study import all_studies

HOUR, GIB = 3600.0, 1 << 30
# Settings that the number of points and of trials accounts for.
_COUNTED = ("trials", "trials_for", "exact_trials", "trial")


@dataclass(frozen=True)
class Measured:
    """What one cell took.

    Both numbers are None where the cell measured nothing, as all its rows are `unsupported`;
    `seconds` also where its study times nothing.

    Args:
        seconds: Per grid point and trial.
        memory: Peak, bytes.
        whole: Whether `seconds` are those of whole grid points, as the runner measures them, and
            not only of the parts that the study times.
    """

    seconds: float | None = None
    memory: float | None = None
    whole: bool = True


@dataclass
class StudyEstimate:
    """What the cells of one study will take.

    `seconds` and its range are None where the finished run has not timed the study on these data
    sets. The range is that of the cells without a match, which may take as little or as much as any
    cell of the study on their data set. `unknown` are cells on data sets that it has not timed.
    """

    study: str
    jobs: int
    cells: int
    matched: int
    seconds: tuple[float, float, float] | None
    memory: tuple[float, float] | None
    whole: bool
    differing: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def measured_cells(run: str, config: dict) -> dict[Cell, Measured]:
    """What every cell of a finished run took, by cell (without a trial).

    Args:
        run: Name of the run; its timings are in `results/<run>/studies/`.
        config: Its checked config.

    Raises:
        ConfigError: There is no such run.
    """
    found = {}
    for path in tables_of(run):
        if path.name.endswith(".timings.parquet"):
            found |= _measured(path, config)
        else:
            keys = read_file(path, CELL).group_by(CELL, use_threads=False).aggregate([]).to_pylist()
            found = {Cell(**key): Measured() for key in keys} | found
    return found


def _measured(path: Path, config: dict) -> dict[Cell, Measured]:
    frame = read_frame(path)
    memory = frame["metric"] == PEAK_MEMORY
    by_runner = frame["metric"].isin(list(METRICS_OF_EVERY_STUDY)) & ~memory
    peaks, by_runner, by_study = (
        frame[chosen].groupby(CELL)["value"].agg(["sum", "max", "size"])
        for chosen in (memory, by_runner, ~by_runner & ~memory)
    )
    # The runner wrote the memory of every point and trial before it kept time.
    whole = by_runner[by_runner["size"] == peaks["size"].reindex(by_runner.index)]
    found = {}
    for key, points in frame[POINT].drop_duplicates().groupby(CELL, sort=False).size().items():
        cell = Cell(**dict(zip(CELL, key, strict=True)))
        # A cell that was measured in part before has the seconds of its study only.
        taken = next(
            (sums.loc[key, "sum"] for sums in (whole, by_study) if key in sums.index), None
        )
        found[cell] = Measured(
            seconds=None if taken is None else float(taken) / (points * _trials(cell, config)),
            memory=float(peaks.loc[key, "max"]),
            whole=key in whole.index,
        )
    return found


def estimates(config: dict, measured: dict[Cell, Measured], before: dict) -> list[StudyEstimate]:
    """The estimate of every study of a checked config, in its order.

    Args:
        config: The config to estimate.
        measured: As from `measured_cells`.
        before: The checked config of the run that was measured.
    """
    jobs = Counter(batch.study for batch in batches_of(config))
    cells = cells_of(config)
    return [
        _of_study(
            study,
            jobs[study],
            [cell for cell in cells if cell.study == study],
            config,
            measured,
            before,
        )
        for study in config["studies"]
    ]


def _of_study(
    study: str,
    jobs: int,
    cells: list[Cell],
    config: dict,
    measured: dict[Cell, Measured],
    before: dict,
) -> StudyEstimate:
    known = {cell: took for cell, took in measured.items() if cell.study == study}
    unmatched, unknown, differing = [], [], {}
    seconds, memory = np.zeros(3), []
    rates: dict[str, list[float]] = {}
    for cell, took in known.items():
        if took.seconds is not None:
            rates.setdefault(cell.dataset, []).append(took.seconds)
    for cell in cells:
        match = Cell(**{name: getattr(cell, name) for name in CELL})
        took = known.get(match)
        units = len(cell.points(config)) * _trials(cell, config)
        if took is None and cell.dataset not in rates:
            unknown.append(cell)
            continue
        if took is None:
            unmatched.append(cell)
            of_others = rates[cell.dataset]
            seconds += units * np.array([np.median(of_others), min(of_others), max(of_others)])
            continue
        memory.append(took.memory or 0.0)
        seconds += units * (took.seconds or 0.0)
        # Settings are those of a study on a data set.
        if cell.dataset not in differing:
            differing[cell.dataset] = _differing(cell, config, before)
    if unmatched and known:
        memory.append(max(took.memory or 0.0 for took in known.values()))
    memory = [each for each in memory if each]
    return StudyEstimate(
        study=study,
        jobs=jobs,
        cells=len(cells),
        matched=len(cells) - len(unmatched) - len(unknown),
        seconds=tuple(seconds) if any(cell.dataset in rates for cell in cells) else None,
        memory=(min(memory), max(memory)) if memory else None,
        whole=all(took.whole for took in known.values() if took.seconds is not None),
        differing=sorted(set().union(*differing.values())),
        unmatched=_named(unmatched, cells),
        unknown=_named(unknown, cells),
    )


def _trials(cell: Cell, config: dict) -> int:
    """Trials of a cell; 1 in a study without trials."""
    if cell.trial is not None:
        return 1
    return config["studies"][cell.study].trial_count(cell.dataset, cell.calibration)


def _differing(cell: Cell, config: dict, before: dict) -> set[str]:
    """Settings of a cell that its match did not have."""
    now, then = (_settings(cell, each) for each in (config, before))
    return {name for name in now.keys() | then.keys() if now.get(name) != then.get(name)}


def _settings(cell: Cell, config: dict) -> dict:
    """What a cell needs of its study's settings: of mappings from data sets its own entry."""
    settings = cell.settings(config)
    datasets = all_studies()[cell.study].datasets
    return {
        name: value.get(cell.dataset)
        if isinstance(value, dict) and value.keys() <= datasets.keys()
        else value
        for name, value in settings.items()
        if name not in _COUNTED
    }


def _named(some: Iterable[Cell], cells: Iterable[Cell]) -> list[str]:
    """Cells by data sets, and by mechanism where others of the data set are not among them."""
    some, alike = set(some), {}
    for dataset in dict.fromkeys(cell.dataset for cell in cells if cell in some):
        here = [cell for cell in cells if cell.dataset == dataset]
        mechanisms = dict.fromkeys(cell.mechanism for cell in here if cell in some)
        count = sum(cell in some for cell in here)
        which = "" if count == len(here) else f": {', '.join(mechanisms)}"
        alike.setdefault(f"{which} ({count} cell{'s' * (count > 1)}", []).append(dataset)
    return [
        f"{', '.join(datasets)}{words}{' each' * (len(datasets) > 1)})"
        for words, datasets in alike.items()
    ]


def report(found: list[StudyEstimate], run: str) -> str:
    """The estimates as a table with what each rests on, and their sum."""
    line = "{:<22}{:>6}{:>7}  {:>22}  {:>12}  {}"
    lines = [line.format("study", "jobs", "cells", "core-hours", "memory, GiB", "rests on")]
    rows = [
        (each.study, each.jobs, each.cells, each.seconds, each.memory, _basis(each))
        for each in found
    ]
    for study, jobs, cells, seconds, memory, basis in [*rows, _total(found)]:
        lines.append(line.format(study, jobs, cells, _hours(seconds), _gib(memory), basis).rstrip())
    for each in found:
        if each.unmatched:
            names = "; ".join(each.unmatched)
            lines.append(f"No match in the run {run}: {each.study}: {names}")
    unknown = [f"{each.study}: {', '.join(each.unknown)}" for each in found if each.unknown]
    if unknown:
        lines.append(
            f"On data sets that the run {run} has not timed, so not in the total: "
            f"{'; '.join(unknown)}"
        )
    untimed = [each.study for each in found if each.seconds is None and not each.unknown]
    if untimed:
        lines.append(f"Not timed in the run {run}, so not in the total: {', '.join(untimed)}")
    parts = [each.study for each in found if each.seconds is not None and not each.whole]
    if parts:
        lines.append(
            "For some or all cells only what the study times (calibration, draws, releases, "
            f"training), so that loading and scoring come on top: {', '.join(parts)}"
        )
    lines += [
        f"Core-hours: on one core of the machine of the run {run}, or on its GPU: config/README.md "
        "says for which cells, and how much longer a core takes. Starting cells comes on top. They "
        "follow grid points and trials, no other setting. Trials that train together take less "
        "each than trials in cells of their own (split_trials).",
        "Brackets: cells without a match at the seconds of the cheapest and the dearest cell of "
        "their study and data set. Memory: peaks of single cells.",
    ]
    return "\n".join(lines)


def _total(found: list[StudyEstimate]) -> tuple:
    timed = [each.seconds for each in found if each.seconds is not None]
    peaks = [each.memory for each in found if each.memory is not None]
    seconds = tuple(np.sum(timed, axis=0)) if timed else None
    memory = (min(low for low, _ in peaks), max(high for _, high in peaks)) if peaks else None
    jobs, cells = (sum(getattr(each, name) for each in found) for name in ("jobs", "cells"))
    return "total", jobs, cells, seconds, memory, ""


def _hours(seconds: tuple[float, float, float] | None) -> str:
    if seconds is None:
        return "not timed"
    middle, low, high = (value / HOUR for value in seconds)
    told = f"{middle:,.0f}" if middle >= 10 else f"{middle:.3g}" if middle >= 0.01 else "below 0.01"
    if low == high or high < 0.01:
        return told
    least = f"{math.floor(low):,}" if low >= 10 else rounded_down(low, 2) if low >= 0.01 else "0"
    most = f"{math.ceil(high):,}" if high >= 10 else rounded_up(high, 2)
    return f"{told} [{least}, {most}]"


def _gib(memory: tuple[float, float] | None) -> str:
    if memory is None:
        return "unknown"
    return " to ".join(dict.fromkeys(f"{value / GIB:.2f}" for value in memory))


def _basis(each: StudyEstimate) -> str:
    parts = []
    if each.matched:
        parts.append(f"{each.matched} matching cells")
    if each.differing:
        parts.append(f"which had other {', '.join(each.differing)}")
    if each.unmatched:
        parts.append("cells without a match by the median of their data set")
    if each.unknown:
        parts.append("nothing for other data sets")
    return ", ".join(parts)
