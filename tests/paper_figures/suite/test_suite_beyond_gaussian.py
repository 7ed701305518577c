"""Noise claimed to beat the Gaussian, noise that does, and why no i.i.d. noise can."""

import math

import numpy as np
import pytest

from mechanisms.privacy.gaussian_profile import mu_for
from paper_figures.drawings import DrawingError
from paper_figures.suite.beyond_gaussian import better, claimed
from paper_figures.suite.iid_noise import kappas

# Variance of the analytic Gaussian at (1, 1e-5), per element.
VARIANCE = float(mu_for(1.0, 1e-5)) ** -2


def test_claims_are_told_with_their_truth(make_results, make_grid_rows):
    rows = make_grid_rows("r1smg", {"4x4": 0.5, "32x32": 0.9}, exact=9.0)
    rows += make_grid_rows("gaussian-analytic", {"4x4": 1e-5, "32x32": 1e-5}, exact=VARIANCE)
    rows += make_grid_rows("laplace", {"32x32": 0.0})
    drawn = claimed(make_results(rows))
    table = drawn.data.set_index("mechanism")
    # One size, the nearest to 1024; the baseline is the closed form, whatever the rows hold.
    assert set(table["size"]) == {1024}
    assert table["claim"].to_dict() == {
        "r1smg": "false",
        "gaussian-analytic": "true",
        "laplace": "true",
    }
    assert table.loc["r1smg", "published"] == pytest.approx(4 / VARIANCE)
    assert table.loc["r1smg", "equal"] == pytest.approx(9 / VARIANCE)
    assert math.isnan(table.loc["laplace", "equal"])
    assert table.loc["laplace", "claimed"] == 0
    words = [text.get_text() for text in drawn.figure.axes[0].texts]
    assert "delta 1e-05 claimed, 0.9 true" in words


def test_a_delta_that_is_only_bounded_is_told_as_a_bound(make_results, make_grid_rows):
    rows = make_grid_rows("plrv-o", {"32x32": 8.34e-8}, width=1.0)
    alone = claimed(make_results(rows))
    (words,) = [text.get_text() for text in alone.figure.axes[0].texts]
    assert words == "delta 1e-05 claimed, at most 1.7e-07 true"
    assert "Without an open marker" not in alone.note
    rows += make_grid_rows("r1smg", {"32x32": 0.9}, exact=9.0)
    both = claimed(make_results(rows)).note
    assert both.endswith("Without an open marker, as no rescaled noise is known: PLRV-O.")


def test_factors_of_what_is_better(make_results, make_grid_rows):
    drawn = better(make_results(make_grid_rows("gaussian", {"4x4": 1e-6})))
    table = drawn.data.set_index(["mechanism", "size"])["factor"]
    # 4 M / (sqrt(M) + 1)^2, from the paper's standard deviation.
    for size in (4, 1024):
        stated = 4 * size / (math.sqrt(size) + 1) ** 2
        assert table["correlated-gaussian", size] == pytest.approx(stated)
    assert (drawn.data["factor"] > 1).all()
    # M sum(lambda^2) / sum(lambda)^2 for lambda = 1, 1/2, 1/3, 1/4.
    steep = drawn.data[drawn.data["query"] == "sensitivities 1/i"].set_index("size")["factor"]
    assert steep[4] == pytest.approx(4 * (1 + 1 / 4 + 1 / 9 + 1 / 16) / (25 / 12) ** 2)
    # Of M prefix sums (M + 1) / 2 over mean_t (f_1 + ... + f_t) (f_1 + ... + f_M), where f_k is the
    # square of the k-th coefficient binom(2k, k) / 4^k of the root.
    sums = np.cumsum([(math.comb(2 * k, k) / 4**k) ** 2 for k in range(64)])
    assert table["factorisation", 64] == pytest.approx(32.5 / (sums.mean() * sums[-1]))
    # The matrix mechanism is the optimum for the same sums.
    for size in (4, 64, 256):
        assert 1 < table["factorisation", size] < table["matrix-mechanism", size]


def test_factors_at_pure_privacy(make_results, make_grid_rows):
    drawn = better(make_results(make_grid_rows("gaussian", {"4x4": 1e-6})))
    pure = drawn.data[drawn.data["baseline"] == "laplace"]
    assert set(pure["delta"]) == {0.0}
    factors = pure.set_index(["mechanism", "query", "size"])["factor"]
    for size in (4, 1024, 4096):
        # Laplace noise has the squared error 2 M^3; R u the mean squares of R and of u in K.
        box, ball = (size + 1) * (size + 2) * size / 3, size * (size + 1) * size
        assert factors["k-norm", "elements that change either way", size] == pytest.approx(
            2 * size**3 / box
        )
        assert factors["l2", "elements that change either way", size] == pytest.approx(
            2 * size**3 / ball
        )
    # K for one count is [-1, 1]; for many its mean square is half that of the box.
    both = factors["k-norm"].unstack("query")
    ratio = both["counts"] / both["elements that change either way"]
    assert ratio.is_monotonic_increasing
    assert ratio[4096] == pytest.approx(2, rel=1e-3)


def test_mu_follows_kappa(make_results, make_grid_rows):
    rows = make_grid_rows("laplace", {"4x4": 0.0, "32x32": 0.0}, exact=2 * VARIANCE)
    data = kappas(make_results(rows)).data
    laws = data[data["panel"] == "laws"]
    assert laws["mu"].to_numpy() == pytest.approx(laws["kappa"].to_numpy() ** 0.5, rel=0.01)
    assert (laws["kappa"] >= 1).all()
    needed = data[data["panel"] == "needed"]
    assert needed["kappa"].to_numpy() == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize("draw", [claimed, better, kappas])
def test_without_a_profile_the_reason_is_told(draw, make_results, make_grid_rows):
    with pytest.raises(DrawingError, match="no privacy profile"):
        draw(make_results(make_grid_rows("non-private", {"4x4": 0.0})))
