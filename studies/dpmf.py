"""Learning with noise that is correlated over the steps (DP-MF, DP-FTRL), and with DP-SGD.

Every mechanism trains the same network for the same number of epochs, with plain gradient descent
on sums of gradients that are clipped to norm C. A point's (epsilon, delta) is the budget of the
whole run.

- A mechanism for streams (matrix factorisation) gets the batches in a fixed order: a record takes
  part once per epoch, every b = records // batch steps, and no sampling amplifies its privacy. All
  steps together are one release of Gaussian noise sigma C^-1 z, sigma = C sens(C) / mu, with the mu
  of the budget. Adjacency: the gradients of one record become, or were, zero, and no other record
  changes its place.
- Any other noise is that of DP-SGD: every step draws each record with probability batch / records,
  as the study `dpsgd` does, and bounds on the composition of the sampled steps set the noise.
  Adjacency: one record is added or removed.
  The control without privacy is DP-SGD without noise; it clips, too.

All mechanisms share the start of a trial; those with the same kind of batches share the batches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from learning import TRAINING_IMPORTS
from learning.networks.tutorial_networks import TUTORIALS
from learning.records import labelled
from learning.training.device import OnDevice
from mechanisms import AdditiveMechanism, Budget
from mechanisms.base.public_information import PARTICIPATIONS, takes
from studies.base.coordinates import EPOCH
from studies.base.grid import EpsilonGrid, points_over
from studies.base.settings import ByDataset, Count, Distinct, Positive, Trials
from studies.base.study import Names, Point, Value, Variant, trials_of
from studies.base.tolerances import Tolerance
from studies.descent_metrics import DESCENT_METRICS, DESCENT_TOLERANCES
from studies.dpsgd import CLIPPING, LEARNING_RATE

NAME = "dpmf"
PAPER = "suite"
DATASETS = {name: labelled.SOURCES[name] for name in TUTORIALS}
COORDINATES = (LEARNING_RATE, EPOCH)
SLOW_IMPORTS = (
    *TRAINING_IMPORTS,
    "studies.descent",
    "learning.training.noisy_descent",
    "learning.training.step_noise",
    "learning.training.stream_noise",
    "dp_accounting.pld.privacy_loss_distribution",
)
_SHARED = (
    "records",
    "steps",
    "sampling_rate",
    "noise_norm",
    "true_delta_lower",
    "true_delta_upper",
    "true_epsilon_upper",
    "train_accuracy",
    "test_accuracy",
    "final_train_accuracy",
    "final_test_accuracy",
    "epoch_seconds",
)
METRICS = {name: DESCENT_METRICS[name] for name in _SHARED} | {
    "sum_error": "root mean squared noise on an element of the sum of all steps so far, mean over "
    "the steps, in units of the clipping norm",
    "noise_memory": "vectors of M numbers that the noise of the next step depends on",
}
# A search finds the factorisation.
TOLERANCES = DESCENT_TOLERANCES | {"sum_error": Tolerance(relative=1e-5)}
SPLITS_TRIALS = True


class Settings(EpsilonGrid, OnDevice):
    """Settings of this study."""

    epochs: ByDataset[Count] = Field(description="epochs of a run, k of the participation")
    batch: ByDataset[Count] = Field(description="records per step, expected where they are sampled")
    records: ByDataset[Count] = Field(
        {}, description="training records kept, drawn at random; all by default"
    )
    learning_rates: ByDataset[Distinct[Positive]] = Field(
        description="learning rates of plain gradient descent; runs of each"
    )
    trials: Trials = Field(1, description="runs per budget and learning rate")
    trials_for: ByDataset[Trials] = Field(
        {}, description="for single data sets, in place of `trials`"
    )


@dataclass(frozen=True)
class CorrelatedTraining:
    """What all mechanisms share: the data set's name, its records, the settings of the study."""

    dataset: str
    split: labelled.Split
    settings: dict


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """The grid over epsilon at the shape of the gradient as a row."""
    return points_over([(1, TUTORIALS[dataset].size)], settings, variant)


def load(settings: dict, dataset: str, folder: Path, names: Names) -> CorrelatedTraining:
    """The images, and those of them that are trained on.

    Raises:
        ValueError: They do not fill a batch.
    """
    seed = names.shared_seed("records")
    split = labelled.load(dataset, folder, settings["records"].get(dataset), seed)
    batch = settings["batch"][dataset]
    if len(split.train_labels) < batch:
        raise ValueError(
            f"batch must be at most the number of training records, {len(split.train_labels)}, "
            f"got {batch}"
        )
    return CorrelatedTraining(dataset, split, settings)


def measure(
    problem: CorrelatedTraining, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """Claimed and true budgets, the noise's error, and accuracies after every epoch."""
    # Accounting and torch take seconds to load, and reading a config imports this module.
    from learning.training.noisy_descent import DescentPlan
    from learning.training.step_noise import AmplifiedShares, step_mechanism
    from learning.training.stream_noise import (
        StreamRelease,
        stream_mechanism,
        stream_values,
    )
    from learning.training.trial import seeds_of
    from studies.descent import accuracies, privacy

    settings, records = problem.settings, len(problem.split.train_labels)
    network = TUTORIALS[problem.dataset]
    batch, epochs, rates = (
        settings[key][problem.dataset] for key in ("batch", "epochs", "learning_rates")
    )
    total = Budget(epsilon=point.epsilon, delta=point.delta)
    streams = takes(variant.mechanism, PARTICIPATIONS)

    def plan_at(rate: float) -> DescentPlan:
        return DescentPlan(
            batch=batch,
            epochs=epochs,
            learning_rate=rate,
            clipping=CLIPPING,
            device=settings["device"],
            fixed_order=streams,
        )

    plan = plan_at(1.0)
    yield Value("records", float(records))
    yield Value("steps", float(plan.steps(records)))
    if streams:
        mechanism = stream_mechanism(variant, total, calibration, plan, records)
        yield from stream_values(mechanism, total)
    else:
        schedule = AmplifiedShares(rate=batch / records, steps=plan.steps(records))
        query = CLIPPING.query(network.size, batch)
        mechanism = step_mechanism(variant, query, total, schedule, calibration)
        yield Value("sampling_rate", schedule.rate)
        yield from privacy(mechanism, total, schedule)
        if isinstance(mechanism, AdditiveMechanism):
            each = mechanism.expected_loss() / network.size
            error = math.sqrt(each * (schedule.steps + 1) / 2) / CLIPPING.bound
            yield Value("sum_error", error)
            yield Value("noise_memory", 0.0)

    for rate in rates:
        at = {"learning_rate": rate}
        for trial in trials_of(settings, problem.dataset):
            hooks = {}
            if streams:
                seed = seeds_of(point, names, trial).noise
                release = StreamRelease(mechanism, network.size, seed)
                hooks = {"release": release, "resumed": release.resumed}
            run = (network, problem.split, plan_at(rate), mechanism, point, names, trial, at)
            yield from accuracies(*run, **hooks)
