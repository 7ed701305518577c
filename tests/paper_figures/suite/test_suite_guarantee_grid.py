"""The map of R1SMG's claim, and the noise that is claimed to beat the Gaussian."""

import math

import pytest

from mechanisms.privacy.gaussian_profile import mu_for
from paper_figures.drawings import DrawingError
from paper_figures.suite.guarantee_grid import claimed, validity

# The variance of the analytic Gaussian at (1, 1e-5), per element.
VARIANCE = float(mu_for(1.0, 1e-5)) ** -2


def test_claims_are_told_with_their_truth(make_results, make_grid_rows):
    rows = make_grid_rows("r1smg", {"4x4": 0.5, "32x32": 0.9}, exact=9.0)
    rows += make_grid_rows("gaussian-analytic", {"4x4": 1e-5, "32x32": 1e-5}, exact=VARIANCE)
    rows += make_grid_rows("laplace", {"32x32": 0.0})
    rows += make_grid_rows("mgm", {"32x32": 1e-5}, width=0.5)
    drawn = claimed(make_results(rows))
    table = drawn.data.set_index("mechanism")
    # The table has one size, the nearest to 1024; the baseline is a closed form, not a row.
    assert set(table["size"]) == {1024}
    assert table["claim"].to_dict() == {
        "r1smg": "false",
        "gaussian-analytic": "true",
        "laplace": "true",
        # Its bounds lie on both sides of the claim.
        "mgm": "open",
    }
    assert table.loc["r1smg", "published"] == pytest.approx(4 / VARIANCE)
    assert table.loc["r1smg", "equal"] == pytest.approx(9 / VARIANCE)
    assert math.isnan(table.loc["laplace", "equal"])
    assert table.loc["laplace", "claimed"] == 0
    words = [text.get_text() for text in drawn.figure.axes[0].texts]
    assert "delta 1e-05 claimed, 0.9 true" in words


def test_a_delta_that_is_only_bounded_is_told_as_a_bound(make_results, make_grid_rows):
    rows = make_grid_rows("mgm", {"32x32": 8.34e-8}, width=1.0)
    alone = claimed(make_results(rows))
    (words,) = [text.get_text() for text in alone.figure.axes[0].texts]
    assert words == "delta 1e-05 claimed, at most 1.7e-07 true"
    assert "Without an open marker" not in alone.note
    rows += make_grid_rows("r1smg", {"32x32": 0.9}, exact=9.0)
    both = claimed(make_results(rows)).note
    assert both.endswith("Without an open marker, as no rescaled noise is known: MGM.")


def test_outside_its_theorem_a_paper_claims_nothing(make_results, make_grid_rows):
    warned = {"message": "the theorem is stated for a smaller epsilon"}
    rows = [row | warned for row in make_grid_rows("r1smg", {"32x32": 0.9}, exact=9.0)]
    drawn = claimed(make_results(rows))
    assert drawn.data["claim"].tolist() == ["none"]
    assert [text.get_text() for text in drawn.figure.axes[0].texts] == ["no claim here, 0.9 true"]


def test_validity_is_about_r1smg_alone(make_results, make_grid_rows):
    rows = make_grid_rows("r1smg", {"2x2": 1e-3, "4x4": 1e-6})
    rows += make_grid_rows("gaussian", {"2x2": 0.0})
    assert validity(make_results(rows)).data["ratio"].tolist() == pytest.approx([2, -1])
    with pytest.raises(DrawingError, match="no true delta of r1smg"):
        validity(make_results(make_grid_rows("gaussian", {"2x2": 1e-6})))
