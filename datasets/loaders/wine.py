"""Wine: 178 wines of three growers, thirteen chemical measurements.

One record is one wine.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset
from datasets.formats.bundled import MEASUREMENT, bundled_table
from datasets.formats.tables import Numbers, matrix

ENTRY = Dataset(
    name="wine",
    title="Wine",
    source="bundled",
    licence="CC BY 4.0",
    citation="Aeberhard, Forina. Wine. UCI Machine Learning Repository, 1992. doi:10.24432/C5PC7J",
    record="one wine",
    rows={"records": 178},
)


FEATURES = (
    "alcohol",
    "malic_acid",
    "ash",
    "alcalinity_of_ash",
    "magnesium",
    "total_phenols",
    "flavanoids",
    "nonflavanoid_phenols",
    "proanthocyanins",
    "color_intensity",
    "hue",
    "od280/od315_of_diluted_wines",
    "proline",
)
# Records, features and classes.
_HEADER = ("178", "13", "class_0", "class_1", "class_2")


@dataclass(frozen=True, kw_only=True)
class Wine:
    """The 178 records.

    Attributes:
        features: float64 (178, 13), columns `FEATURES`, as measured (not scaled).
        grower: int64 (178,), 0..2.
    """

    features: NDArray[np.float64]
    grower: NDArray[np.int64]


def load() -> Wine:
    """All records, in the order of scikit-learn's file.

    Raises:
        DataError: scikit-learn or its file is missing, or not 178 records.
    """
    columns = {name: MEASUREMENT for name in FEATURES} | {"grower": Numbers(0, 2, whole=True)}
    table = bundled_table(ENTRY, "wine_data.csv", columns, header=_HEADER)
    return Wine(features=matrix(table, FEATURES), grower=table["grower"])
