"""Adult (census income): 32,561 + 16,281 people, 14 attributes and the income class.

One record is one person. `fnlwgt` is the census bureau's sampling weight, not a property of the
person.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError

_UCI = "https://archive.ics.uci.edu"


def _file(name: str, size: int, sha256: str) -> RemoteFile:
    url = f"{_UCI}/ml/machine-learning-databases/adult/{name}"
    return RemoteFile(name=name, urls=(url,), bytes=size, sha256=sha256)


ENTRY = Dataset(
    name="adult",
    title="Adult (census income)",
    source="official",
    licence="CC BY 4.0",
    citation="Becker, Kohavi. Adult. UCI Machine Learning Repository, 1996. doi:10.24432/C5XW20",
    record="one person",
    rows={"train": 32_561, "test": 16_281},
    files=(
        _file(
            "adult.data",
            3974305,
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        ),
        _file(
            "adult.test",
            2003153,
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        ),
        _file(
            "adult.names",
            5229,
            "c248284c0b5de30c9e1958d6cdd168a34a654758b620e68f46aefa83fc0a576a",
        ),
    ),
    archive=RemoteFile(name="adult.zip", urls=(f"{_UCI}/static/public/2/adult.zip",)),
)


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
    files = local_files(ENTRY, folder)
    adult = Adult(train=parse(files["adult.data"]), test=parse(files["adult.test"]))
    require_rows(ENTRY, train=len(adult.train), test=len(adult.test))
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
        other = frame["income"][~frame["income"].isin(INCOMES)].iloc[0]
        raise DataError(f"{path}: class {other!r}, expected {' or '.join(INCOMES)}")
    return frame
