"""Shared code of the horizontal and the vertical study: settings, points, records and rows."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from learning import TRAINING_IMPORTS
from learning.federated.upload_budgets import spent, worst_delta
from learning.records.labelled import Split
from mechanisms import AdditiveMechanism, Budget, Mechanism
from mechanisms.privacy.profile import Bounds
from studies.base import (
    ROUND,
    ByDataset,
    Case,
    Count,
    Distinct,
    Epsilon,
    MechanismGrids,
    Metric,
    Point,
    Positive,
    Setup,
    Share,
    Study,
    Value,
)
from studies.base.training import TrainingSettings, load_batches, progress_of, seeds_of, span
from studies.descent import RANKED_ACCURACY, SPENT, TEST_ACCURACY

# Trials that train together. More would need more memory and hardly less time per trial.
AT_ONCE = 20


class FederatedSettings(MechanismGrids, TrainingSettings):
    """Settings that the horizontal and the vertical study share."""

    budgets: ByDataset[Distinct[Epsilon]] = Field(description="total epsilon of a run")
    delta: Share = Field(description="total delta")
    rounds: ByDataset[Count] = Field(description="rounds of a run, each followed by a test")
    batch: ByDataset[Count] = Field(description="records of a step")
    learning_rate: ByDataset[Positive] = Field(
        description="learning rate of plain gradient descent"
    )
    tests: ByDataset[Count] = Field(
        {}, description="test records kept, drawn at random; all by default"
    )

    def points_at(self, shape: tuple[int, ...], variant: str, dataset: str) -> list[Point]:
        """Return one point per total budget."""
        epsilons = self.own_grid(variant, dataset, self.budgets[dataset])
        return [Point(shape=shape, epsilon=epsilon, delta=self.delta) for epsilon in epsilons]


class FederatedStudy(Study):
    """A study of federated learning in rounds, each with a test."""

    paper = "mgm2021"
    coordinates = (ROUND,)
    slow_imports = TRAINING_IMPORTS
    splits_trials = True
    metrics = (
        *SPENT,
        RANKED_ACCURACY,
        TEST_ACCURACY,
        Metric("parameters", "parameters of the network"),
        Metric("uses", "releases of one person's data in the whole run"),
        Metric("use_epsilon", "epsilon of the budget of one release"),
        Metric("use_delta", "delta of the budget of one release"),
        Metric(
            "round_seconds",
            "wall-clock seconds of one round, divided by the trials that train together",
        ),
    )

    def load(self, setup: Setup, folder: Path) -> Split:
        """Load the training and test records that the settings keep.

        Raises:
            ValueError: The settings keep more test records than the data set has, or the training
                records do not fill a batch.
        """
        batch = setup.settings.batch[setup.dataset]
        split = load_batches(setup, folder, batch, f"batch.{setup.dataset}")
        tests, count = setup.settings.tests.get(setup.dataset), len(split.test_labels)
        if tests is None:
            return split
        if tests > count:
            raise ValueError(
                f"tests must be at most {count}, the number of test records of {setup.dataset}, "
                f"got {tests}; lower it or leave it out"
            )
        rng = np.random.default_rng(setup.shared_seed("tests"))
        kept = np.sort(rng.choice(count, tests, replace=False))
        return replace(
            split, test_inputs=split.test_inputs[kept], test_labels=split.test_labels[kept]
        )


def run_values(
    mechanisms: Sequence[Mechanism],
    use: Budget,
    rounds: int,
    total: Budget,
    records: int,
    *,
    fresh: bool,
) -> Iterator[Value]:
    """Yield the number of releases, the budget of one, and the privacy that all of them spend.

    true_delta_upper is taken at the epsilon of the point and true_epsilon_upper at its delta; each
    is left out if it is unknown or infinite. true_delta_lower is the delta of the worst single
    upload. It is left out unless one record can move an upload by the full sensitivity and all
    profiles are symmetric and exactly known.

    Args:
        mechanisms: One per release of a round.
        use: The claimed budget of one release.
        rounds: Number of rounds of the run.
        total: The budget of the run.
        records: Number of training records.
        fresh: Whether one record can move an upload by the full sensitivity.
    """
    yield Value("records", records)
    yield Value("uses", rounds * len(mechanisms))
    yield Value("use_epsilon", use.epsilon)
    yield Value("use_delta", use.delta)
    if all(isinstance(mechanism, AdditiveMechanism) for mechanism in mechanisms):
        loss = sum(mechanism.expected_loss() for mechanism in mechanisms)
        yield Value("noise_norm", math.sqrt(loss))
    profiles = {mechanism.profile() for mechanism in mechanisms}
    if fresh and all(
        known is not None and known.symmetric and known.slack is None for known in profiles
    ):
        yield Value("true_delta_lower", worst_delta(profiles, total.epsilon))
    run = spent(mechanisms, rounds)
    if run is None:
        return
    uppers = {
        "true_delta_upper": run.delta(total.epsilon),
        "true_epsilon_upper": run.epsilon(total.delta),
    }
    for metric, found in uppers.items():
        upper = found.upper if isinstance(found, Bounds) else found
        if math.isfinite(upper):
            yield Value(metric, upper)


def training_values(
    train: Callable,
    network: Any,
    problem: Split,
    plan: Any,
    release: Callable,
    case: Case,
    point: Point,
    *,
    stacks: bool,
) -> Iterator[Value]:
    """Yield the test accuracies of all trials after every round (`round`) and after the last one.

    Args:
        train: The function `train` of `learning.federated.horizontal` or `vertical`, which
            documents the network, the plan and the release.
        stacks: Whether trials train faster together than one by one.
    """
    at_once = AT_ONCE if stacks else 1
    for first in range(case.trials.start, case.trials.stop, at_once):
        trials = range(first, min(first + at_once, case.trials.stop))
        seeds = [seeds_of(case, point, trial) for trial in trials]
        progress = progress_of(case, point, span(trials))
        history = train(network, problem, plan, release, seeds, **progress)
        for run, (trial, seed) in enumerate(zip(trials, seeds, strict=True)):
            for number_of_round, ended in enumerate(history, start=1):
                own = trial, {"round": number_of_round}, seed.noise
                yield Value("test_accuracy", ended.accuracies[run], *own)
                yield Value("round_seconds", ended.seconds / len(trials), *own, timing=True)
            last = history[-1].accuracies[run]
            yield Value("final_test_accuracy", last, trial, seed=seed.noise)
