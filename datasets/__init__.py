"""The data sets: `fetch` puts verified files into a folder, `load` reads them into arrays.

Nothing replaces official files that cannot be fetched or verified: `DataError` is raised.
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
    """Return the data set, as the type that `datasets/loaders/<name>.py` documents.

    Args:
        name: key in `DATASETS`.
        folder: the data folder given to `fetch`, which bundled and simulated data ignore.
            Simulated data have their default seed and size; `load` of their module takes others.

    Raises:
        DataError: the name is unknown; a file is missing, changed or unverified; or the number
            of records is wrong.
    """
    module = loader(name)
    if module.ENTRY.source != "official":
        return module.load()
    return module.parse(*local_files(module.ENTRY, folder).values())


def checksums_of(name: str, folder: Path | str = "data") -> dict[str, str] | None:
    """Map the file names of a data set to their sha256, published or recorded by `fetch`.

    Returns None if a file has no published checksum and has not been fetched. `load` refuses a
    file with another checksum. The files are those of `known_checksums`.

    Args:
        name: key in `DATASETS`.
        folder: the data folder given to `fetch`.

    Raises:
        DataError: the name is unknown, or the record of checksums is damaged.
    """
    return known_checksums(loader(name).ENTRY, Path(folder) / name)
