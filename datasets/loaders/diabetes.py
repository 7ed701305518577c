"""Diabetes: 442 patients, ten measurements and the progression of the disease a year later.

One record is one patient.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset
from datasets.formats.bundled import MEASUREMENT, bundled_table
from datasets.formats.tables import Numbers, matrix

ENTRY = Dataset(
    name="diabetes",
    title="Diabetes",
    source="bundled",
    licence="none stated; carried by scikit-learn (BSD 3-clause)",
    citation="Efron, Hastie, Johnstone, Tibshirani. Least angle regression. Annals of "
    "Statistics 32(2), 2004",
    record="one patient",
    rows={"records": 442},
)


# s1 to s6: total cholesterol, LDL, HDL, cholesterol / HDL, log of triglycerides, blood sugar.
FEATURES = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")


@dataclass(frozen=True, kw_only=True)
class Diabetes:
    """The 442 records.

    Attributes:
        features: float64 (442, 10), columns `FEATURES`, as measured (not scaled).
        progression: float64 (442,), 25..346; this is the target.
    """

    features: NDArray[np.float64]
    progression: NDArray[np.float64]


def load() -> Diabetes:
    """All records, in the order of scikit-learn's file.

    Raises:
        DataError: scikit-learn or its file is missing, or not 442 records.
    """
    measured = {name: MEASUREMENT for name in FEATURES}
    table = bundled_table(ENTRY, "diabetes_data_raw.csv.gz", measured, delimiter=r"\s+")
    stated = {"progression": Numbers(25, 346)}
    target = bundled_table(ENTRY, "diabetes_target.csv.gz", stated, delimiter=r"\s+")
    return Diabetes(features=matrix(table, FEATURES), progression=target["progression"])
