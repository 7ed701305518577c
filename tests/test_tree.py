"""Imports point downwards: every import is checked against the table of ARCHITECTURE.md."""

import ast
import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| `([\w.]+)` \|", re.MULTILINE)
# The rooms from the ground up, as listed in the table. A room may import itself and the rooms
# listed before it.
ROOMS = ROW.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
# The package's public names and the entry point of `python -m`, which may import from above.
STARTERS = {"mechanisms.__main__", "mechanisms"}


def modules() -> list[Path]:
    """Every module of a room, relative to the root."""
    tops = {room.split(".")[0] for room in ROOMS}
    return sorted(path.relative_to(ROOT) for top in tops for path in (ROOT / top).rglob("*.py"))


def dotted(path: Path) -> str:
    """The name of a module in import statements."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def rank_of(module: str) -> int:
    """The position in the list of the most specific room that contains a module."""
    rooms = [room for room in ROOMS if f"{module}.".startswith(f"{room}.")]
    if not rooms:
        raise LookupError(f"ARCHITECTURE.md lists no room for {module}")
    return ROOMS.index(max(rooms, key=len))


def is_allowed(importer: str, imported: str) -> bool:
    """Whether a module may import another."""
    return imported == "mechanisms" or rank_of(imported) <= rank_of(importer)


def project_imports(path: Path, known: set[str]) -> list[tuple[int, str]]:
    """(line, module) of every import of the project's own modules, including those in functions."""
    found = []
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: write the module's full name"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.append((node.lineno, name if name in known else node.module))
    return [(line, name) for line, name in found if name in known]


def test_every_import_points_downwards():
    paths = modules()
    known = {dotted(path) for path in paths}
    wrong = [
        f"{path}:{line} imports {imported}, which stands above {ROOMS[rank_of(dotted(path))]}"
        for path in paths
        if dotted(path) not in STARTERS
        for line, imported in project_imports(path, known)
        if not is_allowed(dotted(path), imported)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_homes_of_papers_import_nothing_of_each_other():
    """The suite's own home is exempt, as it judges the claims of several papers."""
    known = {dotted(path) for path in modules()}
    homes = {path.parent.name for path in (ROOT / "paper_figures").glob("*/__init__.py")}
    wrong = [
        f"{path}:{line} imports {imported}"
        for path in modules()
        if path.parts[0] == "paper_figures" and len(path.parts) == 3
        for line, imported in project_imports(path, known)
        for parts in [imported.split(".")]
        if len(parts) > 2 and parts[0] == "paper_figures"
        if parts[1] in homes - {path.parts[1], "suite"}
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("mechanisms.catalogue.gaussian", "mechanisms.noise.gaussian_noise", True),
        ("mechanisms.noise.gaussian_noise", "mechanisms.catalogue.gaussian", False),
        ("mechanisms.noise.gaussian_noise", "mechanisms.query.query", True),
        ("mechanisms.noise.gaussian_noise", "mechanisms.base.mechanism", False),
        ("mechanisms.catalogue.gaussian", "mechanisms.verification.verification", False),
        ("learning.training.step_noise", "studies.dpsgd", False),
        ("studies.dpsgd", "papers.r1smg2024", True),
        ("studies.dpsgd", "paper_figures.r1smg2024.theorems", False),
        ("mechanisms.cli.audit_command", "mechanisms.audit.audit", True),
        ("mechanisms.audit.audit", "mechanisms.cli.audit_command", False),
        ("runs.cells", "studies.count_query", False),
        ("paper_figures.tldp2025.theorems", "claims.comparisons", True),
        ("claims.comparisons", "paper_figures.style", False),
        ("site_builder.build", "paper_figures.style", True),
        ("paper_figures.style", "site_builder.build", False),
    ],
)
def test_the_table_of_rooms_allows_the_intended_imports(importer, imported, allowed):
    assert is_allowed(importer, imported) == allowed


def test_every_room_exists_and_says_what_it_is():
    for room in ROOMS:
        package = ROOT / room.replace(".", "/") / "__init__.py"
        assert package.is_file(), f"ARCHITECTURE.md lists {room}, which does not exist"
        text = ast.get_docstring(ast.parse(package.read_text(encoding="utf-8")))
        assert text, f"{room} does not say what it is"


def test_the_walk_of_a_number_names_functions_that_exist():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    walk = page.partition("## The walk of a number")[2].partition("\n## ")[0]
    names = re.findall(r"`((?:\w+\.)+\w+)`", walk)
    walked = [name for name in names if not name.endswith(".csv")]
    assert 20 <= len(walked) <= 25
    assert len(set(walked)) == len(walked)
    assert len(re.findall(r"\*\*the (?:first|second|third)", walk)) == 3
    assert [name for name in walked if not is_function(name)] == []


def is_function(name: str) -> bool:
    """Whether a dotted name is a function of a module, or a method or property of its class."""
    try:
        found = pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return False
    return callable(found) or isinstance(found, property)
