"""Learning with noisy gradients: r1smg2024 Figures 7 and 8. Published `gaussian` is DP-SGD's noise.

Every step draws each record with probability q = batch / records, sums the gradients of the
cross-entropy, each clipped to norm C, and releases the sum through the mechanism. A point's
(epsilon, delta) is the budget of the whole run; learning/training/step_noise.py calibrates the
noise of a step to it. What the run truly spends is measured with the accuracy. Adjacency: one
record is added or removed. The control without privacy does not clip, as in the paper. All
mechanisms, and all learning rates, share start and samples.

The paper states q, E, C, the noise multipliers and delta'. It states neither the learning rate
(0.15 in the tutorial it cites), which is swept, nor whether samples are Poisson, which its
accountant assumes.

Canary: an adversary knows all gradients of a step except one of norm C, and tests by the likelihood
ratio whether that one is in the sum. At the budget of one step by eq. (16), without sampling, the
claim bounds the true positive rate by e^epsilon times the false positive rate plus delta.

One-run audit, for data sets in `canaries`: that many extra records with gradients of norm C are
each included by the toss of a coin, and the run itself shows how many tosses an adversary guesses
(learning/training/one_run.py). They are part of the training: its accuracies are then those of the
audited run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pydantic import Field

from learning import TRAINING_IMPORTS
from learning.networks.tutorial_networks import TUTORIALS
from learning.records import labelled as data
from learning.training.clipping import Clipping
from learning.training.device import OnDevice
from mechanisms import Budget, Mechanism
from paper_figures.r1smg2024.numbers import CLIPPING_NORM
from studies.base.coordinates import EPOCH, Coordinate
from studies.base.settings import (
    MOST_TRIALS,
    ByDataset,
    Count,
    Disallowed,
    Distinct,
    Epsilon,
    Positive,
    Share,
)
from studies.base.study import (
    Names,
    Point,
    Value,
    Variant,
    trials_of,
)
from studies.base.tolerances import SCORE, Tolerance, tolerances
from studies.descent_metrics import DESCENT_METRICS, DESCENT_TOLERANCES

NAME = "dpsgd"
PAPER = "r1smg2024"
DATASETS = {name: data.SOURCES[name] for name in TUTORIALS}
FALSE_POSITIVE_RATE = Coordinate(
    "false_positive_rate", float, "nominal rate that sets the threshold of the canary's test"
)
LEARNING_RATE = Coordinate("learning_rate", float, "step size on the mean gradient, > 0")
COORDINATES = (LEARNING_RATE, EPOCH, FALSE_POSITIVE_RATE)
SLOW_IMPORTS = (
    *TRAINING_IMPORTS,
    "studies.descent",
    "learning.training.noisy_descent",
    "learning.training.one_run",
    "learning.training.step_noise",
    "dp_accounting.pld.privacy_loss_distribution",
)
METRICS = DESCENT_METRICS | {
    "canary_false_positive_rate": "share of releases without the canary above the threshold",
    "canary_true_positive_rate": "share of releases with the canary above the threshold",
    "one_run_epsilon_lower": "lower bound on the true epsilon of the run at delta, from its "
    "canaries; holds with a probability of 0.95",
    "one_run_canaries": "records with a coin in the one-run audit",
    "one_run_guesses": "canaries that were guessed, of the three numbers of guesses tried the one "
    "that proves most; the bound is that of Steinke et al. 2023 at an error of 0.05 / 3",
    "one_run_correct": "correct ones of these guesses",
    "diverged_epoch": "epoch, from 1, in which the gradients of a run were no longer finite; the "
    "run has no accuracies",
}
TOLERANCES = (
    DESCENT_TOLERANCES
    | tolerances(
        SCORE, "canary_false_positive_rate", "canary_true_positive_rate", "one_run_epsilon_lower"
    )
    | {name: Tolerance(absolute=20.0) for name in ("one_run_guesses", "one_run_correct")}
    | {"diverged_epoch": Tolerance(absolute=2.0)}
)
SPLITS_TRIALS = True
CLIPPING = Clipping(bound=CLIPPING_NORM)
# False positive rates at which the canary is tested.
CANARY_RATES = (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3)


class Settings(OnDevice):
    """Settings of this study."""

    budgets: ByDataset[Distinct[Epsilon]] = Field(description="total epsilon of a run")
    delta: Share = Field(description="total delta")
    slack: Positive = Field(1e-10, description="delta' of r1smg2024 eq. (16)")
    epochs: ByDataset[Count] = Field(description="epochs of a run")
    batch: Count = Field(256, description="expected records per step")
    records: ByDataset[Count] = Field(
        {}, description="training records kept, drawn at random; all by default"
    )
    learning_rates: ByDataset[Distinct[Positive]] = Field(
        description="learning rates of plain gradient descent; runs of each"
    )
    trials: Count = Field(1, le=MOST_TRIALS, description="runs per budget and learning rate")
    canary_samples: Count = Field(400_000, description="releases with and without the canary")
    canaries: ByDataset[Count] = Field(
        {}, description="canaries of the one-run audit; no audit by default"
    )

    def check(self) -> None:
        """Raise Disallowed unless slack < delta and every canary can have its own parameter."""
        if self.slack >= self.delta:
            raise Disallowed("slack", f"below delta, {self.delta:g}", self.slack)
        for dataset, canaries in self.canaries.items():
            most = TUTORIALS[dataset].size
            if canaries > most:
                allowed = f"at most {most}, the number of parameters of the network"
                raise Disallowed(f"canaries.{dataset}", allowed, canaries)


@dataclass(frozen=True)
class TrainingData:
    """What all mechanisms share: the data set's name, its records, the settings of the study."""

    dataset: str
    split: data.Split
    settings: dict


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """One point per total budget; the shape is that of the gradient as a row."""
    return [
        Point(shape=(1, TUTORIALS[dataset].size), epsilon=epsilon, delta=settings["delta"])
        for epsilon in settings["budgets"][dataset]
    ]


def load(settings: dict, dataset: str, folder: Path, names: Names) -> TrainingData:
    """The images, and those of them that are trained on."""
    seed = names.shared_seed("records")
    split = data.load(dataset, folder, settings["records"].get(dataset), seed)
    return TrainingData(dataset, split, settings)


def measure(
    problem: TrainingData, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """Claimed and true budgets, rates of the canary's test, and accuracies after every epoch."""
    # Accounting and torch take seconds to load, and reading a config imports this module.
    from learning.training.noisy_descent import DescentPlan, Diverged
    from learning.training.step_noise import StrongCompositionSteps, step_mechanism
    from learning.training.trial import seeds_of
    from studies.descent import privacy

    records, batch = len(problem.split.train_labels), problem.settings["batch"]
    epochs = problem.settings["epochs"][problem.dataset]
    steps = StrongCompositionSteps(
        rate=batch / records,
        steps=epochs * records // batch,
        epochs=epochs,
        slack=problem.settings["slack"],
    )
    query = CLIPPING.query(TUTORIALS[problem.dataset].size, batch)
    total = Budget(epsilon=point.epsilon, delta=point.delta)
    mechanism = step_mechanism(variant, query, total, steps, calibration)
    yield Value("records", float(records))
    yield Value("sampling_rate", steps.rate)
    yield Value("steps", float(steps.steps))
    yield from privacy(mechanism, total, steps)

    step = steps.step_budget(total)
    yield Value("step_epsilon", step.epsilon)
    yield Value("step_delta", step.delta)
    one_step = variant.calibrate(query, step, calibration)
    yield from canary_rates(one_step, problem.settings, names.seed(point, "canary"))

    network = TUTORIALS[problem.dataset]
    for rate in problem.settings["learning_rates"][problem.dataset]:
        plan = DescentPlan(
            batch=batch,
            epochs=epochs,
            learning_rate=rate,
            clipping=None if mechanism.guarantee == "none" else CLIPPING,
            device=problem.settings["device"],
        )
        at = {"learning_rate": rate}
        for trial in trials_of(problem.settings):
            run = (network, problem.split, plan, mechanism, point)
            try:
                yield from _accuracies(run, problem, steps.rate, names, trial, at)
            except Diverged as diverged:
                # The runs of other learning rates and trials keep their accuracies.
                seed = seeds_of(point, names, trial).noise
                yield Value("diverged_epoch", float(diverged.epoch), trial, at, seed)


def _accuracies(
    run: tuple, problem: TrainingData, rate: float, names: Names, trial: int, at: dict
) -> Iterator[Value]:
    """Accuracies of one run and, with canaries, what its audit found."""
    from learning.training.one_run import CanaryAudit
    from studies.descent import accuracies

    canaries = problem.settings["canaries"].get(problem.dataset)
    if canaries is None:
        yield from accuracies(*run, names, trial, at)
        return
    network, _, _, mechanism, point = run
    audit = CanaryAudit(
        mechanism=mechanism,
        clipping=CLIPPING,
        rate=rate,
        batch=problem.settings["batch"],
        canaries=canaries,
        size=network.size,
        seed=names.seed(point, "one-run", trial),
    )
    # A checkpoint would lack the scores of the canaries.
    apart = replace(names, folder=None)
    yield from accuracies(*run, apart, trial, at, release=audit.release)
    epsilon, found = audit.best(point.delta)
    for metric, value in (
        ("one_run_epsilon_lower", epsilon),
        ("one_run_canaries", found.canaries),
        ("one_run_guesses", found.guesses),
        ("one_run_correct", found.correct),
    ):
        yield Value(metric, float(value), trial, at, audit.seed)


def canary_rates(mechanism: Mechanism, settings: dict, seed: int) -> Iterator[Value]:
    """Rates of the likelihood-ratio test; separate releases set its thresholds."""
    profile = mechanism.profile()
    if profile is None:
        return
    rng, count = np.random.default_rng(seed), settings["canary_samples"]
    rates = np.array(CANARY_RATES)
    absent = profile.sample_losses(rng, count, reverse=True)
    thresholds = np.quantile(absent, 1 - rates, method="higher")
    for metric, reverse in (
        ("canary_false_positive_rate", True),
        ("canary_true_positive_rate", False),
    ):
        losses = np.sort(profile.sample_losses(rng, count, reverse=reverse))
        found = 1 - np.searchsorted(losses, thresholds, side="right") / count
        for target, rate in zip(rates.tolist(), found, strict=True):
            yield Value(metric, rate, at={"false_positive_rate": target}, seed=seed)
