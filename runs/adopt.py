"""Today's code takes over the rows of a run whose numbers a sample shows to be the same.

A rename or a reshaping changes the code of cells and none of their numbers. A sample of them is
measured again. Only if all of it agrees are the others said to be of today's code.
"""

import math
import random
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from runs import rerun
from runs.cells import Cell, cells_of
from runs.manifest import Entry, manifest_of, read_manifest, write_manifest
from runs.stored import RESULTS


@dataclass(frozen=True, kw_only=True)
class Adoption:
    """The cells of one table that can be adopted.

    Args:
        manifest: The manifest of the table.
        cells: The cells of which nothing but the code has changed.
        sample: Those of them to measure again.
    """

    manifest: Path
    cells: list[Cell]
    sample: list[Cell]


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
        run: Its name.
        count: Cells of each study to measure again, of those that have a value.
        seed: Of the choice of these.
        studies: Their names; all unless some are given.
        seconds: Measure only cells that took at most so much processor time, where that is
            known. The cells of a study that has none of them are not adopted.

    Raises:
        ConfigError: The run has no results.
        DamagedTable: A table or a manifest is damaged.
    """
    found = []
    telling = set(rerun.cells_with_values(run, config))
    for study in studies or config["studies"]:
        manifest = manifest_of(RESULTS / run / "studies" / f"{study}.parquet")
        entries = read_manifest(manifest)
        cells = [cell for cell in cells_of(config) if cell.study == study]
        stale = [
            cell
            for cell in cells
            if cell.stem in entries
            and entries[cell.stem].provenance.differs(cell.spec(config)) == ["code"]
        ]
        quick = [c for c in stale if _seconds(entries[c.stem]) <= seconds]
        tell = [cell for cell in quick if cell in telling]
        sample = random.Random(f"{seed} {study}").sample(tell, min(count, len(tell)))
        if sample:
            found.append(Adoption(manifest=manifest, cells=stale, sample=sample))
    return found


def _seconds(entry: Entry) -> float:
    return math.inf if entry.seconds is None else entry.seconds


def adopt(adoption: Adoption, config: dict, commit: str, seed: int) -> None:
    """Write that the rows of the cells are those of the code of a commit, by an agreeing sample."""
    entries = dict(read_manifest(adoption.manifest))
    sampled = {cell.stem for cell in adoption.sample}
    for cell in adoption.cells:
        measured = "measured again; " * (cell.stem in sampled)
        sample = f"{measured}{len(sampled)} of {len(adoption.cells)} agree, --seed {seed}"
        entry = entries[cell.stem]
        provenance = entry.provenance.adopted_by(cell.spec(config), commit, sample)
        entries[cell.stem] = replace(entry, provenance=provenance)
    write_manifest(adoption.manifest, entries)
