"""Adult (census income): 32,561 + 16,281 people, 14 attributes and the income class."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from datasets.catalogue import require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError

NUMERIC = (
    "age",
    "fnlwgt",
    "education-num",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
)
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
INCOMES = ("<=50K", ">50K")


@dataclass(frozen=True, kw_only=True)
class Adult:
    """Train and test frames with the columns `COLUMNS`.

    The columns in `NUMERIC` are int64, the others strings; a "?" in the files is missing (NaN),
    and no row is dropped. `income` is "<=50K" or ">50K".
    """

    train: pd.DataFrame
    test: pd.DataFrame


def load(folder: Path) -> Adult:
    """Both frames, in the order of the files.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: files missing or changed, or not 32,561 + 16,281 rows.
    """
    files = local_files("adult", folder)
    adult = Adult(train=parse(files["adult.data"]), test=parse(files["adult.test"]))
    require_rows("adult", train=len(adult.train), test=len(adult.test))
    return adult


def parse(path: Path) -> pd.DataFrame:
    """`adult.data` or `adult.test`; the latter has a comment line and dots after the class."""
    try:
        frame = pd.read_csv(
            path,
            names=list(COLUMNS),
            comment="|",
            skipinitialspace=True,
            na_values="?",
            keep_default_na=False,
            index_col=False,
        )
        frame = frame.astype(dict.fromkeys(NUMERIC, "int64"))
    except ValueError as error:  # pandas' parser errors are ValueErrors as well
        raise DataError(f"{path}: not a file of the Adult data ({error})") from error
    frame["income"] = frame["income"].str.removesuffix(".")
    if not frame["income"].isin(INCOMES).all():
        raise DataError(f"{path}: classes {sorted(set(frame['income']))}, expected {INCOMES}")
    return frame
