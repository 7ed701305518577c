"""Private gradients: imgm2022 Section 5, type I, which the paper announces without results.

Every step draws each record with probability q = lot / records, clips the gradients of the
cross-entropy to l2 norm C and releases their sum through the mechanism; the step moves by the
released sum over the expected lot. Adjacency: one record is added or removed; the sensitivity of
the sum is C. The paper's query is the average over a lot, with C as its sensitivity. Read
literally, the noise for C on the average is `lot` times the noise used here, at both calibrations.
All layers together are one row (1, M), since one bound C couples them
(learning/training/clipping.py).

The (epsilon, delta) of a point is the budget of the whole run. The budget of a step is its share by
Theorem 3.4 of Kairouz, Oh and Viswanath, as in the paper, divided by q. This division is the
amplification by sampling of the paper's type II study; the paper does not say whether it also
applies to type I. The moments accountant sets its noise from the total budget. Beside its accuracy,
the study reports bounds on the privacy that a run truly spends. At the exact calibration the upper
bound equals the budget (learning/training/step_noise.py).

The matrix mechanism with the paper's W = (1/n)(1, ..., 1), one query that averages records, has
the optimal strategy A = W up to a factor: it releases the average with the classic Gaussian's noise
on each of the M coordinates. Here it answers the sum with the identity over coordinates, which is
the same release. MVG's binary allocation of precision has no directions to choose from, because the
gradient is one row.

On Cora, a record is the label of a training node; see learning/records/citation_graph.py. Training
without privacy does not clip. All mechanisms share the initial weights and the samples.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from learning.networks import graph_convolution as graph
from learning.networks.deep_cnns import ALEXNET, VGG16
from learning.networks.multilayer_perceptron import ADULT_MLP, BREAST_CANCER_MLP
from learning.networks.network import Network
from learning.networks.small_cnns import LENET, TUTORIALS
from learning.records import labelled
from learning.records.citation_graph import mixed_words
from learning.training.clipping import Clipping
from learning.training.step_noise import AmplifiedShares, step_mechanism
from studies.base import (
    ByDataset,
    Case,
    Count,
    EpsilonGrid,
    Point,
    Positive,
    Setup,
    Value,
)
from studies.base.families import GRADIENTS
from studies.base.training import TrainingSettings, load_batches
from studies.descent import (
    LEARNT,
    RANKED_ACCURACY,
    SPENT,
    STEP_BUDGET,
    DescentStudy,
    accuracies,
    privacy,
    schedule_values,
)

NETWORKS = {
    "digits": TUTORIALS["digits"],
    "breast_cancer": BREAST_CANCER_MLP,
    "mnist": LENET,
    "adult": ADULT_MLP,
    "svhn": ALEXNET,
    "cifar10": VGG16,
}
# Examples per chunk. In the large networks each example needs several megabytes. Few of Cora's
# nodes have many neighbours, so small chunks need little padding.
_AT_ONCE = {"cora": 16, "svhn": 64, "cifar10": 32}


class GradientSettings(EpsilonGrid, TrainingSettings):
    """Settings of this study."""

    lots: ByDataset[Count] = Field(description="expected records per step")
    epochs: ByDataset[Count] = Field(description="epochs of a run")
    learning_rates: ByDataset[Positive] = Field(
        description="learning rate of plain gradient descent on the mean gradient"
    )
    clipping_bound: Positive = Field(1.0, description="l2 norm that gradients are clipped to")


class PrivateGradients(DescentStudy):
    """The study of this module."""

    name = "gradients"
    paper = "imgm2022"
    datasets = {name: labelled.SOURCES[name] for name in (*NETWORKS, "cora")}
    Settings = GradientSettings
    metrics = (*SPENT, *STEP_BUDGET, *LEARNT, RANKED_ACCURACY)
    family = GRADIENTS
    query = "The sum of clipped gradients of a Poisson sample; one record is added or removed."

    def points(self, settings: GradientSettings, variant: str, dataset: str) -> list[Point]:
        """Return the grid over epsilon at the shape (1, M) of the gradient."""
        layers = graph.LAYERS if dataset == "cora" else NETWORKS[dataset].layers
        return settings.points_over([(1, sum(layer.size for layer in layers))], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> tuple[labelled.Split, Network]:
        """Load the training and test records, and the network.

        The network for a graph contains the public part of the graph.

        Raises:
            ValueError: The records do not fill a lot.
        """
        dataset = setup.dataset
        split = load_batches(setup, folder, setup.settings.lots[dataset], f"lots.{dataset}")
        network = graph.gcn(mixed_words(folder)) if dataset == "cora" else NETWORKS[dataset]
        return split, network

    def measure(
        self, problem: tuple[labelled.Split, Network], case: Case, point: Point
    ) -> Iterator[Value]:
        """Yield claimed and true budgets, and the accuracy after every epoch (`epoch`)."""
        # Torch is slow to load, and reading a config imports this module.
        from learning.training.noisy_descent import DescentPlan

        settings, dataset, total = case.settings, case.dataset, point.budget
        split, network = problem
        records = len(split.train_labels)
        clipping = Clipping(bound=settings.clipping_bound)
        plan = DescentPlan(
            batch=settings.lots[dataset],
            epochs=settings.epochs[dataset],
            learning_rate=settings.learning_rates[dataset],
            clipping=None if case.mechanism.guarantee == "none" else clipping,
            chunk=_AT_ONCE.get(dataset, DescentPlan.chunk),
            device=settings.device,
        )
        schedule = AmplifiedShares(rate=plan.batch / records, steps=plan.steps(records))
        query = clipping.query(network.size, plan.batch)
        mechanism = step_mechanism(
            case.mechanism, case.published, query, total, schedule, case.calibration
        )
        yield from schedule_values(schedule, total, records)
        yield from privacy(mechanism, total, schedule)
        run = (network, split, plan, mechanism, case, point)
        for trial in case.trials:
            yield from accuracies(*run, trial)
