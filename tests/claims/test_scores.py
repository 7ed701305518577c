"""Scores over epsilon, on made-up trials: effects, and budgets at which models have learned."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from claims.judges import CannotJudge
from claims.scores import ByDataset, official_scores, select_datasets
from datasets.majority import MAJORITY

EPSILONS = (1.0, 10.0, 1000.0)
ONE, OTHER = "idn", "gaussian-per-element"
STUDY = "federated_horizontal"


@pytest.fixture
def scores(monkeypatch):
    """Ten trials of two mechanisms around an accuracy by epsilon, and of random answers at 0.2."""
    monkeypatch.delitem(MAJORITY, "mnist")
    rng = np.random.default_rng(0)
    cell = {
        "study": STUDY,
        "dataset": "mnist",
        "data_source": "official",
        "calibration": "published",
        "metric": "final_test_accuracy",
        "status": "ok",
    }

    def make(one=(0.2, 0.2, 0.2), other=(0.2, 0.2, 0.2)):
        runs = {ONE: one, OTHER: other, "random-answer": (0.2,)}
        rows = [
            cell | {"mechanism": key, "epsilon": epsilon, "trial": trial, "value": value + noise}
            for key, values in runs.items()
            for epsilon, value in zip(EPSILONS, values, strict=False)
            for trial, noise in enumerate(1e-3 * rng.standard_normal(10))
        ]
        return official_scores(pd.DataFrame(rows), STUDY)["mnist"]

    return make


def test_a_mean_that_is_above_the_floor_by_chance_is_not_learning(scores):
    """One lucky trial lifts the means at epsilon 1 by 0.03; the floor is 0.2, the margin 0.01."""
    found = scores(one=(0.2, 0.23, 0.205))
    lucky = found.private["epsilon"].eq(1.0) & found.private["trial"].eq(0)
    found.rows.loc[lucky[lucky].index, "value"] += 0.3
    assert found.keep_learned([ONE, OTHER], 0.01).epsilons == [10.0]
    found.rows.loc[found.rows["epsilon"].eq(1.0) & (found.rows["mechanism"] == ONE), "value"] += 0.3
    assert found.keep_learned([ONE, OTHER], 0.01).epsilons == [1.0, 10.0]


@pytest.mark.parametrize(
    ("majority", "words"), [(0.1, "the random answer"), (0.3, "the majority class")]
)
def test_the_floor_is_the_better_control(scores, monkeypatch, majority, words):
    monkeypatch.setitem(MAJORITY, "mnist", majority)
    assert scores().floor[1] == words


def test_gaps_are_those_of_one_budget_or_the_mean_of_all(scores):
    found = scores(one=(0.3, 0.5, 0.9))
    assert found.gap(ONE, OTHER, 10.0).value == pytest.approx(0.3, abs=2e-3)
    assert found.gap(ONE, OTHER).value == pytest.approx(1.1 / 3, abs=2e-3)
    # A control has one budget; its scores serve for every budget.
    assert found.gap(ONE, "random-answer", 1000.0).value == pytest.approx(0.7, abs=2e-3)
    assert found.rise(ONE).mean() == pytest.approx(0.6, abs=2e-3)
    assert found.peak([ONE, OTHER]) == (ONE, 1000.0)
    # Trials that lack a budget are left out, as their means are over other budgets.
    kept = (
        (found.rows["mechanism"] != OTHER)
        | (found.rows["epsilon"] != 1000)
        | (found.rows["trial"] > 3)
    )
    fewer = replace(found, rows=found.rows[kept]).gap(ONE, OTHER)
    assert (fewer.trials, fewer.value) == (6, pytest.approx(1.1 / 3, abs=2e-3))


def test_a_low_score_is_judged_up_to_an_end(scores):
    found = scores(one=(0.2, 0.21, 0.9))
    assert found.low(ONE, 0.1).verdict == "contradicted"
    assert found.low(ONE, 0.1, end=10.0).verdict == "confirmed"
    # A high score at a larger epsilon says nothing about smaller ones; a low score does.
    late = found.select_budgets(1000.0, 1000.0)
    assert late.low(ONE, 0.1, end=10.0).reason == "not run up to 10"
    assert late.low(ONE, 0.1, end=1000.0).verdict == "contradicted"
    assert late.low(OTHER, 0.1, end=10.0).verdict == "confirmed"


def test_nothing_is_judged_without_scores(scores):
    found = scores()
    with pytest.raises(CannotJudge, match="This run has none of SVHN, CIFAR-10"):
        select_datasets({"mnist": found}, ["svhn", "cifar10"])
    exact = ByDataset()
    exact.calibration = "exact"
    with pytest.raises(CannotJudge, match="This run has no SVHN at equal true privacy"):
        exact["svhn"]
    with pytest.raises(CannotJudge, match="no budget from 2 to 5"):
        found.select_budgets(2.0, 5.0)
    with pytest.raises(CannotJudge, match="One budget of idn shows no trend"):
        found.select_budgets(1.0, 1.0).rise(ONE)
