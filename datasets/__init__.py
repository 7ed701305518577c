"""The data sets: `fetch` puts verified files into a folder, `load` reads them into arrays.

    import datasets

    datasets.fetch("mnist", "data", mirror=None)
    digits = datasets.load("mnist", "data")

Official data are checked byte by byte and row by row, and nothing stands in for them: if they
cannot be had, `DataError` says what to do. Bundled and simulated data have names of their own.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from datasets.catalogue import DATASETS, Dataset, find
from datasets.fetching.data_error import DataError
from datasets.fetching.fetch import fetch

__all__ = ["DATASETS", "DataError", "Dataset", "fetch", "load"]


def load(name: str, folder: Path | str = "data") -> Any:
    """The data set as arrays, of the type that its module documents.

    Args:
        name: key in `DATASETS`; the loader is `datasets.loaders.<name>.load`.
        folder: the data folder given to `fetch`; bundled and simulated data need none, and
            simulated ones come with the default seed and size (call their own `load` to choose).

    Raises:
        DataError: unknown name; files missing, changed or with a wrong number of rows.
    """
    dataset = find(name)
    loader = importlib.import_module(f"datasets.loaders.{name}")
    return loader.load(Path(folder)) if dataset.source == "official" else loader.load()
