"""A seeded subset of the cells of `extreme_cells`: each is a number that holds, or Unsupported."""

from collections import Counter

import pytest
from extreme_cells import cells, check_cell

# Searches of seconds, which the big run makes.
SEARCHES = ("spherical-gamma", "product-noise", "l2")


@pytest.mark.slow
def test_cells_far_beyond_any_use():
    found = Counter()
    for key, cls, query, budget, calibration, rng in cells(3, 400, most=3000):
        if key in SEARCHES:
            continue
        try:
            found[check_cell(cls, query, budget, calibration, rng)] += 1
        except Exception as error:
            raise AssertionError(f"{key}, {calibration}, {query}, {budget}") from error
    assert found["number"] >= 25 and found["unsupported"] >= 25, found
