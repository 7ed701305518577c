"""Eq. (30) and (31) of mgm2021: how far one record moves an upload, and a batch of features."""

from typing import Literal

import numpy as np

from claims.comparisons import number
from claims.judges import Shape, judge
from claims.verdicts import Finding, Outcome, Part
from paper_figures.mgm2021 import numbers as mgm2021


@judge
def uploads_and_features(
    *, features: dict[str, Shape], readings: dict[Literal["row", "batch"], str], tolerance: float
) -> Finding:
    """The stated sensitivities against the distance of the two farthest answers of neighbours.

    Answers lie in a box, and the farthest two are opposite corners of what a record reaches: all
    elements of a clipped upload, and of a batch of features its own row or all rows.
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

    def batches(reading: str) -> list[Part]:
        return [
            number(
                f"eq. (31), {dataset}",
                _between_corners((1 if reading == "row" else m, n), (-1.0, 1.0)),
                2 * (m * n) ** 0.5,
                tolerance,
            )
            for dataset, (m, n) in features.items()
        ]

    return Finding(
        choice="what one record changes of a batch's features",
        outcomes=[
            Outcome(choice=words, parts=(*uploads, *batches(reading)))
            for reading, words in readings.items()
        ],
        detail=(
            "Uploads are clipped to [-C, C] as a whole, after training on all records: a record "
            "may change every element. Rows of X are taken as the records of a batch (Table 3)."
        ),
    )


def _between_corners(shape: tuple[int, ...], limits: tuple[float, float]) -> float:
    """The distance between the opposite corners of a box of answers."""
    low, high = (np.full(shape, limit) for limit in limits)
    return float(np.linalg.norm(high - low))
