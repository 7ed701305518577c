"""Claims and results made up so that the right verdict is known."""

import pandas as pd
import pytest

from paper_figures.ledger import Claim
from paper_figures.results import Results

COLUMNS = {
    "paper": "r1smg2024",
    "experiment": "count_query",
    "dataset": "uber",
    "data_source": "official",
    "mechanism": "gaussian",
    "calibration": "published",
    "shape": "89x89",
    "epsilon": 0.5,
    "delta": 1e-7,
    "trial": None,
    "element": None,
    "metric": "loss",
    "value": 0.0,
    "status": "ok",
    "message": "",
    "seed": None,
}


@pytest.fixture
def make_claim():
    """A claim with these arguments."""

    def make(tolerance=None, **arguments):
        return Claim(
            id="made-up",
            paper="none",
            where="nowhere",
            kind="value",
            statement="s",
            expected="e",
            arguments=arguments,
            tolerance=tolerance,
        )

    return make


@pytest.fixture
def make_rows():
    """Rows of the tidy table from dicts; what is not said is that of a count-query row."""

    def make(*rows):
        frame = pd.DataFrame([COLUMNS | row for row in rows])
        return frame.astype({"trial": "Int64", "element": "Int64", "seed": "Int64"})

    return make


@pytest.fixture
def make_results(make_rows):
    """Results with these rows and these timings."""

    def make(rows, timings=()):
        return Results(make_rows(*rows), make_rows(*timings) if timings else pd.DataFrame())

    return make
