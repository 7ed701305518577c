"""What the horizontal and the vertical study share: settings, points, records and rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from learning.records import labelled
from learning.training.device import OnDevice
from mechanisms import AdditiveMechanism, Budget, Mechanism
from studies.base.settings import (
    ByDataset,
    ByMechanism,
    Count,
    Distinct,
    Epsilon,
    Positive,
    Share,
    Trials,
)
from studies.base.study import Names, Point, Value, trials_of

if TYPE_CHECKING:
    from learning.federated.rounds import Round
    from learning.federated.upload_budgets import Uploads

# Trials that train together: with more of them memory grows, and a trial costs hardly less.
AT_ONCE = 20


class FederatedSettings(OnDevice):
    """Settings of both studies."""

    budgets: ByDataset[Distinct[Epsilon]] = Field(description="total epsilon of a run")
    epsilons_for: ByMechanism[Distinct[Positive]] = Field(
        {},
        description="total epsilon of single mechanisms on every data set, in place of `budgets`",
    )
    delta: Share = Field(description="total delta")
    rounds: ByDataset[Count] = Field(description="rounds of a run, each followed by a test")
    batch: ByDataset[Count] = Field(description="records of a step")
    learning_rate: ByDataset[Positive] = Field(
        description="learning rate of plain gradient descent"
    )
    records: ByDataset[Count] = Field(
        {}, description="training records kept, drawn at random; all by default"
    )
    tests: ByDataset[Count] = Field(
        {}, description="test records kept, drawn at random; all by default"
    )
    trials: Trials = Field(1, description="runs per budget")


def points_of(settings: dict, variant: str, dataset: str, shape: tuple[int, ...]) -> list[Point]:
    """One point per total budget."""
    epsilons = settings["epsilons_for"].get(variant, settings["budgets"][dataset])
    return [Point(shape=shape, epsilon=epsilon, delta=settings["delta"]) for epsilon in epsilons]


@dataclass(frozen=True)
class FederatedRecords:
    """What all mechanisms of a study share on one data set."""

    dataset: str
    split: labelled.Split
    settings: dict

    def of(self, key: str):
        """A setting of the data set."""
        return self.settings[key][self.dataset]


def load_records(settings: dict, dataset: str, folder: Path, names: Names) -> FederatedRecords:
    """The training and test records of a data set that the settings keep.

    Raises:
        ValueError: The settings keep more test records than the data set has.
    """
    split = labelled.load(
        dataset, folder, settings["records"].get(dataset), names.shared_seed("records")
    )
    tests, count = settings["tests"].get(dataset), len(split.test_labels)
    if tests is not None:
        if tests > count:
            raise ValueError(
                f"tests must be at most {count}, the number of test records of {dataset}, got "
                f"{tests}; lower it or leave it out"
            )
        rng = np.random.default_rng(names.shared_seed("tests"))
        kept = np.sort(rng.choice(count, tests, replace=False))
        split = replace(
            split, test_inputs=split.test_inputs[kept], test_labels=split.test_labels[kept]
        )
    return FederatedRecords(dataset, split, settings)


def trials_together(problem: FederatedRecords, *, stacks: bool) -> Iterator[range]:
    """The trials of a cell, those that train together in one range each.

    Args:
        stacks: Whether trials train faster together than one by one.
    """
    trials = trials_of(problem.settings, problem.dataset)
    at_once = AT_ONCE if stacks else 1
    for first in range(trials.start, trials.stop, at_once):
        yield range(first, min(first + at_once, trials.stop))


def privacy_values(
    mechanisms: Sequence[Mechanism], uploads: Uploads, total: Budget
) -> Iterator[Value]:
    """The size of a round's noise, and bounds on what the whole run spends.

    true_delta_upper is at the point's epsilon and true_epsilon_upper at its delta, where they are
    known and finite. true_delta_lower is what the worst single upload spends, where one record's
    change is known to move the upload by its whole sensitivity.
    """
    if all(isinstance(mechanism, AdditiveMechanism) for mechanism in mechanisms):
        loss = sum(mechanism.expected_loss() for mechanism in mechanisms)
        yield Value("noise_norm", math.sqrt(loss))
    profiles = [mechanism.profile() for mechanism in mechanisms]
    tight = uploads.fresh and not any(mechanism.slack() for mechanism in mechanisms)
    if tight and None not in profiles:
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
    history: Sequence[Round], trials: range, seeds: Sequence[int]
) -> Iterator[Value]:
    """Test accuracies of trials after every round (`round`), and after the last.

    Args:
        history: The rounds of these trials, which trained together.
        seeds: Noise seeds of the trials.
    """
    for run, (trial, seed) in enumerate(zip(trials, seeds, strict=True)):
        for number_of_round, ended in enumerate(history, start=1):
            at = {"round": number_of_round}
            share = ended.seconds / len(trials)
            yield Value("test_accuracy", ended.test_accuracies[run], trial, at, seed)
            yield Value("round_seconds", share, trial, at, seed, timing=True)
        yield Value("final_test_accuracy", history[-1].test_accuracies[run], trial, seed=seed)
