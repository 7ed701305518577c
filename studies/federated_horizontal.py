"""Horizontal federated learning with noisy gradients, mgm2021 Section 8, Type I (Figure 2).

Five participants share the records, split at random. In every round each participant downloads the
model, trains for some epochs, clips its accumulated gradient to [-C, C] and uploads it through the
mechanism, layer by layer; the server moves by the mean. The point's (epsilon, delta) is the claimed
budget of one participant for the whole training, all rounds and layers.
learning/federated/upload_budgets.py derives the budget of one use from it, and what is truly spent.

Adjacency: the paper says neighbouring data sets and gives 2 C sqrt(mn), the change of an upload
between two opposite corners of the box. An upload is clipped as a whole, after local training on
all of a participant's records, so that the bound holds however many of them change: what is
protected is the whole data set of one participant, against a server that sees its uploads.

The paper leaves open the learning rate; details of the networks (see the networks); and `sampling`,
the probability that a record takes part in a round. It says that amplification by sampling is
adopted, and gives no probability; its local epochs use all of a participant's records. At 1 nothing
is sampled, and Theorem 6 has nothing to amplify. Below 1 the theorem applies, and the claim and the
truth are then about the replacement of one record. Training without privacy does not clip. All
mechanisms share the split, the start and the batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from learning import TRAINING_IMPORTS
from learning.federated import layerwise_release as layerwise
from learning.networks.lenet import LENET
from learning.networks.lstm import IMDB_LSTM, REVIEWS_LSTM
from learning.networks.multilayer_perceptron import ADULT_MLP, BREAST_CANCER_MLP
from learning.networks.resnet import RESNET18
from learning.networks.tutorial_networks import TUTORIALS
from learning.records import labelled
from learning.training.trial import checkpoint_of, label_of, seeds_of, span
from mechanisms import Budget, Mechanism
from studies import federated as both_studies
from studies.base.coordinates import ROUND
from studies.base.settings import (
    ByDataset,
    Count,
    Number,
    Positive,
    Trials,
)
from studies.base.study import (
    Names,
    Point,
    Value,
    Variant,
)
from studies.descent_metrics import FEDERATED_METRICS, SPENT_TOLERANCES
from studies.federated import FederatedRecords

NAME = "federated_horizontal"
PAPER = "mgm2021"
NETWORKS = {
    "mnist": LENET,
    "cifar10": RESNET18,
    "imdb": IMDB_LSTM,
    "adult": ADULT_MLP,
    "digits": TUTORIALS["digits"],
    "reviews": REVIEWS_LSTM,
    "breast_cancer": BREAST_CANCER_MLP,
}
DATASETS = {name: labelled.SOURCES[name] for name in NETWORKS}
COORDINATES = (ROUND,)
SLOW_IMPORTS = (
    *TRAINING_IMPORTS,
    "learning.federated.horizontal",
    "learning.federated.upload_budgets",
)
METRICS = FEDERATED_METRICS
TOLERANCES = SPENT_TOLERANCES
SPLITS_TRIALS = True
PARTICIPANTS = 5


class Settings(both_studies.FederatedSettings):
    """Settings of this study."""

    local_epochs: ByDataset[Count] = Field(
        description="passes over a participant's records in a round"
    )
    clip: ByDataset[Positive] = Field(description="C, the largest element of an upload")
    # Not stated; local epochs use all records.
    sampling: Number = Field(
        1.0, gt=0, le=1, description="probability with which a record takes part in a round"
    )
    trials_for: ByDataset[Trials] = Field(
        {}, description="runs per budget on single data sets, in place of `trials`"
    )


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """One point per total budget; the shape is that of the largest layer, as in Table 2."""
    shapes = [layerwise.layer_shape(layer) for layer in NETWORKS[dataset].layers]
    largest = max(shapes, key=lambda shape: shape[0] * shape[1])
    return both_studies.points_of(settings, variant, dataset, largest)


def load(settings: dict, dataset: str, folder: Path, names: Names) -> FederatedRecords:
    """The records of all participants and the test records."""
    return both_studies.load_records(settings, dataset, folder, names)


def measure(
    problem: FederatedRecords, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """Claimed and true budgets, and the test accuracy after every round (`round`)."""
    # Accounting is slow to load, and reading a config imports this module.
    from learning.federated.upload_budgets import Uploads

    uploads = Uploads(rounds=problem.of("rounds"), rate=problem.settings["sampling"])
    network = NETWORKS[problem.dataset]
    queries = layerwise.layer_queries(network, problem.of("clip"))
    total = Budget(epsilon=point.epsilon, delta=point.delta)
    mechanisms = uploads.calibrate_round(variant, queries, total, calibration)
    use = uploads.use_budget(total, len(queries))
    yield Value("records", float(len(problem.split.train_labels)))
    yield Value("parameters", float(network.size))
    yield Value("uses", float(uploads.rounds * len(queries)))
    yield Value("use_epsilon", use.epsilon)
    yield Value("use_delta", use.delta)
    yield from both_studies.privacy_values(mechanisms, uploads, total)
    for together in both_studies.trials_together(problem, stacks=network.stacks):
        yield from _training(problem, mechanisms, point, names, together)


def _training(
    problem: FederatedRecords,
    mechanisms: Sequence[Mechanism],
    point: Point,
    names: Names,
    trials: range,
) -> Iterator[Value]:
    """The values of trials that train together."""
    from learning.federated.horizontal import HorizontalPlan, train

    settings, private = problem.settings, mechanisms[0].guarantee != "none"
    if not private:
        # Its uploads are not clipped: they lie in no range.
        mechanisms = [
            replace(each, query=replace(each.query, element_range=None, frobenius_bound=None))
            for each in mechanisms
        ]
    network = NETWORKS[problem.dataset]
    plan = HorizontalPlan(
        participants=PARTICIPANTS,
        rounds=problem.of("rounds"),
        local_epochs=problem.of("local_epochs"),
        batch=problem.of("batch"),
        learning_rate=problem.of("learning_rate"),
        clip=problem.of("clip") if private else None,
        rate=settings["sampling"],
        device=settings["device"],
    )
    seeds = [seeds_of(point, names, trial) for trial in trials]
    history = train(
        network,
        problem.split,
        plan,
        lambda upload, rng: layerwise.release(network, mechanisms, upload, rng),
        seeds,
        checkpoint=checkpoint_of(point, names, span(trials)),
        label=label_of(mechanisms[0], point, names, span(trials)),
    )
    yield from both_studies.training_values(history, trials, [each.noise for each in seeds])
