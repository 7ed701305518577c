"""Rows of the studies that the suite's own figures read."""

import pytest

from paper_figures.selections import size_of


@pytest.fixture
def make_grid_rows():
    """Rows of a mechanism on the grid of the guarantee study, from shapes to true deltas.

    As published the noise has a mean square of 4 per element; at the exact calibration it has
    `exact`, and no row where that is None. The claimed delta is 1e-5.
    """

    def make(mechanism, deltas, epsilon=1.0, exact=None):
        cell = {
            "experiment": "guarantee",
            "dataset": "grid",
            "mechanism": mechanism,
            "epsilon": epsilon,
            "delta": 1e-5,
        }
        rows = []
        for shape, delta in deltas.items():
            own = cell | {"shape": shape}
            size = size_of(shape)
            rows.append(own | {"metric": "true_delta", "value": delta})
            rows.append(own | {"metric": "expected_loss", "value": 4.0 * size})
            if exact is not None:
                own |= {"calibration": "exact", "metric": "expected_loss"}
                rows.append(own | {"value": exact * size})
        return rows

    return make
