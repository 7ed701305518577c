"""Breast Cancer Wisconsin (Diagnostic): 569 tumours, thirty measurements of their cell nuclei.

One record is one tumour.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, require_rows

ENTRY = Dataset(
    name="breast_cancer",
    title="Breast Cancer Wisconsin (Diagnostic)",
    source="bundled",
    licence="CC BY 4.0",
    citation="Wolberg, Mangasarian, Street, Street. Breast Cancer Wisconsin (Diagnostic). "
    "UCI Machine Learning Repository, 1993. doi:10.24432/C5DW2B",
    record="one tumour",
    rows={"records": 569},
)


_MEASURED = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)
FEATURES = tuple(
    form.format(name) for form in ("mean {}", "{} error", "worst {}") for name in _MEASURED
)


@dataclass(frozen=True, kw_only=True)
class BreastCancer:
    """The 569 records.

    Attributes:
        features: float64 (569, 30), columns `FEATURES`, as measured (not scaled).
        benign: int64 (569,), 1 for benign and 0 for malignant.
    """

    features: NDArray[np.float64]
    benign: NDArray[np.int64]


def load() -> BreastCancer:
    """Return all records, in the order of scikit-learn's file.

    Raises:
        DataError: not 569 records.
    """
    # Imported here because it takes a second and reading a config imports this module.
    from sklearn.datasets import load_breast_cancer

    tumours = load_breast_cancer()
    require_rows(ENTRY, records=len(tumours.target))
    return BreastCancer(features=tumours.data, benign=tumours.target)
