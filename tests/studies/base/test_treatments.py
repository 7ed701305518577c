"""Treatments of mvg2018's studies: calibrations and rows."""

import pytest
from one_case import points_of

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
