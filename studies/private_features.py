"""Features that every user protects alone: tldp2025, Section 5.2.2 (type II), Figure 2 and Table 3.

Users turn each image into features by a network that was trained on public images and ends in tanh,
and release every feature vector through the mechanism. The server trains the last fully connected
layer on the released features; it is tested on the features of clean images. The paper has three
users; their number does not matter, because each vector is protected on its own. Adjacency is
local: any features in [-1, 1] may become any others, so I features have l2 sensitivity 2 sqrt(I)
(eq. 18) and l1 sensitivity 2 I. A vector is one row (1, I). Released features are not clipped.
Labels are public, because the paper protects features only.

The noise is calibrated to the range of a feature, which is 2. In the paper's Table 3, Delta is the
number of grey values of a pixel; this Delta would make all noise Delta / 2 times as large.

The paper's network is MobileNetV2 with ImageNet weights. This is the extractor "mobilenet_v2"
(learning/training/pretrained.py). Its weights are downloaded, and none of the records trained it.
The suite trains every other extractor itself, on a share of the training records that is
declared public and never released (learning/training/extractor.py). The rows contain the number of
these public records, 0 for MobileNetV2, and the test accuracy of the extractor with its own last
layer.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

import datasets
from learning import SCORING_IMPORTS
from learning.networks.cut_network import CUTS, tanh_perceptron
from learning.records import labelled
from learning.training import pretrained
from learning.training.classifiers import Training, network
from learning.training.extractor import Extracted, extract
from mechanisms import AdditiveMechanism
from mechanisms.query.box_query import box_query
from papers.tldp2025 import FEATURES
from studies.base import (
    SCORE,
    ByDataset,
    Case,
    Count,
    EpsilonGrid,
    Metric,
    MissingEntry,
    Point,
    Setup,
    Share,
    Study,
    Tolerance,
    Trials,
    Value,
)
from studies.base.families import LOCAL
from studies.base.training import TrainingSettings, load_records, scores_on
from studies.protected_records import scored_releases

OWN = {"digits": "perceptron", "mnist": "lenet", "cifar10": "cnn", "svhn": "cnn"}
CLASSES = 10


class Settings(EpsilonGrid, TrainingSettings):
    """Settings of this study."""

    public_share: Share = Field(
        0.5, description="share of the training records that is public and trains the extractor"
    )
    records: ByDataset[Annotated[Count, Field(ge=2)]] = Field(
        {}, description="training records kept, drawn at random; all by default"
    )
    extractors: ByDataset[Literal["own", "mobilenet_v2"]] = Field(
        {},
        description="own: trained on the public records, the default; mobilenet_v2: with ImageNet "
        "weights",
    )
    extractor_epochs: ByDataset[Count] = Field(
        {}, description="epochs of an extractor of type own; needed for each of them"
    )
    training_epochs: Count = Field(
        10, description="epochs of the last layer on the released features"
    )
    trials: Trials = Field(3, description="releases and trainings per epsilon")

    def check(self) -> None:
        """Raise MissingEntry if an extractor of type own has no epochs."""
        for dataset in self.datasets:
            own = self.extractors.get(dataset, "own") == "own"
            if own and dataset not in self.extractor_epochs:
                raise MissingEntry("extractor_epochs", dataset)


def _pretrained(settings: Settings, dataset: str) -> bool:
    return settings.extractors.get(dataset) == pretrained.PRETRAINED


class PrivateFeatures(Study):
    """The study of this module."""

    name = "private_features"
    paper = "tldp2025"
    datasets = {name: labelled.SOURCES[name] for name in ("digits", "mnist", "cifar10", "svhn")}
    coordinates = ()
    slow_imports = SCORING_IMPORTS
    splits_trials = True
    Settings = Settings
    metrics = (
        *scores_on("clean test features"),
        Metric(
            "squared_error",
            "mean over records of ||released - feature vector||^2",
            # Training on another processor yields a slightly different extractor and features.
            tolerance=Tolerance(relative=0.01),
        ),
        Metric("expected_loss", "E||noise||^2 of one feature vector in closed form"),
        Metric("records", "private training records, every one of them released as features"),
        Metric("epochs", "epochs of the last layer on the released features"),
        Metric(
            "public_records",
            "public records that the extractor was trained on; 0 for ImageNet weights",
        ),
        Metric(
            "extractor_accuracy",
            "test accuracy of the extractor with its own last layer, in [0, 1]",
            tolerance=SCORE,
        ),
        Metric("release_seconds", "wall-clock seconds to release all records"),
        Metric("training_seconds", "wall-clock seconds of one training"),
    )
    family = LOCAL
    query = (
        "One feature vector at a time, features in [-1, 1]. Local privacy: any vector may "
        "become any other."
    )

    def also_reads(self, settings: Settings, dataset: str) -> list[str]:
        """Return the entry of the ImageNet weights, if the config asks for them."""
        return [pretrained.PRETRAINED] * _pretrained(settings, dataset)

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the grid over epsilon at the shape (1, I) of one feature vector."""
        own = CUTS[OWN[dataset]].features
        size = pretrained.FEATURES if _pretrained(settings, dataset) else own
        return settings.points_over([(1, size)], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> Extracted:
        """Compute the features of all images that are not public."""
        settings, dataset = setup.settings, setup.dataset
        split = load_records(setup, folder)
        device = settings.device
        if _pretrained(settings, dataset):
            weights = datasets.load(pretrained.PRETRAINED, folder)
            return pretrained.extract(weights, split, device)
        training = Training(epochs=settings.extractor_epochs[dataset], device=device)
        return extract(
            CUTS[OWN[dataset]],
            split,
            settings.public_share,
            training,
            setup.shared_seed("extractor"),
        )

    def measure(self, problem: Extracted, case: Case, point: Point) -> Iterator[Value]:
        """Yield F1 and accuracy on clean features, and the squared error of one vector."""
        query = box_query(point.shape, *FEATURES)
        mechanism = case.calibrate(query, point.budget)
        split = problem.split
        if isinstance(mechanism, AdditiveMechanism):
            yield Value("expected_loss", mechanism.expected_loss())
        yield Value("records", len(split.train_labels))
        yield Value("epochs", case.settings.training_epochs)
        yield Value("public_records", problem.public)
        if problem.test_accuracy is not None:
            yield Value("extractor_accuracy", problem.test_accuracy)
        last_layer = tanh_perceptron(query.size, CLASSES)
        training = Training(epochs=case.settings.training_epochs, device=case.settings.device)

        def predicted(seen: labelled.Split, seed: int) -> np.ndarray:
            return network(seen, last_layer, training, seed)

        yield from scored_releases(mechanism, split, predicted, case, point)
