"""The study of noisy descent: budgets, calibrations, rows, checkpoints, imports."""

import functools
import math
import subprocess
import sys
from pathlib import Path

import pytest
from one_case import case_of, checked, measured, number, setup_of, variant

from learning.training.clipping import Clipping
from learning.training.rounds import Round
from learning.training.step_noise import StrongCompositionSteps, step_mechanism
from mechanisms import (
    Budget,
    Unsupported,
)
from mechanisms.privacy.finite_profile import EventProfile
from mechanisms.privacy.sampling.poisson_sampling import gaussian_epsilon
from studies import descent as descent_study
from studies.base.study import study_named

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "datasets": ["digits"],
    "mechanisms": ["gaussian"],
    "budgets": {"digits": [2.0]},
    "delta": 1e-5,
    "epochs": {"digits": 2},
    "learning_rates": {"digits": [0.15]},
    "records": {"digits": 150},
    "batch": 30,
    "trials": 2,
}
TOTAL = Budget(epsilon=2.0, delta=1e-5)
STEPS = StrongCompositionSteps(rate=0.2, steps=10, epochs=2, slack=1e-10)
QUERY = Clipping(bound=1.0).query(2410, 30)


STUDY = study_named("dpsgd")


@pytest.fixture
def settings():
    return checked("dpsgd", SETTINGS)


def measure(mechanism, calibration="published", folder=None, **changed):
    setup = setup_of("dpsgd", "digits", checked("dpsgd", SETTINGS | changed))
    return measured(case_of(setup, mechanism, calibration, folder))


@functools.cache
def published(mechanism):
    """The values of a mechanism as published at the settings above, computed once for all tests."""
    return measure(mechanism)


def calibrated(key, calibration, total=TOTAL):
    own = variant(key)
    return step_mechanism(own.mechanism, own.calibrate, QUERY, total, STEPS, calibration)


def values_of(values, metric):
    return [value for value in values if value.metric == metric]


def test_reading_a_config_loads_neither_torch_nor_scikit_learn():
    code = (
        "import sys; from runs.config import read_config; "
        "read_config('config/quick.yaml'); "
        "print([m for m in ('torch', 'sklearn', 'dp_accounting') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert found.stdout.strip() == "[]", found.stderr


def test_the_classic_gaussian_is_dpsgd_by_renyi_accounting():
    mechanism = calibrated("gaussian", "published")
    sigma = mechanism.noise.sigma / QUERY.l2_sensitivity
    assert gaussian_epsilon(sigma, 0.2, 10, 1e-5) == pytest.approx(2.0, rel=1e-8)
    # Tighter accounting finds room to spare.
    assert STEPS.run(mechanism.profile()).epsilon(1e-5) < 2.0
    # No bounds are known for a pair that is not symmetric.
    assert STEPS.run(EventProfile(log_p=-1.0, log_q=-2.0)) is None


@pytest.mark.parametrize("key", ["gaussian-analytic", "laplace", "udn"])
def test_other_noise_has_the_step_budget_of_eq_16(key):
    mechanism = calibrated(key, "published")
    step = STEPS.step_budget(TOTAL)
    assert mechanism.budget == step
    assert mechanism.profile().delta(step.epsilon).value <= step.delta * (1 + 1e-9)


def test_a_total_without_step_budgets_is_refused_only_where_they_are_needed():
    total = Budget(epsilon=1000.0, delta=1e-5)
    with pytest.raises(Unsupported, match=r"no budget for a step: epsilon 1000 is more than eq"):
        calibrated("r1smg", "published", total)
    for key in ("gaussian", "non-private"):
        assert calibrated(key, "published", total).budget == total
    assert len([*descent_study.schedule_values(STEPS, total, 150)]) == 3


def test_at_the_exact_calibration_all_gaussian_noise_is_the_same():
    found = [calibrated(key, "exact") for key in ("gaussian", "udn")]
    losses = [mechanism.expected_loss() for mechanism in found]
    assert losses[1] == pytest.approx(losses[0], rel=2e-3)
    # No more noise than dp_accounting requires, up to the error of our bound.
    sigma = math.sqrt(losses[0] / QUERY.size)
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=1e-3)
    tight = gaussian_epsilon(sigma, 0.2, 10, 1e-5, accountant=accountant)
    assert 1.98 < tight < 2.0


def test_rows_of_a_point():
    values = published("gaussian")
    assert number(values, "records") == 150 and number(values, "steps") == 10
    assert number(values, "sampling_rate") == 0.2
    assert 0 < number(values, "true_delta_lower") < number(values, "true_delta_upper") < 1e-5
    assert 1.5 < number(values, "true_epsilon_upper") < 2
    for metric in ("train_accuracy", "test_accuracy"):
        rows = values_of(values, metric)
        assert [(v.trial, v.at["epoch"]) for v in rows] == [(0, 1), (0, 2), (1, 1), (1, 2)]
        assert all(0 <= v.value <= 1 for v in rows)
        finals = values_of(values, f"final_{metric}")
        assert [v.value for v in finals] == [v.value for v in rows if v.at["epoch"] == 2]
    assert len(values_of(values, "epoch_seconds")) == 4


@pytest.mark.slow
def test_r1smg_spends_far_more_than_its_budget():
    values = published("r1smg")
    # A step reveals the record whenever it is sampled.
    assert number(values, "true_delta_lower") == pytest.approx(0.2, rel=1e-3)
    assert number(values, "true_delta_upper") > 0.8
    # Only noise closer to zero than this step needs reveals more: M ln(1 / delta) in size.
    assert number(values, "true_epsilon_upper") > 1e4


def test_checkpoints_lie_in_the_folder_of_the_cell(settings, tmp_path):
    with_folder = measure("gaussian", folder=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "epsilon-2-learning_rate-0.15-0.checkpoint",
        "epsilon-2-learning_rate-0.15-1.checkpoint",
    ]
    # The run is replayed from its checkpoints, which contain all epochs.
    again = measure("gaussian", folder=tmp_path)
    without = published("gaussian")
    kept = [[v for v in run if not v.timing] for run in (with_folder, again, without)]
    assert kept[0] == kept[1] == kept[2]


def test_training_without_privacy_may_have_a_rate_of_its_own():
    own = {"unclipped_rates": {"digits": 0.5}}
    rates = {
        key: {v.at.get("learning_rate") for v in values_of(measure(key, **own), "test_accuracy")}
        for key in ("non-private", "gaussian")
    }
    assert rates == {"non-private": {0.5}, "gaussian": {0.15}}


def test_a_run_that_diverges_leaves_the_others_their_accuracies(settings, tmp_path):
    alone = [v for v in published("gaussian") if not v.timing]
    rates = {"learning_rates": {"digits": [0.15, 1e30]}}
    swept = [v for v in measure("gaussian", folder=tmp_path, **rates) if not v.timing]
    assert swept[: len(alone)] == alone
    lost = swept[len(alone) :]
    # Of the lost runs there is no checkpoint.
    assert len(list(tmp_path.iterdir())) == 2
    # All rates of a trial have the same draws.
    assert {v.seed for v in lost} <= {v.seed for v in alone}
    assert {(v.metric, v.at["learning_rate"]) for v in lost} == {("diverged_epoch", 1e30)}
    assert [v.trial for v in lost] == list(range(settings.trials))
    assert all(v.value == 1 for v in lost)


def test_all_mechanisms_and_calibrations_share_start_samples_and_draws(settings, monkeypatch):
    from learning.training import noisy_descent

    # Bounds on the privacy of a run take seconds, and no seed depends on them.
    monkeypatch.setattr(descent_study, "privacy", lambda *args: iter(()))
    seen = {}

    def record(network, split, plan, release, seeds, **kwargs):
        seen.setdefault(kwargs["label"].split(" epsilon")[0], []).append(seeds)
        return [Round((0.5, 0.5), 0.0)]

    monkeypatch.setattr(noisy_descent, "train", record)
    for mechanism, calibration in (
        ("gaussian", "published"),
        ("gaussian", "exact"),
        ("udn", "published"),
    ):
        measure(mechanism, calibration)
    published, exact, other = seen.values()
    assert published == exact
    assert [s[:2] for s in published] == [s[:2] for s in other]
    assert [s.noise for s in published] != [s.noise for s in other]
    assert len({s.start for s in published}) == 2
