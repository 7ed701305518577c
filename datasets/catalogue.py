"""Which data sets there are: every module of `datasets/loaders/` that has an `ENTRY`.

A new file in that folder is found without being listed anywhere. A loader is imported when its
entry is read, so finding one data set does not import the libraries of the others.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType

import datasets.loaders
from datasets.entry import Dataset
from datasets.fetching.data_error import DataError
from mechanisms.query.words import nearest


def require_known(name: str) -> None:
    """Raise DataError for an unknown data set; the message lists all names and the nearest."""
    known = _names()
    if name not in known:
        hint = nearest(name, known, "did you mean {}? ", most=3)
        raise DataError(f"unknown data set {name!r}; {hint}known are {', '.join(known)}")


def loader(name: str) -> ModuleType:
    """The module `datasets.loaders.<name>`.

    It has `ENTRY`, and `parse` of the files of `ENTRY` in their order if its source is official,
    else `load` without files.

    Raises:
        DataError: unknown name, see `require_known`.
        TypeError: the module does not keep the contract of a loader.
    """
    require_known(name)
    module = importlib.import_module(f"datasets.loaders.{name}")
    entry = getattr(module, "ENTRY", None)
    if not isinstance(entry, Dataset) or entry.name != name:
        raise TypeError(f"{module.__file__} must define ENTRY = Dataset(name={name!r}, ...)")
    function = "parse" if entry.source == "official" else "load"
    if not callable(getattr(module, function, None)):
        raise TypeError(f"{module.__file__} must define the function {function}")
    return module


def _names() -> list[str]:
    return sorted(info.name for info in pkgutil.iter_modules(datasets.loaders.__path__))


class _Catalogue(Mapping[str, Dataset]):
    """The entries by name, in alphabetical order."""

    def __getitem__(self, name: str) -> Dataset:
        if name not in _names():
            raise KeyError(name)
        return loader(name).ENTRY

    def __iter__(self) -> Iterator[str]:
        return iter(_names())

    def __len__(self) -> int:
        return len(_names())


DATASETS: Mapping[str, Dataset] = _Catalogue()
