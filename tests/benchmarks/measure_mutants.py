"""Which small faults the tests see: PYTHONPATH=. python measure_mutants.py [NUMBER].

A mutant is the project with one operator, number or constant changed. In a copy of the project it
runs the quick tests that import the changed module, then those of its room. As many are drawn from
every room, by a hash of the changed code: those of mutants.csv stay while their line does. A run
adds what is missing, and tries again the survivors whose column `why` is empty: a person writes
there why a change makes no wrong result. It writes docs/mutants.md.
"""

import ast
import csv
import hashlib
import itertools
import math
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.changed_tests import ROOT, WHOLE_PROJECT, concerned

# What a wrong number would come from, and what would let it pass.
ROOMS = {
    "comparisons and verdicts": (
        "claims/intervals.py",
        "claims/comparisons.py",
        "claims/verdicts.py",
    ),
    "judges": (
        "paper_figures/r1smg2024/*verdicts.py",
        "paper_figures/r1smg2024/theorems.py",
        "paper_figures/mgm2021/*.py",
        "paper_figures/tldp2025/*.py",
    ),
    "calibrations": ("mechanisms/base/*.py",),
    "profiles": ("mechanisms/privacy/*.py", "mechanisms/privacy/sampling/*.py"),
    "checks and audits": ("mechanisms/verification/*.py", "mechanisms/black_box/*.py"),
    "strategies": ("mechanisms/strategies/*.py",),
    "downloads and formats": ("datasets/fetching/*.py", "datasets/formats/*.py"),
    "runs": ("runs/*.py",),
}
# Rooms whose mutants judge the reference run again, if no test fails.
REJUDGED = ("comparisons and verdicts", "judges")
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"
SECONDS = 900
PAGE, FOUND = ROOT / "docs/mutants.md", Path(__file__).with_name("mutants.csv")
_OTHER = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
_NAMES |= {"lower": "upper", "upper": "lower", "low": "high", "high": "low"}


class Mutant(NamedTuple):
    """A change in a file: at `column` of a line with the text `code`, `before` became `after`.

    `again` counts the equal ones above it in the file; `line` and `node` are numbers in the file.
    """

    room: str
    file: str
    line: int
    code: str
    column: int
    again: int
    before: str
    after: str
    node: int

    @property
    def row(self) -> dict[str, str]:
        """What the table says of it."""
        return {column: str(getattr(self, column)) for column in COLUMNS[:-2]}

    def source(self) -> str:
        """The file with the change."""
        tree = _tree(ROOT / self.file)
        _change(list(_code(tree))[self.node])
        return ast.unparse(tree)


COLUMNS = (*Mutant._fields[:-1], "outcome", "why")


def mutants(room: str, file: Path) -> Iterator[Mutant]:
    """All of a file."""
    path, lines, seen = str(file.relative_to(ROOT)), _text(file).splitlines(), Counter()
    for number, node in enumerate(_code(_tree(file))):
        before = ast.unparse(node)
        if not _change(node):
            continue
        line = lines[node.lineno - 1]
        code, after = line.strip(), ast.unparse(node)
        where = code, node.col_offset - line.index(code), before
        yield Mutant(room, path, node.lineno, *where[:2], seen[where], before, after, number)
        seen[where] += 1


def key(row: dict[str, str]) -> tuple[str, ...]:
    """What tells a mutant from others, whatever stands around it."""
    return tuple(row[column] for column in ("file", "code", "column", "again", "before"))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _tree(file: Path) -> ast.AST:
    return ast.parse(_text(file))


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, without annotations."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield node
                yield from _code(node)


def _change(node: ast.AST) -> bool:
    """Change a node, and say whether there was something to change."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            node.ops = [_OTHER[type(op)]()]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in _OTHER:
            node.op = _OTHER[type(op)]()
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value) | float(value)):
            node.value = 2 * value + 1
        case ast.Name(id=name) if name in _NAMES:
            node.id = _NAMES[name]
        case ast.Attribute(attr=name) if name in _NAMES:
            node.attr = _NAMES[name]
        case _:
            return False
    return True


def drawn(number: int, known: Iterable[tuple[str, ...]]) -> tuple[list[Mutant], list[Mutant]]:
    """Those with a known key, and in turn others of every room, up to as many from each."""
    known, kept, others = set(known), [], []
    for room, patterns in ROOMS.items():
        files = {file for pattern in patterns for file in ROOT.glob(pattern)}
        found = {key(each.row): each for file in files for each in mutants(room, file)}
        own = [found.pop(each) for each in known & found.keys()]
        missing = max(math.ceil(number / len(ROOMS)) - len(own), 0)
        kept += own
        others.append([found[each] for each in sorted(found, key=_hash)[:missing]])
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*others))
    return kept, [each for each in in_turn if each]


def _hash(key: tuple[str, ...]) -> bytes:
    return hashlib.sha256("\n".join(key).encode()).digest()


def tests_of(file: str) -> list[str]:
    """The test files that import a module, and the nearest folder of its name: its room."""
    found = [test for test in concerned({file}) if test not in WHOLE_PROJECT]
    folder = Path("tests", file).parent
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    # Those of its name are the likeliest to see it.
    return [*sorted(found, key=lambda test: Path(file).stem not in test), str(folder)]


def outcome(mutant: Mutant, copy: Path) -> str:
    """What the tests say of a mutant in a copy of the project, which is as before afterwards."""
    file = copy / mutant.file
    original = file.read_bytes()
    file.write_text(mutant.source(), encoding="utf-8")
    try:
        pytest = ("pytest", "-qx", "-m", "not slow", "-p", "no:cacheprovider")
        fails = _ended(copy, *pytest, *tests_of(mutant.file)) not in (0, 5)
        if not fails and mutant.room in REJUDGED:
            fails = _judged_otherwise(copy)
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    finally:
        file.write_bytes(original)
    return KILLED if fails else SURVIVED


def _judged_otherwise(copy: Path) -> bool:
    """Whether the rows of the reference run get another ledger."""
    ledger = copy / "results/reference/claims.csv"
    stored = ledger.read_bytes()
    try:
        ended = _ended(copy, "paper_figures", "judge", "reference")
        return ended != 0 or ledger.read_bytes() != stored
    finally:
        ledger.write_bytes(stored)


def _ended(copy: Path, *module: str) -> int:
    command = [sys.executable, "-m", *module]
    return subprocess.run(command, cwd=copy, capture_output=True, timeout=SECONDS).returncode


def _words(row: dict) -> str:
    """A survivor as an item of a list."""
    change = f"`{row['before']}` became `{row['after']}`"
    return f"- {row['file']}, line {row['line']}: {change}: {row['why'] or 'not judged yet'}"


def page(rows: list[dict]) -> str:
    """The page of all outcomes."""
    counts = Counter((row["room"], row["outcome"]) for row in rows)
    lines = [
        "# Which small faults the tests see",
        "",
        "Written by `PYTHONPATH=. python tests/benchmarks/measure_mutants.py`. Line numbers are",
        "those of the last run.",
        "",
        "A mutant is the project with one operator, number, constant or bound changed, at a place",
        "drawn at random. It is killed where a quick test that imports the changed module, or one",
        "of its room, fails or ends in an error. In the first two rooms it is also killed where",
        "the ledger of the reference run changes. What is killed stays so until its line changes.",
        "",
        f"| room | mutants | {KILLED} | {SURVIVED} | {TIMED_OUT} |",
        "| --- | --- | --- | --- | --- |",
    ]
    for room in ROOMS:
        cells = [counts[room, each] for each in (KILLED, SURVIVED, TIMED_OUT)]
        lines.append(f"| {room} | {sum(cells)} | " + " | ".join(map(str, cells)) + " |")
    lines += ["", "## Survivors, and why each makes no wrong result", ""]
    lines += [_words(row) for row in rows if row["outcome"] == SURVIVED]
    return "\n".join(lines) + "\n"


def main(number: int = 200) -> None:
    rows = {}
    if FOUND.exists():
        with FOUND.open(newline="", encoding="utf-8") as stream:
            rows = {key(row): row for row in csv.DictReader(stream)}
    kept, missing = drawn(number, rows)
    found = {key(each.row): each for each in kept}
    rows = {each: {**row, **found[each].row} for each, row in rows.items() if each in found}
    again = [
        found[each] for each, row in rows.items() if row["outcome"] == SURVIVED and not row["why"]
    ]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        ignore = shutil.ignore_patterns(".git", ".venv", "data", ".snakemake", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=ignore)
        for mutant in [*missing, *again]:
            row = {**mutant.row, "outcome": outcome(mutant, copy), "why": ""}
            rows[key(row)] = row
            print(*row.values(), sep=" | ", flush=True)
            _write(list(rows.values()))
    _write(list(rows.values()))


def _write(rows: list[dict]) -> None:
    with FOUND.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
