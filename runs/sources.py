"""The files that a module's results depend on, found by reading import statements."""

import ast
import functools
import hashlib
import importlib.util
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Where statements hold other statements.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
PROJECT = ("mechanisms", "datasets", "learning", "studies", "runs", "claims", "paper_figures")


@functools.cache
def source_files(module: str) -> frozenset[str]:
    """The file of a module and of all it imports, directly or not, from the project.

    A module from elsewhere (an outside mechanism) brings what it imports of its own package, and
    the `__init__` files above each of these. Those of the project are followed where they are
    imported from but not listed: they re-export, and hold no mathematics of their own. Paths of the
    project are relative to its root.
    """
    packages = (*PROJECT, module.split(".")[0])
    seen: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen and name.split(".")[0] in packages and (file := _file_of(name)):
            seen[name] = file
            above = name.rpartition(".")[0]
            waiting += _imports(file, name if file.name == "__init__.py" else above)
            if not _of_project(name):
                waiting.append(above)
    return frozenset(
        _named(path)
        for name, path in seen.items()
        if path.name != "__init__.py" or not _of_project(name)
    )


def _of_project(module: str) -> bool:
    return module.split(".")[0] in PROJECT


@functools.cache
def _named(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def digest_of(files: Iterable[str]) -> str:
    """One hash of the content of files.

    Hashes of files are kept for the life of the process: thousands of cells share a few hundred.
    """
    return _joined(map(_kept_hash, sorted(set(files))))


def current_digest_of(files: Iterable[str]) -> str:
    """The same, from the files as they are now."""
    return _joined(map(_hash, sorted(set(files))))


def _joined(hashes: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(hashes)).hexdigest()


def _hash(path: str) -> bytes:
    return hashlib.sha256((ROOT / path).read_bytes()).digest()


_kept_hash = functools.cache(_hash)


@functools.cache
def _imports(path: Path, package: str) -> tuple[str, ...]:
    """Every name that may be a module: `from a import b` means a, and a.b where that is one.

    package: of the file, from where relative imports start.
    """
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            found |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
        # Expressions, most of a tree, hold no import statement.
        for block in _BLOCKS:
            waiting += getattr(node, block, ())
    return tuple(sorted(found))


@functools.cache
def _file_of(name: str) -> Path | None:
    """The file of a module, or None where there is none; nothing is imported to find it."""
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ModuleNotFoundError, ValueError):
        return None
    if spec is None or not rest:
        return Path(spec.origin) if spec is not None and spec.origin else None
    for place in spec.submodule_search_locations or ():
        path = Path(place, *rest)
        for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
            if file.is_file():
                return file
    return None
