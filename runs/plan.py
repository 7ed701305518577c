"""The plan of a run: a file for each batch with its cells, as they were when the run began.

The file is an input of the batch. It is newer than the batch's stamp unless the stamp has exactly
these cells and all are current, so file times alone tell Snakemake what is stale. This works even
in a clone, where Snakemake has no record of how a stamp was made.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from runs.batches import Batch
from runs.cell_spec import CellSpec
from runs.parts import write_at_once
from runs.provenance import commit_of_tree
from runs.result_table import DamagedTable, TableError
from runs.sources import current_digest_of, digest_of
from runs.store import is_current, read_stamp, stamp_file


class PlanError(TableError):
    """The plan of a batch is missing, or the code has changed since it was written."""


@dataclass(frozen=True)
class PlannedBatch:
    """A batch of a plan.

    Args:
        digest: The hash of its cells' code and settings; see `Batch.digest`.
        commit: The commit of the code when the run began.
        sources: The source files that its numbers depend on.
        bytes: The hash of these files.
        cells: The cells that it measures.
    """

    digest: str
    commit: str
    sources: list[str]
    bytes: str
    cells: list[CellSpec]

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


def write_plan(run: Path, config: dict, batches: Iterable[Batch]) -> None:
    """Bring results/<run>/plan/ up to date with the batches of a checked config."""
    commit = commit_of_tree()
    for batch in batches:
        specs = batch.specs(config)
        sources = sorted(set().union(*(cell.sources(config) for cell in batch.cells)))
        planned = {
            "digest": batch.digest(config),
            "commit": commit,
            "sources": sources,
            "bytes": digest_of(sources),
            "cells": [cell.to_json() for cell in specs],
        }
        path = plan_file(run, batch.stem)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_at_once(path, json.dumps(planned))
        stamp = stamp_file(run, batch.stem)
        if _is_done(stamp, specs, run):
            then = stamp.stat().st_mtime
            os.utime(path, (then, then))


def _is_done(stamp: Path, cells: list[CellSpec], run: Path) -> bool:
    """Return whether a batch has stamped exactly these cells, and all of them are current."""
    try:
        stamped = read_stamp(stamp) == {cell.stem: cell.digest for cell in cells}
    except (FileNotFoundError, DamagedTable):
        return False
    return stamped and all(is_current(cell, run) for cell in cells)


def read_plan(run: Path, stem: str, digest: str | None = None) -> PlannedBatch:
    """Read the plan of a batch.

    Args:
        run: The folder of the run.
        stem: The stem of the batch.
        digest: The digest that the batch must have; None accepts any.

    Raises:
        PlanError: The plan is missing or damaged, or has another digest.
    """
    path = plan_file(run, stem)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        cells = list(map(CellSpec.from_json, found.pop("cells")))
        planned = PlannedBatch(**found, cells=cells)
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        raise PlanError(f"{path} is missing or damaged: start the run again") from None
    if digest not in (None, planned.digest):
        raise PlanError(f"{path} belongs to another run: start the run again")
    return planned
