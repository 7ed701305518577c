"""The figures of claims and costs: what they draw, name and leave out."""

import pytest

from mechanisms import Budget, Query
from mechanisms.limit.limit import limit
from paper_figures.drawings import DrawingError
from paper_figures.suite.guarantee_grid import claimed
from paper_figures.suite.headline import cost, headline

pytestmark = pytest.mark.usefixtures("fast_limits")


def test_the_limit_stands_beside_the_noise(make_results, make_grid_rows):
    rows = make_grid_rows("gaussian", {"2x2": 1e-6, "4x4": 1e-6}, exact=9.0)
    data = headline(make_results(rows)).data
    budget = Budget(epsilon=1.0, delta=1e-5)
    for size, shown in zip(data["size"], data["limit"], strict=True):
        query = Query(shape=(size,), l2_sensitivity=1.0)
        assert shown == limit(query, budget, fast=True).rmse < 3.0


def test_headline_is_at_the_epsilon_nearest_to_1(make_results, make_grid_rows):
    rows = [
        row
        for epsilon in (0.01, 3.0, 10.0)
        for row in make_grid_rows("gaussian", {"2x2": 1e-6, "4x4": 1e-6}, epsilon)
    ]
    drawn = headline(make_results(rows))
    assert set(drawn.data["epsilon"]) == {3.0}
    assert drawn.data["size"].tolist() == [4, 16]
    assert "for (3, 1e-05)" in drawn.caption


def test_headline_draws_curves_that_agree_once(make_results, make_grid_rows):
    rows = make_grid_rows("gaussian-analytic", {"2x2": 1e-5, "4x4": 1e-5}, exact=9.0)
    rows += make_grid_rows("imgm", {"2x2": 1e-5, "4x4": 1e-5}, exact=16.0)
    drawn = headline(make_results(rows)).data.groupby("panel")["curve"].unique()
    assert drawn["true delta"].tolist() == ["Analytic Gaussian = IMGM"]
    assert drawn["noise at equal true privacy"].tolist() == ["Analytic Gaussian", "IMGM"]


def test_headline_names_the_mechanisms_below_its_axis(make_results, make_grid_rows):
    rows = make_grid_rows("mvg-sqrt", {"2x2": 0.0, "4x4": 1e-13})
    rows += make_grid_rows("somebody-elses", {"2x2": 1e-4, "4x4": 0.0})
    drawn = headline(make_results(rows))
    words = [text.get_text().replace("\n", " ") for text in drawn.figure.axes[0].texts]
    assert "below 1e-10: MVG (square root)" in words
    # Curves that are not drawn are not in the data either.
    assert drawn.data[["curve", "value"]].values.tolist() == [["somebody-elses", 1e-4]]


def test_wide_bounds_are_neither_drawn_nor_blamed(make_results, make_grid_rows):
    rows = make_grid_rows("gaussian", {"2x2": 1e-6, "4x4": 1e-6})
    rows += make_grid_rows("r1smg", {"2x2": 1e-2, "4x4": 1e-3})
    rows += make_grid_rows("mgm", {"2x2": 1e-2, "4x4": 1e-3}, width=1.0)
    drawn = headline(make_results(rows))
    assert set(drawn.data["curve"]) == {"Classic Gaussian", "R1SMG"}
    assert "Not drawn on the left where the bounds on the true delta are wide: MGM" in drawn.note
    assert cost(make_results(rows)).caption.endswith("the claim is false at some M for R1SMG.")


def test_the_note_names_the_drawn_mechanisms_that_claim_delta_0(make_results, make_grid_rows):
    rows = make_grid_rows("gaussian", {"2x2": 1e-6, "4x4": 1e-6})
    assert "Delta 0" not in headline(make_results(rows)).note
    rows += make_grid_rows("laplace", {"2x2": 0.0, "4x4": 0.0})
    rows += make_grid_rows("tldp-l", {"2x2": 1e-2, "4x4": 1e-3})
    rows += make_grid_rows("dawa", {"2x2": 1e-2, "4x4": 1e-3}, width=1.0)
    assert "Delta 0 is claimed by Laplace and TLDP-L." in headline(make_results(rows)).note


def test_cost_has_both_calibrations_by_family(make_results, make_grid_rows):
    rows = make_grid_rows("gaussian", {"2x2": 1e-6, "4x4": 1e-6}, exact=1.0)
    rows += make_grid_rows("mvg", {"2x2": 1e-6, "4x4": 1e-6}, exact=1.0)
    rows += make_grid_rows("r1smg", {"2x2": 1e-2, "4x4": 1e-6}, exact=9.0)
    rows += make_grid_rows("laplace", {"2x2": 0.0, "4x4": 1e-7})
    drawn = cost(make_results(rows))
    assert drawn.data.groupby(["family", "calibration"])["noise"].unique().map(list).to_dict() == {
        ("Approximate DP", "published"): [2.0],
        ("Approximate DP", "exact"): [1.0],
        ("Pure DP", "published"): [2.0],
        ("Spherical, R1SMG", "published"): [2.0],
        ("Spherical, R1SMG", "exact"): [3.0],
    }
    # Laplace claims delta 0.
    assert drawn.caption.endswith("the claim is false at some M for R1SMG and Laplace.")
    labels = [text.get_text() for text in drawn.figure.axes[0].get_legend().get_texts()]
    assert labels == ["Classic Gaussian\n= MVG", "all,\nequal true privacy"]


@pytest.mark.parametrize("figure", [headline, cost, claimed])
def test_controls_and_trees_alone_are_no_figure(figure, make_results, make_grid_rows):
    with pytest.raises(DrawingError, match="no privacy profile"):
        figure(make_results(make_grid_rows("hb", {"2x2": 1e-6})))
