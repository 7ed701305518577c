"""Every import of a package is covered by its dependencies or its extras in pyproject.toml."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

from changed_tests import modules_of

from mechanisms.query.extras import EXTRAS as TOLD

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
OWN = {path.parent.name for path in ROOT.glob("*/__init__.py")}
PROVIDED_BY = importlib.metadata.packages_distributions()
# The site shows everything that these functions discover: figures, tables, judges and studies.
DISCOVERED = ("site_builder", "paper_figures", "studies")


def normal(name: str) -> str:
    """The name of a distribution, normalised as package indexes do."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s<>=!~;\[(]", name)[0]).lower()


def imports(path: Path, *, everywhere: bool) -> set[str]:
    """The modules that a file imports at its top level, or `everywhere` in it."""
    tree = ast.parse(path.read_text())
    return modules_of(ast.walk(tree) if everywhere else tree.body)


def file_of(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def distributions(modules: set[str]) -> set[str]:
    """The distributions of third-party modules."""
    tops = {name.partition(".")[0] for name in modules} - OWN - set(sys.stdlib_module_names)
    return {normal(name) for top in tops for name in PROVIDED_BY[top]}


def needed_to_import(*packages: str) -> set[str]:
    """The distributions that importing the packages needs, directly or indirectly."""
    waiting = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    seen, found = set(), set()
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            modules = imports(path, everywhere=False)
            found |= modules
            own = (file_of(name) for name in modules if name.partition(".")[0] in OWN)
            waiting += [file for file in own if file is not None]
    return distributions(found)


def stated(*extras: str) -> set[str]:
    lists = (PROJECT["dependencies"], *(EXTRAS[extra] for extra in extras))
    return {normal(text) for each in lists for text in each}


def brought(names: set[str]) -> set[str]:
    """The distributions that these distributions require."""
    texts = (importlib.metadata.requires(name) or () for name in names)
    return {normal(text) for each in texts for text in each if "extra ==" not in text}


def test_every_import_of_mechanisms_is_in_an_extra():
    found = set().union(
        *(imports(path, everywhere=True) for path in (ROOT / "mechanisms").rglob("*.py"))
    )
    # The pages of the suite and the checker of certificates, which is a separate file.
    extras = [extra for extra in EXTRAS if extra not in ("site", "certificates")]
    assert distributions(found) == stated(*extras) - {"clarabel"}


def test_a_missing_package_is_reported_with_its_extra():
    brings = {name: stated(extra) - stated() for name, extra in TOLD.items()}
    for name, found in brings.items():
        assert {normal(each) for each in PROVIDED_BY[name]} <= found, name
    others = [extra for extra in EXTRAS if extra not in ("site", "certificates")]
    assert set().union(*brings.values()) == stated(*others) - stated()


def test_the_extra_of_the_site_is_what_importing_it_needs():
    needed, own = needed_to_import(*DISCOVERED), stated("site")
    assert needed - own - brought(own) == set()
    assert own - stated() <= needed, "the extra holds what nothing imports"
