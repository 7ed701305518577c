"""The catalogue of data sets: every module of `datasets/loaders/` that has an `ENTRY`.

A new file in that folder is found without being listed anywhere. A loader is imported when its
entry is read, so finding one data set does not import the libraries of the others.
"""

import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType

import datasets.loaders
from datasets.entry import Dataset
from datasets.fetching.data_error import DataError
from mechanisms.query.extensions import leave_out, left_out, modules_of
from mechanisms.query.words import nearest


def require_known(name: str) -> None:
    """Raise DataError if no data set has this name; the message lists all names and the nearest."""
    known = _names()
    if name not in known:
        hint = nearest(name, known, "did you mean {}? ", most=3)
        raise DataError(f"unknown data set {name!r}; {hint}known are {', '.join(known)}")


def loader(name: str) -> ModuleType:
    """Return the module `datasets.loaders.<name>`.

    It defines `ENTRY`. If the source is official, it also defines `parse`, which takes the files
    of `ENTRY` in their order; otherwise it defines `load`, which needs no files.

    Raises:
        DataError: the name is unknown (see `require_known`), or the module is left out because it
            cannot be imported or lacks one of these definitions.
    """
    require_known(name)
    full = f"datasets.loaders.{name}"
    for module in modules_of([full]):
        entry = getattr(module, "ENTRY", None)
        function = "parse" if getattr(entry, "source", "official") == "official" else "load"
        if not isinstance(entry, Dataset) or entry.name != name:
            leave_out(full, f"it must define ENTRY = Dataset(name={name!r}, ...)")
        elif not callable(getattr(module, function, None)):
            leave_out(full, f"it must define the function {function}")
        else:
            return module
    raise DataError(f"{full} is left out: {left_out(full)[full]}")


def _names() -> list[str]:
    return sorted(info.name for info in pkgutil.iter_modules(datasets.loaders.__path__))


class _Catalogue(Mapping[str, Dataset]):
    """The entries by name, in alphabetical order, without those of modules that are left out."""

    def __getitem__(self, name: str) -> Dataset:
        if name not in _names():
            raise KeyError(name)
        try:
            return loader(name).ENTRY
        except DataError as error:
            raise KeyError(name) from error

    def __iter__(self) -> Iterator[str]:
        return (name for name in _names() if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


DATASETS: Mapping[str, Dataset] = _Catalogue()
