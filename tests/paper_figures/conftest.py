"""Made-up claims and results whose correct verdict is known."""

import pandas as pd
import pytest

from paper_figures.mvg2018 import figures
from paper_figures.suite import headline, metrics
from papers.settings import PAPER_SETTINGS
from runs.results import Results

COLUMNS = {
    "paper": "r1smg2024",
    "study": "count_query",
    "dataset": "uber",
    "data_source": "official",
    "mechanism": "gaussian",
    "calibration": "published",
    "shape": "89x89",
    "epsilon": 0.5,
    "delta": 1e-7,
    "trial": None,
    "metric": "loss",
    "value": 0.0,
    "status": "ok",
    "message": "",
    "seed": None,
}


@pytest.fixture
def fast_limits(monkeypatch):
    """Use fast limits, because tight limits for few elements take seconds."""
    monkeypatch.setattr(headline, "_MANY", 0)


@pytest.fixture
def few_draws(monkeypatch):
    """Draw little noise, because the draws behind a drawing take many seconds."""
    few = dict.fromkeys(figures._DRAWS, 2000)
    monkeypatch.setattr(figures, "_DRAWS", few)
    monkeypatch.setattr(metrics, "NUMBERS", 1000)
    monkeypatch.setattr(metrics, "DRAWS", (2, 10))


@pytest.fixture
def make_rows():
    """Make rows of the tidy table from dicts; a missing column has its value in COLUMNS."""

    def make(*rows):
        frame = pd.DataFrame([COLUMNS | row for row in rows])
        return frame.astype({"trial": "Int64", "seed": "Int64"})

    return make


@pytest.fixture
def make_results(make_rows):
    """Make results with these rows and timings."""

    def make(rows, timings=()):
        return Results(make_rows(*rows), make_rows(*timings) if timings else pd.DataFrame())

    return make


@pytest.fixture
def make_guarantee_rows():
    """Make rows of the guarantee study for a mechanism, from names of settings to verdicts."""

    def make(mechanism, verdicts, **metrics):
        settings = {setting.name: setting for setting in PAPER_SETTINGS}
        rows = []
        for name, verdict in verdicts.items():
            query, budget = settings[name].query, settings[name].budget
            cell = {
                "study": "guarantee",
                "dataset": "papers",
                "data_source": "none",
                "mechanism": mechanism,
                "shape": "x".join(map(str, query.shape)),
                "epsilon": budget.epsilon,
                "delta": budget.delta,
            }
            deltas = ("claimed_delta", "true_delta", "true_delta_lower", "true_delta_upper")
            values = dict.fromkeys(deltas, budget.delta) | {"wasted_variance": 1.0} | metrics
            own = [cell | {"metric": metric, "value": value} for metric, value in values.items()]
            own[0]["verdict"] = verdict
            rows += own
        return rows

    return make
