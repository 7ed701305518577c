"""Mutate the code behind verdicts, and report whether a quick test notices each mutant.

python tests/mutants.py OUTCOMES.csv [--count 200] [--seed 0]

A mutant is the last commit with one operator, comparison or constant changed. The same number is
drawn from each of `ROOMS`. The quick tests that import its module run, or else those of its folder.
OUTCOMES.csv gets a line for each mutant: killed, deadline, or survived. Mutants in the file are not
tried again; remove the lines of survivors once a test is stronger.
"""

import argparse
import ast
import csv
import functools
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from changed_tests import ROOT, WHOLE_PROJECT, affected_tests

ROOMS = {
    "rules": ["claims/comparisons.py", "claims/verdicts.py", "claims/scores.py"],
    "intervals": ["claims/intervals.py", "mechanisms/check/audit_statistics.py"],
    "calibration": ["mechanisms/base/exact_calibration.py", "mechanisms/privacy/profile.py"],
    "guard": ["mechanisms/base/guard.py"],
    "store": ["runs/store.py", "runs/parts.py", "runs/provenance.py", "runs/result_table.py"],
    "checksums": ["datasets/fetching/checksums.py", "datasets/fetching/inspection.py"],
    "samplers": sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("mechanisms/noise/*.py")),
}
# The replacement of each operator.
OTHER = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.And: ast.Or,
    ast.Or: ast.And, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.USub: ast.UAdd, ast.Not: None,
}  # fmt: skip
SECONDS = 300


def places(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module that can be mutated, always in the same order."""
    for node in ast.walk(tree):
        operator = node.ops[0] if isinstance(node, ast.Compare) else getattr(node, "op", None)
        number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
        if type(operator) in OTHER or number:
            yield node


def mutate(node: ast.AST) -> None:
    """Change a node in place."""
    if isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Compare):
        node.ops[0] = OTHER[type(node.ops[0])]()
    elif isinstance(node.op, ast.Not):
        # A second negation would cancel the first.
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
    else:
        node.op = OTHER[type(node.op)]()


def drawn(count: int, seed: int) -> list[tuple[str, int]]:
    """The module and the place of every mutant."""
    rng, found = random.Random(seed), []
    for number, modules in enumerate(ROOMS.values()):
        share = count // len(ROOMS) + (number < count % len(ROOMS))
        room = [
            (module, index)
            for module in modules
            for index, _ in enumerate(places(ast.parse((ROOT / module).read_text())))
        ]
        found += rng.sample(room, share)
    rng.shuffle(found)
    return found


@functools.cache
def tests_of(module: str) -> list[str]:
    """The tests that import a module, its own first, or those of its folder if none does."""
    folder = ROOT / "tests" / Path(module).parent
    while not folder.is_dir():
        folder = folder.parent
    found = [test for test in affected_tests({module}) if test not in WHOLE_PROJECT]
    # One failure is enough, and its own tests are the likeliest to fail.
    own = Path(module).stem
    found.sort(key=lambda test: (own not in test, not (ROOT / test).is_relative_to(folder)))
    return found or [str(folder.relative_to(ROOT))]


def outcome(copy: Path, tests: list[str], seconds: int = SECONDS) -> str:
    """Run the quick tests in the copy and return the outcome."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", *tests]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["OMP_NUM_THREADS"] = "1"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(
        command, cwd=copy, env=environment, start_new_session=True, **quiet
    ) as child:
        try:
            status = child.wait(seconds)
            # 1: a test failed; 2: a module could not be imported.
            return {0: "survived", 1: "killed", 2: "killed"}[status]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return "deadline"


def require_sound(copy: Path, module: str) -> None:
    """Exit unless the tests of a module pass without any change."""
    if (unchanged := outcome(copy, tests_of(module))) != "survived":
        tests = " ".join(tests_of(module))
        sys.exit(f"without any change these tests say {unchanged}, mend them first: {tests}")


def try_mutant(copy: Path, module: str, index: int) -> list:
    """The entry of one mutant: its outcome, its line and its change."""
    path = copy / module
    text = path.read_text()
    tree = ast.parse(text)
    node = list(places(tree))[index]
    before = ast.unparse(node)
    mutate(node)
    path.write_text(ast.unparse(tree))
    try:
        said = outcome(copy, tests_of(module))
    finally:
        path.write_text(text)
    return [module, index, said, node.lineno, before, ast.unparse(node)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outcomes", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    arguments.outcomes.touch()
    with open(arguments.outcomes) as file:
        done = {(row[0], int(row[1])) for row in csv.reader(file)}
    todo = [each for each in drawn(arguments.count, arguments.seed) if each not in done]
    with tempfile.TemporaryDirectory() as place:
        packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, stdout=-1, check=True)
        subprocess.run(["tar", "-x", "-C", place], input=packed.stdout, check=True)
        sound = set()
        for module, index in todo:
            if module not in sound:
                require_sound(Path(place), module)
                sound.add(module)
            line = try_mutant(Path(place), module, index)
            print(*line, flush=True)
            with open(arguments.outcomes, "a", newline="") as file:
                csv.writer(file).writerow(line)


if __name__ == "__main__":
    main()
