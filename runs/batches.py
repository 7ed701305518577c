"""Batches, each the cells that one job of the workflow runs in sequence, and their plans.

The plan of a batch is a file with its cells as they were when the run began, and an input of its
job. It is newer than the batch's stamp unless the stamp is of exactly these cells and all of them
are current. File times alone therefore tell Snakemake which batches are stale, even in a clone,
where Snakemake has no record of how a stamp was made.
"""

import json
import os
import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain
from math import ceil
from pathlib import Path

from runs.cell_spec import CellSpec
from runs.cells import cells_of, sources_of
from runs.parts import write_at_once
from runs.provenance import commit_of_tree
from runs.result_table import TableError
from runs.sources import current_digest_of, digest_of, digest_of_text
from runs.store import cells_to_run


class PlanError(TableError):
    """The plan of a batch is missing, damaged or out of date."""


@dataclass(frozen=True)
class Batch:
    """Cells of one study that need the same official files.

    A failed download therefore holds up only the cells that read those files.

    Args:
        stem: The path of its files below plan/ and batches/, without a suffix: the study and the
            position among its batches, from 0.
        cells: The cells, at most as many as `cells_per_job` allows the study.
    """

    stem: str
    cells: tuple[CellSpec, ...]

    @property
    def study(self) -> str:
        """The name of the study."""
        return self.cells[0].study

    @property
    def downloads(self) -> list[str]:
        """The entries of `datasets` that have to be fetched first."""
        return sorted({name for cell in self.cells for name in cell.reads})

    @property
    def digest(self) -> str:
        """A hash of the code and settings, but not of the data, of all its cells."""
        return digest_of_text("".join(f"{each.stem} {each.digest}" for each in self.cells))


def batches_of(config: dict) -> list[Batch]:
    """Return every batch of a checked config, by study, then by files, in order of the cells."""
    groups, batches = defaultdict(list), defaultdict(list)
    for cell in cells_of(config):
        groups[cell.study, cell.reads].append(cell)
    for (study, _), cells in groups.items():
        study_batches = batches[study]
        settings = config["studies"][study]
        default = 1 if settings.split_trials else config["cells_per_job"]
        jobs = ceil(len(cells) / (settings.cells_per_job or default))
        # Sizes differ by at most one: starting a job for a leftover cell costs more than the cell.
        for job in range(jobs):
            part = cells[len(cells) * job // jobs : len(cells) * (job + 1) // jobs]
            study_batches.append(Batch(f"{study}/{len(study_batches)}", tuple(part)))
    return list(chain(*batches.values()))


@dataclass(frozen=True)
class Plan:
    """The plan of a batch.

    Args:
        batch: The batch.
        commit: The commit of the code when the run began.
        sources: The source files that its numbers depend on.
        bytes: The hash of the bytes of these files.
    """

    batch: Batch
    commit: str
    sources: list[str]
    bytes: str

    def require_code(self) -> None:
        """Raise PlanError if a source file has changed since the plan was written."""
        try:
            changed = current_digest_of(self.sources) != self.bytes
        except FileNotFoundError:
            changed = True
        if changed:
            raise PlanError("the code has changed since this run began; start it again")


def plan_file(run: Path, stem: str) -> Path:
    """Return the path of the plan of a batch."""
    return run / "plan" / f"{stem}.json"


def stamp_file(run: Path, stem: str) -> Path:
    """Return the path of the stamp of a batch: its digest, written once its cells are done."""
    return run / "batches" / f"{stem}.txt"


def write_stamp(run: Path, batch: Batch) -> None:
    """Mark the cells of a batch as done."""
    stamp = stamp_file(run, batch.stem)
    stamp.parent.mkdir(parents=True, exist_ok=True)
    write_at_once(stamp, batch.digest)


def write_plan(run: Path, batches: Iterable[Batch]) -> None:
    """Write the plans of batches; one whose job need not run gets the time of its stamp."""
    commit = commit_of_tree()
    for batch in batches:
        sources = sorted(set().union(*map(sources_of, batch.cells)))
        path, stamp = plan_file(run, batch.stem), stamp_file(run, batch.stem)
        cells = [cell.to_json() for cell in batch.cells]
        plan = {"cells": cells, "commit": commit, "sources": sources, "bytes": digest_of(sources)}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_at_once(path, json.dumps(plan))
        stamped = stamp.exists() and stamp.read_bytes() == batch.digest.encode()
        if stamped and not cells_to_run(batch.cells, run):
            then = stamp.stat().st_mtime
            os.utime(path, (then, then))


def read_plan(run: Path, stem: str, digest: str) -> Plan:
    """Read the plan of a batch.

    Args:
        run: The folder of the run.
        stem: The stem of the batch.
        digest: The digest that the batch must have.

    Raises:
        PlanError: The plan is missing or damaged, or has another digest.
    """
    path = plan_file(run, stem)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        batch = Batch(stem, tuple(map(CellSpec.from_json, found.pop("cells"))))
        plan = Plan(batch, **found)
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        raise PlanError(f"{path} is missing or damaged: start the run again") from None
    if digest != plan.batch.digest:
        raise PlanError(f"{path} belongs to another run: start the run again")
    return plan


def cells_in_words(cells: Collection[CellSpec], run: Path) -> str:
    """Say how many cells of each study have no current result, in lines of up to 100 characters."""
    todo = cells_to_run(cells, run)
    counted = Counter(cell.study for cell in todo)
    named = ", ".join(f"{study} {count}" for study, count in counted.most_common())
    words = f"{run.name}: {len(todo)} of {len(cells)} cells to measure in the whole run"
    return textwrap.fill(f"{words}: {named}" if named else words, 100)
