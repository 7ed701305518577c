"""Print the tests that a change against main affects; `make check` runs them.

These are the test files that changed, those that import a changed module directly, and the tests of
the project as a whole. `make test` also runs tests that reach a changed module indirectly, and the
tests in `tests/workflow`, which run everything.
"""

import ast
import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WHOLE_PROJECT = ("tests/test_tree.py", "tests/test_project.py")


def changed_files() -> set[str]:
    """Files that differ from the point where this branch left main, including untracked files."""
    start = _git("merge-base", "main", "HEAD")[0]
    return {
        *_git("diff", "--name-only", "--diff-filter=d", start),
        *_git("ls-files", "--others", "--exclude-standard"),
    }


def imported(path: Path) -> set[str]:
    """The paths of the modules that a file imports, whether they exist or not."""
    names = modules_of(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    paths = {name.replace(".", "/") for name in names}
    return {f"{path}.py" for path in paths} | {f"{path}/__init__.py" for path in paths}


def modules_of(nodes: Iterable[ast.AST]) -> set[str]:
    """The modules that nodes import, and every name imported from a module as if it were one."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def affected_tests(changed: set[str]) -> list[str]:
    """The test files that changed files affect, relative to the root."""
    found = set(WHOLE_PROJECT)
    for path in (ROOT / "tests").rglob("test_*.py"):
        test = str(path.relative_to(ROOT))
        if not test.startswith("tests/workflow/") and (test in changed or imported(path) & changed):
            found.add(test)
    return sorted(found)


def _git(*arguments: str) -> list[str]:
    ended = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return ended.stdout.split()


if __name__ == "__main__":
    print("\n".join(affected_tests(changed_files())))
