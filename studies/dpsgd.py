"""Learning with noisy gradients: r1smg2024 Figures 7 and 8. Published `gaussian` is DP-SGD's noise.

Every step draws each record with probability q = batch / records, sums the gradients of the
cross-entropy, each clipped to norm C, and releases the sum through the mechanism. The (epsilon,
delta) of a point is the budget of the whole run; learning/training/step_noise.py calibrates the
noise of a step to it. The study reports the privacy that a run truly spends beside its accuracy.
Adjacency: one record is added or removed. The non-private control does not clip, as in the paper,
and may have its own learning rate. All mechanisms and learning rates share the initial weights and
the samples.

The paper states q, C, the number of epochs, the noise multipliers and delta'. It does not state the
learning rate, so the study runs several (the cited MNIST tutorial has 0.15). Nor does it say
whether samples are Poisson, which its accountant assumes.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from learning.networks.small_cnns import TUTORIALS
from learning.records import labelled
from learning.records.labelled import Split
from learning.training.clipping import Clipping
from learning.training.step_noise import StrongCompositionSteps, step_mechanism
from papers.r1smg2024 import CLIPPING_NORM, SLACK
from studies.base import (
    EPOCH,
    ByDataset,
    Case,
    Coordinate,
    Count,
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
from studies.base.training import TrainingSettings, load_batches
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

LEARNING_RATE = Coordinate(
    "learning_rate", float, "step size on the mean gradient, > 0", choice="Learning rate"
)
CLIPPING = Clipping(bound=CLIPPING_NORM)


class DpsgdSettings(TrainingSettings):
    """Settings of this study."""

    budgets: ByDataset[Distinct[Epsilon]] = Field(description="total epsilon of a run")
    delta: Share = Field(gt=SLACK, description="total delta")
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


class NoisyGradients(DescentStudy):
    """The study of this module."""

    name = "dpsgd"
    paper = "r1smg2024"
    datasets = {name: labelled.SOURCES[name] for name in TUTORIALS}
    Settings = DpsgdSettings
    coordinates = (LEARNING_RATE, EPOCH)
    metrics = (
        *SPENT,
        *STEP_BUDGET,
        *LEARNT,
        RANKED_ACCURACY,
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
        """Return one point per total budget, at the shape (1, M) of the gradient."""
        return [
            Point(shape=(1, TUTORIALS[dataset].size), epsilon=epsilon, delta=settings.delta)
            for epsilon in settings.budgets[dataset]
        ]

    def load(self, setup: Setup, folder: Path) -> Split:
        """Load the training and test records.

        Raises:
            ValueError: The training records do not fill a batch.
        """
        return load_batches(setup, folder, setup.settings.batch, "batch")

    def measure(self, problem: Split, case: Case, point: Point) -> Iterator[Value]:
        """Yield claimed and true budgets, and each run's accuracies or its epoch of divergence."""
        # Torch takes seconds to load, and reading a config imports this module.
        from learning.training.noisy_descent import DescentPlan
        from learning.training.rounds import Diverged

        settings, total, network = case.settings, point.budget, TUTORIALS[case.dataset]
        records, epochs = len(problem.train_labels), settings.epochs[case.dataset]
        steps = StrongCompositionSteps(
            rate=settings.batch / records,
            steps=epochs * records // settings.batch,
            epochs=epochs,
            slack=SLACK,
        )
        query = CLIPPING.query(network.size, settings.batch)
        mechanism = step_mechanism(
            case.mechanism, case.published, query, total, steps, case.calibration
        )
        yield from schedule_values(steps, total, records)
        yield from privacy(mechanism, total, steps)

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
                try:
                    yield from accuracies(network, problem, plan, mechanism, case, point, trial, at)
                except Diverged as diverged:
                    # Runs of other learning rates and trials keep their accuracies.
                    epoch = float(diverged.round)
                    yield Value("diverged_epoch", epoch, trial, at, case.seed(point, trial))
