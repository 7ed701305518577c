"""Shared code of the horizontal and the vertical study: settings, points, records and rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from learning import TRAINING_IMPORTS
from learning.records.labelled import Split
from mechanisms import AdditiveMechanism, Budget, Mechanism
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
from studies.base.training import TrainingSettings, load_records, progress_of, seeds_of, span
from studies.descent import RANKED_ACCURACY, SPENT, TEST_ACCURACY

if TYPE_CHECKING:
    from learning.federated.rounds import Round
    from learning.federated.upload_budgets import Uploads

# Trials that train together. More would need more memory and hardly less time per trial.
AT_ONCE = 20


class FederatedSettings(MechanismGrids, TrainingSettings):
    """Settings of both studies."""

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
        """One point per total budget."""
        epsilons = self.own_grid(variant, dataset, self.budgets[dataset])
        return [Point(shape=shape, epsilon=epsilon, delta=self.delta) for epsilon in epsilons]


class FederatedStudy(Study):
    """A study of federated learning in rounds, each with a test."""

    paper = "mgm2021"
    coordinates = (ROUND,)
    slow_imports = (*TRAINING_IMPORTS, "learning.federated.upload_budgets")
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
            ValueError: The settings keep more test records than the data set has.
        """
        split = load_records(setup, folder)
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
    mechanisms: Sequence[Mechanism], uploads: Uploads, total: Budget, records: int
) -> Iterator[Value]:
    """Yield the number of releases, the budget of one, and the privacy that all of them spend."""
    use = uploads.use_budget(total, len(mechanisms))
    yield Value("records", float(records))
    yield Value("uses", float(uploads.rounds * len(mechanisms)))
    yield Value("use_epsilon", use.epsilon)
    yield Value("use_delta", use.delta)
    yield from privacy_values(mechanisms, uploads, total)


def privacy_values(
    mechanisms: Sequence[Mechanism], uploads: Uploads, total: Budget
) -> Iterator[Value]:
    """Yield the noise norm of a round, and bounds on the privacy that the whole run spends.

    true_delta_upper is taken at the epsilon of the point and true_epsilon_upper at its delta; both
    are left out where they are unknown or infinite. true_delta_lower is the delta of the worst
    single upload; it is left out unless one record can move an upload by the full sensitivity.
    """
    if all(isinstance(mechanism, AdditiveMechanism) for mechanism in mechanisms):
        loss = sum(mechanism.expected_loss() for mechanism in mechanisms)
        yield Value("noise_norm", math.sqrt(loss))
    profiles = [mechanism.profile() for mechanism in mechanisms]
    if uploads.fresh and all(
        known is not None and known.symmetric and known.slack is None for known in profiles
    ):
        lower = max(uploads.worst_delta(profile, total.epsilon) for profile in set(profiles))
        yield Value("true_delta_lower", lower)
    spent = uploads.spent(mechanisms)
    if spent is None:
        return
    yield Value("true_delta_upper", spent.delta(total.epsilon))
    epsilon = spent.epsilon(total.delta)
    if math.isfinite(epsilon):
        yield Value("true_epsilon_upper", epsilon)


def training_values(
    train: Callable[..., Sequence[Round]],
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
        train: The `train` of `learning.federated.horizontal` or `vertical`, which documents the
            network, the plan and the release.
        stacks: Whether trials train faster together than one by one.
    """
    at_once = AT_ONCE if stacks else 1
    for first in range(case.trials.start, case.trials.stop, at_once):
        trials = range(first, min(first + at_once, case.trials.stop))
        seeds = [seeds_of(case, point, trial) for trial in trials]
        progress = progress_of(case, point, span(trials))
        history = train(network, problem, plan, release, seeds, **progress)
        yield from _rounds(history, trials, [each.noise for each in seeds])


def _rounds(history: Sequence[Round], trials: range, seeds: Sequence[int]) -> Iterator[Value]:
    """Yield the values of trials that trained together; `seeds` seeded their noise."""
    for run, (trial, seed) in enumerate(zip(trials, seeds, strict=True)):
        for number_of_round, ended in enumerate(history, start=1):
            at = {"round": number_of_round}
            share = ended.seconds / len(trials)
            yield Value("test_accuracy", ended.test_accuracies[run], trial, at, seed)
            yield Value("round_seconds", share, trial, at, seed, timing=True)
        yield Value("final_test_accuracy", history[-1].test_accuracies[run], trial, seed=seed)
