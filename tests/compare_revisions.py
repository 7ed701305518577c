"""Compare the measurements and the committed results of two revisions.

python tests/compare_revisions.py BEFORE AFTER [--configs quick tiny] [--work FOLDER]

Both revisions are checked out into FOLDER, and each runs the configs from scratch, so that its code
is compared by its measurements. Then the following are compared, by value and to the last bit:

- the rows of every fresh run, cell by cell, without seconds and memory;
- the committed study tables, cell by cell;
- the committed ledger, claim by claim;
- the committed data of figures and tables, and the certificates, file by file.

The report lists what only one side has, and what differs with its first difference. The exit status
is 1 if anything differs. A run that has finished in FOLDER is not repeated.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
CELL = ["study", "dataset", "mechanism", "calibration"]
# The columns with the result of a row. All other columns say where it was measured.
FOUND = ("value", "status", "seed", "message", "paper", "data_source")
# The columns of a result that are compared as numbers; messages are compared separately.
NUMBERS = ["value", "status", "seed"]


@dataclass
class Report:
    """The result of comparing items of one kind by name.

    Args:
        title: The kind of the items.
        equal: The equal items.
        before, after: The items that only one side has.
        changed: The items that differ, with the first difference in words.
        reworded: The items with equal numbers and different messages.
    """

    title: str
    equal: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    changed: dict[str, str] = field(default_factory=dict)
    reworded: list[str] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Whether the two sides differ in anything but words."""
        return bool(self.before or self.after or self.changed)

    def lines(self) -> Iterator[str]:
        """The report as text."""
        yield (
            f"{self.title}: {len(self.equal)} equal, {len(self.changed)} changed, "
            f"{len(self.before)} only before, {len(self.after)} only after, "
            f"{len(self.reworded)} with other messages"
        )
        named: dict[str, list[str]] = {}
        for name, what in self.changed.items():
            named.setdefault(what, []).append(name)
        for what, names in named.items():
            others = f" and {len(names) - 1} more" if len(names) > 1 else ""
            yield f"  changed: {names[0]}{others}: {what}"
        yield from (f"  only before: {name}" for name in self.before)
        yield from (f"  only after: {name}" for name in self.after)
        yield from (f"  other message: {name}" for name in self.reworded)


def compare(title: str, before: dict, after: dict, difference: Callable[..., str]) -> Report:
    """Compare items by name.

    Args:
        title: The title of the report.
        before, after: The items of the two sides.
        difference: Returns how two items differ, in words; "" if they are equal.
    """
    report = Report(title)
    report.before = [name for name in before if name not in after]
    report.after = [name for name in after if name not in before]
    for name in (name for name in before if name in after):
        if words := difference(before[name], after[name]):
            report.changed[name] = words
        else:
            report.equal.append(name)
    return report


def compare_tables(title: str, before: Path, after: Path) -> Report:
    """Compare the study tables in two folders, cell by cell.

    Args:
        title: The title of the report.
        before, after: Folders with `<study>.parquet` and `<study>.maps.parquet`.
    """
    old, new = _cells_in(before), _cells_in(after)
    report = compare(title, old, new, _differing_rows)
    report.reworded = [
        cell for cell in report.equal if _messages(old[cell]) != _messages(new[cell])
    ]
    return report


def compare_ledgers(before: Path, after: Path) -> Report:
    """Compare two files claims.csv, claim by claim."""
    sides = (
        pd.read_csv(path, dtype=str, keep_default_na=False).set_index("claim").to_dict("index")
        for path in (before, after)
    )
    return compare("claims", *sides, _first_difference)


def compare_files(title: str, before: Path, after: Path, pattern: str) -> Report:
    """Compare text files line by line, and JSON files by their content."""
    sides = (
        {str(path.relative_to(folder)): _lines(path) for path in sorted(folder.rglob(pattern))}
        for folder in (before, after)
    )
    return compare(title, *sides, _first_difference)


def _lines(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        text = json.dumps(json.loads(text), indent=1, sort_keys=True)
    return {f"line {number}": line for number, line in enumerate(text.splitlines(), 1)}


def _first_difference(old: dict[str, str], new: dict[str, str]) -> str:
    """Describe the first column or line that differs."""
    names = (name for name in {**old, **new} if old.get(name) != new.get(name))
    return next((f"{name}: {old.get(name)!r} -> {new.get(name)!r}" for name in names), "")


def _cells_in(folder: Path) -> dict[str, pd.DataFrame]:
    """The rows of every cell, without seconds and memory; the key is its names with slashes."""
    cells = {}
    for path in sorted(folder.glob("*.parquet")):
        if ".timings." not in path.name:
            kind = " (maps)" if ".maps." in path.name else ""
            # Keep the order of the file, so that no row is dropped or mistaken for another.
            for names, rows in pd.read_parquet(path).groupby(CELL, sort=False):
                # A column in which a cell has no value belongs to other cells.
                cells["/".join(names) + kind] = rows[[*FOUND, *_own_columns(rows)]]
    return cells


def _own_columns(rows: pd.DataFrame) -> list[str]:
    """The columns that say where the rows of a cell were found."""
    return [name for name in rows if name not in FOUND and rows[name].notna().any()]


def _differing_rows(old: pd.DataFrame, new: pd.DataFrame) -> str:
    return "; ".join(_differences(old, new))


def _differences(old: pd.DataFrame, new: pd.DataFrame) -> Iterator[str]:
    """Describe how the rows of a cell differ; empty if they are equal."""
    keys = sorted({*_own_columns(old), *_own_columns(new)})
    sides = [side.reindex(columns=[*FOUND, *keys]) for side in (old, new)]
    # Convert to one type with one null value, as a column may be empty on one side.
    sides = [
        side.assign(**side[keys].astype(object).where(side[keys].notna(), None)) for side in sides
    ]
    for name, side in zip(("before", "after"), sides, strict=True):
        if twice := int(side.duplicated(keys).sum()):
            yield f"{twice} rows twice {name}"
            return
    rows = sides[0].merge(sides[1], on=keys, how="outer", suffixes=("", " new"), indicator="side")
    for side, name in (("left_only", "before"), ("right_only", "after")):
        alone = rows[rows["side"] == side]
        for metric, found in alone.groupby("metric"):
            yield f"{len(found)} rows of {metric or 'failures'} only {name}"
    both = rows[rows["side"] == "both"]
    same = pd.DataFrame(
        {
            name: (both[name] == both[f"{name} new"])
            | (both[name].isna() & both[f"{name} new"].isna())
            for name in NUMBERS
        }
    )
    wrong = ~same.all(axis=1)
    if wrong.any():
        row, alike = both[wrong].iloc[0], same[wrong].iloc[0]
        column = next(name for name in NUMBERS if not alike[name])
        yield (
            f"{wrong.sum()} of {len(both)} rows, first {row['metric']} at {_where(row, keys)}: "
            f"{column} {row[column]} -> {row[f'{column} new']}"
        )


def _where(row: pd.Series, keys: list[str]) -> str:
    return " ".join(
        f"{key}={row[key]}"
        for key in keys
        if key not in (*CELL, "metric") and pd.notna(row[key]) and row[key] != ""
    )


def _messages(rows: pd.DataFrame) -> list[str]:
    return rows.sort_values(_own_columns(rows), kind="stable")["message"].tolist()


def check_out(revision: str, work: Path) -> Path:
    """Check out a revision into its own folder below `work`."""
    commit = subprocess.run(
        ["git", "rev-parse", "--verify", f"{revision}^{{commit}}"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    folder = work / commit
    if not folder.exists():
        # A worktree would not do: a run must not find the repository of the tests.
        partial = work / f"{commit}.partial"
        partial.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(partial)], input=archive.stdout, check=True)
        partial.rename(folder)
    return folder


def run_fresh(folder: Path, config: str, cores: int) -> Path:
    """Run a config in a folder without earlier measurements; return its study tables."""
    finished = folder / f"{config}.finished"
    if not finished.exists():
        command = [
            sys.executable, "-m", "snakemake", "results", "--cores", str(cores),
            "--configfile", f"config/{config}.yaml", "--quiet", "all",
        ]  # fmt: skip
        subprocess.run(command, cwd=folder, check=True)
        finished.touch()
    return folder / "results" / config / "studies"


def compare_checkouts(
    before: Path, after: Path, configs: list[str], cores: int = 2
) -> list[Report]:
    """Compare two checkouts.

    Args:
        before, after: The folders of the checkouts.
        configs: The names of the configs to run in both.
        cores: The number of cores for each run.
    """
    reports = [
        compare_tables(
            f"cells of a fresh run of {config}",
            *(run_fresh(folder, config, cores) for folder in (before, after)),
        )
        for config in configs
    ]
    old, new = (folder / "results" / "reference" for folder in (before, after))
    return [
        *reports,
        compare_tables("committed cells", old / "studies", new / "studies"),
        compare_ledgers(old / "claims.csv", new / "claims.csv"),
        compare_files("data of figures", old / "figures", new / "figures", "*.csv"),
        compare_files("data of tables", old / "tables", new / "tables", "*.csv"),
        compare_files("certificates", old / "certificates", new / "certificates", "*.json"),
    ]


def main() -> int:
    """Print the report; returns 1 if the revisions differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", help="a revision, such as a commit or a branch")
    parser.add_argument("after", help="another one")
    parser.add_argument("--configs", nargs="*", default=["quick", "tiny"])
    parser.add_argument("--work", type=Path, default=Path("build/compared"))
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    work = options.work.resolve()
    before, after = (check_out(name, work) for name in (options.before, options.after))
    reports = compare_checkouts(before, after, options.configs, options.cores)
    for report in reports:
        print("\n".join(report.lines()))
    return int(any(report.differs for report in reports))


if __name__ == "__main__":
    sys.exit(main())
