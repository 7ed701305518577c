"""Eq. (30) and (31) of mgm2021: how far one record moves an upload, and features.

The stated sensitivities against the distance of the two farthest answers of neighbours. Answers lie
in a box, and the farthest two are opposite corners of what a record reaches.
"""

from typing import Literal

import numpy as np

from claims.comparisons import number
from claims.judges import Shape, judge
from claims.verdicts import Finding, Outcome
from paper_figures.mgm2021 import numbers as mgm2021


@judge
def clipped_uploads(*, tolerance: float) -> Finding:
    """Eq. (30): a record may change every element of a clipped upload."""
    return Finding(
        parts=[
            number(
                setting.name.removeprefix("mgm2021-"),
                _between_corners(setting.query.shape, setting.query.element_range),
                setting.query.l2_sensitivity,
                tolerance,
            )
            for setting in mgm2021.SETTINGS
        ],
        detail=(
            "Uploads are clipped to [-C, C] as a whole, after training on all records: a record "
            "may change every element."
        ),
    )


@judge
def features_of_a_batch(
    *, features: dict[str, Shape], readings: dict[Literal["row", "all"], str], tolerance: float
) -> Finding:
    """Eq. (31): a record may change its own row of the features X, or all of X."""
    outcomes = []
    for reading, words in readings.items():
        parts = tuple(
            number(
                dataset,
                _between_corners((1 if reading == "row" else m, n), (-1.0, 1.0)),
                2 * (m * n) ** 0.5,
                tolerance,
            )
            for dataset, (m, n) in features.items()
        )
        outcomes.append(Outcome(choice=words, parts=parts))
    return Finding(choice="what one record changes of the features", outcomes=outcomes)


def _between_corners(shape: tuple[int, ...], limits: tuple[float, float]) -> float:
    """The distance between the opposite corners of a box of answers."""
    low, high = (np.full(shape, limit) for limit in limits)
    return float(np.linalg.norm(high - low))
