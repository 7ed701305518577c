"""Files of the data sets that are part of scikit-learn."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.fetching.data_error import DataError


def bundled_table(
    file_name: str, *, delimiter: str | None = ",", skiprows: int = 0
) -> NDArray[np.float64]:
    """A table of numbers (rows, columns) among scikit-learn's own files.

    The file is found without importing scikit-learn, which takes a second in every cell.

    Raises:
        DataError: scikit-learn is not installed, or this version has no such file.
    """
    package = importlib.util.find_spec("sklearn")
    if package is None:
        raise DataError(
            f"{file_name} is part of scikit-learn, which is missing; install the pins of envs/"
        )
    path = Path(package.origin).parent / "datasets" / "data" / file_name
    try:
        return np.loadtxt(path, delimiter=delimiter, skiprows=skiprows, ndmin=2)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path} ({error}); install the pins of envs/") from error
