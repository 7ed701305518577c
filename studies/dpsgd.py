"""Learning with noisy gradients: r1smg2024 Figures 7 and 8. Published `gaussian` is DP-SGD's noise.

Every step draws each record with probability q = batch / records, sums the gradients of the
cross-entropy, each clipped to norm C, and releases the sum through the mechanism. A point's
(epsilon, delta) is the budget of the whole run; learning/training/step_noise.py calibrates the
noise of a step to it. What the run truly spends is measured with the accuracy. Adjacency: one
record is added or removed. The control without privacy does not clip, as in the paper, and its
learning rate may differ. All mechanisms, and all learning rates, share start and samples.

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

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from pydantic import Field

from learning.networks.tutorial_networks import TUTORIALS
from learning.records import labelled
from learning.records.labelled import Split
from learning.training.clipping import Clipping
from mechanisms import Mechanism
from paper_figures.r1smg2024.numbers import CLIPPING_NORM
from studies.base import (
    EPOCH,
    SCORE,
    ByDataset,
    Case,
    Coordinate,
    Count,
    Disallowed,
    Distinct,
    Epsilon,
    Metric,
    Point,
    Positive,
    Setup,
    Share,
    Tolerance,
    Value,
)
from studies.base.families import GRADIENTS
from studies.base.training import TrainingSettings, load_batches, seeds_of
from studies.descent import (
    LEARNT,
    RANKED_ACCURACY,
    SPENT,
    STEP_BUDGET,
    DescentStudy,
    accuracies,
    privacy,
    schedule_values,
)

FALSE_POSITIVE_RATE = Coordinate(
    "false_positive_rate", float, "nominal rate that sets the threshold of the canary's test"
)
LEARNING_RATE = Coordinate(
    "learning_rate", float, "step size on the mean gradient, > 0", choice="Learning rate"
)
CLIPPING = Clipping(bound=CLIPPING_NORM)
# False positive rates at which the canary is tested.
CANARY_RATES = (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3)


class DpsgdSettings(TrainingSettings):
    """Settings of this study."""

    budgets: ByDataset[Distinct[Epsilon]] = Field(description="total epsilon of a run")
    delta: Share = Field(description="total delta")
    slack: Positive = Field(1e-10, description="delta' of r1smg2024 eq. (16)")
    epochs: ByDataset[Count] = Field(description="epochs of a run")
    batch: Count = Field(256, description="expected records per step")
    learning_rates: ByDataset[Distinct[Positive]] = Field(
        description="learning rates of plain gradient descent; runs of each"
    )
    unclipped_rates: ByDataset[Positive] = Field(
        {},
        description="learning rate of training without privacy, which does not clip, in place of "
        "`learning_rates`",
    )
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


class NoisyGradients(DescentStudy):
    """Learning with noisy gradients: r1smg2024 Figures 7 and 8."""

    name = "dpsgd"
    paper = "r1smg2024"
    datasets = {name: labelled.SOURCES[name] for name in TUTORIALS}
    Settings = DpsgdSettings
    coordinates = (LEARNING_RATE, EPOCH, FALSE_POSITIVE_RATE)
    slow_imports = (*DescentStudy.slow_imports, "learning.training.one_run")
    metrics = (
        *SPENT,
        *STEP_BUDGET,
        *LEARNT,
        RANKED_ACCURACY,
        Metric(
            "canary_false_positive_rate",
            "share of releases without the canary above the threshold",
            tolerance=SCORE,
        ),
        Metric(
            "canary_true_positive_rate",
            "share of releases with the canary above the threshold",
            tolerance=SCORE,
        ),
        Metric(
            "one_run_epsilon_lower",
            "lower bound on the true epsilon of the run at delta, from its canaries; holds with a "
            "probability of 0.95",
            tolerance=SCORE,
        ),
        Metric("one_run_canaries", "records with a coin in the one-run audit"),
        Metric(
            "one_run_guesses",
            "canaries that were guessed, of the three numbers of guesses tried the one that proves "
            "most; the bound is that of Steinke et al. 2023 at an error of 0.05 / 3",
            tolerance=Tolerance(absolute=20.0),
        ),
        Metric(
            "one_run_correct", "correct ones of these guesses", tolerance=Tolerance(absolute=20.0)
        ),
        Metric(
            "diverged_epoch",
            "epoch, from 1, in which the gradients of a run were no longer finite; the run has no "
            "accuracies",
            tolerance=Tolerance(absolute=2.0),
        ),
    )
    family = GRADIENTS
    query = "The sum of clipped gradients of a Poisson sample; one record is added or removed."

    def points(self, settings: DpsgdSettings, variant: str, dataset: str) -> list[Point]:
        """One point per total budget; the shape is that of the gradient as a row."""
        return [
            Point(shape=(1, TUTORIALS[dataset].size), epsilon=epsilon, delta=settings.delta)
            for epsilon in settings.budgets[dataset]
        ]

    def load(self, setup: Setup, folder: Path) -> Split:
        """The training and test records.

        Raises:
            ValueError: They do not fill a batch.
        """
        return load_batches(setup, folder, setup.settings.batch)

    def measure(self, problem: Split, case: Case, point: Point) -> Iterator[Value]:
        """Claimed and true budgets, rates of the canary's test, accuracies after every epoch."""
        # Accounting and torch take seconds to load, and reading a config imports this module.
        from learning.training.noisy_descent import DescentPlan, Diverged
        from learning.training.step_noise import StrongCompositionSteps, step_mechanism

        settings, total, network = case.settings, point.budget, TUTORIALS[case.dataset]
        records, epochs = len(problem.train_labels), settings.epochs[case.dataset]
        steps = StrongCompositionSteps(
            rate=settings.batch / records,
            steps=epochs * records // settings.batch,
            epochs=epochs,
            slack=settings.slack,
        )
        query = CLIPPING.query(network.size, settings.batch)
        mechanism = step_mechanism(
            case.mechanism, case.published, query, total, steps, case.calibration
        )
        yield from schedule_values(steps, total, records)
        yield from privacy(mechanism, total, steps)
        one_step = case.calibrate(query, steps.step_budget(total))
        seed = case.seed(point, "canary")
        yield from canary_rates(one_step, settings.canary_samples, seed)

        clipping = None if mechanism.guarantee == "none" else CLIPPING
        rates = settings.learning_rates[case.dataset]
        if clipping is None and case.dataset in settings.unclipped_rates:
            rates = [settings.unclipped_rates[case.dataset]]
        for rate in rates:
            plan = DescentPlan(
                batch=settings.batch,
                epochs=epochs,
                learning_rate=rate,
                clipping=clipping,
                device=settings.device,
            )
            at = {"learning_rate": rate}
            for trial in case.trials:
                run = (network, problem, plan, mechanism)
                try:
                    yield from _accuracies(run, steps.rate, case, point, trial, at)
                except Diverged as diverged:
                    # The runs of other learning rates and trials keep their accuracies.
                    seed = seeds_of(case, point, trial).noise
                    yield Value("diverged_epoch", float(diverged.epoch), trial, at, seed)


def _accuracies(
    run: tuple, rate: float, case: Case, point: Point, trial: int, at: dict
) -> Iterator[Value]:
    """Accuracies of one run and, with canaries, what its audit found."""
    from learning.training.one_run import CanaryAudit

    canaries = case.settings.canaries.get(case.dataset)
    if canaries is None:
        yield from accuracies(*run, case, point, trial, at)
        return
    network, _, _, mechanism = run
    audit = CanaryAudit(
        mechanism=mechanism,
        clipping=CLIPPING,
        rate=rate,
        batch=case.settings.batch,
        canaries=canaries,
        size=network.size,
        seed=case.seed(point, "one-run", trial),
    )
    # A checkpoint would lack the scores of the canaries.
    apart = replace(case, folder=None)
    yield from accuracies(*run, apart, point, trial, at, release=audit.release)
    epsilon, found = audit.best(point.delta)
    for metric, value in (
        ("one_run_epsilon_lower", epsilon),
        ("one_run_canaries", found.canaries),
        ("one_run_guesses", found.guesses),
        ("one_run_correct", found.correct),
    ):
        yield Value(metric, float(value), trial, at, audit.seed)


def canary_rates(mechanism: Mechanism, count: int, seed: int) -> Iterator[Value]:
    """Rates of the likelihood-ratio test on `count` releases; others set its thresholds."""
    profile = mechanism.profile()
    if profile is None:
        return
    rng, rates = np.random.default_rng(seed), np.array(CANARY_RATES)
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
