"""Assign the rows of a run to today's code after a sample has reproduced their numbers.

A rename or refactoring changes the code of cells but none of their numbers. A sample of the cells
is measured again, and the rest are adopted only if the whole sample agrees.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from runs import rerun
from runs.cell_spec import CellSpec
from runs.cells import cells_of
from runs.manifest import manifest_of, read_manifest, write_manifest
from runs.stored import RESULTS


@dataclass(frozen=True, kw_only=True)
class Adoption:
    """The cells of one table that can be adopted.

    Args:
        manifest: The manifest of the table.
        cells: The cells for which nothing but the code has changed.
        sample: The cells among them to measure again.
    """

    manifest: Path
    cells: list[CellSpec]
    sample: list[CellSpec]


def adoptions(
    config: dict,
    run: str,
    count: int,
    seed: int,
    *,
    studies: Collection[str] = (),
    seconds: float = math.inf,
) -> list[Adoption]:
    """Find the cells that can be adopted in the studies of a run.

    Args:
        config: The checked config of the run.
        run: The name of the run.
        count: The number of cells of each study to measure again, out of those that have a value.
        seed: The seed that chooses these cells.
        studies: The names of the studies; the default is all of them.
        seconds: Measure only cells whose processor time is known and at most this. A study without
            such a cell is not adopted.

    Raises:
        ConfigError: The run has no results.
        DamagedTable: A table or a manifest is damaged.
    """
    found, cells = [], cells_of(config)
    telling = {cell.stem for cell in rerun.cells_with_values(run, cells, seconds)}
    for study in studies or config["studies"]:
        manifest = manifest_of(RESULTS / run / "studies" / f"{study}.parquet")
        entries = read_manifest(manifest)
        stale = [
            cell
            for cell in cells
            if cell.study == study
            and cell.stem in entries
            and entries[cell.stem].provenance.differs(cell) == ["code"]
        ]
        known = [cell for cell in stale if cell.stem in telling]
        sample = rerun.sample_of(known, count, f"{seed} {study}")
        if sample:
            found.append(Adoption(manifest=manifest, cells=stale, sample=sample))
    return found


def adopt(adoption: Adoption, commit: str, seed: int) -> None:
    """Record that the rows of the cells belong to the code of a commit, as the sample has shown."""
    entries = dict(read_manifest(adoption.manifest))
    sampled = {cell.stem for cell in adoption.sample}
    for cell in adoption.cells:
        measured = "measured again; " * (cell.stem in sampled)
        sample = f"{measured}{len(sampled)} of {len(adoption.cells)} agree, --seed {seed}"
        entry = entries[cell.stem]
        provenance = replace(entry.provenance, code=cell.code, adopted=commit, sample=sample)
        entries[cell.stem] = replace(entry, provenance=provenance)
    write_manifest(adoption.manifest, entries)
