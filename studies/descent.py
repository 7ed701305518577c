"""Shared code of the studies of noisy gradient descent: privacy spent, and accuracy.

One record is added or removed. The sampling rate and the number of steps follow from the number of
records, which is treated as public. A run ends early once its gradients or logits are no longer
finite; the guarantee does not cover that fact.

Functions import torch themselves, because it takes seconds to load and reading a config imports
this module.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from learning import TRAINING_IMPORTS
from learning.networks.network import Network
from learning.records.labelled import Split
from learning.training.step_noise import SampledSteps, step_profile
from mechanisms import AdditiveMechanism, Budget, Mechanism, Unsupported
from studies.base import (
    ACCOUNTED,
    ACCOUNTED_DELTA,
    EPOCH,
    SCORE,
    Case,
    Metric,
    Point,
    Study,
    Value,
)
from studies.base.training import progress_of, seeds_of

if TYPE_CHECKING:
    from learning.training.noisy_descent import DescentPlan

# The size of a run and the privacy that it truly spends.
SPENT = (
    Metric("records", "training records"),
    Metric("noise_norm", "sqrt(E||noise||^2) of one release", tolerance=ACCOUNTED),
    Metric(
        "true_delta_lower",
        "lower bound on the true delta of the whole run at epsilon",
        tolerance=ACCOUNTED_DELTA,
    ),
    Metric(
        "true_delta_upper",
        "upper bound on the true delta of the whole run at epsilon",
        tolerance=ACCOUNTED_DELTA,
    ),
    Metric(
        "true_epsilon_upper",
        "upper bound on the true epsilon of the whole run at delta",
        tolerance=ACCOUNTED,
    ),
    Metric("sampling_rate", "probability that a record is in a batch"),
)
TEST_ACCURACY = Metric("test_accuracy", "accuracy on the test records, in [0, 1]", tolerance=SCORE)
RANKED_ACCURACY = Metric(
    "final_test_accuracy",
    "test accuracy after the last epoch or round, in [0, 1]",
    tolerance=SCORE,
    title="test accuracy",
    better="larger",
    largest=1.0,
)
LEARNT = (
    Metric("steps", "steps of the whole run"),
    TEST_ACCURACY,
    Metric("train_accuracy", "accuracy on the training records, in [0, 1]", tolerance=SCORE),
    Metric(
        "final_train_accuracy",
        "training accuracy after the last epoch, in [0, 1]",
        tolerance=SCORE,
    ),
    Metric("epoch_seconds", "wall-clock seconds of one epoch"),
)
STEP_BUDGET = (
    Metric("step_epsilon", "epsilon of the budget of one step"),
    Metric("step_delta", "delta of the budget of one step"),
)

# In the order of `learning.training.noisy_descent.train`.
ACCURACIES = ("train_accuracy", "test_accuracy")


class DescentStudy(Study):
    """A study that trains networks by noisy gradient descent on Poisson samples."""

    coordinates = (EPOCH,)
    slow_imports = (
        *TRAINING_IMPORTS,
        "learning.training.noisy_descent",
        "dp_accounting.pld.privacy_loss_distribution",
    )
    splits_trials = True


def schedule_values(steps: SampledSteps, total: Budget, records: int) -> Iterator[Value]:
    """Yield the numbers of records and steps, the sampling rate and the budget of one step.

    The budget is left out if the total leaves none; mechanisms that need it are then unsupported.
    """
    yield Value("records", float(records))
    yield Value("sampling_rate", steps.rate)
    yield Value("steps", float(steps.steps))
    with contextlib.suppress(Unsupported):
        step = steps.step_budget(total)
        yield Value("step_epsilon", step.epsilon)
        yield Value("step_delta", step.delta)


def privacy(mechanism: Mechanism, total: Budget, steps: SampledSteps) -> Iterator[Value]:
    """Yield the noise norm of one step, and bounds on the privacy that the whole run spends."""
    if isinstance(mechanism, AdditiveMechanism):
        yield Value("noise_norm", math.sqrt(mechanism.expected_loss()))
    run = steps.run(step_profile(mechanism))
    if run is None:
        return
    yield Value("true_delta_upper", run.delta(total.epsilon))
    whole = mechanism.profile()
    if whole is not None and whole.slack is None:
        yield Value("true_delta_lower", run.step_delta(total.epsilon).lower)
    epsilon = run.epsilon(total.delta)
    if math.isfinite(epsilon):
        yield Value("true_epsilon_upper", epsilon)


def accuracies(
    network: Network,
    split: Split,
    plan: DescentPlan,
    mechanism: Mechanism,
    case: Case,
    point: Point,
    trial: int,
    at: Mapping[str, object] | None = None,
) -> Iterator[Value]:
    """Train one run; yield its accuracies after every epoch and at the end, and its seconds.

    All mechanisms share the initial weights and the samples of a trial. `at` holds the coordinates
    of the run, such as its learning rate; seeds do not depend on them, so that all runs of a trial
    see the same draws.
    """
    from learning.training import noisy_descent

    at = at or {}
    seeds = seeds_of(case, point, trial)
    history = noisy_descent.train(
        network,
        split,
        plan,
        mechanism.release,
        seeds,
        **progress_of(case, point, trial, at),
    )
    for epoch, (scores, seconds) in enumerate(history, start=1):
        found = (trial, {**at, "epoch": epoch}, seeds.noise)
        for metric, accuracy in zip(ACCURACIES, scores, strict=True):
            yield Value(metric, accuracy, *found)
        yield Value("epoch_seconds", seconds, *found, timing=True)
    for metric, accuracy in zip(ACCURACIES, history[-1].accuracies, strict=True):
        yield Value(f"final_{metric}", accuracy, trial, at, seeds.noise)
