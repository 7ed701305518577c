"""Wine: 178 wines of three growers, thirteen chemical measurements.

One record is one wine.
"""

from datasets.entry import Dataset, require_rows
from datasets.formats.tables import Records

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


def load() -> Records:
    """Return the thirteen measurements, not scaled, and the grower 0..2, in the file's order.

    Raises:
        DataError: not 178 records.
    """
    # Imported here because it takes a second and reading a config imports this module.
    from sklearn.datasets import load_wine

    wine = load_wine()
    require_rows(ENTRY, records=len(wine.target))
    return Records(features=wine.data, targets=wine.target)
