"""The code that a module's results depend on, found by reading import statements."""

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import pkgutil
import sys
import sysconfig
from collections.abc import Callable, Iterable
from importlib.machinery import all_suffixes
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Where statements hold other statements.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
PROJECT = (
    "mechanisms",
    "datasets",
    "learning",
    "studies",
    "runs",
    "claims",
    "papers",
    "paper_figures",
)
_INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_PACKAGES = ("site-packages", "dist-packages")
# Attributes of classes that name or draw what the class is; no number depends on them.
SHOWN = {"look", "paper", "theorem", "title", "variants"}


def source_files(module: str) -> frozenset[str]:
    """The file of a module and of all it imports, directly or not, but for installed packages.

    A module from elsewhere (an outside mechanism) brings the `__init__` files above what it
    imports. Those of the project are followed where they are imported from but not listed: they
    re-export, and hold no mathematics of their own. Paths of the project are relative to its root.
    A module that is imported by a name computed at run time is not seen.
    """
    return _reached(module)[0]


def packages_of(module: str) -> frozenset[str]:
    """The installed distributions that these files import."""
    return _reached(module)[1]


@functools.cache
def _reached(module: str) -> tuple[frozenset[str], frozenset[str]]:
    seen: dict[str, Path] = {}
    installed: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if name in seen or top in sys.stdlib_module_names or not (file := _file_of(name)):
            continue
        if _is_installed(file):
            installed |= _distributions().get(top, frozenset())
            continue
        seen[name] = file
        above = name.rpartition(".")[0]
        if file.suffix == ".py":
            waiting += _imports(file, name if file.name == "__init__.py" else above)
        if above and not _of_project(name):
            waiting.append(above)
    files = frozenset(
        _named(path)
        for name, path in seen.items()
        if path.name != "__init__.py" or not _of_project(name)
    )
    return files, frozenset(installed)


def _of_project(module: str) -> bool:
    return module.partition(".")[0] in PROJECT


@functools.cache
def _is_installed(path: Path) -> bool:
    if any(part in _PACKAGES for part in path.parts):
        return True
    return not path.is_relative_to(ROOT) and any(map(path.resolve().is_relative_to, _INSTALLED))


@functools.cache
def _distributions() -> dict[str, frozenset[str]]:
    """The distributions that bring each package, by its name."""
    found = importlib.metadata.packages_distributions()
    return {name: frozenset(brought_by) for name, brought_by in found.items()}


@functools.cache
def _named(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def digest_of(files: Iterable[str]) -> str:
    """One hash of the bytes of files, as they were when this process first looked."""
    return _joined(files, _kept_bytes_hash)


def current_digest_of(files: Iterable[str]) -> str:
    """The same, from the files as they are now."""
    return _joined(files, _bytes_hash)


def meaning_of(files: Iterable[str]) -> str:
    """One hash of the syntax trees of files, as they were when this process first looked.

    Comments, docstrings, the layout of the code and the attributes `SHOWN` are left out. So is the
    place of a file: what imports it has its name.
    """
    return _joined(files, _meaning)


def digest_of_text(text: str) -> str:
    """A hash that is short enough for a line of a manifest: 64 bits in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _joined(files: Iterable[str], hash_of: Callable[[str], str]) -> str:
    return digest_of_text("".join(sorted(map(hash_of, set(files)))))


def _bytes_hash(path: str) -> str:
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()


_kept_bytes_hash = functools.cache(_bytes_hash)


@functools.cache
def _meaning(path: str) -> str:
    if not path.endswith(".py"):
        return _bytes_hash(path)
    tree = ast.parse((ROOT / path).read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            shown = isinstance(node, ast.ClassDef)
            node.body = [
                each for each in node.body if not (_is_text(each) or (shown and _is_shown(each)))
            ]
    try:
        return hashlib.sha256(_written(tree).encode()).hexdigest()
    except RecursionError:
        # Expressions nested hundreds deep: the bytes are the stricter measure.
        return _bytes_hash(path)


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a string that nothing reads, such as a docstring."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_shown(statement: ast.stmt) -> bool:
    """Whether a statement of a class sets one of its attributes `SHOWN`."""
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
    return bool(targets) and all(isinstance(t, ast.Name) and t.id in SHOWN for t in targets)


def _written(node: object) -> str:
    """A syntax tree as text that does not depend on the version of Python: fields without a value
    are left out."""
    if isinstance(node, ast.AST):
        fields = [
            f"{name}={_written(value)}"
            for name, value in ast.iter_fields(node)
            if value is not None and value != []
        ]
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_written, node))}]"
    return repr(node)


@functools.cache
def _imports(path: Path, package: str) -> tuple[str, ...]:
    """Every name that may be a module: `from a import b` means a, and a.b where that is one.

    package: of the file, from where relative imports start.
    """
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_bytes())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = _absolute("." * node.level + (node.module or ""), package)
            names = [alias.name for alias in node.names]
            found |= {start, *(f"{start}.{each}" for each in names if start and each != "*")}
            if names == ["*"]:
                found |= _submodules(start)
        # Expressions, most of a tree, hold no import statement.
        for block in _BLOCKS:
            waiting += getattr(node, block, ())
    return tuple(sorted(found))


def _absolute(name: str, package: str) -> str:
    """The module that a relative name means; empty where the package has no such parent."""
    try:
        return importlib.util.resolve_name(name, package)
    except ImportError:
        return ""


def _submodules(package: str) -> set[str]:
    """The modules that `from package import *` may import: all that lie in it."""
    file = _file_of(package) if package and not _of_project(package) else None
    if file is None or file.name != "__init__.py" or _is_installed(file):
        return set()
    return {f"{package}.{each.name}" for each in pkgutil.iter_modules([str(file.parent)])}


@functools.cache
def _file_of(name: str) -> Path | None:
    """The file of a module, or None where there is none; nothing is imported to find it."""
    top, *rest = name.split(".")
    spec = _spec_of(top)
    if spec is None or not rest:
        return Path(spec.origin) if spec is not None and spec.has_location else None
    if spec.has_location and _is_installed(Path(spec.origin)):
        return Path(spec.origin)
    for place in spec.submodule_search_locations or ():
        path = Path(place, *rest)
        files = [path.with_name(path.name + ending) for ending in all_suffixes()]
        for file in (path / "__init__.py", *files):
            if file.is_file():
                return file
    return None


@functools.cache
def _spec_of(top: str):
    try:
        return importlib.util.find_spec(top)
    except (ModuleNotFoundError, ValueError):
        return None
