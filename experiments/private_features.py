"""Training on protected features: tldp2025, Section 5.2.2 (type II), Figure 2 and Table 3.

Users turn each of their images into features with a network that was trained on public images,
with tanh at its end, and release every feature vector through the mechanism; the server trains the
last fully connected layer on what it gets and is tested on the features of clean images (the
paper's three users change nothing here, as each vector is protected on its own). Adjacency: local.
Any features in [-1, 1] may become any others: with I features l2 sensitivity 2 sqrt(I) (eq. 18),
l1 sensitivity 2 I. A vector is one row (1, I). Released features are not clipped.

The paper's Delta (its Table 3) is 256, the number of grey values of a pixel; features have the
range 2, which is used: at 256 all noise would be 128 times as large.

The paper's network is MobileNetV2 with ImageNet weights, which are no data set of this suite. Here
a share of the training records is declared public and trains the extractor
(experiments/learning/extractor.py); nobody releases them, and the rows say how many they are and
how well the extractor does with a head of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from experiments.checks import Setting, integer, mapping_of, number, require_entries
from experiments.experiment import Names, Point, Value, Variant, trials_of
from experiments.grid import EPSILONS, points_over
from experiments.learning import data
from experiments.learning.box import box_query
from experiments.learning.classifiers import Training, in_units, network, weighted_f1
from experiments.learning.extractor import Extracted, extract
from experiments.learning.networks.cut import CUTS, perceptron
from experiments.learning.protection import protected, squared_error
from mechanisms import AdditiveMechanism, Budget

NAME = "private_features"
PAPER = "tldp2025"
DATASETS = {name: data.SOURCES[name] for name in ("digits", "mnist", "cifar10", "svhn")}
SPLITS_TRIALS = True
EXTRACTORS = {"digits": "perceptron", "mnist": "lenet", "cifar10": "cnn", "svhn": "cnn"}
CLASSES = 10


SETTINGS = EPSILONS | {
    "public_share": Setting(
        "a number in (0, 1)",
        number(1e-6, 1 - 1e-6),
        "share of the training records that is public and trains the extractor",
        0.5,
    ),
    "records": Setting(
        "a mapping from data sets to whole numbers >= 2",
        mapping_of(integer(2)),
        "training images kept, drawn at random; all where absent",
        {},
    ),
    "extractor_epochs": Setting(
        "a mapping from data sets to whole numbers >= 1",
        mapping_of(integer(1)),
        "epochs of the extractor on the public records",
    ),
    "training_epochs": Setting(
        "a whole number >= 1", integer(1), "epochs of the last layer on the released features", 10
    ),
    "trials": Setting("a whole number >= 1", integer(1), "releases and trainings per epsilon", 3),
}


def check(settings: dict) -> None:
    """Raise ConfigError unless every data set has epochs for its extractor."""
    require_entries(NAME, settings, "extractor_epochs")


@dataclass(frozen=True)
class Problem:
    """What all mechanisms share: the features of clean images."""

    extracted: Extracted
    settings: dict


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """The grid over epsilon at the shape of one feature vector, as a row."""
    return points_over([(1, CUTS[EXTRACTORS[dataset]].features)], settings, variant)


def load(settings: dict, dataset: str, folder: Path, names: Names) -> Problem:
    """Train the extractor on the public images and apply it to all others."""
    split = data.load(
        dataset, folder, settings["records"].get(dataset), names.shared_seed("records")
    )
    training = Training(epochs=settings["extractor_epochs"][dataset])
    extracted = extract(
        CUTS[EXTRACTORS[dataset]],
        split,
        settings["public_share"],
        training,
        names.shared_seed("extractor"),
    )
    return Problem(extracted, settings)


def measure(
    problem: Problem, variant: Variant, footing: str, point: Point, names: Names
) -> Iterator[Value]:
    """Weighted F1 and accuracy on clean features, and the squared error of one released vector."""
    budget = Budget(epsilon=point.epsilon, delta=point.delta)
    query = box_query(point.shape, -1.0, 1.0)
    mechanism = variant.mechanism.calibrate(query, budget, footing, **variant.options)
    split = problem.extracted.split
    if isinstance(mechanism, AdditiveMechanism):
        yield Value("expected_loss", mechanism.expected_loss())
    yield Value("records", float(len(split.train_labels)))
    yield Value("public_records", float(problem.extracted.public))
    yield Value("extractor_accuracy", problem.extracted.test_accuracy)
    head = perceptron(query.size, CLASSES)
    training = Training(epochs=problem.settings["training_epochs"])
    for trial in trials_of(problem.settings):
        seed = names.seed(point, trial)
        clock = time.perf_counter()
        released = protected(mechanism, split.train_inputs, np.random.default_rng(seed))
        yield Value("release_seconds", time.perf_counter() - clock, trial, timing=True)
        error = squared_error(released, split.train_inputs)
        yield Value("squared_error", error, trial, seed=seed)
        clock = time.perf_counter()
        seen = in_units(replace(split, train_inputs=released))
        found = network(seen, head, training, names.shared_seed("training", trial))
        yield Value("training_seconds", time.perf_counter() - clock, trial, timing=True)
        labels = split.test_labels
        yield Value("f1", weighted_f1(labels, found), trial, seed=seed)
        yield Value("accuracy", float(np.mean(found == labels)), trial, seed=seed)
