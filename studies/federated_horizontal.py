"""Horizontal federated learning with noisy gradients, mgm2021 Section 8, Type I (Figure 2).

Five participants share the records, split at random. In every round each participant downloads the
model, trains for some epochs, clips its accumulated gradient to [-C, C] and uploads it through the
mechanism, layer by layer; the server moves the model by the mean. The (epsilon, delta) of a point
is the budget that one participant's whole training claims, over all rounds and layers.
learning/federated/upload_budgets.py derives the budget of one use and the privacy truly spent.

Adjacency: the paper speaks of neighbouring data sets and gives the sensitivity 2 C sqrt(mn), which
is the distance between two opposite corners of the box. An upload is clipped as a whole, after
local training on all records of a participant, so the bound holds however many records change. The
noise protects the whole data set of one participant against a server that sees the uploads.

The paper's networks for CIFAR-10 and IMDB take hours on a CPU. `networks` can replace them by small
networks, whose uploads are smaller and get less noise.

The paper does not specify the learning rate or details of the networks (see their modules). Nor
does it say whether the gradient of an epoch is the mean over its steps, as here, or their sum, as
in studies/federated_sums.py. It says that it adopts amplification by sampling but gives no
probability, and its local epochs use all records of a participant. Nothing is sampled, so Theorem 6
has nothing to amplify. Training without privacy does not clip. All mechanisms share the split, the
initial weights and the batches.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from pydantic import Field

from learning.federated import layerwise_release as layerwise
from learning.federated.upload_budgets import calibrated_uploads
from learning.networks.deep_cnns import RESNET18
from learning.networks.lstm import IMDB_LSTM, REVIEWS_LSTM, lstm
from learning.networks.multilayer_perceptron import ADULT_MLP, BREAST_CANCER_MLP
from learning.networks.network import Network
from learning.networks.small_cnns import LENET, TUTORIALS, strided_cnn
from learning.records import labelled
from learning.records.labelled import Split
from learning.records.texts import WORDS
from mechanisms.privacy.sampling import kairouz
from studies.base import ByDataset, Case, Count, Disallowed, Point, Positive, Value
from studies.base.families import GRADIENTS
from studies.federated import FederatedSettings, FederatedStudy, run_values, training_values

NETWORKS = {
    "mnist": LENET,
    "cifar10": RESNET18,
    "imdb": IMDB_LSTM,
    "adult": ADULT_MLP,
    "digits": TUTORIALS["digits"],
    "reviews": REVIEWS_LSTM,
    "breast_cancer": BREAST_CANCER_MLP,
}
# Small networks for data sets whose paper's network takes hours: a plain CNN, an LSTM of 16 units.
SMALL = {"cifar10": strided_cnn(3, 32), "imdb": lstm(WORDS["imdb"] + 2, 16, 16)}
PARTICIPANTS = 5


class HorizontalSettings(FederatedSettings):
    """Settings of this study."""

    local_epochs: ByDataset[Count] = Field(
        description="passes over a participant's records in a round"
    )
    clip: ByDataset[Positive] = Field(description="C, the largest element of an upload")
    networks: ByDataset[Literal["paper", "small"]] = Field(
        {},
        description="paper: that of Table 2, the default; small: a plain CNN on cifar10, an LSTM "
        "of 16 units on imdb",
    )

    def check(self) -> None:
        """Raise Disallowed if a data set lacks a small network, or a participant a record."""
        for dataset, size in self.networks.items():
            if size == "small" and dataset not in SMALL:
                raise Disallowed(f"networks.{dataset}", "paper", size)
        for dataset, records in self.records.items():
            if records < PARTICIPANTS:
                allowed = f"at least {PARTICIPANTS}, one for each participant"
                raise Disallowed(f"records.{dataset}", allowed, records)

    def network(self, dataset: str) -> Network:
        """Return the network that the study trains on a data set."""
        return (SMALL if self.networks.get(dataset) == "small" else NETWORKS)[dataset]


class FederatedHorizontal(FederatedStudy):
    """The study of this module."""

    name = "federated_horizontal"
    # Whether the gradient of an epoch is the sum over its steps, instead of the mean.
    summed = False
    datasets = {name: labelled.SOURCES[name] for name in NETWORKS}
    Settings = HorizontalSettings
    slow_imports = (*FederatedStudy.slow_imports, "learning.federated.horizontal")
    family = GRADIENTS
    query = (
        "The update that a participant uploads, clipped to a box; all records of a participant "
        "may change."
    )

    def points(self, settings: HorizontalSettings, variant: str, dataset: str) -> list[Point]:
        """Return one point per total budget, at the shape of the largest layer, as in Table 2."""
        shapes = [layerwise.layer_shape(layer) for layer in settings.network(dataset).layers]
        largest = max(shapes, key=lambda shape: shape[0] * shape[1])
        return settings.points_at(largest, variant, dataset)

    def measure(self, problem: Split, case: Case, point: Point) -> Iterator[Value]:
        """Yield claimed and true budgets, and the test accuracy after every round (`round`)."""
        # Torch is slow to load, and reading a config imports this module.
        from learning.federated.horizontal import HorizontalPlan, train

        settings, dataset, total = case.settings, case.dataset, point.budget
        network, private = settings.network(dataset), case.mechanism.guarantee != "none"
        rounds = settings.rounds[dataset]
        queries = layerwise.layer_queries(network, settings.clip[dataset])
        use = kairouz.share(total, rounds * len(queries))
        mechanisms = calibrated_uploads(
            case.published, queries, use, rounds, total, case.calibration
        )
        yield Value("parameters", network.size)
        records = len(problem.train_labels)
        yield from run_values(mechanisms, use, rounds, total, records, fresh=True)
        if not private:
            # Unclipped uploads have no range.
            mechanisms = [
                replace(each, query=replace(each.query, element_range=None, frobenius_bound=None))
                for each in mechanisms
            ]
        plan = HorizontalPlan(
            participants=PARTICIPANTS,
            rounds=rounds,
            local_epochs=settings.local_epochs[dataset],
            batch=settings.batch[dataset],
            learning_rate=settings.learning_rate[dataset],
            clip=settings.clip[dataset] if private else None,
            summed=self.summed,
            device=settings.device,
        )

        places = layerwise.layer_places(network)

        def release(upload, rng):
            return layerwise.release(places, mechanisms, upload, rng)

        run = (network, problem, plan, release, case, point)
        yield from training_values(train, *run, stacks=network.stacks)
