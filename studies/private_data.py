"""Training on protected images: tldp2025, Section 5.2.1 (type I), Figure 1 and Table 5.

Users release every training image through the mechanism. The server trains a classifier on the
released images, which is then tested on clean images. The paper has three users; their number does
not matter, because each image is protected on its own. Adjacency is local: any image with pixels in
[0, 1] may become any other. The l2 sensitivity of an image of I pixels is therefore sqrt(I), and
its l1 sensitivity I. Channels are stacked as rows, so that every image is a matrix. Released pixels
are not clipped. Labels are public, because the paper protects images only.

The paper states Delta = 256 (Table 2) and pixels in (-1, 1) (eq. 17). Relative to the range of the
pixels, the noise is the same for Delta = 256, (-1, 1) and [0, 1]; only TLDP's probability p depends
on the unit, and it is negligible at these sizes.

The public side information is the mean of the clean test images, which are public. TLDP-L-w and
TLDP-G-w use the mean as their weights, which are higher where images are brighter, as in the paper.
The mean of private images would reveal information about them. `public_records` counts the images
behind the mean that a mechanism was given.

The paper trains MobileNetV2, pre-trained on ImageNet. This is the classifier "mobilenet_v2", whose
weights are downloaded. Logistic regression and a small CNN, trained from scratch, suit smaller
machines. The column `classifier` says which one was trained.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

import datasets
from learning.networks.small_cnns import TUTORIALS
from learning.records import labelled
from learning.training.classifiers import Training, logistic, network
from learning.training.pretrained import PRETRAINED, fine_tuned
from mechanisms import AdditiveMechanism
from mechanisms.base.public_information import MEAN_RECORD, public_options
from mechanisms.query.box_query import box_query
from papers.tldp2025 import PIXELS
from studies.base import (
    ByDataset,
    Case,
    Coordinate,
    Count,
    EpsilonGrid,
    Metric,
    Point,
    Setup,
    Study,
    Trials,
    Value,
)
from studies.base.families import IMAGES
from studies.base.training import TrainingSettings, load_records, scores_on
from studies.protected_records import scored_releases

CLASSIFIER = Coordinate("classifier", str, "the classifier trained on the released images")
SHAPES = {"digits": (8, 8), "mnist": (28, 28), "cifar10": (96, 32), "svhn": (96, 32)}
NETWORKS = TUTORIALS | {"svhn": TUTORIALS["cifar10"]}
CLASSIFIERS = ("logistic", "network", PRETRAINED)
CLASSES = 10


class Settings(EpsilonGrid, TrainingSettings):
    """Settings of this study."""

    classifiers: ByDataset[Literal[CLASSIFIERS]] = Field(
        description="what is trained on the released images"
    )
    training_epochs: Count = Field(10, description="epochs of a network")
    trials: Trials = Field(3, description="releases and trainings per epsilon")


@dataclass(frozen=True)
class ClassificationOfImages:
    """The clean images that all mechanisms release, and the weights that their classifier needs.

    Args:
        split: The images and labels of the data set.
        mean_image: The mean of the test images, which are public, in the shape of the query.
        network: The ImageNet weights if the config asks for them, else None.
    """

    split: labelled.Split
    mean_image: np.ndarray
    network: dict | None


class PrivateData(Study):
    """The study of this module."""

    name = "private_data"
    paper = "tldp2025"
    datasets = {name: labelled.SOURCES[name] for name in ("digits", "mnist", "cifar10", "svhn")}
    coordinates = (CLASSIFIER,)
    slow_imports = ("sklearn.datasets", "sklearn.linear_model", "sklearn.metrics")
    splits_trials = True
    Settings = Settings
    metrics = (
        *scores_on("clean test images"),
        Metric("squared_error", "mean over images of ||released - image||^2"),
        Metric("expected_loss", "E||noise||^2 of one image in closed form"),
        Metric("records", "training images, every one of them released"),
        Metric("epochs", "epochs of the classifier; absent for a logistic regression"),
        Metric(
            "public_records",
            "public images whose mean the mechanism was given; absent where it uses none",
        ),
        Metric("release_seconds", "wall-clock seconds to release all images"),
        Metric("training_seconds", "wall-clock seconds of one training"),
    )
    family = IMAGES
    query = "One image at a time, pixels in [0, 1]. Local privacy: any image may become any other."

    def also_reads(self, settings: Settings, dataset: str) -> list[str]:
        """Return the entry of the ImageNet weights, if the config asks for them."""
        return [PRETRAINED] * (settings.classifiers[dataset] == PRETRAINED)

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the grid over epsilon at the shape of one image."""
        return settings.points_over([SHAPES[dataset]], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> ClassificationOfImages:
        """Load the images of a data set, and the ImageNet weights if they are needed."""
        settings, dataset = setup.settings, setup.dataset
        split = load_records(setup, folder)
        mean_image = split.test_inputs.mean(axis=0, dtype=np.float64).reshape(SHAPES[dataset])
        read = {name: datasets.load(name, folder) for name in self.also_reads(settings, dataset)}
        return ClassificationOfImages(split, mean_image, read.get(PRETRAINED))

    def measure(self, problem: ClassificationOfImages, case: Case, point: Point) -> Iterator[Value]:
        """Yield F1 and accuracy on clean images, and the squared error of one released image."""
        public = public_options(case.mechanism, {MEAN_RECORD: lambda: problem.mean_image})
        # An option in the config overrides the study's own information.
        used = public.keys() - case.variant.options.keys()
        options = public | case.variant.options
        query = box_query(point.shape, *PIXELS)
        mechanism = case.calibrate(query, point.budget, **options)
        if isinstance(mechanism, AdditiveMechanism):
            yield Value("expected_loss", mechanism.expected_loss())
        settings, dataset = case.settings, case.dataset
        classifier = settings.classifiers[dataset]
        yield Value("records", len(problem.split.train_labels))
        if classifier != "logistic":
            yield Value("epochs", settings.training_epochs)
        if used:
            yield Value("public_records", len(problem.split.test_labels))
        training = Training(epochs=settings.training_epochs, device=settings.device)

        def predicted(seen: labelled.Split, seed: int) -> np.ndarray:
            if classifier == "logistic":
                return logistic(seen)
            if problem.network is None:
                return network(seen, NETWORKS[dataset], training, seed)
            return fine_tuned(problem.network, seen, CLASSES, training, seed)

        at = {"classifier": classifier}
        yield from scored_releases(mechanism, problem.split, predicted, case, point, at)
