"""The stored answers to common queries equal numbers computed by hand."""

from pathlib import Path

import pandas as pd
import pytest

from mechanisms import all_mechanisms
from mechanisms.comparison.advisor import compare, conclusion, leaders
from paper_figures.suite.common_queries import answers
from runs.results import read_results
from studies.common_queries import QUERIES
from tests.mechanisms.known_losses import gaussian_sigma as sigma

ROOT = Path(__file__).parents[3]
STORED = ROOT / "results/reference/studies/common_queries.parquet"


# (query, mechanism, calibration): mean squared error of an element or a query.
HAND_COMPUTED = {
    ("gradient", "gaussian-analytic", "exact"): sigma(1) ** 2,
    # The radius is Gamma(M): E R^2 / M = M + 1.
    ("small-matrix", "l2", "published"): 281,
    ("attributes", "laplace", "published"): 2 * 10**2,
    ("histogram", "laplace", "published"): 2,
    ("map", "laplace", "published"): 2 * 2**2,
    # Of n cells, a prefix has (n + 1) / 2 on average, and a range (n + 2) / 3.
    ("prefix", "laplace", "published"): 2 * 257 / 2,
    ("ranges", "laplace", "published"): 2 * 258 / 3,
    ("rectangles", "laplace", "published"): 2 * (34 / 3) ** 2,
    ("covariance", "analyze-gauss", "exact"): sigma(1) ** 2,
    ("image", "gaussian-analytic", "exact"): 28**2 * sigma(8) ** 2,
}


@pytest.fixture(scope="module")
def stored():
    """The answers of the reference run by the name of the query."""
    return answers(read_results([STORED]).rows)


def test_every_query_has_an_answer(stored):
    assert list(stored) == list(QUERIES)
    for frame in stored.values():
        assert (frame["rank"] == 1).any()
        assert (frame["status"] == "served").sum() > 3
        assert (frame.loc[frame["status"] != "served", "note"].str.len() > 0).all()


@pytest.mark.parametrize("case", HAND_COMPUTED, ids="-".join)
def test_errors_equal_those_computed_by_hand(stored, case):
    name, mechanism, calibration = case
    frame = stored[name]
    own = frame[(frame["mechanism"] == mechanism) & (frame["calibration"] == calibration)]
    assert len(own) == 1
    assert own["rmse"].iloc[0] ** 2 == pytest.approx(HAND_COMPUTED[case], rel=2e-6)


def test_the_stored_table_and_the_sentence_name_the_same_best(stored):
    """The table in the repository lists the same mechanism first."""
    table = pd.read_csv(ROOT / "results/reference/tables/suite_common_queries.csv")
    named = dict(zip(table["query"], table["best, or tied with it"], strict=True))
    for name, frame in stored.items():
        best = leaders(frame).iloc[0]
        assert named[QUERIES[name].title].split(", ")[0] == best.title
        assert f" use {best.title}, " in conclusion(frame)[0]


def test_the_readme_names_the_same_best_and_counts_those_that_tie(stored):
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f"{QUERIES['gradient'].command.replace('1e-05', '1e-5')} ranks" in text
    first = leaders(stored["gradient"])
    assert (first.iloc[0].title, len(first)) == ("Analytic Gaussian", 12)
    assert "twelve mechanisms tie within 0.1%; the analytic Gaussian is the simplest" in text
    assert leaders(stored["histogram"]).iloc[0].title == "Laplace"
    assert "a histogram, TLDP-L ties with plain Laplace noise" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
def test_compare_names_the_best_of_the_stored_rows(stored, name):
    asked = QUERIES[name]
    # Its rows are those of matrix-mechanism, and with a workload it takes tens of seconds.
    keys = [key for key in stored[name]["mechanism"].unique() if key in all_mechanisms()]
    keys = [key for key in keys if key != "matrix-mechanism-cvxpy"]
    now = compare(asked.query, asked.budget, workload=asked.workload, mechanisms=keys)
    assert leaders(now).iloc[0].title == leaders(stored[name]).iloc[0].title
