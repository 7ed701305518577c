"""The tree does not grow unnoticed: to add more, raise a limit here and say why."""

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Limits on Python statements. Lower them after a removal.
MOST = {"product": 26_385, "tests": 18_300}


def statements(paths):
    trees = (ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in paths)
    return sum(isinstance(node, ast.stmt) for tree in trees for node in ast.walk(tree))


@pytest.mark.parametrize("part", MOST)
def test_statements_of_python(part):
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    own = [path for path in listed if path.startswith("tests/") == (part == "tests")]
    assert statements(own) <= MOST[part]
