"""Find the code that a module's results depend on, by reading its import statements."""

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
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
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
# Class attributes for names and looks in tables and figures; no number depends on them.
SHOWN = {"look", "paper", "theorem", "title", "variants"}


def source_files(module: str) -> frozenset[str]:
    """Return the files of a module and its direct and indirect imports outside installed packages.

    For a module from elsewhere (an outside mechanism), the `__init__` files of the packages above
    its imports are included. The project's `__init__` files are followed but not included, because
    they only re-export. Paths of the project are relative to its root. Modules that are imported
    under names computed at run time are not found.
    """
    return _trace_imports(module)[0]


def packages_of(module: str) -> frozenset[str]:
    """Return the installed distributions that the `source_files` of a module import."""
    return _trace_imports(module)[1]


@functools.cache
def _trace_imports(module: str) -> tuple[frozenset[str], frozenset[str]]:
    seen: dict[str, Path] = {}
    installed = set()
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
        parent = name.rpartition(".")[0]
        if file.suffix == ".py":
            waiting += _imports(file, name if file.name == "__init__.py" else parent)
        if parent and not _is_in_project(name):
            waiting.append(parent)
    files = frozenset(
        _path_text(path)
        for name, path in seen.items()
        if path.name != "__init__.py" or not _is_in_project(name)
    )
    return files, frozenset(installed)


def _is_in_project(module: str) -> bool:
    return module.partition(".")[0] in PROJECT


@functools.cache
def _is_installed(path: Path) -> bool:
    if any(part in _PACKAGES for part in path.parts):
        return True
    return not path.is_relative_to(ROOT) and any(map(path.resolve().is_relative_to, _INSTALLED))


@functools.cache
def _distributions() -> dict[str, frozenset[str]]:
    """Return the distributions that provide each package, by the name of the package."""
    return {
        package: frozenset(distributions)
        for package, distributions in importlib.metadata.packages_distributions().items()
    }


@functools.cache
def _path_text(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def digest_of(files: Iterable[str]) -> str:
    """Hash the bytes of files, as they were when this process first read them."""
    return _combine_hashes(files, _cached_bytes_hash)


def current_digest_of(files: Iterable[str]) -> str:
    """Hash the bytes of files as they are now."""
    return _combine_hashes(files, _bytes_hash)


def syntax_digest_of(files: Iterable[str]) -> str:
    """Hash the syntax trees of files, as they were when this process first read them.

    Comments, docstrings, the layout of the code and the attributes `SHOWN` are left out. The path
    of a file is left out too, because the modules that import it contain its name.
    """
    return _combine_hashes(files, _syntax_hash)


def digest_of_text(text: str) -> str:
    """Return a hash short enough for a line of a manifest: 64 bits in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _combine_hashes(files: Iterable[str], hash_of: Callable[[str], str]) -> str:
    return digest_of_text("".join(sorted(map(hash_of, set(files)))))


def _bytes_hash(path: str) -> str:
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()


_cached_bytes_hash = functools.cache(_bytes_hash)


@functools.cache
def _syntax_hash(path: str) -> str:
    if not path.endswith(".py"):
        return _bytes_hash(path)
    try:
        tree = ast.parse((ROOT / path).read_bytes())
        return hashlib.sha256(_canonical_text(tree).encode()).hexdigest()
    except RecursionError:
        # Expressions are nested hundreds deep; fall back to the bytes, a stricter measure.
        return _bytes_hash(path)


def _is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is only a string, such as a docstring."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_shown(statement: ast.stmt) -> bool:
    """Return whether a statement of a class sets one of the attributes `SHOWN`."""
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
    return bool(targets) and all(isinstance(t, ast.Name) and t.id in SHOWN for t in targets)


def _canonical_text(node: object) -> str:
    """Serialise a syntax tree without docstrings and the attributes `SHOWN`.

    Empty fields are left out too, because they differ between Python versions.
    """
    if isinstance(node, ast.AST):
        if isinstance(node, _DOCUMENTED):
            is_class = isinstance(node, ast.ClassDef)
            node.body = [
                each for each in node.body if not (_is_text(each) or (is_class and _is_shown(each)))
            ]
        fields = [
            f"{name}={_canonical_text(value)}"
            for name, value in ast.iter_fields(node)
            if value is not None and value != []
        ]
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_canonical_text, node))}]"
    return repr(node)


@functools.cache
def _imports(path: Path, package: str) -> tuple[str, ...]:
    """Return every name that may be a module; `from a import b` may import a and a.b.

    Args:
        path: The file.
        package: The package of the file, from which relative imports start.
    """
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = _absolute_name("." * node.level + (node.module or ""), package)
            names = [alias.name for alias in node.names]
            found |= {start, *(f"{start}.{each}" for each in names if start and each != "*")}
            if names == ["*"]:
                found |= _submodules(start)
    return tuple(sorted(found))


def _absolute_name(name: str, package: str) -> str:
    """Resolve a relative module name; the result is empty if the package has no such parent."""
    try:
        return importlib.util.resolve_name(name, package)
    except ImportError:
        return ""


def _submodules(package: str) -> set[str]:
    """Return the modules that `from package import *` may import, which are all of them."""
    file = _file_of(package) if package and not _is_in_project(package) else None
    if file is None or file.name != "__init__.py" or _is_installed(file):
        return set()
    return {f"{package}.{each.name}" for each in pkgutil.iter_modules([str(file.parent)])}


@functools.cache
def _file_of(name: str) -> Path | None:
    """Find the file of a module without importing it; return None if there is none.

    Every module of an installed package has the file of the package.
    """
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
