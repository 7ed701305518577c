"""What studies of learning with noisy gradients measure: the budgets of a run, and its accuracy."""

from __future__ import annotations

import math
from collections.abc import Iterator

from experiments.contract.study import Names, Point, Value
from learning.networks.network import Network
from learning.records.labelled import Split
from learning.training import noisy_descent as loop
from learning.training.step_noise import Steps, step_profile
from learning.training.trial import checkpoint_of, label_of, seeds_of
from mechanisms import AdditiveMechanism, Budget, Mechanism


def privacy(mechanism: Mechanism, total: Budget, schedule: Steps) -> Iterator[Value]:
    """The size of a step's noise, and bounds on what the whole run spends."""
    if isinstance(mechanism, AdditiveMechanism):
        yield Value("noise_norm", math.sqrt(mechanism.expected_loss()))
    profile = step_profile(mechanism)
    if profile is None:
        return
    run = schedule.run(profile)
    yield Value("true_delta_upper", run.delta(total.epsilon))
    if mechanism.slack() is None:
        yield Value("true_delta_lower", run.step_delta(total.epsilon).lower)
    epsilon = run.epsilon(total.delta)
    if math.isfinite(epsilon):
        yield Value("true_epsilon_upper", epsilon)


def accuracies(
    network: Network,
    split: Split,
    plan: loop.Plan,
    mechanism: Mechanism,
    point: Point,
    names: Names,
    trial: int,
) -> Iterator[Value]:
    """Accuracy after every epoch (`epoch`) of one run; start and samples are shared by all."""
    seeds = seeds_of(point, names, trial)
    history = loop.train(
        network,
        split,
        plan,
        mechanism.release,
        seeds,
        checkpoint=checkpoint_of(point, names, trial),
        label=label_of(mechanism, point, names, trial),
    )
    for number_of_epoch, epoch in enumerate(history, start=1):
        at = (trial, {"epoch": number_of_epoch}, seeds.noise)
        yield Value("train_accuracy", epoch.train_accuracy, *at)
        yield Value("test_accuracy", epoch.test_accuracy, *at)
        yield Value("epoch_seconds", epoch.seconds, *at, timing=True)
    yield Value("final_train_accuracy", history[-1].train_accuracy, trial, seed=seeds.noise)
    yield Value("final_test_accuracy", history[-1].test_accuracy, trial, seed=seeds.noise)
