"""Files of the data sets that are part of scikit-learn."""

import gzip
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from numpy.typing import NDArray

from datasets.entry import Dataset, require_rows
from datasets.fetching.data_error import DataError, reading
from datasets.formats.tables import Columns, Numbers, read_table

MEASUREMENT = Numbers(0, 10_000)  # none of their features is negative


def bundled_table(
    entry: Dataset,
    file_name: str,
    columns: Columns,
    *,
    delimiter: str = ",",
    header: Sequence[str] = (),
) -> dict[str, NDArray]:
    """A table of a data set among scikit-learn's own files: its columns (n,) by their names.

    The file is found without importing scikit-learn, which takes a second in every cell.

    Raises:
        DataError: scikit-learn is not installed, this version has no such file, or the file is
            another one (as `read_table`) or has another number of records.
    """
    package = importlib.util.find_spec("sklearn")
    if package is None:
        raise DataError(
            f"{file_name} is part of scikit-learn, which is missing; install the pins of envs/"
        )
    path = Path(package.origin).parent / "datasets" / "data" / file_name
    place = f"{path}, a file of scikit-learn (install the pins of envs/)"
    with reading(place, "cannot be read"):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
    table = read_table(content, columns, place, delimiter=delimiter, header=header)
    require_rows(entry, records=len(next(iter(table.values()))))
    return table
