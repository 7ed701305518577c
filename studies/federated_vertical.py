"""Vertical federated learning with noisy features, mgm2021 Section 8, Type II (Figure 3).

Two participants have half of the attributes each. In every iteration both release the features
that their local models compute for one batch, and the server trains its top model on them. As
published, the point's (epsilon, delta) is the budget of every single release, amplified by
sampling: Section 8.2 adopts composition "in Type I". As it also says that other settings are those
of Type I, `composition: run` reads it as the budget of the whole training, both participants'
releases in all iterations. At the exact calibration, and in the reported true budget, it is always
that of the whole training.
learning/federated/upload_budgets.py derives the budget of one use, and what is truly spent.

The query is a batch's features, batch x features. That is how Table 3's feature shapes are read
(100 x 64, 100 x 128, 30 x 64; and 2 x 10 for Adult, which makes a batch two records). Adjacency:
one record is replaced in both halves. With a batch of m out of N records the record is in the
sample with probability q = m / N, by which Theorem 6 amplifies. In truth nothing is amplified:
local models keep learning from the records themselves, without noise, so that after its first batch
a record may change every feature of every later batch. The paper's sensitivity 2 sqrt(mn), all
features of a batch, covers that. What is truly spent is bounded by the composition of all releases
at this sensitivity, whatever the local models are. Only in its first batch does a record change one
row alone, by 2 sqrt(n).

Test features carry no noise: the paper protects training features. The server owns the labels, and
what it sends back is assumed to reveal nothing. All mechanisms share the split, the start and the
batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from learning import TRAINING_IMPORTS
from learning.networks.split_network import SPLIT_NETWORKS
from learning.records import labelled
from learning.training.trial import checkpoint_of, label_of, seeds_of, span
from mechanisms import Budget, Mechanism
from mechanisms.query.box_query import box_query
from studies import federated as both_studies
from studies.base.coordinates import ROUND
from studies.base.settings import (
    ByDataset,
    Count,
)
from studies.base.study import (
    Names,
    Point,
    Value,
    Variant,
)
from studies.descent_metrics import FEDERATED_METRICS, SPENT_TOLERANCES
from studies.federated import FederatedRecords

NAME = "federated_vertical"
PAPER = "mgm2021"
DATASETS = {name: labelled.SOURCES[name] for name in SPLIT_NETWORKS}
COORDINATES = (ROUND,)
SLOW_IMPORTS = (
    *TRAINING_IMPORTS,
    "learning.federated.vertical",
    "learning.federated.upload_budgets",
)
METRICS = FEDERATED_METRICS
TOLERANCES = SPENT_TOLERANCES
SPLITS_TRIALS = True
PARTICIPANTS = 2


class Settings(both_studies.FederatedSettings):
    """Settings of this study."""

    iterations: ByDataset[Count] = Field(description="batches of a round, each released")
    composition: Literal["release", "run"] = Field(
        "release",
        description="what the published budget is for: every release, or the whole training",
    )


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """One point per total budget; the shape is batch x features."""
    shape = settings["batch"][dataset], SPLIT_NETWORKS[dataset].features
    return both_studies.points_of(settings, variant, dataset, shape)


def load(settings: dict, dataset: str, folder: Path, names: Names) -> FederatedRecords:
    """The training and the test records.

    Raises:
        ValueError: A batch is larger than the data set.
    """
    problem = both_studies.load_records(settings, dataset, folder, names)
    if problem.of("batch") > len(problem.split.train_labels):
        raise ValueError(
            f"batch must be at most the {len(problem.split.train_labels)} training records of "
            f"{dataset}, got {problem.of('batch')}"
        )
    return problem


def measure(
    problem: FederatedRecords, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """Claimed and true budgets, and the test accuracy after every round (`round`)."""
    # Accounting is slow to load, and reading a config imports this module.
    from learning.federated.upload_budgets import Uploads

    records = len(problem.split.train_labels)
    uploads = Uploads(
        rounds=problem.of("rounds") * problem.of("iterations"),
        rate=problem.of("batch") / records,
        fresh=False,
        composed=problem.settings["composition"] == "run",
    )
    queries = [box_query(point.shape, -1.0, 1.0, adjacency="replace")] * PARTICIPANTS
    total = Budget(epsilon=point.epsilon, delta=point.delta)
    mechanisms = uploads.calibrate_round(variant, queries, total, calibration)
    use = uploads.use_budget(total, len(queries))
    yield Value("records", float(records))
    yield Value("sampling_rate", uploads.rate)
    yield Value("uses", float(uploads.rounds * len(queries)))
    yield Value("use_epsilon", use.epsilon)
    yield Value("use_delta", use.delta)
    yield from both_studies.privacy_values(mechanisms, uploads, total)
    for together in both_studies.trials_together(problem, stacks=True):
        yield from _training(problem, mechanisms[0], point, names, together)


def _training(
    problem: FederatedRecords, mechanism: Mechanism, point: Point, names: Names, trials: range
) -> Iterator[Value]:
    """The values of trials that train together."""
    from learning.federated.vertical import VerticalPlan, train

    plan = VerticalPlan(
        rounds=problem.of("rounds"),
        iterations=problem.of("iterations"),
        batch=problem.of("batch"),
        learning_rate=problem.of("learning_rate"),
        device=problem.settings["device"],
    )
    seeds = [seeds_of(point, names, trial) for trial in trials]
    history = train(
        SPLIT_NETWORKS[problem.dataset],
        problem.split,
        plan,
        mechanism.release_all,
        seeds,
        checkpoint=checkpoint_of(point, names, span(trials)),
        label=label_of(mechanism, point, names, span(trials)),
    )
    yield from both_studies.training_values(history, trials, [each.noise for each in seeds])
