"""Shared code of the studies that train networks: settings, seeds, checkpoints and progress."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from learning.records import labelled
from learning.training.trial import Seeds
from studies.base.case import Case, Point, Setup
from studies.base.grid import ReleaseSettings
from studies.base.metrics import SCORE, Metric
from studies.base.settings import ByDataset, Count, Trials


class TrainingSettings(ReleaseSettings):
    """Settings of a study that trains networks."""

    counts_of_trials = ("trials", "trials_for", "exact_trials")

    device: Literal["cpu", "auto"] = Field(
        "cpu", description="auto: CUDA where available; results then differ from the CPU's"
    )
    records: ByDataset[Count] = Field(
        {}, description="training records kept, drawn at random; all by default"
    )
    trials: Trials = Field(1, description="runs per grid point")
    trials_for: ByDataset[Trials] = Field(
        {}, description="runs on single data sets, in place of `trials`"
    )
    exact_trials: Trials | None = Field(
        None, description="runs at the exact calibration; by default as many as at the published"
    )

    @property
    def takes_gpu(self) -> bool:
        """Whether `device` is auto."""
        return self.device == "auto"

    def trial_count(self, dataset: str, calibration: str) -> int:
        """Return `trials`, unless `exact_trials` or an entry of `trials_for` replaces it."""
        if calibration == "exact" and self.exact_trials is not None:
            return self.exact_trials
        return self.trials_for.get(dataset, self.trials)


def load_records(setup: Setup, folder: Path) -> labelled.Split:
    """Load the test records and those training records that the settings keep, by a shared seed."""
    kept = setup.settings.records.get(setup.dataset)
    return labelled.load(setup.dataset, folder, kept, setup.shared_seed("records"))


def load_batches(setup: Setup, folder: Path, batch: int, key: str) -> labelled.Split:
    """Load records as `load_records` does, and check that they fill a batch of this size.

    `key` is the config key that states the size.

    Raises:
        ValueError: The training records do not fill a batch.
    """
    split = load_records(setup, folder)
    if len(split.train_labels) < batch:
        raise ValueError(
            f"{key} must be at most the number of training records, {len(split.train_labels)}, "
            f"got {batch}; lower it"
        )
    return split


def scores_on(records: str) -> tuple[Metric, Metric]:
    """Return the metrics that rank classifiers; `records` names the test records."""
    return tuple(
        Metric(
            name,
            f"{title} on {records}, in [0, 1]",
            tolerance=SCORE,
            title=title,
            better="larger",
            largest=1.0,
        )
        for name, title in (("f1", "weighted F1 score"), ("accuracy", "accuracy"))
    )


def seeds_of(case: Case, point: Point, trial: int) -> Seeds:
    """Return the seeds of a trial; all mechanisms share the initial weights and the batches."""
    return Seeds(
        start=case.shared_seed("start", trial),
        batches=case.shared_seed("batches", trial),
        noise=case.seed(point, trial),
    )


def span(trials: range) -> str:
    """Format the numbers of consecutive trials: "3" or "0-19"."""
    return str(trials[0]) if len(trials) == 1 else f"{trials[0]}-{trials[-1]}"


def progress_of(
    case: Case, point: Point, trial: int | str, at: Mapping[str, object] | None = None
) -> dict[str, Path | str | None]:
    """Return the arguments `checkpoint` and `label` of a training function.

    Args:
        trial: The number of the trial, or the `span` of trials that train together.
        at: The coordinates of the run, such as its learning rate.

    Returns:
        `checkpoint` is a path that depends on epsilon, the coordinates and the trial, or None if
        the case has no folder; `label` is the beginning of progress lines.
    """
    at = at or {}
    words = "".join(f"{name}-{value}-" for name, value in at.items())
    file = f"epsilon-{point.epsilon:.17g}-{words}{trial}.checkpoint"
    said = "".join(f" {name} {value}" for name, value in at.items())
    budget = f"epsilon {point.epsilon:g}"
    return {
        "checkpoint": None if case.folder is None else case.folder / file,
        "label": f"{case.variant.name} {case.calibration} {budget}{said} trial {trial}",
    }
