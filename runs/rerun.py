"""Compare recomputed cells with the numbers of a finished run, or adopt these for new code.

The same config gives the same bytes on the same kind of processor. On another kind numbers differ;
each study declares by how much they may (`Metric.tolerance`).

A rename or refactoring changes the code of cells but none of their numbers. A sample of the cells
is then measured again, and all are adopted only if the whole sample agrees.
"""

import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from runs.cell_spec import CellSpec
from runs.cells import cells_of
from runs.provenance import manifest_of, read_manifest, write_manifest
from runs.result_table import CELL, OK, concatenate, key_of, read_file
from runs.results import RESULTS, frame_of, tables_of
from runs.store import epsilon_of, rows_in_table
from studies.base.study import all_studies


@dataclass(frozen=True)
class Comparison:
    """The agreement of the stored and the recomputed rows of one cell.

    Args:
        problems: Differences outside the tolerances, one sentence each.
        agreement: The number of values that both have, the number of equal ones among them, and
            the largest relative difference with its metric, as text.
    """

    problems: list[str]
    agreement: str

    def __str__(self) -> str:
        return "; ".join(self.problems) or self.agreement


def cells_with_values(
    run: str, cells: Iterable[CellSpec], seconds: float = np.inf
) -> list[CellSpec]:
    """Return the cells of a finished run for which it has stored a value.

    Args:
        run: The name of the run.
        cells: Its cells.
        seconds: The largest processor time in the manifests of a cell that is returned. Cells of
            unknown time are returned only if this is infinite.

    Raises:
        ConfigError: The run has no results.
        DamagedTable: A table or a manifest is damaged.
    """
    stored, took = set(), {}
    columns = [*CELL, "trial", "epsilon"]
    for path in tables_of(run):
        if not path.name.endswith(".timings.parquet"):
            rows = read_file(path, [*columns, "status"]).filter(pc.field("status") == OK)
            groups = rows.group_by(columns, use_threads=False).aggregate([])
            found = groups.select(columns).to_pydict()
            for *names, trial, epsilon in zip(*found.values(), strict=True):
                # As in runs/parts.py, a value of no trial belongs to the cell of trial 0.
                stored |= {(*names, t, e) for t in (None, trial or 0) for e in (None, epsilon)}
            took |= {
                stem: entry.seconds
                for stem, entry in read_manifest(manifest_of(path)).items()
                if entry.seconds is not None
            }
    return [
        cell
        for cell in cells
        if took.get(cell.stem, np.inf) <= seconds
        and (*(getattr(cell, name) for name in CELL), cell.trial, epsilon_of(cell)) in stored
    ]


def sample_of(cells: list[CellSpec], count: int, seed: int | str) -> list[CellSpec]:
    """Draw `count` of the cells without replacement, or all of them if there are fewer."""
    return random.Random(seed).sample(cells, min(count, len(cells)))


def stored_rows(run: str, cell: CellSpec) -> pd.DataFrame:
    """Return the rows of a cell in a finished run, at all trials and with whole maps.

    Raises:
        ConfigError: The run has no results.
        DamagedTable: A table is damaged.
    """
    names = {f"{cell.study}.parquet", f"{cell.study}.maps.parquet"}
    whole = replace(cell, trial=None)
    tables = [read_file(path) for path in tables_of(run) if path.name in names]
    return frame_of(concatenate([rows_in_table(whole, rows) for rows in tables]))


def compare(before: pd.DataFrame, again: pd.DataFrame, cell: CellSpec) -> Comparison:
    """Compare the rows of a cell within the tolerances of its study.

    Args:
        before: The stored rows of all trials, from `stored_rows`. Their spread decides which
            differences are allowed, even if the cell has only one of the trials.
        again: The recomputed rows.
        cell: The cell.
    """
    keys = [name for name in key_of(again.columns) if name in before]
    # As in runs/parts.py, rows that belong to no trial come from the cell of trial 0.
    stored = before if cell.trial is None else before[before["trial"].fillna(0) == cell.trial]
    rows = stored.merge(again, on=keys, how="outer", suffixes=("", "_again"), indicator="found")
    problems = [
        f"{(rows['found'] == side).sum()} rows are {words}, first {_where(rows, keys, side)}"
        for side, words in (("left_only", "stored only"), ("right_only", "new"))
        if (rows["found"] == side).any()
    ]
    both = rows[rows["found"] == "both"]
    changed = both[both["status"] != both["status_again"]]
    problems += [
        f"status {row['status_again']} in place of {row['status']} ({row['message_again']})"
        for _, row in changed.head(1).iterrows()
    ]
    both = both[(both["status"] == OK) & (both["status_again"] == OK)]
    old, new = both["value"].to_numpy(float), both["value_again"].to_numpy(float)
    difference = np.abs(new - old)
    both = both.assign(allowed=_allowed(both, before, keys, cell))
    # Because NaN fails every comparison, the negation puts it outside.
    outside = both[~(difference <= both["allowed"])]
    problems += [
        f"{len(outside)} of {len(both)} values outside their tolerance, first {row['metric']} at "
        f"{row['shape']}, epsilon {row['epsilon']:g}: {row['value']:.10g} stored, "
        f"{row['value_again']:.10g} now, allowed difference {row['allowed']:.2g}"
        for _, row in outside.head(1).iterrows()
    ]
    differs = difference != 0
    agreement = f"{len(both)} values, all equal"
    if differs.any():
        relative = np.divide(
            difference, np.abs(old), out=np.where(differs, np.inf, 0.0), where=old != 0
        )
        most = int(np.argmax(relative))
        agreement = (
            f"{len(both)} values, {(~differs).sum()} equal, the others within {relative[most]:.1g} "
            f"of the value ({both.iloc[most]['metric']})"
        )
    return Comparison(problems, agreement)


def _where(rows: pd.DataFrame, keys: list[str], side: str) -> str:
    row = rows[rows["found"] == side].iloc[0]
    return ", ".join(f"{key} {row[key]}" for key in keys if key not in CELL and pd.notna(row[key]))


def _allowed(
    both: pd.DataFrame, before: pd.DataFrame, keys: list[str], cell: CellSpec
) -> np.ndarray:
    """Return the largest allowed difference of each value in `both`.

    Rounding on another processor can move a training as far as another trial does, so the spread
    is that of the difference of two trials. As few trials estimate it badly, it is at least the
    root mean square over the rounds or epochs of the training.
    """
    study = all_studies()[cell.study]
    keys = [key for key in keys if key != "trial"]
    point = [key for key in keys if key not in ("round", "epoch")]
    own = 2 * before.groupby(keys, dropna=False)["value"].var().fillna(0.0).rename("spread")
    spreads = own.clip(own.groupby(point, dropna=False).transform("mean")) ** 0.5
    spread = both[keys].merge(spreads.reset_index(), on=keys, how="left")["spread"]
    return np.array(
        [
            study.metric(metric).tolerance.allowed(value, deviation)
            for metric, value, deviation in zip(both["metric"], both["value"], spread, strict=True)
        ]
    )


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
    seconds: float = np.inf,
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
    with_values = {cell.stem for cell in cells_with_values(run, cells, seconds)}
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
        candidates = [cell for cell in stale if cell.stem in with_values]
        sample = sample_of(candidates, count, f"{seed} {study}")
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
