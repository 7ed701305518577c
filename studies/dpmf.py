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
  as the study `dpsgd` does; at the exact calibration, bounds on the composition of the sampled
  steps set the noise.
  Adjacency: one record is added or removed.
  The control without privacy is DP-SGD without noise; it clips, too.

All mechanisms share the start of a trial; those with the same kind of batches share the batches.
"""

import math
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from learning.networks.tutorial_networks import TUTORIALS
from learning.records import labelled
from learning.records.labelled import Split
from mechanisms import AdditiveMechanism
from mechanisms.base.public_information import PARTICIPATIONS, public_options, takes
from studies.base import (
    EPOCH,
    ByDataset,
    Case,
    Count,
    Distinct,
    EpsilonGrid,
    Metric,
    Point,
    Positive,
    Setup,
    Tolerance,
    Value,
)
from studies.base.training import TrainingSettings, load_batches, seeds_of
from studies.descent import FINAL_ACCURACY, LEARNT, SPENT, DescentStudy, accuracies, privacy
from studies.dpsgd import CLIPPING, LEARNING_RATE


class CorrelatedSettings(EpsilonGrid, TrainingSettings):
    """Settings of this study."""

    epochs: ByDataset[Count] = Field(description="epochs of a run, k of the participation")
    batch: ByDataset[Count] = Field(description="records per step, expected where they are sampled")
    learning_rates: ByDataset[Distinct[Positive]] = Field(
        description="learning rates of plain gradient descent; runs of each"
    )


class CorrelatedNoise(DescentStudy):
    """Learning with noise that is correlated over the steps, and with that of DP-SGD."""

    name = "dpmf"
    paper = "suite"
    datasets = {name: labelled.SOURCES[name] for name in TUTORIALS}
    Settings = CorrelatedSettings
    coordinates = (LEARNING_RATE, EPOCH)
    slow_imports = (*DescentStudy.slow_imports, "learning.training.stream_noise")
    metrics = (
        *SPENT,
        *LEARNT,
        FINAL_ACCURACY,
        Metric(
            "sum_error",
            "root mean squared noise on an element of the sum of all steps so far, mean over "
            "the steps, in units of the clipping norm",
            # A search finds the factorisation.
            tolerance=Tolerance(relative=1e-5),
        ),
        Metric("noise_memory", "vectors of M numbers that the noise of the next step depends on"),
    )

    def points(self, settings: CorrelatedSettings, variant: str, dataset: str) -> list[Point]:
        """The grid over epsilon at the shape of the gradient as a row."""
        return settings.points_over([(1, TUTORIALS[dataset].size)], variant)

    def load(self, setup: Setup, folder: Path) -> Split:
        """The images, and those of them that are trained on.

        Raises:
            ValueError: They do not fill a batch.
        """
        return load_batches(setup, folder, setup.settings.batch[setup.dataset])

    def measure(self, problem: Split, case: Case, point: Point) -> Iterator[Value]:
        """Claimed and true budgets, the noise's error, and accuracies after every epoch."""
        # Accounting and torch take seconds to load, and reading a config imports this module.
        from learning.training.noisy_descent import DescentPlan
        from learning.training.step_noise import AmplifiedShares, step_mechanism
        from learning.training.stream_noise import (
            StreamRelease,
            participation,
            spent_by_stream,
            stream_query,
        )

        settings, dataset, total = case.settings, case.dataset, point.budget
        records, network = len(problem.train_labels), TUTORIALS[dataset]
        streams = takes(case.mechanism, PARTICIPATIONS)

        def plan_at(rate: float) -> DescentPlan:
            return DescentPlan(
                batch=settings.batch[dataset],
                epochs=settings.epochs[dataset],
                learning_rate=rate,
                clipping=CLIPPING,
                device=settings.device,
                fixed_order=streams,
            )

        plan = plan_at(1.0)
        yield Value("records", float(records))
        yield Value("steps", float(plan.steps(records)))
        if streams:
            options = public_options(case.mechanism, participation(plan, records))
            mechanism = case.calibrate(stream_query(plan, records), total, **options)
            for metric, value in spent_by_stream(mechanism, total).items():
                yield Value(metric, value)
        else:
            schedule = AmplifiedShares(rate=plan.batch / records, steps=plan.steps(records))
            query = CLIPPING.query(network.size, plan.batch)
            mechanism = step_mechanism(
                case.mechanism, case.published, query, total, schedule, case.calibration
            )
            yield Value("sampling_rate", schedule.rate)
            yield from privacy(mechanism, total, schedule)
            if isinstance(mechanism, AdditiveMechanism):
                each = mechanism.expected_loss() / network.size
                error = math.sqrt(each * (schedule.steps + 1) / 2) / CLIPPING.bound
                yield Value("sum_error", error)
                yield Value("noise_memory", 0.0)

        for rate in settings.learning_rates[dataset]:
            at = {"learning_rate": rate}
            for trial in case.trials:
                hooks = {}
                if streams:
                    seed = seeds_of(case, point, trial).noise
                    release = StreamRelease(mechanism, network.size, seed)
                    hooks = {"release": release, "resumed": release.resumed}
                run = (network, problem, plan_at(rate), mechanism, case, point, trial, at)
                yield from accuracies(*run, **hooks)
