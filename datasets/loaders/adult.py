"""Adult (census income): 32,561 + 16,281 people, 14 attributes and the income class.

One record is one person. `fnlwgt` is the census bureau's sampling weight, not a property of the
person.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.formats.tables import Numbers, Words, read_table

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


# The words are those of adult.names. It calls the numbers continuous, but in the files they are
# whole, with gains up to 99999 and hours up to 99.
COLUMNS = {
    "age": Numbers(0, 120, whole=True),
    "workclass": Words(
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay "
        "Never-worked",
        missing=True,
    ),
    "fnlwgt": Numbers(1, 10**7, whole=True),
    "education": Words(
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th "
        "Masters 1st-4th 10th Doctorate 5th-6th Preschool"
    ),
    "education-num": Numbers(1, 16, whole=True),
    "marital-status": Words(
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
        "Married-AF-spouse"
    ),
    "occupation": Words(
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
        "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
        "Priv-house-serv Protective-serv Armed-Forces",
        missing=True,
    ),
    "relationship": Words("Wife Own-child Husband Not-in-family Other-relative Unmarried"),
    "race": Words("White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
    "sex": Words("Female Male"),
    "capital-gain": Numbers(0, 99_999, whole=True),
    "capital-loss": Numbers(0, 99_999, whole=True),
    "hours-per-week": Numbers(1, 99, whole=True),
    "native-country": Words(
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) "
        "India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica "
        "Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti "
        "Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador "
        "Trinadad&Tobago Peru Hong Holand-Netherlands",
        missing=True,
    ),
    "income": Words("<=50K >50K <=50K. >50K."),
}


@dataclass(frozen=True, kw_only=True)
class Adult:
    """Train and test frames with the columns `COLUMNS`.

    Columns of whole numbers are int64, the others strings. A "?" in the files becomes NaN, and no
    row is dropped. `income` is "<=50K" or ">50K".
    """

    train: pd.DataFrame
    test: pd.DataFrame


def parse(train: Path, test: Path, names: Path) -> Adult:
    """Read both frames from `adult.data` and `adult.test`.

    `adult.test` has a comment line, and dots after the class. `adult.names` is not read.

    Raises:
        DataError: a file is not the published one.
    """
    adult = Adult(train=_frame(train), test=_frame(test))
    require_rows(ENTRY, train=len(adult.train), test=len(adult.test))
    return adult


def _frame(path: Path) -> pd.DataFrame:
    frame = pd.DataFrame(read_table(path.read_bytes(), COLUMNS, path, missing="?", comment="|"))
    frame["income"] = frame["income"].str.removesuffix(".")
    return frame
