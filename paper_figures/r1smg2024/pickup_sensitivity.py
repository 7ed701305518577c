"""The sensitivity of the count query, r1smg2024 Section 7.1: a verdict by enumeration."""

import itertools
from collections.abc import Iterator

import numpy as np

from claims.comparisons import number
from claims.judges import judge
from claims.verdicts import Finding, Outcome

# Where the pickups of a data set are: the cell of each.
Cells = tuple[int, ...]


@judge
def squared_sensitivity(*, cells: int, pickups: int, stated: float, tolerance: float) -> Finding:
    """The largest ||f(x) - f(x')||^2 over all data sets of a few pickups and their neighbours.

    More cells or pickups change nothing: a neighbour touches the cells of one pickup.
    """
    adjacencies = {"one pickup is replaced": replaced, "one pickup is added or removed": removed}
    outcomes = tuple(
        Outcome(
            choice=choice,
            parts=(
                number(
                    "squared l2 sensitivity",
                    largest_squared_change(neighbours, cells, pickups),
                    stated,
                    tolerance,
                ),
            ),
        )
        for choice, neighbours in adjacencies.items()
    )
    return Finding(
        choice="how neighbouring data sets differ",
        outcomes=outcomes,
        detail=(
            f"All data sets of {pickups} pickups in {cells} cells. A pickup that is "
            "moved leaves one cell and enters another; one that is absent leaves its cell alone. "
            "The expected loss of R1SMG and of i.i.d. Gaussian noise is proportional to s^2. All "
            "other numbers here take replacement, which gives the paper's s^2."
        ),
    )


def largest_squared_change(neighbours, cells: int, pickups: int) -> float:
    """The largest squared l2 distance of two counts of neighbouring data sets."""
    return max(
        float(np.sum((_count(data, cells) - _count(other, cells)) ** 2))
        for data in itertools.product(range(cells), repeat=pickups)
        for other in neighbours(data, cells)
    )


def replaced(data: Cells, cells: int) -> Iterator[Cells]:
    """The data sets in which one pickup is elsewhere."""
    for i in range(len(data)):
        for cell in range(cells):
            yield (*data[:i], cell, *data[i + 1 :])


def removed(data: Cells, cells: int) -> Iterator[Cells]:
    """The data sets in which one pickup is absent; adding one is the same pair."""
    for i in range(len(data)):
        yield (*data[:i], *data[i + 1 :])


def _count(data: Cells, cells: int) -> np.ndarray:
    return np.bincount(data, minlength=cells).astype(float)
