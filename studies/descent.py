"""What studies of noisy gradient descent measure: the privacy that a run spends, its accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from learning.training.step_noise import SampledSteps, step_profile
from learning.training.trial import checkpoint_of, label_of, seeds_of
from mechanisms import AdditiveMechanism, Budget, Mechanism
from studies.base.study import Names, Point, Value

if TYPE_CHECKING:
    from learning.networks.network import Network
    from learning.records.labelled import Split
    from learning.training.noisy_descent import DescentPlan


def privacy(mechanism: Mechanism, total: Budget, steps: SampledSteps) -> Iterator[Value]:
    """The norm of the noise of one step, and bounds on what the whole run spends."""
    if isinstance(mechanism, AdditiveMechanism):
        yield Value("noise_norm", math.sqrt(mechanism.expected_loss()))
    profile = step_profile(mechanism)
    if profile is None:
        return
    run = steps.run(profile)
    yield Value("true_delta_upper", run.delta(total.epsilon))
    if mechanism.slack() is None:
        yield Value("true_delta_lower", run.step_delta(total.epsilon).lower)
    epsilon = run.epsilon(total.delta)
    if math.isfinite(epsilon):
        yield Value("true_epsilon_upper", epsilon)


def accuracies(
    network: Network,
    split: Split,
    plan: DescentPlan,
    mechanism: Mechanism,
    point: Point,
    names: Names,
    trial: int,
    at: Mapping[str, object] | None = None,
    *,
    release: Callable | None = None,
    resumed: Callable[[int], None] | None = None,
) -> Iterator[Value]:
    """Accuracies after every epoch of one run; all mechanisms share its start and its samples.

    `at` holds the coordinates of the run, such as its learning rate. They are not part of a seed:
    runs of one trial have the same draws. `release` and `resumed` are those of
    `noisy_descent.train`; without them it is `mechanism.release`.
    """
    # PyTorch loads slowly, and every config imports the studies.
    from learning.training import noisy_descent

    at = at or {}
    seeds = seeds_of(point, names, trial)
    history = noisy_descent.train(
        network,
        split,
        plan,
        release or mechanism.release,
        seeds,
        resumed=resumed,
        checkpoint=checkpoint_of(point, names, trial, at),
        label=label_of(mechanism, point, names, trial, at),
    )
    for number_of_epoch, epoch in enumerate(history, start=1):
        found = (trial, {**at, "epoch": number_of_epoch}, seeds.noise)
        yield Value("train_accuracy", epoch.train_accuracy, *found)
        yield Value("test_accuracy", epoch.test_accuracy, *found)
        yield Value("epoch_seconds", epoch.seconds, *found, timing=True)
    yield Value("final_train_accuracy", history[-1].train_accuracy, trial, at, seeds.noise)
    yield Value("final_test_accuracy", history[-1].test_accuracy, trial, at, seeds.noise)
