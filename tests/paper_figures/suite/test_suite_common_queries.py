"""The stored answers to common queries equal numbers that are computed here by hand."""

from pathlib import Path

import pytest

from mechanisms.comparison.advisor import conclusion
from paper_figures.drawings import all_drawings
from paper_figures.suite.common_queries import answers
from runs.results import read_results
from studies.common_queries import QUERIES
from tests.mechanisms.known_losses import gaussian_sigma as sigma

STORED = Path(__file__).parents[3] / "results/reference/studies/common_queries.parquet"


# Query, mechanism, calibration: mean squared error of an element or a query.
HAND_COMPUTED = {
    ("gradient", "gaussian-analytic", "exact"): sigma(1) ** 2,
    # The radius is Gamma(M): E R^2 / M = M + 1.
    ("small-matrix", "l2", "published"): 281,
    ("attributes", "laplace", "published"): 2 * 10**2,
    ("histogram", "laplace", "published"): 2,
    ("map", "laplace", "published"): 2 * 2**2,
    # n cells: a prefix has (n + 1) / 2 of them on average, a range (n + 2) / 3.
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


def test_the_best_is_told_with_its_error(stored):
    (sentence,) = conclusion(stored["attributes"], "element")
    assert sentence.startswith(
        "At (1, 0) use l2 mechanism, as published, for the least error in this suite: "
        "RMSE 10.488 per element, "
        "within 0.1% of its exact calibration."
    )
    (sentence,) = conclusion(stored["covariance"], "element")
    assert "l2 mechanism (exactly calibrated) ties with it (within 0.1%)" in sentence


def test_false_claims_are_not_ranked(stored):
    frame = stored["gradient"]
    r1smg = frame[(frame["mechanism"] == "r1smg") & (frame["calibration"] == "published")]
    assert r1smg["verdict"].iloc[0] == "refuted"
    assert r1smg["rank"].isna().all()
    assert r1smg["times_best"].iloc[0] < 1


def test_the_table_has_a_row_for_every_query(stored):
    table = all_drawings()["suite_common_queries"].function(read_results([STORED])).data
    assert list(table["query"]) == [asked.title for asked in QUERIES.values()]
    least = {name: frame["rmse"][frame["rank"] == 1].min() for name, frame in stored.items()}
    assert list(table["RMSE"]) == pytest.approx(list(least.values()))
