"""The two studies of federated learning: points, settings, rows and checkpoints."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from one_case import case_of, checked, measured, number, setup_of

from learning.records.labelled import Split
from learning.training.trial import Seeds
from mechanisms import (
    Budget,
)
from mechanisms.privacy.sampling import kairouz
from runs.config import read_config
from studies import federated as both_studies
from studies.base import Point
from studies.base.study import study_named

ROOT = Path(__file__).resolve().parents[2]
COMMON = {
    "datasets": ["breast_cancer"],
    "mechanisms": ["idn", "gaussian-analytic"],
    "budgets": {"breast_cancer": [300.0]},
    "epsilons_for": {"gaussian-analytic": [3.0, 30.0]},
    "delta": 1e-5,
    "rounds": {"breast_cancer": 3},
    "batch": {"breast_cancer": 16},
    "learning_rate": {"breast_cancer": 0.1},
    "tests": {"breast_cancer": 50},
    "trials": 2,
}
OWN = {
    "federated_horizontal": {"local_epochs": {"breast_cancer": 1}, "clip": {"breast_cancer": 0.1}},
    "federated_vertical": {"iterations": {"breast_cancer": 4}},
}
STUDIES = [study_named(name) for name in OWN]
HORIZONTAL, VERTICAL = STUDIES
TOTAL = Budget(epsilon=300.0, delta=1e-5)


def setup(study, **changed):
    settings = checked(study.name, COMMON | OWN[study.name] | changed)
    return setup_of(study.name, "breast_cancer", settings)


def measure(study, mechanism, calibration="published", folder=None, **changed):
    case = case_of(setup(study, **changed), mechanism, calibration, folder)
    first, *_ = study.points(case.settings, mechanism, case.dataset)
    return measured(case, point=first)


def test_table_2_has_55_000_training_records_of_mnist():
    paper = read_config(ROOT / "config/paper.yaml")["studies"]
    # Otherwise it has as many as the official files.
    assert paper["federated_horizontal"].records == {"mnist": 55_000}


@pytest.mark.parametrize("study", STUDIES)
def test_points_are_the_budgets_of_the_mechanism(study):
    settings = setup(study).settings
    shape = {"federated_horizontal": (31, 8), "federated_vertical": (16, 8)}[study.name]
    assert study.points(settings, "idn", "breast_cancer") == [
        Point(shape=shape, epsilon=300.0, delta=1e-5)
    ]
    assert [p.epsilon for p in study.points(settings, "gaussian-analytic", "breast_cancer")] == [
        3.0,
        30.0,
    ]


def test_small_networks():
    settings = read_config(ROOT / "config/reference.yaml")["studies"]["federated_horizontal"]
    shapes = {d: HORIZONTAL.points(settings, "idn", d)[0].shape for d in settings.networks}
    assert shapes == {"cifar10": (145, 32), "imdb": (20002, 16)}


def test_local_models_carry_a_record_into_later_batches():
    """All rows of later releases change, which is why sampling does not amplify here."""
    from learning.federated import vertical
    from learning.networks.split_network import SPLIT_NETWORKS

    rng = np.random.default_rng(0)
    inputs, labels = rng.uniform(-1, 1, (60, 30)).astype(np.float32), np.arange(60) % 2
    plan = vertical.VerticalPlan(rounds=1, iterations=8, batch=4, learning_rate=0.5)
    seeds = Seeds(start=1, batches=2, noise=3)

    def released(inputs):
        seen = []

        def keep(features, noise):
            seen.append(features.copy())
            return features

        kind = {"test_inputs": inputs[:4], "test_labels": labels[:4]}
        split = Split(train_inputs=inputs, train_labels=labels, **kind)
        vertical.train(SPLIT_NETWORKS["breast_cancer"], split, plan, keep, [seeds])
        return np.array(seen).reshape(8, 2, 4, -1)

    first = np.random.default_rng([2, 0]).choice(60, 4, replace=False, shuffle=False)
    other = inputs.copy()
    other[first[0]] *= -1
    changed = np.abs(released(inputs) - released(other)).max(axis=(1, 3)) > 0
    assert changed[0].tolist() == [True, False, False, False]
    assert changed[1:].all()


@pytest.mark.parametrize("study", STUDIES)
def test_rows_of_a_point(study, tmp_path):
    values = measure(study, "idn", folder=tmp_path)
    if study is HORIZONTAL:
        uses, epsilon = 6, kairouz.share(TOTAL, 6).epsilon
    else:
        uses, epsilon = 24, kairouz.before_sampling(TOTAL.epsilon, 16 / 456)
    assert (number(values, "uses"), number(values, "use_epsilon")) == (uses, epsilon)
    assert number(values, "records") == 456
    assert number(values, "noise_norm") > 0
    assert number(values, "true_epsilon_upper") > 0
    lower = [v.value for v in values if v.metric == "true_delta_lower"]
    assert len(lower) == (study is HORIZONTAL)
    assert all(value <= number(values, "true_delta_upper") <= 1 for value in lower)
    rows = [v for v in values if v.metric == "test_accuracy"]
    assert [(v.trial, v.at["round"]) for v in rows] == [(t, r) for t in (0, 1) for r in (1, 2, 3)]
    finals = [v.value for v in values if v.metric == "final_test_accuracy"]
    assert finals == [v.value for v in rows if v.at["round"] == 3]
    # The two trials train together.
    assert [p.name for p in tmp_path.iterdir()] == ["epsilon-300-0-1.checkpoint"]


@pytest.mark.parametrize("study", STUDIES)
def test_few_trials_train_together(study, monkeypatch, tmp_path):
    monkeypatch.setattr(both_studies, "AT_ONCE", 2)
    values = measure(study, "idn", trials=3, folder=tmp_path)
    assert {v.trial for v in values} == {None, 0, 1, 2}
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "epsilon-300-0-1.checkpoint",
        "epsilon-300-2.checkpoint",
    ]


@pytest.mark.parametrize("study", STUDIES)
def test_controls(study):
    public = measure(study, "non-private")
    assert not [v for v in public if v.metric.startswith("true_")]
    ignorant = measure(study, "random-answer")
    assert number(ignorant, "true_delta_upper") == number(ignorant, "true_epsilon_upper") == 0
    means = [
        np.mean([v.value for v in values if v.metric == "final_test_accuracy"])
        for values in (public, ignorant)
    ]
    assert means[0] > means[1]


def test_training_without_privacy_does_not_clip(monkeypatch):
    from learning.federated import horizontal as federated

    plans = []
    original = federated.train

    def keep(network, data, plan, *args, **kwargs):
        plans.append(plan)
        return original(network, data, plan, *args, **kwargs)

    monkeypatch.setattr(federated, "train", keep)
    measure(HORIZONTAL, "non-private")
    measure(HORIZONTAL, "idn")
    assert [plan.clip for plan in plans] == [None, 0.1]
    assert plans[1] == replace(plans[0], clip=0.1)
