"""The queries of noise_only are as stated, and every family yields its rows."""

import math

import numpy as np
import pytest
from one_case import case_of, measured, setup_of
from scipy import stats

from mechanisms import (
    AdditiveMechanism,
    Unsupported,
    all_mechanisms,
)
from studies import noise_only
from studies.base import Point
from studies.base.study import study_named

# The queries of this study are not Gram matrices.
GRAM_ONLY = ["analyze-gauss", "mod-sulq", "wishart"]
ADDITIVE = [
    key
    for key, cls in all_mechanisms().items()
    if issubclass(cls, AdditiveMechanism) and key not in GRAM_ONLY
]
SIZE = 16
STUDY = study_named("noise_only")
SECONDS = ("calibrate_seconds", "draw_seconds", "svd_draw_seconds")


@pytest.mark.parametrize("dataset", list(STUDY.datasets))
@pytest.mark.parametrize("shape", [(1, 1), (4,), (3, 5), (2, 3, 4)])
def test_sensitivities_follow_from_the_element_range(dataset, shape):
    """Answers in the range respect every bound, and two of them attain each."""
    query = noise_only.family_query(dataset, shape)
    low, high = query.element_range
    assert query.adjacency == "local"
    assert query.linf_sensitivity == high - low
    lowest, highest = np.full(shape, low).ravel(), np.full(shape, high).ravel()
    assert np.linalg.norm(highest - lowest) == pytest.approx(query.l2_sensitivity, rel=1e-14)
    assert np.linalg.norm(highest - lowest, 1) == pytest.approx(query.l1_sensitivity, rel=1e-14)
    assert np.linalg.norm(highest) == pytest.approx(query.frobenius_bound, rel=1e-14)
    rng = np.random.default_rng(0)
    answers = rng.choice([low, high], (200, query.size))
    answers[:100] = rng.uniform(low, high, (100, query.size))
    changes = answers[:, None] - answers
    slack = 1 + 1e-12
    assert np.linalg.norm(changes, axis=2).max() <= query.l2_sensitivity * slack
    assert np.abs(changes).sum(axis=2).max() <= query.l1_sensitivity * slack
    assert np.linalg.norm(answers, axis=1).max() <= query.frobenius_bound * slack


@pytest.mark.parametrize("shape", [(10, 10), (316, 316)])
def test_the_families_match_the_papers(shape):
    size = math.prod(shape)
    assert noise_only.family_query("fixed-sensitivity", shape).l2_sensitivity == pytest.approx(1.0)
    growing = noise_only.family_query("growing-sensitivity", shape)
    assert growing.l2_sensitivity == pytest.approx(2 * math.sqrt(size))  # mgm2021 eq. (31)
    assert noise_only.family_query("gradient-shapes", shape) == growing


@pytest.fixture
def settings(make_config):
    config = make_config(sizes=["4x4", "2x8"], growth_shapes=["2x4", "4x2"], trials=500)
    return config["studies"]["noise_only"]


def measure(settings, key, dataset="fixed-sensitivity", shape=(4, 4), calibration="published"):
    """The lists of values at one point, by metric or by (metric, coordinate)."""
    point = Point(shape=shape, epsilon=0.1, delta=1e-5)
    setup = setup_of("noise_only", dataset, settings, base_seed=0)
    values = measured(case_of(setup, key, calibration), point=point)
    found = {}
    for value in values:
        assert math.isfinite(value.value)
        assert value.timing == (value.metric in SECONDS)
        key = (value.metric, *value.at.values()) if value.at else value.metric
        found.setdefault(key, []).append(value.value)
    return found


FACTORS, QUANTILES = (2, 5, 10), (0.05, 0.5, 0.95, 0.99)
SAMPLED = (
    {"sampled_trials", "sampled_loss", "sampled_loss_error"}
    | {("sampled_quantile", quantile) for quantile in QUANTILES}
    | {("tail_sampled", factor) for factor in FACTORS}
)
MOMENTS = {"raw_kurtosis", "raw_skewness", "central_kurtosis", "central_skewness"}
ALWAYS = {"calibrate_seconds", "expected_loss"}


@pytest.mark.parametrize("key", ADDITIVE)
def test_samples_of_every_additive_mechanism_agree_with_its_closed_forms(settings, key):
    rows = measure(settings, key)
    assert rows.keys() - {("tail_exact", factor) for factor in FACTORS} == (
        ALWAYS | SAMPLED | (MOMENTS if key != "non-private" else set())
    )
    if key == "non-private":
        return
    found = {metric: values[0] for metric, values in rows.items()}
    assert found["sampled_trials"] == 500
    error = found["sampled_loss_error"]
    assert 0 < error < 0.2 * found["expected_loss"]
    assert abs(found["sampled_loss"] - found["expected_loss"]) < 4 * error
    quantiles = [found["sampled_quantile", quantile] for quantile in QUANTILES]
    assert quantiles == sorted(set(quantiles))
    for factor in FACTORS:
        if ("tail_exact", factor) in found:
            exact = found["tail_exact", factor]
            spread = math.sqrt(exact * (1 - exact) / 500)
            assert abs(found["tail_sampled", factor] - exact) < 4 * spread + 1e-9


@pytest.mark.parametrize("key", ["gaussian", "mvg", "r1smg", "non-private"])
def test_rows_of_the_other_families(settings, key):
    assert measure(settings, key, "growing-sensitivity", (2, 4)).keys() == ALWAYS
    timed = measure(settings, key, "gradient-shapes", (2, 2))
    assert timed.keys() == ALWAYS | {"draw_seconds"}
    assert len(timed["draw_seconds"]) == settings.timed_draws


@pytest.mark.parametrize(("key", "twice"), [("mvg", True), ("udn", True), ("idn", False)])
def test_directional_draws_are_timed_with_an_svd_too(settings, key, twice):
    chosen = settings.model_copy(update={"svd_shapes": [(2, 3)]})
    timed = measure(chosen, key, "gradient-shapes", (2, 3))
    assert ("svd_draw_seconds" in timed) == twice
    assert len(timed.get("svd_draw_seconds", [])) == twice * settings.timed_draws
    assert "svd_draw_seconds" not in measure(chosen, key, "gradient-shapes", (2, 2))


@pytest.mark.parametrize("key", ["gaussian", "udn", "idn", "mvg", "mgm", "imgm"])
def test_exact_tails_of_gaussian_noise_are_chi_square(settings, key):
    found = measure(settings, key)
    for factor in FACTORS:
        expected = stats.chi2.sf(factor * SIZE, SIZE)
        assert found["tail_exact", factor] == [pytest.approx(expected, rel=1e-10)]


def test_exact_tails_of_r1smg_are_half_normal(settings):
    found = measure(settings, "r1smg")
    assert found["tail_exact", 5] == [pytest.approx(2 * stats.norm.sf(math.sqrt(5)), rel=1e-10)]


def test_the_scale_does_not_change_kurtosis_or_tails(settings):
    published, exact = (measure(settings, "r1smg", calibration=f) for f in ("published", "exact"))
    assert exact["expected_loss"][0] > 2 * published["expected_loss"][0]
    for metric in ("raw_kurtosis", "central_skewness", ("tail_exact", 5)):
        assert exact[metric] == [pytest.approx(published[metric][0], rel=1e-12)]


def test_draws_are_limited_by_the_numbers_they_cost(settings):
    settings = settings.model_copy(update={"largest_draw": 100})
    assert measure(settings, "gaussian")["sampled_trials"] == [100 // SIZE]


def test_mechanisms_without_noise_are_unsupported(settings):
    with pytest.raises(Unsupported, match="adds no noise"):
        measure(settings, "random-answer")
