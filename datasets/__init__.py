"""The data sets: `fetch` puts verified files into a folder, `load` reads them into arrays.

Nothing replaces official data: if they cannot be fetched or verified, `DataError` is raised.
Bundled and simulated data have names of their own.

    import datasets

    datasets.fetch("mnist", "data", mirror=None)
    digits = datasets.load("mnist", "data")
"""

from pathlib import Path
from typing import Any

from datasets.catalogue import DATASETS, loader
from datasets.entry import Dataset
from datasets.fetching.checksums import known_checksums, local_files
from datasets.fetching.data_error import DataError
from datasets.fetching.fetch import fetch

__all__ = ["DATASETS", "DataError", "Dataset", "checksums_of", "fetch", "load"]


def load(name: str, folder: Path | str = "data") -> Any:
    """The data set as arrays, of the type that `datasets/loaders/<name>.py` documents.

    Args:
        name: key in `DATASETS`.
        folder: the data folder given to `fetch`. Bundled and simulated data ignore it; simulated
            data have their default seed and size (call `load` of their module to choose them).

    Raises:
        DataError: unknown name; a file is missing, changed or unverified; a wrong number of
            records.
    """
    module = loader(name)
    if module.ENTRY.source != "official":
        return module.load()
    return module.parse(*local_files(module.ENTRY, folder).values())


def checksums_of(name: str, folder: Path | str = "data") -> dict[str, str] | None:
    """The sha256 of every official file of a data set, by name, published or recorded by `fetch`.

    None if a file has no published checksum and has not been fetched. `load` accepts none of
    these files with another checksum; a repack has its own.

    Args:
        name: key in `DATASETS`.
        folder: the data folder given to `fetch`.

    Raises:
        DataError: unknown name; a record of checksums is damaged.
    """
    return known_checksums(loader(name).ENTRY, Path(folder) / name)
