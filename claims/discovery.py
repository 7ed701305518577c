"""Figures, tables and judges are found, not listed: in every module of paper_figures/<paper>/."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

# The homes of the papers, which this package does not import.
HOMES = Path(__file__).resolve().parents[1] / "paper_figures"


def paper_homes() -> dict[str, ModuleType]:
    """The packages paper_figures/<paper>/ by the key of their paper, in the order of the years.

    A home says the paper's short name, `NAME`, and the keys of its `MECHANISMS` that the registry
    does not cite by the paper's key.
    """
    names = [info.name for info in pkgutil.iter_modules([str(HOMES)]) if info.ispkg]
    names.sort(key=lambda name: (name[-4:], name))
    return {name: importlib.import_module(f"paper_figures.{name}") for name in names}


def paper_modules() -> list[ModuleType]:
    """Every module of every folder paper_figures/<paper>/, by folder and name.

    Raises:
        ModuleNotFoundError: A folder of modules has no `__init__.py`; its modules would be missed.
    """
    for folder in sorted(HOMES.iterdir()):
        if any(folder.glob("*.py")) and not (folder / "__init__.py").exists():
            raise ModuleNotFoundError(
                f"paper_figures/{folder.name} has no __init__.py; add one that says in three "
                "sentences what the folder holds, what imports it and what it imports"
            )
    packages = [info for info in pkgutil.iter_modules([str(HOMES)]) if info.ispkg]
    return [
        importlib.import_module(f"paper_figures.{package.name}.{info.name}")
        for package in packages
        for info in pkgutil.iter_modules([str(HOMES / package.name)])
    ]
