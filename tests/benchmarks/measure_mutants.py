"""Which small faults the tests see: PYTHONPATH=. python measure_mutants.py [NUMBER].

A mutant is the project with one operator, number or constant changed. It runs the quick tests that
import the changed module, in a copy of the project. Mutants are drawn with a fixed seed, as many
from every room; a run goes on where the last one stopped, and writes docs/mutants.md.
"""

import ast
import csv
import math
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.changed_tests import ROOT, WHOLE_PROJECT, concerned

# What a wrong number would come from, and what would let it pass.
ROOMS = {
    "rules and verdicts": ("claims/intervals.py", "claims/rules.py", "claims/verdicts.py"),
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
REJUDGED = ("rules and verdicts", "judges")
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"
SECONDS = 300
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
    """A change in a file: at line `line`, `before` became `after`."""

    room: str
    file: str
    line: int
    before: str
    after: str
    source: str


def places(file: Path) -> list[int]:
    """The numbers of the nodes of a file that can be changed."""
    return [number for number, node in enumerate(_code(_tree(file))) if _change(node)]


def mutant(room: str, file: Path, number: int) -> Mutant:
    """The one with another node of a number."""
    tree = _tree(file)
    node = list(_code(tree))[number]
    before = ast.unparse(node)
    _change(node)
    path = str(file.relative_to(ROOT))
    return Mutant(room, path, node.lineno, before, ast.unparse(node), ast.unparse(tree))


def _tree(file: Path) -> ast.AST:
    return ast.parse(file.read_text(encoding="utf-8"))


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


def drawn(number: int) -> list[Mutant]:
    """As many mutants of every room in turn, the same ones every time."""
    found, share = [], math.ceil(number / len(ROOMS))
    for room, patterns in ROOMS.items():
        files = sorted({file for pattern in patterns for file in ROOT.glob(pattern)})
        own = [(file, place) for file in files for place in places(file)]
        found.append([mutant(room, *each) for each in random.Random(room).sample(own, share)])
    return [mutant for of_every_room in zip(*found, strict=True) for mutant in of_every_room]


def tests_of(file: str) -> list[str]:
    """The test files that import a module; else those of the nearest folder of its name."""
    found = [test for test in concerned({file}) if test not in WHOLE_PROJECT]
    if found:
        # Those of its name are the likeliest to see it.
        return sorted(found, key=lambda test: Path(file).stem not in test)
    folder = Path("tests", file).parent
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return [str(folder)]


def outcome(mutant: Mutant, copy: Path) -> str:
    """What the tests say of a mutant in a copy of the project, which is as before afterwards."""
    file = copy / mutant.file
    original = file.read_bytes()
    file.write_text(mutant.source, encoding="utf-8")
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
    return f"- {row['file']}, line {row['line']}: {change}"


def page(rows: list[dict]) -> str:
    """The page of all outcomes."""
    counts = Counter((row["room"], row["outcome"]) for row in rows)
    lines = [
        "# Which small faults the tests see",
        "",
        "Written by `PYTHONPATH=. python tests/benchmarks/measure_mutants.py`, which says how the",
        "tests of a mutant are chosen. Line numbers are those of that run.",
        "",
        "A mutant is the project with one operator, number, constant or bound changed, at a place",
        "drawn at random. It is killed where a quick test that imports the changed module fails or",
        "ends in an error. In the first two rooms it is also killed where the ledger of the",
        "reference run changes. A survivor may change no result, such as a limit that no number",
        "meets exactly.",
        "",
        f"| room | mutants | {KILLED} | {SURVIVED} | {TIMED_OUT} |",
        "| --- | --- | --- | --- | --- |",
    ]
    for room in ROOMS:
        cells = [counts[room, each] for each in (KILLED, SURVIVED, TIMED_OUT)]
        lines.append(f"| {room} | {sum(cells)} | " + " | ".join(map(str, cells)) + " |")
    lines += ["", "## Survivors", ""]
    lines += [_words(row) for row in rows if row["outcome"] == SURVIVED]
    return "\n".join(lines) + "\n"


def main(number: int = 200) -> None:
    columns = ["room", "file", "line", "before", "after", "outcome"]
    wanted = {tuple(str(each) for each in mutant[:-1]): mutant for mutant in drawn(number)}
    rows = []
    if FOUND.exists():
        with FOUND.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if tuple(row.values())[:-1] in wanted]
    for row in rows:
        del wanted[tuple(row.values())[:-1]]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        ignore = shutil.ignore_patterns(".git", ".venv", "data", ".snakemake", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=ignore)
        for key, mutant in wanted.items():
            rows.append(dict(zip(columns, (*key, outcome(mutant, copy)), strict=True)))
            print(*rows[-1].values(), sep=" | ", flush=True)
            with FOUND.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.DictWriter(stream, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
