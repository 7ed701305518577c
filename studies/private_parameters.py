"""Averaging protected parameters: tldp2025, Section 5.2.3 (type III), Figure 3, Table 4.

Three users, each with a third of the private records, train a model for one epoch, clip its
parameters to [-C, C] and send them through the mechanism; the server returns the mean. One such
round is one epoch of Section 5.1.1 (learning/federated/parameter_averaging.py). Adjacency is local:
the parameters of one user may become any others.

The query is the identity on all parameters of the model as one row (1, M): the paper's tensor
"represents the model parameters", and eq. (19) then holds for everything that a user sends at once.
If every layer were a query with the whole epsilon, a message would cost as many epsilons as there
are layers.

The paper gives two ranges for one parameter. It clips parameters to [-C, C], C = 1, and eq. (19)
follows from that range of 2 C. Its Table 4 states Delta = 256, and 400,001 for IMDB: the number of
grey values of a pixel, or of words in a vocabulary. The setting `epsilons_by_range` chooses either
range or both, and the column `range` says which one the noise is calibrated to: "clip" (2 C) or
"stated" (Table 4). At a given epsilon every noise is proportional to Delta, so it is 128 times as
large at Delta = 256. Laplace noise, including that of TLDP-L, then equals the noise for
epsilon / 128 at 2 C. The variance of TLDP-G is Delta^2 / (2 epsilon), so its noise then equals the
noise for epsilon / 128^2. Parameters are clipped to [-C, C] either way, and the privacy truly spent
is computed for that range. The exact calibration rescales the noise to the true delta, whatever
Delta was, and runs at "clip" alone.

The epsilon of a point is the budget of one release, as in the paper. A user makes one release in
every round. The rows contain the privacy that all rounds truly spend together: true_delta_upper at
epsilon and true_epsilon_upper at delta. At the exact calibration that total equals the budget.

Public side information: LLAGP takes the sizes of the layers. DPHSGD takes thresholds computed from
the curvature of the loss at the common initial weights, on records that are declared public and
belong to no user (learning/training/curvature.py). `public_records` counts those records for a
mechanism that uses the thresholds. The non-private control does not clip.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from learning import SCORING_IMPORTS
from learning.federated.parameter_averaging import averaged
from learning.networks.lstm import lstm
from learning.networks.mobilenet import mobilenet
from learning.networks.multilayer_perceptron import DARKNET_MLP, multilayer_perceptron
from learning.networks.network import Network
from learning.networks.small_cnns import strided_cnn
from learning.records import labelled
from learning.records.texts import WORDS
from learning.releases import rescaled_for_all, spent_by_releases
from learning.training.classifiers import Training, outputs, weighted_f1
from mechanisms import Mechanism
from mechanisms.base.public_information import CLIPPING_SHARES, LAYER_SIZES, public_options
from mechanisms.query.box_query import box_query
from papers.tldp2025 import CLIP as BOUND
from papers.tldp2025 import stated_delta
from studies.base import (
    ACCOUNTED,
    ACCOUNTED_DELTA,
    ByDataset,
    Case,
    Coordinate,
    Count,
    Disallowed,
    Distinct,
    Epsilon,
    EpsilonGrid,
    Metric,
    Point,
    Positive,
    Setup,
    Study,
    Trials,
    Value,
)
from studies.base.families import LOCAL
from studies.base.training import TrainingSettings, load_records, progress_of, scores_on, seeds_of

SIZES = ("tiny", "small", "paper")
# "tiny" has no depthwise convolutions, which learn slowly and are slow on one core.
NETWORKS: dict[str, dict[str, Network]] = {
    "digits": {"small": multilayer_perceptron(64, 32, 10)},
    **{
        name: {
            "tiny": strided_cnn(channels, side),
            "paper": mobilenet(channels, 10),
        }
        for name, channels, side in (("mnist", 1, 28), ("cifar10", 3, 32), ("svhn", 3, 32))
    },
    "reviews": {"small": lstm(WORDS["reviews"] + 2, 8, 8, bidirectional=True)},
    "imdb": {
        "small": lstm(WORDS["imdb"] + 2, 4, 8, bidirectional=True),
        "paper": lstm(WORDS["imdb"] + 2, 100, 256, depth=2, bidirectional=True),
    },
    "breast_cancer": {"small": multilayer_perceptron(30, 16, 2)},
    "darknet2020": {"paper": DARKNET_MLP},
}
CLIP, STATED = RANGES = ("clip", "stated")
RANGE = Coordinate(
    "range",
    str,
    "Delta, the range of one parameter that noise as published is for: clip (2 C) or stated (the "
    "paper's Table 4)",
    choice="Range of a parameter",
)
USERS = 3
# From Section 5.1.1.
BATCH, LEARNING_RATE = 64, 0.001
# Training records that are declared public; only the thresholds of DPHSGD use them.
PUBLIC_RECORDS = 64


class Settings(EpsilonGrid, TrainingSettings):
    """Settings of this study."""

    networks: ByDataset[Literal[SIZES]] = Field(
        description="size of the network; tiny: a plain CNN, paper: that of tldp2025"
    )
    rounds: ByDataset[Count] = Field(description="rounds of one local epoch each")
    records: ByDataset[Annotated[Count, Field(ge=PUBLIC_RECORDS + USERS)]] = Field(
        {}, description="training records kept, drawn at random; all by default"
    )
    test_records: ByDataset[Count] = Field(
        {}, description="test records kept, drawn at random; all by default"
    )
    words: ByDataset[Count] = Field(
        {}, description="last words of a text that are read; by default all that are loaded"
    )
    epsilons_by_range: ByDataset[dict[Literal[RANGES], Distinct[Epsilon]]] = Field(
        {},
        description="grids over epsilon by the Delta of the noise as published, in place of "
        "`epsilons`; clip: 2 C, the default, stated: that of the paper's Table 4",
    )
    learning_rate: ByDataset[Positive] = Field(
        {}, description=f"learning rate of Adam; by default the paper's {LEARNING_RATE}"
    )
    batch: ByDataset[Count] = Field(
        {}, description=f"records per local step; by default the paper's {BATCH}"
    )
    trials: Trials = Field(3, description="runs per epsilon")

    def check(self) -> None:
        """Raise Disallowed for a network size that a data set lacks, or for words without texts."""
        for dataset in self.datasets:
            size = self.networks[dataset]
            if size not in NETWORKS[dataset]:
                raise Disallowed(f"networks.{dataset}", " or ".join(NETWORKS[dataset]), size)
            if dataset in self.words and dataset not in WORDS:
                allowed = "left out: it has no texts"
                raise Disallowed(f"words.{dataset}", allowed, self.words[dataset])


@dataclass(frozen=True)
class AveragingTask:
    """The network, the users and their records, shared by all mechanisms.

    Args:
        network: The model that is averaged, with M parameters.
        users: Inputs and labels of every user.
        public: Inputs and labels of the records that are declared public.
        test: Inputs and labels of the test records.
    """

    network: Network
    users: list[tuple[np.ndarray, np.ndarray]]
    public: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


class PrivateParameters(Study):
    """The study of this module."""

    name = "private_parameters"
    paper = "tldp2025"
    datasets = {name: labelled.SOURCES[name] for name in NETWORKS}
    coordinates = (RANGE,)
    slow_imports = (*SCORING_IMPORTS, "learning.training.curvature")
    splits_trials = True
    Settings = Settings
    metrics = (
        *scores_on("the test records"),
        Metric("records", "training records of all users"),
        Metric(
            "public_records",
            "public records behind a mechanism's thresholds; absent where it has none",
        ),
        Metric("test_records", "test records"),
        Metric("rounds", "rounds of averaging, and so releases of every user"),
        Metric(
            "noise_deviation", "root mean square of the noise on one parameter", tolerance=ACCOUNTED
        ),
        Metric(
            "true_delta_lower",
            "lower bound on the true delta of all rounds at epsilon",
            tolerance=ACCOUNTED_DELTA,
        ),
        Metric(
            "true_delta_upper",
            "upper bound on the true delta of all rounds at epsilon",
            tolerance=ACCOUNTED_DELTA,
        ),
        Metric(
            "true_epsilon_upper",
            "upper bound on the true epsilon of all rounds at delta",
            tolerance=ACCOUNTED,
        ),
    )
    family = LOCAL
    query = (
        "All parameters of a user's model, each in [-1, 1], in every round. Local privacy: they"
        " may become any others."
    )

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the epsilons of all ranges, at the shape (1, M) of all parameters."""
        network = NETWORKS[dataset][settings.networks[dataset]]
        grids = settings.epsilons_by_range.get(dataset, {}).values()
        # In order, without repetitions. A mechanism's own grid takes precedence over both ranges.
        union = list(dict.fromkeys(epsilon for grid in grids for epsilon in grid))
        shared = settings.model_copy(update={"epsilons": union or settings.epsilons})
        return shared.points_over([(1, network.size)], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> AveragingTask:
        """Load the records of every user, the public records and the test records.

        Raises:
            ValueError: The config asks for more words or test records than were loaded.
        """
        settings, dataset = setup.settings, setup.dataset
        split = load_records(setup, folder)
        rng = np.random.default_rng(setup.shared_seed("users"))
        words = settings.words.get(dataset, 0)
        if words > split.train_inputs.shape[1]:
            raise ValueError(
                f"words must be at most {split.train_inputs.shape[1]}, the words of a text of "
                f"{dataset} that are loaded, got {words}; lower it"
            )
        inputs, tests = (each[:, -words:] for each in (split.train_inputs, split.test_inputs))
        order = rng.permutation(len(split.train_labels))
        parts = [order[:PUBLIC_RECORDS], *np.array_split(order[PUBLIC_RECORDS:], USERS)]
        shown, *users = ((inputs[part], split.train_labels[part]) for part in parts)
        count = len(split.test_labels)
        asked = settings.test_records.get(dataset, count)
        if asked > count:
            raise ValueError(
                f"test_records must be at most {count}, the number of test records of {dataset}, "
                f"got {asked}; lower it"
            )
        kept = rng.permutation(count)[:asked]
        return AveragingTask(
            network=NETWORKS[dataset][settings.networks[dataset]],
            users=users,
            public=shown,
            test=(tests[kept], split.test_labels[kept]),
        )

    def measure(self, problem: AveragingTask, case: Case, point: Point) -> Iterator[Value]:
        """Yield the privacy that all rounds spend, and F1 and accuracy of the final model."""
        yield Value("records", sum(len(labels) for _, labels in problem.users))
        # An option in the config overrides the study's own information.
        public = case.mechanism.public_information | dict.fromkeys(case.variant.options)
        if CLIPPING_SHARES in public.values():
            yield Value("public_records", len(problem.public[1]))
        yield Value("test_records", len(problem.test[1]))
        rounds = case.settings.rounds[case.dataset]
        yield Value("rounds", rounds)
        for delta_range in _ranges(case, point.epsilon):
            for trial in case.trials:
                mechanism = _mechanism(problem, delta_range, case, point, trial)
                values = _training(problem, mechanism, delta_range, case, point, trial)
                if trial == 0:
                    spent = spent_by_releases(mechanism, rounds, point.budget)
                    values = [*(Value(*each) for each in spent.items()), *values]
                yield from (replace(value, at={"range": delta_range}) for value in values)


def _ranges(case: Case, epsilon: float) -> list[str]:
    """Return the ranges to run; at the exact calibration all give equal noise, so only `clip`."""
    grids = case.settings.epsilons_by_range.get(case.dataset, {})
    # An epsilon from `epsilons` or `epsilons_for` may be in neither grid.
    asked = [name for name, grid in grids.items() if epsilon in grid] or [CLIP]
    return asked if case.calibration == "published" else [each for each in asked if each == CLIP]


def _mechanism(
    problem: AveragingTask, delta_range: str, case: Case, point: Point, trial: int
) -> Mechanism:
    """Return the mechanism of every release, with the public side information that it declares.

    Its noise is calibrated to the range Delta; its query has the range [-C, C] of the clipped
    parameters.
    """
    from learning.training.curvature import hessian_diagonal, thresholds

    def clipping_shares() -> np.ndarray:
        """Compute thresholds from the curvature at the trial's start, on the public records."""
        start = problem.network.initial(np.random.default_rng(case.shared_seed("start", trial)))
        rng = np.random.default_rng(case.shared_seed("curvature", trial))
        return thresholds(hessian_diagonal(problem.network, start, *problem.public, rng))

    known = {
        LAYER_SIZES: lambda: [layer.size for layer in problem.network.layers],
        CLIPPING_SHARES: clipping_shares,
    }
    public = public_options(case.mechanism, known)
    shape = (1, problem.network.size)
    reach = stated_delta(case.dataset) / 2 if delta_range == STATED else BOUND
    # An option in the config overrides the study's own information.
    options = public | case.variant.options
    mechanism = case.published(box_query(shape, -reach, reach), point.budget, **options)
    if case.calibration == "exact":
        mechanism = rescaled_for_all(mechanism, point.budget, case.settings.rounds[case.dataset])
    query = box_query(shape, -BOUND, BOUND)
    if mechanism.guarantee == "none":
        # Unclipped parameters have no range.
        query = replace(query, element_range=None, frobenius_bound=None)
    return replace(mechanism, query=query)


def _training(
    problem: AveragingTask,
    mechanism: Mechanism,
    delta_range: str,
    case: Case,
    point: Point,
    trial: int,
) -> Iterator[Value]:
    import torch

    settings = case.settings
    training = Training(
        epochs=1,
        batch=settings.batch.get(case.dataset, BATCH),
        learning_rate=settings.learning_rate.get(case.dataset, LEARNING_RATE),
        device=settings.device,
    )
    bound = None if mechanism.guarantee == "none" else BOUND
    seeds = seeds_of(case, point, trial)
    parameters = averaged(
        problem.network,
        problem.users,
        settings.rounds[case.dataset],
        training,
        bound,
        mechanism.release,
        seeds,
        **progress_of(case, point, trial, {"range": delta_range}),
    )
    inputs, labels = problem.test
    predicted = outputs(problem.network, torch.from_numpy(parameters), inputs).argmax(axis=1)
    yield Value("f1", weighted_f1(labels, predicted), trial, seed=seeds.noise)
    yield Value("accuracy", np.mean(predicted == labels), trial, seed=seeds.noise)
