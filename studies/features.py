"""Features released in batches of records: imgm2022 Section 5, type II (Figure 1).

The body of a network maps every private training record to d features, which lie in (-1, 1) because
its last activation is tanh. The mechanism releases the features once, in matrices of `batch`
records. The head of the network is trained on the released features and tested on clean features of
the test records. The body is trained on a public share of the training records
(learning/training/extractor.py); the paper says nothing about its training. The head starts from
fresh weights, so that it learns the task from the release alone. Its inputs are divided by the root
mean square of the released features.

Query: the identity on one batch, shape (batch, d) as in Table 1. Adjacency: one record is replaced
by another, which changes one row by at most 2 per feature. The l2 sensitivity is thus 2 sqrt(d),
and the l1 sensitivity 2 d. The paper does not give its sensitivity; mgm2021, partly by the same
authors, takes 2 sqrt(batch d), as if a whole batch changed. The last batch is padded to full size
for its release, and then cut back. Labels are treated as public, as in the paper, so the whole
budget goes to the features.

The paper gives each batch the "amplified" budget (epsilon / q, delta / q), q = batch / records, for
MVG, the analytic Gaussian and IMGM. At the published calibration every mechanism gets this budget,
so that they can be compared. Yet every record is in one batch and all batches are released: no
sample stays secret, and nothing is amplified. The privacy of the whole release is that of one
batch. The study therefore reports the profile of one batch as the true privacy, and the exact
calibration rescales that profile to (epsilon, delta).
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from learning import SCORING_IMPORTS
from learning.networks.cut_network import CUTS
from learning.records import labelled
from learning.releases import spent_by_releases
from learning.training.classifiers import Training, in_units, network
from learning.training.extractor import Extracted, extract
from learning.training.step_noise import amplified
from mechanisms import Mechanism, Query
from studies.base import (
    ACCOUNTED,
    ACCOUNTED_DELTA,
    SCORE,
    ByDataset,
    Case,
    Count,
    EpsilonGrid,
    Metric,
    Point,
    Setup,
    Share,
    Study,
    Trials,
    Value,
)
from studies.base.families import FEATURES
from studies.base.training import TrainingSettings, load_records

# For the gradient descent on released features; the paper states no learning rate.
LEARNING_RATE = 0.1

# In the order of the stored rows.
SPENT = ("noise_deviation", "true_delta_upper", "true_delta_lower", "true_epsilon_upper")


class Settings(EpsilonGrid, TrainingSettings):
    """Settings of this study."""

    networks: ByDataset[Literal[tuple(CUTS)]] = Field(
        description="the network that is cut at its features"
    )
    batch: Count = Field(256, description="records per released matrix")
    # The paper does not state which records train the body.
    public_share: Share = Field(
        0.2, description="share of the training records that train the body and nothing else"
    )
    records: ByDataset[Count] = Field(
        {},
        description="training records kept, public ones among them, drawn at random; "
        "all by default",
    )
    extractor_epochs: ByDataset[Count] = Field(description="epochs of Adam on the public records")
    training_epochs: ByDataset[Count] = Field(
        description="epochs of gradient descent on the released features"
    )
    trials: Trials = Field(3, description="releases and trainings per epsilon")


def network_name(features: int) -> str:
    """Return the name of the network that is cut where it has this many features."""
    return next(name for name, cut in CUTS.items() if cut.features == features)


class BatchFeatures(Study):
    """The study of this module."""

    name = "features"
    paper = "imgm2022"
    datasets = {
        name: labelled.SOURCES[name]
        for name in ("digits", "reviews", "mnist", "cifar10", "svhn", "imdb")
    }
    coordinates = ()
    slow_imports = SCORING_IMPORTS
    splits_trials = True
    Settings = Settings
    metrics = (
        Metric(
            "test_accuracy",
            "accuracy on the test records, in [0, 1]",
            tolerance=SCORE,
            title="test accuracy",
            better="larger",
            largest=1.0,
        ),
        Metric("records", "private training records"),
        Metric("public_records", "records the extractor was trained on"),
        Metric("epochs", "epochs of gradient descent on the released features"),
        Metric(
            "extractor_accuracy", "test accuracy of the extractor's own classifier", tolerance=SCORE
        ),
        Metric("sampling_rate", "probability that a record is in a batch"),
        Metric("batch_epsilon", "epsilon of the release of one batch"),
        Metric("batch_delta", "delta of the release of one batch"),
        Metric(
            "noise_deviation", "root mean square of the noise on one feature", tolerance=ACCOUNTED
        ),
        Metric(
            "true_delta_lower",
            "lower bound on the true delta at epsilon",
            tolerance=ACCOUNTED_DELTA,
        ),
        Metric("true_delta_upper", "upper bound on it", tolerance=ACCOUNTED_DELTA),
        Metric(
            "true_epsilon_upper", "upper bound on the true epsilon at delta", tolerance=ACCOUNTED
        ),
    )
    family = FEATURES
    query = "The features of one batch, each in [-1, 1]; one record is replaced."

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the grid over epsilon at the shape of one batch."""
        shape = (settings.batch, CUTS[settings.networks[dataset]].features)
        return settings.points_over([shape], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> Extracted:
        """Train the body on the public records, and compute the features of all other records."""
        settings, dataset = setup.settings, setup.dataset
        return extract(
            CUTS[settings.networks[dataset]],
            load_records(setup, folder),
            settings.public_share,
            Training(epochs=settings.extractor_epochs[dataset], device=settings.device),
            setup.shared_seed("extractor"),
        )

    def measure(self, problem: Extracted, case: Case, point: Point) -> Iterator[Value]:
        """Yield claimed and true budgets, and the accuracy of the head on clean features."""
        settings, split = case.settings, problem.split
        records = len(split.train_labels)
        rate = min(1.0, point.shape[0] / records)
        total = point.budget
        batch_budget = amplified(total, rate) if case.calibration == "published" else total
        mechanism = case.calibrate(batch_query(point.shape), batch_budget)
        yield Value("records", records)
        yield Value("public_records", problem.public)
        yield Value("epochs", settings.training_epochs[case.dataset])
        yield Value("extractor_accuracy", problem.test_accuracy)
        yield Value("sampling_rate", rate)
        yield Value("batch_epsilon", batch_budget.epsilon)
        yield Value("batch_delta", batch_budget.delta)
        spent = spent_by_releases(mechanism, 1, total)
        for metric in SPENT:
            if metric in spent:
                yield Value(metric, spent[metric])
        cut = CUTS[settings.networks[case.dataset]]
        training = Training(
            epochs=settings.training_epochs[case.dataset],
            batch=settings.batch,
            learning_rate=LEARNING_RATE,
            optimiser="SGD",
            device=settings.device,
        )
        for trial in case.trials:
            seed = case.seed(point, trial)
            released = released_in_batches(
                mechanism, split.train_inputs, np.random.default_rng(seed)
            )
            seen = in_units(replace(split, train_inputs=released))
            predicted = network(seen, cut.head, training, case.shared_seed("training", trial))
            right = np.mean(predicted == split.test_labels)
            yield Value("test_accuracy", right, trial, seed=seed)


def batch_query(shape: tuple[int, int]) -> Query:
    """Return the query for the features (records, d) of a batch, if one record is replaced."""
    size = shape[1]
    return Query(
        shape=shape,
        l2_sensitivity=2 * math.sqrt(size),
        l1_sensitivity=2.0 * size,
        element_range=(-1.0, 1.0),
        frobenius_bound=math.sqrt(math.prod(shape)),
        adjacency="replace",
    )


def released_in_batches(
    mechanism: Mechanism, rows: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Release the features (n, ...) batch by batch; the result has their shape, in float32."""
    size, width = mechanism.query.shape
    flat = rows.reshape(len(rows), width).astype(np.float32)
    padded = np.pad(flat, ((0, -len(flat) % size), (0, 0)))
    released = [mechanism.release(batch, rng) for batch in padded.reshape(-1, size, width)]
    return np.concatenate(released).astype(np.float32)[: len(flat)].reshape(rows.shape)
