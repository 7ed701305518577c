"""Linear queries: histograms, errors against dense workloads, workloads of mechanisms, DAWA."""

from dataclasses import dataclass

import numpy as np
import pytest
from one_case import ZEROED, case_of, measured, problem_of, setup_of

from datasets import load as load_dataset
from mechanisms import (
    Budget,
    Unsupported,
    get_mechanism,
)
from mechanisms.strategies.workload import Kronecker
from studies.base import Point, Setup
from studies.count_query import random_rectangles, rectangle_sums
from studies.linear_queries import (
    HistogramQueries,
    histogram_query,
    mean_squared_errors,
    rectangle_rows,
)

SIMULATED = ("city-grid", "city-longitude")


@dataclass(frozen=True)
class Loaded:
    """A problem with the arguments it was loaded from."""

    setup: Setup
    problem: HistogramQueries

    def __getattr__(self, name):
        return getattr(self.problem, name)


def loaded(make_config, dataset, folder=None, **settings):
    config = make_config("linear_queries", datasets=[dataset], **settings)
    setup = setup_of("linear_queries", dataset, config["studies"]["linear_queries"])
    return Loaded(setup, problem_of(setup, folder))


def measure(given, key, calibration="published", epsilon=0.5, **options):
    point = Point(shape=given.counts.shape, epsilon=epsilon, delta=1e-6)
    return measured(case_of(given.setup, key, calibration, **options), given.problem, point)


def series(values, workload):
    """The measured errors of a workload, one per trial."""
    found = [v for v in values if (v.metric, v.at.get("workload")) == ("mse", workload)]
    assert [value.trial for value in found] == list(range(len(found)))
    return np.array([value.value for value in found])


def single(values, metric, workload=None):
    """The only value of a metric (at a workload)."""
    (found,) = (v.value for v in values if (v.metric, v.at.get("workload")) == (metric, workload))
    return found


def workloads_with(values, metric):
    return {value.at["workload"] for value in values if value.metric == metric}


def dense(problem):
    """Every workload as an explicit matrix, (q, cells)."""
    return {name: Kronecker(factors).matrix() for name, factors in problem.workloads.items()}


@pytest.mark.parametrize("shape", [(9, 1), (5, 7)])
def test_rectangles_as_rows_give_the_sums_of_the_table(shape):
    rectangles = random_rectangles(shape, 40, seed=3)
    top, left, bottom, right = rectangles.T
    assert np.all((top >= 0) & (top < bottom) & (bottom <= shape[0]))
    assert np.all((left >= 0) & (left < right) & (right <= shape[1]))
    maps = np.random.default_rng(0).standard_normal((3, *shape))
    rows = rectangle_rows(rectangles, shape)
    assert set(np.unique(rows)) == {0.0, 1.0}
    expected = maps.reshape(3, -1) @ rows.T
    assert np.allclose(rectangle_sums(maps, rectangles), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dataset", SIMULATED)
def test_errors_against_workloads_written_out(make_config, dataset):
    problem = loaded(make_config, dataset)
    errors = 5 + np.random.default_rng(1).standard_normal((3, *problem.counts.shape))
    squares = mean_squared_errors(errors, problem.rectangles)
    for name, rows in dense(problem).items():
        answers = errors.reshape(3, -1) @ rows.T
        assert squares[name] == pytest.approx(np.mean(answers**2, axis=1), rel=1e-12), name


def test_expected_error_of_independent_noise(make_config):
    problem = loaded(make_config, "city-grid")
    values = measure(problem, "laplace")
    for name, rows in dense(problem).items():
        expected = 2 / 0.5**2 * np.sum(rows**2) / len(rows)
        assert single(values, "expected_mse", name) == pytest.approx(expected, rel=1e-12)
    calibrations = [
        measure(problem, "gaussian", calibration) for calibration in ("published", "exact")
    ]
    ratios = [single(v, "expected_mse", "prefix") / series(v, "prefix") for v in calibrations]
    # The same draw at two scales.
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-9)


@pytest.mark.parametrize("key", ["matrix-mechanism", "matrix-mechanism-l1"])
def test_a_strategy_is_made_for_each_workload(make_config, key):
    problem = loaded(make_config, "city-longitude")
    values = measure(problem, key)
    rivals = measure(problem, {"matrix-mechanism": "gaussian"}.get(key, "laplace"))
    for name, factors in problem.workloads.items():
        mechanism = get_mechanism(key).calibrate(
            histogram_query(problem.counts),
            Budget(epsilon=0.5, delta=1e-6),
            workload=Kronecker(factors).matrix(),
        )
        expected = mechanism.noise.workload_variance(factors) / len(Kronecker(factors).matrix())
        assert single(values, "expected_mse", name) == pytest.approx(expected, rel=1e-5)
        assert expected < single(rivals, "expected_mse", name)
    certificate = {"matrix-mechanism": "optimality_gap"}.get(key, "optimality")
    assert workloads_with(values, certificate) == set(problem.workloads)


def test_a_workload_that_is_refused_is_recorded_beside_the_others(make_config, capsys):
    """9 x 9 rectangles are a product of two workloads over 9 cells; random ones are over 81."""
    problem = loaded(make_config, "city-grid", cells_per_side=9)
    values = measure(problem, "matrix-mechanism-cvxpy")
    assert single(values, "refused", "random") == 1
    assert workloads_with(values, "refused") == {"random"}
    for metric in ("mse", "expected_mse"):
        assert workloads_with(values, metric) == {"prefix", "all-range"}
    assert "refuses the workload random: it gives the convex solver" in capsys.readouterr().err


def test_a_mechanism_that_refuses_every_workload_is_unsupported(make_config):
    problem = loaded(make_config, "city-longitude", line_cells=65)
    with pytest.raises(Unsupported, match="at most 64 cells"):
        measure(problem, "matrix-mechanism-cvxpy")


def test_an_answer_that_does_not_know_the_counts_has_their_size_as_its_error(make_config):
    problem = loaded(make_config, "city-grid")
    blind = measure(problem, "random-answer")
    assert single(blind, "records") == 300
    assert single(blind, "occupied_cells") == np.count_nonzero(problem.counts)
    for name, rows in dense(problem).items():
        answers = np.mean((rows @ problem.counts.ravel()) ** 2)
        assert series(blind, name) == pytest.approx(np.full(4, answers), rel=0.2)
    # The closed form is that of the noise alone, and the measured error contains the zeros.
    assert not workloads_with(measure(problem, ZEROED), "expected_mse")


def test_histograms_of_adult(make_config, official_data):
    official = official_data("adult")
    people = load_dataset("adult", official).train
    age, hours, loss = (
        loaded(make_config, dataset, official).counts
        for dataset in ("adult-age", "adult-hours", "adult-capital-loss")
    )
    assert age.shape == hours.shape == (100,)
    assert loss.shape == (1024,)
    assert age.sum() == hours.sum() == loss.sum() == 32_561
    assert age[38] == (people["age"] == 38).sum()
    assert np.flatnonzero(age)[[0, -1]].tolist() == [17, 90]
    assert hours[40] == (people["hours-per-week"] == 40).sum()
    assert loss[0] == (people["capital-loss"] < 5).sum()
    assert np.count_nonzero(loss) < 100


def test_dawa_wins_on_the_sparse_histogram(make_config, official_data):
    """For prefix sums of 1024 cells at epsilon 0.1, DAWA beats H_b, and both beat single cells."""
    problem = loaded(make_config, "adult-capital-loss", official_data("adult"), trials=40)
    errors = {
        key: series(measure(problem, key, epsilon=0.1), "prefix").mean()
        for key in ("dawa", "hb", "laplace")
    }
    assert errors["dawa"] < errors["hb"] < errors["laplace"]
