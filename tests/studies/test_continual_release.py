"""The study of continual release: its rows, their closed forms, and whom it refuses."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from one_case import case_of, checked, points_of, setup_of
from one_case import measured as values_of

from mechanisms import Unsupported
from mechanisms.privacy.gaussian_profile import mu_for
from runs.config import check_config
from studies.base.settings import ConfigError
from studies.base.study import study_named

ROOT = Path(__file__).resolve().parents[2]

SETTINGS = {
    "steps": [8, 16],
    "momentum_steps": [8, 16],
    "momentum": 0.9,
    "participations": [1, 4],
    "participation_steps": [16],
    "trials": 60,
    "epsilons": [1.0],
    "delta": 1e-6,
}
VARIANCE = float(mu_for(1.0, 1e-6)) ** -2


def measured(dataset, key="factorisation", **options):
    """The values of every point, as {(steps, metric, k, b): mean over trials}."""
    setup = setup_of(
        "continual_release",
        dataset,
        checked("continual_release", SETTINGS | {"datasets": [dataset]}),
    )
    case, found = case_of(setup, key, **options), {}
    for point in points_of(case):
        for value in values_of(case, point=point):
            place = (point.shape[1], value.metric, *value.at.values())
            found.setdefault(place, []).append(value.value)
    return {place: float(np.mean(values)) for place, values in found.items()}


def test_independent_noise_has_the_error_of_sums():
    found = measured("prefix-sums", factorisation="identity")
    assert found[8, "mean_error", 1, 8] == pytest.approx(VARIANCE * 4.5)
    assert found[8, "max_error", 1, 8] == pytest.approx(VARIANCE * 8)
    assert found[16, "mean_error", 4, 4] == pytest.approx(4 * VARIANCE * 8.5)
    assert found[16, "sensitivity_slack", 4, 4] == pytest.approx(0.0, abs=1e-12)
    # Several participations at one n only.
    assert (8, "mean_error", 4, 2) not in found


@pytest.mark.parametrize("dataset", list(study_named("continual_release").datasets))
def test_measured_errors_are_near_the_closed_form(dataset):
    found = measured(dataset)
    errors = {place for place in found if place[1] == "mean_error"}
    assert len(errors) == 3
    for steps, _, *where in errors:
        expected = found[steps, "mean_error", *where]
        assert found[steps, "measured_error", *where] == pytest.approx(expected, rel=0.3)
        assert found[steps, "max_error", *where] > expected


def test_the_optimum_for_one_participation_has_a_certificate_for_that_alone():
    found = measured("prefix-sums", factorisation="dense")
    gaps = {place: value for place, value in found.items() if place[1] == "optimality_gap"}
    assert set(gaps) == {(8, "optimality_gap", 1, 8), (16, "optimality_gap", 1, 16)}
    assert all(0 <= gap <= 1e-6 for gap in gaps.values())
    assert not [place for place in measured("prefix-sums") if place[1] == "optimality_gap"]


def test_banded_factorisations_have_a_certificate_for_several_participations():
    found = measured("prefix-sums", factorisation="banded")
    assert found[16, "optimality_gap", 1, 16] <= 1e-6
    assert 0 < found[16, "optimality_gap", 4, 4] <= 1e-3
    assert found[16, "sensitivity_slack", 4, 4] == 0.0
    # sens(C)^2 mean ||B_t||^2 by CVXPY, over all X with 8 bands.
    assert found[16, "mean_error", 4, 4] == pytest.approx(VARIANCE * 13.671165, rel=2e-6)


def test_mechanisms_without_participation_are_refused():
    with pytest.raises(Unsupported, match="states no privacy for a person who takes part"):
        measured("prefix-sums", key="gaussian-analytic")


def test_participations_must_divide_the_steps():
    config = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    config["studies"] = {"continual_release": config["studies"]["continual_release"]}
    check_config(config)
    config["studies"]["continual_release"]["participations"] = [1, 3]
    with pytest.raises(ConfigError, match="multiples of all participations, got 16"):
        check_config(config)
    config["studies"]["continual_release"]["participation_steps"] = [32]
    with pytest.raises(ConfigError, match="must be among the steps of the data sets, got 32"):
        check_config(config)
