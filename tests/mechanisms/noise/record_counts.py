"""Queries that count records in cells."""

import math

from mechanisms import Query


def counts(*shape, adjacency="add-remove", record_bound=1.0):
    """Only the l2 sensitivity is stated; the others follow from what a record is."""
    cells = 2 if adjacency == "replace" else 1
    return Query(
        shape=shape,
        l2_sensitivity=math.sqrt(cells) * record_bound,
        adjacency=adjacency,
        structure="histogram",
        record_bound=record_bound,
    )
