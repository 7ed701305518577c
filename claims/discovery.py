"""Figures, tables and judges are found, not listed: in every module of paper_figures/<paper>/."""

import pkgutil
from pathlib import Path
from types import ModuleType

from mechanisms.query.extensions import leave_out, modules_of

# The homes of the papers, which this package does not import.
HOMES = Path(__file__).resolve().parents[1] / "paper_figures"


def paper_homes() -> dict[str, ModuleType]:
    """The packages paper_figures/<paper>/ by the key of their paper, in the order of the years.

    A home says the paper's short name, `NAME`, and the keys of its `MECHANISMS` that the registry
    does not cite by the paper's key.
    """
    names = [info.name for info in pkgutil.iter_modules([str(HOMES)]) if info.ispkg]
    names.sort(key=lambda name: (name[-4:], name))
    homes = modules_of(f"paper_figures.{name}" for name in names)
    return {home.__name__.rpartition(".")[2]: home for home in homes}


def paper_modules() -> list[ModuleType]:
    """Every module of every folder paper_figures/<paper>/, by folder and name.

    One that is broken, and a folder without `__init__.py`, are named on stderr and left out.
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
