"""Eq. (30) and (31) of mgm2021: how far one record moves an upload, and a batch of features."""

import numpy as np

from claims.comparisons import number
from claims.judges import Shape, judge
from claims.verdicts import Finding
from paper_figures.mgm2021 import numbers as mgm2021


@judge
def uploads_and_features(*, features: dict[str, Shape], tolerance: float) -> Finding:
    """The stated sensitivities against the distance of the two farthest answers of neighbours.

    Answers lie in a box, and the farthest two are opposite corners of what a record reaches: all
    elements of a clipped upload, and its own row of a batch of features.
    """
    uploads = [
        number(
            f"eq. (30), {setting.name.removeprefix('mgm2021-')}",
            _between_corners(setting.query.shape, setting.query.element_range),
            setting.query.l2_sensitivity,
            tolerance,
        )
        for setting in mgm2021.SETTINGS
    ]
    batches = [
        number(
            f"eq. (31), {dataset}",
            _between_corners((1, n), (-1.0, 1.0)),
            2 * (m * n) ** 0.5,
            tolerance,
        )
        for dataset, (m, n) in features.items()
    ]
    return Finding(
        parts=[*uploads, *batches],
        detail=(
            "Uploads are clipped to [-C, C] as a whole, after training on all records: a record "
            "may change every element. Rows of X are taken as the records of a batch (Table 3). A "
            "local network that keeps learning from a record may change all rows of later batches, "
            "by 2 sqrt(mn)."
        ),
    )


def _between_corners(shape: tuple[int, ...], limits: tuple[float, float]) -> float:
    """The distance between the opposite corners of a box of answers."""
    low, high = (np.full(shape, limit) for limit in limits)
    return float(np.linalg.norm(high - low))
