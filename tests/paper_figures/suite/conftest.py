"""Made-up rows of the studies that the suite's own figures read."""

import pytest

from paper_figures.selections import size_of


@pytest.fixture
def make_grid_rows():
    """Make rows of a mechanism on the grid of the guarantee study, from shapes to true deltas.

    The bounds on a true delta are a share `width` of it below and above it. The mean square of the
    noise per element is 4 as published and `exact` at the exact calibration, which has no row if
    `exact` is None. The claimed delta is 1e-5.
    """

    def make(mechanism, deltas, epsilon=1.0, exact=None, width=0.0):
        cell = {
            "study": "guarantee",
            "dataset": "grid",
            "mechanism": mechanism,
            "epsilon": epsilon,
            "delta": 1e-5,
        }
        rows = []
        for shape, delta in deltas.items():
            own = cell | {"shape": shape}
            size = size_of(shape)
            ends = {"": 0, "_lower": -width, "_upper": width}
            rows += (
                own | {"metric": f"true_delta{end}", "value": delta * (1 + far)}
                for end, far in ends.items()
            )
            rows.append(own | {"metric": "expected_loss", "value": 4.0 * size})
            if exact is not None:
                own |= {"calibration": "exact", "metric": "expected_loss"}
                rows.append(own | {"value": exact * size})
        return rows

    return make
