"""Figures, tables and judges are found, not listed: in every module of paper_figures/<paper>/."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import paper_figures


def paper_modules() -> list[ModuleType]:
    """Every module of every folder paper_figures/<paper>/, by folder and name."""
    packages = [info for info in pkgutil.iter_modules(paper_figures.__path__) if info.ispkg]
    return [
        importlib.import_module(f"paper_figures.{package.name}.{info.name}")
        for package in packages
        for info in pkgutil.iter_modules([str(Path(paper_figures.__path__[0], package.name))])
    ]
