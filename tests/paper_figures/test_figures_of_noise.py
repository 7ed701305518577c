"""Figures of one noise in closed form: whole numbers, unequal sensitivities."""

import numpy as np
import pytest
import scipy

from paper_figures.drawings import DrawingError
from paper_figures.inid2025.dimension import dimension
from paper_figures.integers2021.whole_numbers import ROUNDED, rounded_variance, whole_numbers

CELL = {
    "study": "common_queries",
    "calibration": "published",
    "epsilon": 1.0,
    "delta": 1e-5,
    "value": 1.0,
}


def cell(dataset, metric, mechanism="gaussian-analytic", **values):
    return CELL | {"dataset": dataset, "metric": metric, "mechanism": mechanism} | values


@pytest.mark.parametrize("sigma", [0.1, 0.7, 3.0, 50.0])
def test_the_variance_of_a_rounded_gaussian(sigma):
    numbers = np.arange(-2500, 2501)
    ends = scipy.stats.norm.cdf((numbers[:, None] + [-0.5, 0.5]) / sigma)
    assert rounded_variance(sigma) == pytest.approx(numbers**2 @ np.diff(ends)[:, 0], rel=1e-9)
    if sigma > 1:
        # Sheppard's correction.
        assert rounded_variance(sigma) == pytest.approx(sigma**2 + 1 / 12, rel=1e-9)


def test_whole_numbers_have_the_gaussians_variance_where_noise_is_large(make_results):
    timing = cell("counts", "seconds_per_draw", "skellam", value=3.2)
    drawn = whole_numbers(make_results([cell("counts", "rmse")], [timing]))
    variance = drawn.data[drawn.data["panel"] == "variance"]
    ratios = variance.set_index(["noise", "calibration", "epsilon"])["ratio"]
    assert ratios[("discrete-gaussian", "exact", 0.1)] == pytest.approx(1, rel=1e-3)
    # Gaussian noise of this budget has the standard deviation 3.7306.
    assert ratios[(ROUNDED, "exact", 1.0)] == pytest.approx(1 + 1 / 12 / 3.7306**2, rel=1e-5)
    published = ratios.xs("published", level="calibration")
    assert (published > ratios.xs("exact", level="calibration").reindex(published.index)).all()
    seconds = drawn.data[drawn.data["panel"] == "seconds"]
    assert list(seconds["seconds"]) == [pytest.approx(0.1)]
    assert len(drawn.caption.split()) <= 70


def test_without_times_of_whole_numbers_there_is_nothing_to_draw(make_results):
    timing = cell("counts", "seconds_per_draw")
    with pytest.raises(DrawingError, match="whole numbers"):
        whole_numbers(make_results([cell("counts", "rmse")], [timing]))


def test_unequal_sensitivities_against_their_formulas(make_results):
    drawn = dimension(make_results([cell("histogram", "rmse")]))
    ratios = drawn.data.set_index(["power", "mechanism", "size"])["ratio"]
    for power in (0.0, 1.0, 2.0):
        changes = np.arange(1, 1025.0) ** -power
        # Cauchy and Schwarz: the sum of squares against the square of the sum.
        gaussian = changes.sum() ** 2 / (1024 * (changes @ changes))
        assert ratios[(power, "inid-gaussian", 1024)] == pytest.approx(gaussian)
        # Variances 2 b_i^2, with Gaussian noise of the standard deviation 3.7306.
        total = 2 * np.sum(changes ** (2 / 3)) ** 3
        laplace = total / (1024 * (changes @ changes) * 3.730632**2)
        assert ratios[(power, "inid-laplace", 1024)] == pytest.approx(laplace, rel=1e-5)
    assert ratios[(0.0, "laplace", 64)] == pytest.approx(ratios[(0.0, "inid-laplace", 64)])
    assert len(drawn.caption.split()) <= 70
