"""Diabetes: 442 patients, ten measurements and the progression of the disease a year later.

One record is one patient.
"""

from datasets.entry import Dataset, require_rows
from datasets.formats.tables import Records

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


def load() -> Records:
    """Return the ten measurements, not scaled, and the progression, 25..346, in the file's order.

    Raises:
        DataError: not 442 records.
    """
    # Imported here because it takes a second and reading a config imports this module.
    from sklearn.datasets import load_diabetes

    diabetes = load_diabetes(scaled=False)
    require_rows(ENTRY, records=len(diabetes.target))
    return Records(features=diabetes.data, targets=diabetes.target)
