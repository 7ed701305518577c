"""Tidy tables as data frames.

These are not in runs/result_table.py because pandas is slow to load and a cell's job does not need
it.
"""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from runs.result_table import read_table


def read_frame(*paths: Path | str) -> pd.DataFrame:
    """Read tables as `read_table` does, and return a data frame."""
    return frame_of(read_table(*paths))


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Convert a table to a data frame, in which whole numbers are nullable integers."""
    whole = {pa.int64(): pd.Int64Dtype()}
    return table.to_pandas(types_mapper=whole.get, use_threads=False)
