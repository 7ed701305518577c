"""Records are scaled into [-1, 1]; treatments of mvg2018's studies: calibrations and rows."""

import numpy as np
import pytest
from one_case import points_of

from studies.base.principal_components import first_records, scale_by_largest, scale_columns
from studies.base.treatments import feature_names
from tests.studies.mvg_studies import (
    STUDIES,
    DirectionalEcho,
    Echo,
    case,
    measure,
    series,
    settings_of,
)


def test_columns_reach_both_ends():
    values = np.array([[1.0, -4.0, 100.0], [2.0, 4.0, 50.0], [5.0, 0.0, 75.0]])
    columns = scale_columns(values)
    assert columns.min(axis=0).tolist() == [-1, -1, -1]
    assert columns.max(axis=0).tolist() == [1, 1, 1]
    assert columns[1].tolist() == [-0.5, 1.0, -1.0]


def test_no_column_leaves_the_box_by_rounding():
    columns = scale_columns(np.random.default_rng(0).normal(1e3, 1e-3, (7, 10_000)))
    assert columns.min() == -1
    assert columns.max() == 1


def test_a_constant_column_becomes_zero():
    assert scale_columns(np.array([[1.0, 2.0], [3.0, 2.0]])).tolist() == [[-1, 0], [1, 0]]


def test_the_largest_absolute_value_becomes_one():
    values = np.array([[1.0, -4.0], [2.0, 3.0]])
    assert scale_by_largest(values).tolist() == [[0.25, -1.0], [0.5, 0.75]]


def test_records_beyond_the_data_are_refused():
    values = np.arange(6.0).reshape(3, 2)
    assert first_records(values, 2).tolist() == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="at most 3, the number in the data, got 4"):
        first_records(values, 4)


@pytest.mark.parametrize(
    ("name", "mode"),
    [("regression", "unimodal"), ("first_component", "equimodal"), ("covariance", "unimodal")],
)
def test_a_directional_mechanism_has_every_set_at_every_share(name, mode):
    _, values = measure(name, DirectionalEcho)
    settings = settings_of(name)
    (sets,) = settings.directions.values()
    found = {(v.at["treatment"], v.at.get("share")) for v in values if v.metric == STUDIES[name][1]}
    learnt = {("pca", 0.55), ("pca", 0.95)} if name == "regression" else set()
    expected = {(known, share) for known in sets for share in (0.55, 0.95)}
    assert found == {("iid", None)} | expected | learnt
    size = Echo.calls[0][0].shape[0]
    for query, _, _, options in Echo.calls:
        assert query.shape[0] == size
        assert options["mode"] == mode
        theta = options["precision"]
        assert theta is None or (len(theta) == size and sum(theta) == pytest.approx(1))


def test_the_named_features_get_the_precision():
    measure("first_component", DirectionalEcho)
    features = feature_names("wine")
    _, *treated = (options["precision"] for *_, options in Echo.calls)
    assert len(treated) == 2
    for theta, share in zip(treated, (0.55, 0.95), strict=True):
        at = dict(zip(features, theta, strict=True))
        assert at["total_phenols"] == at["flavanoids"] == pytest.approx(share / 2)
        assert at["ash"] == pytest.approx((1 - share) / 11)


def test_options_of_the_config_win():
    options = {"mode": "unimodal", "zeta": "sqrt"}
    measure("first_component", DirectionalEcho, options=options)
    assert {(call[3]["mode"], call[3]["zeta"]) for call in Echo.calls} == {("unimodal", "sqrt")}


@pytest.mark.parametrize("name", STUDIES)
def test_scores_and_diagnostics_have_the_trial_s_seed(name):
    _, metric = STUDIES[name]
    _, values = measure(name, Echo)
    assert series(values, "sweeps").tolist() == [7.0] * 3
    own = case(name, Echo)
    (point,) = points_of(own)
    scored = [value for value in values if value.metric in (metric, "sweeps")]
    assert {value.metric for value in scored} == {metric, "sweeps"}
    assert all(value.seed == own.seed(point, value.trial) for value in scored)


@pytest.mark.parametrize(("mechanism", "times"), [("mvg", 1), ("gaussian", 0)])
def test_a_decomposition_is_timed_once_where_there_are_directions(mechanism, times):
    _, values = measure("first_component", mechanism)
    timed = [value for value in values if value.metric == "svd_seconds"]
    assert [value.at for value in timed] == [{"treatment": "iid"}] * times
    assert all(value.timing and value.value > 0 for value in timed)
