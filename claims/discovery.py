"""Discover figures, tables and judges: import every module of paper_figures/<paper>/."""

import pkgutil
from collections.abc import Iterable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal

from mechanisms.query.extensions import leave_out, modules_of

# The folder with a package for each paper, which no import statement of this package names.
HOMES = Path(__file__).resolve().parents[1] / "paper_figures"


def paper_homes() -> dict[str, ModuleType]:
    """Return the packages paper_figures/<paper>/ by the key of their paper, in order of the years.

    A package has the paper's short name as `NAME`, and as `MECHANISMS` the keys of its mechanisms
    that do not cite the paper's key themselves.
    """
    names = [info.name for info in pkgutil.iter_modules([str(HOMES)]) if info.ispkg]
    names.sort(key=lambda name: (name[-4:], name))
    homes = modules_of(f"paper_figures.{name}" for name in names)
    return {home.__name__.rpartition(".")[2]: home for home in homes}


def paper_modules() -> list[ModuleType]:
    """Return every module of every folder paper_figures/<paper>/, sorted by folder and name.

    A broken module, or a folder without `__init__.py`, is reported on stderr and left out.
    """
    for folder in sorted(HOMES.iterdir()):
        if any(folder.glob("*.py")) and not (folder / "__init__.py").exists():
            why = "it has no __init__.py; add one that gives the paper's short name as NAME"
            leave_out(f"paper_figures.{folder.name}", why)
    packages = [info for info in pkgutil.iter_modules([str(HOMES)]) if info.ispkg]
    names = (
        f"paper_figures.{package.name}.{info.name}"
        for package in packages
        for info in pkgutil.iter_modules([str(HOMES / package.name)])
    )
    return list(modules_of(names))


def functions_with(module: ModuleType, attribute: str) -> list[FunctionType]:
    """Return the functions that a module defines and to which a decorator gave this attribute."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and hasattr(value, attribute)
    ]


def declared(modules: Iterable[ModuleType], kind: Literal["judge", "drawing"]) -> dict[str, Any]:
    """Return every judge or drawing of these modules by name.

    A module that repeats a name is left out, with a warning.
    """
    found: dict[str, Any] = {}
    for module in modules:
        own = [getattr(function, kind) for function in functions_with(module, kind)]
        named = {each.name: each for each in own}
        if taken := found.keys() & named.keys():
            leave_out(module.__name__, f"another {kind} is called {min(taken)}; rename this one")
        else:
            found |= named
    return found
