"""Features released in batches of records: imgm2022 Section 5, type II (Figure 1).

The body of a network maps every private training record to d features in (-1, 1), since tanh is its
last activation. The features are released once, in matrices of `batch` records, each through the
mechanism; the head of the network is trained on the released features and tested on clean features
of the test records. The body is trained on a public share of the training records
(learning/training/extractor.py); the paper says nothing about its training. The head starts from
fresh weights, so that it knows the task from the release alone; its inputs are scaled to root mean
square 1, which the noise dominates.

Query: the identity on one batch, shape (batch, d) as in Table 1. Adjacency: one record is replaced
by another, which changes one row by at most 2 per feature: l2 sensitivity 2 sqrt(d), l1 2 d. The
paper does not give its sensitivity; mgm2021, by the same authors, takes 2 sqrt(batch d), as if a
whole batch changed. The last batch is padded to full size for its release, and cut again. Labels
are taken to be public, as in the paper, which releases nothing else: the whole budget goes to the
features.

As published, the paper calls (epsilon / q, delta / q) the amplified budget of a batch, q = batch /
records, for MVG, the analytic Gaussian and IMGM; here all mechanisms get it, so that they can be
compared. Yet every record is in one batch and all batches are released: no sample stays secret, and
nothing is amplified. The privacy of the whole release is that of one batch, so that the mechanism's
profile is reported as true and is what the exact calibration rescales to (epsilon, delta).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from learning import SCORING_IMPORTS
from learning.networks.cut_network import CUTS
from learning.records import labelled
from learning.training.classifiers import Training, in_units, network
from learning.training.device import OnDevice
from learning.training.extractor import Extracted, extract
from mechanisms import (
    AdditiveMechanism,
    Budget,
    Mechanism,
    Query,
)
from studies.base.grid import EpsilonGrid, points_over
from studies.base.settings import (
    ByDataset,
    Count,
    Share,
    Trials,
)
from studies.base.study import (
    Names,
    Point,
    Value,
    Variant,
    trials_of,
)
from studies.base.tolerances import ACCOUNTED, ACCOUNTED_DELTA, SCORE, tolerances

NAME = "features"
PAPER = "imgm2022"
DATASETS = {
    name: labelled.SOURCES[name]
    for name in ("digits", "reviews", "mnist", "cifar10", "svhn", "imdb")
}
COORDINATES = ()
SLOW_IMPORTS = (*SCORING_IMPORTS, "learning.training.step_noise")
METRICS = {
    "test_accuracy": "accuracy on the test records, in [0, 1]",
    "records": "private training records",
    "public_records": "records the extractor was trained on",
    "extractor_accuracy": "test accuracy of the extractor's own classifier",
    "sampling_rate": "probability that a record is in a batch",
    "batch_epsilon": "epsilon of the release of one batch",
    "batch_delta": "delta of the release of one batch",
    "noise_deviation": "root mean square of the noise on one feature",
    "true_delta_lower": "lower bound on the true delta at epsilon",
    "true_delta_upper": "upper bound on it",
    "true_epsilon_upper": "upper bound on the true epsilon at delta",
}
TOLERANCES = tolerances(SCORE, "test_accuracy", "extractor_accuracy") | (
    tolerances(ACCOUNTED, "noise_deviation", "true_epsilon_upper")
    | tolerances(ACCOUNTED_DELTA, "true_delta_lower", "true_delta_upper")
)
SPLITS_TRIALS = True
# Of the gradient descent on released features; the paper states none.
LEARNING_RATE = 0.1


class Settings(EpsilonGrid, OnDevice):
    """Settings of this study."""

    networks: ByDataset[Literal[tuple(CUTS)]] = Field(
        description="the network that is cut at its features"
    )
    batch: Count = Field(256, description="records per released matrix")
    # Which records train the body is not stated.
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
    trials_for: ByDataset[Trials] = Field(
        {}, description="releases and trainings on single data sets, in place of `trials`"
    )


@dataclass(frozen=True)
class FeaturesTask:
    """What all mechanisms share: clean features, and how a head is trained."""

    dataset: str
    extracted: Extracted
    settings: dict


def network_name(features: int) -> str:
    """The name of the network whose cut has so many features."""
    return next(name for name, cut in CUTS.items() if cut.features == features)


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """The grid over epsilon at the shape of one batch."""
    shape = (settings["batch"], CUTS[settings["networks"][dataset]].features)
    return points_over([shape], settings, variant)


def load(settings: dict, dataset: str, folder: Path, names: Names) -> FeaturesTask:
    """Features of all private records, from a body trained on the public ones."""
    seed = names.shared_seed("records")
    split = labelled.load(dataset, folder, settings["records"].get(dataset), seed)
    extracted = extract(
        CUTS[settings["networks"][dataset]],
        split,
        settings["public_share"],
        Training(epochs=settings["extractor_epochs"][dataset], device=settings["device"]),
        names.shared_seed("extractor"),
    )
    return FeaturesTask(dataset, extracted, settings)


def batch_query(shape: tuple[int, int]) -> Query:
    """The features (records, d) of a batch; one record is replaced."""
    size = shape[1]
    return Query(
        shape=shape,
        l2_sensitivity=2 * math.sqrt(size),
        l1_sensitivity=2.0 * size,
        element_range=(-1.0, 1.0),
        frobenius_bound=math.sqrt(math.prod(shape)),
        adjacency="replace",
    )


def measure(
    problem: FeaturesTask, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """Claimed and true budgets, and the accuracy of a head on clean features."""
    # Accounting is slow to load, and reading a config imports this module.
    from learning.training.step_noise import amplified

    settings, split = problem.settings, problem.extracted.split
    records = len(split.train_labels)
    rate = min(1.0, point.shape[0] / records)
    total = Budget(epsilon=point.epsilon, delta=point.delta)
    batch_budget = amplified(total, rate) if calibration == "published" else total
    mechanism = variant.calibrate(batch_query(point.shape), batch_budget, calibration)
    yield Value("records", float(records))
    yield Value("public_records", float(problem.extracted.public))
    yield Value("extractor_accuracy", problem.extracted.test_accuracy)
    yield Value("sampling_rate", rate)
    yield Value("batch_epsilon", batch_budget.epsilon)
    yield Value("batch_delta", batch_budget.delta)
    yield from _privacy(mechanism, total)
    cut = CUTS[settings["networks"][problem.dataset]]
    training = Training(
        epochs=settings["training_epochs"][problem.dataset],
        batch=settings["batch"],
        learning_rate=LEARNING_RATE,
        optimiser="sgd",
        device=settings["device"],
    )
    for trial in trials_of(settings, problem.dataset):
        seed = names.seed(point, trial)
        released = released_in_batches(mechanism, split.train_inputs, np.random.default_rng(seed))
        seen = in_units(replace(split, train_inputs=released))
        predicted = network(seen, cut.head, training, names.shared_seed("training", trial))
        right = float(np.mean(predicted == split.test_labels))
        yield Value("test_accuracy", right, trial, seed=seed)


def _privacy(mechanism: Mechanism, total: Budget) -> Iterator[Value]:
    """The noise on one feature, and what the whole release spends."""
    if isinstance(mechanism, AdditiveMechanism):
        variance = mechanism.expected_loss() / mechanism.query.size
        yield Value("noise_deviation", math.sqrt(variance))
    profile = mechanism.profile()
    if profile is None:
        return
    delta = profile.delta(total.epsilon)
    yield Value("true_delta_upper", float(delta.upper))
    if mechanism.slack() is None:
        yield Value("true_delta_lower", float(delta.lower))
    epsilon = float(profile.epsilon(total.delta).upper)
    if math.isfinite(epsilon):
        yield Value("true_epsilon_upper", epsilon)


def released_in_batches(
    mechanism: Mechanism, rows: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Rows (n, ...) of features, float32, released batch by batch; same shape."""
    size, width = mechanism.query.shape
    flat = rows.reshape(len(rows), width)
    batches = np.zeros((-(-len(flat) // size), size, width), np.float32)
    batches.reshape(-1, width)[: len(flat)] = flat
    released = [mechanism.release(batch, rng) for batch in batches]
    return np.concatenate(released).astype(np.float32)[: len(flat)].reshape(rows.shape)
