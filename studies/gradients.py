"""Private gradients, imgm2022 Section 5, type I: announced there, without results.

Every step draws each record with probability q = lot / records, clips the gradients of the
cross-entropy to l2 norm C and releases their sum through the mechanism; the step moves by the
released sum over the expected lot. Adjacency: one record is added or removed; the sensitivity of
the sum is C. The paper's query is the average over a lot, and it takes C for its sensitivity: read
literally, noise for C on the average is `lot` times the noise used here, at both calibrations. All
layers together are one row (1, M), since one bound C couples them (learning/training/clipping.py).

The point's (epsilon, delta) is the budget of the whole run. A step gets its share by Theorem 3.4 of
Kairouz, Oh and Viswanath, as in the paper, over q, as for the sampling amplification of its type II
study; the paper does not say whether it intends this for type I. The moments accountant sets its
noise from the total. What a run truly spends is measured beside the accuracy; at the exact
calibration it equals the budget (learning/training/step_noise.py).

The matrix mechanism with the paper's W = (1/n)(1, ..., 1), one query that averages records, has
the optimal strategy A = W up to a factor: it releases the average with the classic Gaussian's noise
on each of the M coordinates. Here it answers the sum with the identity over coordinates, which is
the same release. MVG's binary allocation of precision to directions has no directions to choose
from: the gradient is one row.

Cora: a record is the label of a training node; see learning/records/citation_graph.py. Training
without privacy does not clip. All mechanisms share the start and the samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from learning import TRAINING_IMPORTS
from learning.networks import graph_convolution as graph
from learning.networks.alexnet import ALEXNET
from learning.networks.lenet import LENET
from learning.networks.multilayer_perceptron import ADULT_MLP, BREAST_CANCER_MLP
from learning.networks.network import Network
from learning.networks.tutorial_networks import TUTORIALS
from learning.networks.vgg import VGG16
from learning.records import labelled
from learning.records.citation_graph import mixed_words
from learning.training.clipping import Clipping
from learning.training.device import OnDevice
from mechanisms import Budget
from studies.base.coordinates import EPOCH
from studies.base.grid import EpsilonGrid, points_over
from studies.base.settings import (
    ByDataset,
    Count,
    Positive,
    Trials,
)
from studies.base.study import (
    Names,
    Point,
    Value,
    Variant,
    trials_of,
)
from studies.descent_metrics import DESCENT_METRICS, DESCENT_TOLERANCES

NAME = "gradients"
PAPER = "imgm2022"
NETWORKS = {
    "digits": TUTORIALS["digits"],
    "breast_cancer": BREAST_CANCER_MLP,
    "mnist": LENET,
    "adult": ADULT_MLP,
    "svhn": ALEXNET,
    "cifar10": VGG16,
}
DATASETS = {name: labelled.SOURCES[name] for name in (*NETWORKS, "cora")}
COORDINATES = (EPOCH,)
SLOW_IMPORTS = (
    *TRAINING_IMPORTS,
    "studies.descent",
    "learning.training.noisy_descent",
    "learning.training.step_noise",
    "dp_accounting.pld.privacy_loss_distribution",
)
METRICS = DESCENT_METRICS
TOLERANCES = DESCENT_TOLERANCES
SPLITS_TRIALS = True
# Examples that are worked on at once: of the large networks, each needs several megabytes. Few of
# Cora's nodes have many neighbours: small parts need little padding.
_AT_ONCE = {"cora": 16, "svhn": 64, "cifar10": 32}


class Settings(EpsilonGrid, OnDevice):
    """Settings of this study."""

    lots: ByDataset[Count] = Field(description="expected records per step")
    epochs: ByDataset[Count] = Field(description="epochs of a run")
    learning_rates: ByDataset[Positive] = Field(
        description="learning rate of plain gradient descent on the mean gradient"
    )
    records: ByDataset[Count] = Field(
        {}, description="training records kept, drawn at random; all by default"
    )
    clipping_bound: Positive = Field(1.0, description="l2 norm that gradients are clipped to")
    trials: Trials = Field(1, description="runs per budget")
    trials_for: ByDataset[Trials] = Field(
        {}, description="runs on single data sets, in place of `trials`"
    )


@dataclass(frozen=True)
class GradientTask:
    """What all mechanisms share on one data set: its records and its network."""

    dataset: str
    split: labelled.Split
    network: Network
    settings: dict


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """The grid over epsilon at the shape of the gradient as a row."""
    layers = graph.LAYERS if dataset == "cora" else NETWORKS[dataset].layers
    return points_over([(1, sum(layer.size for layer in layers))], settings, variant)


def load(settings: dict, dataset: str, folder: Path, names: Names) -> GradientTask:
    """The training and test records, and the network."""
    seed = names.shared_seed("records")
    split = labelled.load(dataset, folder, settings["records"].get(dataset), seed)
    return GradientTask(dataset, split, _network(dataset, folder), settings)


def _network(dataset: str, folder: Path) -> Network:
    """The network of the data set; a graph's network holds the public part of the graph."""
    if dataset == "cora":
        return graph.gcn(mixed_words(folder))
    return NETWORKS[dataset]


def measure(
    problem: GradientTask, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """Claimed and true budgets, and the accuracy after every epoch (`epoch`)."""
    # Accounting and torch are slow to load, and reading a config imports this module.
    from learning.training.noisy_descent import DescentPlan
    from learning.training.step_noise import AmplifiedShares, step_mechanism
    from studies.descent import accuracies, privacy

    settings, records = problem.settings, len(problem.split.train_labels)
    clipping = Clipping(bound=settings["clipping_bound"])
    lot, epochs = (settings[key][problem.dataset] for key in ("lots", "epochs"))
    plan = DescentPlan(
        batch=lot,
        epochs=epochs,
        learning_rate=settings["learning_rates"][problem.dataset],
        clipping=None if variant.mechanism.guarantee == "none" else clipping,
        chunk=_AT_ONCE.get(problem.dataset, DescentPlan.chunk),
        device=settings["device"],
    )
    schedule = AmplifiedShares(rate=lot / records, steps=plan.steps(records))
    total = Budget(epsilon=point.epsilon, delta=point.delta)
    query = clipping.query(problem.network.size, lot)
    mechanism = step_mechanism(variant, query, total, schedule, calibration)
    yield Value("records", float(records))
    yield Value("sampling_rate", schedule.rate)
    yield Value("steps", float(schedule.steps))
    step = schedule.step_budget(total)
    yield Value("step_epsilon", step.epsilon)
    yield Value("step_delta", step.delta)
    yield from privacy(mechanism, total, schedule)
    for trial in trials_of(settings, problem.dataset):
        yield from accuracies(problem.network, problem.split, plan, mechanism, point, names, trial)
