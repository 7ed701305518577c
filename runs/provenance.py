"""The provenance of a cell: digests that decide if it is current, and facts noted beside them.

The manifest of a study's table has the provenance of each of its cells on one line. It is committed
with the table, so that a clone knows where each row comes from.
"""

import csv
import functools
import hashlib
import importlib.metadata
import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from datasets import checksums_of
from runs.cell_spec import CellSpec
from runs.parts import write_at_once
from runs.result_table import CPU_SECONDS, DamagedTable
from runs.sources import digest_of_text

CPU, GPU = "CPU", "GPU"
# This stands for the data of a cell whose files are absent and have no published checksum.
UNKNOWN = "unknown"
ENDING = ".manifest.csv"
# This file marks that the tables of a study were joined from the cells in this store. It is not
# committed, because a clone has the tables but not the cells.
JOINED = ".joined"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The code, settings, data and machine behind the rows of a cell.

    Args:
        code, asked: See `CellSpec`.
        data: A hash of the checksums of its data; empty if it reads none.
        commit: The commit of the code, followed by `-dirty` if the tree differed; empty outside of
            git.
        adopted: A later commit, for which a sample of cells has reproduced the numbers; empty if
            there is none. `code` is then the hash of the code at this commit.
        sample: A description of that sample.
        packages: The versions of the packages that its code imports, such as "numpy 2.1.0, scipy
            1.15.1".
        machine: CPU or GPU.
    """

    code: str
    asked: str
    data: str
    commit: str
    packages: str
    machine: str
    adopted: str = ""
    sample: str = ""

    def to_json(self) -> str:
        """Serialise to text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self | None:
        """Parse the text that `to_json` wrote; return None for any other text."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def differs(self, cell: CellSpec) -> list[str]:
        """Name what differs from a cell: "code", "settings" or "data"; empty if it is current.

        Absent data never count as changed; they are compared once they have been downloaded.
        """
        data = data_of(cell)
        return [
            name
            for name, then, now in (
                ("code", self.code, cell.code),
                ("settings", self.asked, cell.asked),
                ("data", self.data, self.data if data == UNKNOWN else data),
            )
            if then != now
        ]

    def other_packages(self) -> list[str]:
        """Name the packages whose installed version has changed, as "numpy 2.1.0 -> 2.2.0"."""
        then = [each.rsplit(" ", 1) for each in self.packages.split(", ") if each]
        return [
            f"{name} {version} -> {_version(name)}"
            for name, version in then
            if version != _version(name)
        ]


def provenance_now(cell: CellSpec, commit: str) -> Provenance:
    """Return the provenance of a cell that is measured now, by the code of a commit."""
    return Provenance(
        code=cell.code,
        asked=cell.asked,
        data=data_of(cell),
        commit=commit,
        packages=", ".join(f"{name} {_version(name)}" for name in cell.packages),
        machine=_machine_of(cell),
    )


def data_of(cell: CellSpec) -> str:
    """Hash the checksums of the files that a cell reads: "" if it reads none, or UNKNOWN."""
    checksums = [checksums_of(name, Path(cell.data_folder)) for name in cell.reads]
    if None in checksums:
        return UNKNOWN
    return digest_of_text(json.dumps(checksums)) if checksums else ""


@functools.cache
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def _machine_of(cell: CellSpec) -> str:
    if cell.settings.get("device") != "auto":
        return CPU
    import torch

    return GPU if torch.cuda.is_available() else CPU


def commit_of_tree() -> str:
    """Return the commit of this code, followed by `-dirty` if files in the tree differ or are new.

    It is empty outside of git, even if an unpacked copy lies inside another repository.
    """
    if _git("ls-files", "--error-unmatch", "Snakefile") is None:
        return ""
    # Results are excluded because a run changes them.
    clean = _git("status", "--porcelain", "--", ".", ":(exclude)results") == ""
    return f"{_git('rev-parse', 'HEAD')}{'' if clean else '-dirty'}"


def _git(*words: str) -> str | None:
    try:
        ended = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ended.stdout.strip()


_FIELDS = ("cell", *(field.name for field in fields(Provenance)), "rows", "seconds")


@dataclass(frozen=True)
class Entry:
    """The line of a cell in a manifest.

    Args:
        provenance: The code, settings, data and machine that it was measured with.
        rows: The hash of its rows; see `rows_digest`.
        seconds: The processor time that it took; None if unknown.
    """

    provenance: Provenance
    rows: str
    seconds: float | None


def manifest_of(table: Path) -> Path:
    """Return the path of the manifest beside the table of a study."""
    return table.with_name(table.stem + ENDING)


def seconds_of(rows: pa.Table) -> float | None:
    """Return the processor time in the rows of a cell, or None if none was measured."""
    return pc.sum(rows.filter(pc.field("metric") == CPU_SECONDS)["value"]).as_py()


def rows_digest(rows: pa.Table) -> str:
    """Hash the rows of a cell, given without its timings; rows of maps come last.

    Columns without values are left out, because a table of cells has the columns of all of them.
    """
    if "row" in rows.column_names:
        on_map = pc.is_valid(rows["row"])
        rows = pa.concat_tables([rows.filter(pc.invert(on_map)), rows.filter(on_map)])
    found = hashlib.sha256()
    for name in sorted(rows.column_names):
        column = rows[name]
        if column.null_count < len(column):
            found.update(name.encode() + _as_bytes(column))
    return found.hexdigest()[:16]


def _as_bytes(column: pa.ChunkedArray) -> bytes:
    if pa.types.is_string(column.type):
        return "\0".join(pc.fill_null(column, "\1").to_pylist()).encode()
    if pa.types.is_integer(column.type):
        column = pc.fill_null(column, -1)
    return column.to_numpy().tobytes()


def write_manifest(path: Path, entries: Mapping[str, Entry]) -> None:
    """Write the entries of a study by the stems of their cells, in the order given."""
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_FIELDS)
    for stem, entry in entries.items():
        seconds = "" if entry.seconds is None else f"{entry.seconds:.4g}"
        lines.writerow([stem, *asdict(entry.provenance).values(), entry.rows, seconds])
    write_at_once(path, text.getvalue())


def read_manifest(path: Path) -> dict[str, Entry]:
    """Read the entries of a study by the stems of their cells; a missing manifest has none.

    Raises:
        DamagedTable: The file is not a manifest.
    """
    if not path.exists():
        return {}
    try:
        first, *lines = csv.reader(StringIO(path.read_text(encoding="utf-8")))
        if tuple(first) != _FIELDS:
            raise ValueError(f"its columns are not {', '.join(_FIELDS)}")
        entries = {}
        for number, line in enumerate(filter(None, lines), 2):
            if len(line) != len(_FIELDS) or line[0] in entries:
                raise ValueError(f"line {number} is not a line of a manifest, or repeats a cell")
            stem, *found, rows, seconds = line
            provenance = Provenance(**dict(zip(_FIELDS[1:-2], found, strict=True)))
            entries[stem] = Entry(provenance, rows, float(seconds) if seconds else None)
        return entries
    except (ValueError, csv.Error) as error:
        raise DamagedTable(path, str(error)) from None


def origins_in(path: Path) -> list[str]:
    """Say which commits measured the cells of a manifest; the most frequent comes first.

    Raises:
        DamagedTable: The file is not a manifest.
    """
    found = [entry.provenance for entry in read_manifest(path).values()]
    counted = Counter((each.commit, each.adopted, each.machine) for each in found)
    return [
        f"{count} cell{'s' * (count > 1)} by commit {commit[:12] or 'unknown'} on a {machine}"
        + (f", adopted by {adopted[:12]}" if adopted else "")
        for (commit, adopted, machine), count in counted.most_common()
    ]
