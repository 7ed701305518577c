"""The files that a module's results depend on, found by reading import statements."""

from __future__ import annotations

import ast
import functools
import importlib.util
from pathlib import Path

PROJECT = ("mechanisms", "datasets", "learning", "papers", "experiments", "runs")


def source_files(module: str) -> set[str]:
    """The file of a module and of all it imports, directly or not, from the project.

    A module from elsewhere (an outside mechanism) brings the modules of its own package as well.
    Paths are relative to the working directory where possible. The `__init__` files of packages
    are followed but not listed: they re-export, and hold no mathematics of their own.
    """
    packages = (*PROJECT, module.split(".")[0])
    seen: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen and name.split(".")[0] in packages and _is_module(name):
            seen[name] = Path(importlib.util.find_spec(name).origin)
            waiting += _imports(seen[name])
    here = Path.cwd()
    return {
        str(path.relative_to(here) if path.is_relative_to(here) else path)
        for path in seen.values()
        if path.name != "__init__.py"
    }


@functools.cache
def _imports(path: Path) -> tuple[str, ...]:
    """Every name that may be a module: `from a import b` means a, and a.b where that is one."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return tuple(sorted(found))


@functools.cache
def _is_module(name: str) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return False
    return spec is not None and spec.origin is not None
