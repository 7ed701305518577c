"""Discover figures, tables and judges by importing every module of paper_figures/<paper>/."""

from collections.abc import Iterable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal

from mechanisms.query.extensions import leave_out, modules_of

# The folder with a package for each paper. No import statement here names these packages.
HOMES = Path(__file__).resolve().parents[1] / "paper_figures"


def paper_homes() -> dict[str, ModuleType]:
    """Return the packages paper_figures/<paper>/ by the key of their paper, sorted by year.

    A package may have the paper's short name as `NAME`, and as `MECHANISMS` the keys of those
    mechanisms of the paper whose `paper` is not its key.
    """
    names = [path.parent.name for path in HOMES.glob("*/__init__.py")]
    names.sort(key=lambda name: (name[-4:], name))
    homes = modules_of(f"paper_figures.{name}" for name in names)
    return {home.__name__.rpartition(".")[2]: home for home in homes}


def paper_modules() -> list[ModuleType]:
    """Return every module of every folder paper_figures/<paper>/, sorted by folder and name.

    A broken module is reported on stderr and left out.
    """
    paths = sorted(path for path in HOMES.glob("*/*.py") if path.name != "__init__.py")
    return list(modules_of(f"paper_figures.{path.parent.name}.{path.stem}" for path in paths))


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

    A module is left out with a warning if it repeats a name of an earlier one.
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
