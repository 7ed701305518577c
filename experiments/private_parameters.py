"""Averaging protected parameters: tldp2025, Section 5.2.3 (type III), Figure 3, Table 4.

Three users, each with a third of the training records, train a model for one epoch, clip its
parameters to [-C, C] and send them through the mechanism; the server sends back the mean; a round
per epoch of Section 5.1.1 (learning/federated/parameter_averaging.py). Adjacency: local; the parameters of
one user may become any others.

The query is the identity on all parameters of the model as one row (1, M): the paper's tensor
"represents the model parameters", and eq. (19) then holds for all that a user sends at once. Were
every layer a query of its own, with epsilon for each, a message would cost as many epsilons as
there are layers. The paper's Delta (its Table 4: 256, and 400001 for IMDB) is the number of grey
values of a pixel and of words in a vocabulary, ranges of inputs and not of parameters, which lie
in [-1, 1] by its own clipping: Delta = 2 C is used. At Delta = 256 all noise would be 128 times as
large, at 400001 200,000 times.

epsilon is that of one release, as in the paper. A user makes one in every round, and what all of
them truly spend together is in the rows: true_delta_upper at epsilon, true_epsilon_upper at delta.
At the exact calibration it is the budget.

LLAGP gets the sizes of the layers. DPHSGD gets thresholds from the curvature of the loss at the
common start, on records that are declared public and that no user has; see
learning/training/curvature.py. The control without privacy does not clip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.contract.grid import EPSILONS, points_over
from experiments.contract.settings import (
    ConfigError,
    Setting,
    integer,
    mapping_of,
    one_of,
    positive,
    require_entries,
)
from experiments.contract.study import (
    Names,
    Point,
    Value,
    Variant,
    trials_of,
)
from learning.federated import parameter_averaging as averaging
from learning.networks.bilstm import bilstm
from learning.networks.mobilenet import FULL, SMALL, mobilenet
from learning.networks.multilayer_perceptron import multilayer_perceptron
from learning.networks.network import Network
from learning.networks.strided_cnn import strided_cnn
from learning.records import labelled as data
from learning.records.texts import WORDS
from learning.training.classifiers import Training, outputs, weighted_f1
from learning.training.device import DEVICE
from learning.training.trial import checkpoint_of, label_of, seeds_of
from mechanisms import Budget, Mechanism
from papers.box_query import box_query

NAME = "private_parameters"
PAPER = "tldp2025"
SIZES = ("tiny", "small", "paper")
# tiny: without depthwise convolutions, which learn slowly and take long on one core.
NETWORKS: dict[str, dict[str, Network]] = {
    "digits": {"small": multilayer(64, 32, 10)},
    **{
        name: {
            "tiny": strided_cnn(channels, side),
            "small": mobilenet(channels, 10, SMALL),
            "paper": mobilenet(channels, 10, FULL),
        }
        for name, channels, side in (("mnist", 1, 28), ("cifar10", 3, 32), ("svhn", 3, 32))
    },
    "reviews": {"small": bilstm(WORDS["reviews"] + 2, 8, 8, 1)},
    "imdb": {
        "small": bilstm(WORDS["imdb"] + 2, 4, 8, 1),
        "paper": bilstm(WORDS["imdb"] + 2, 100, 256, 2),
    },
    "breast_cancer": {"small": multilayer(30, 16, 2)},
    "darknet2020": {"paper": multilayer(79, 256, 256, 256, 128, 4)},
}
DATASETS = {name: data.SOURCES[name] for name in NETWORKS}
COORDINATES = ()
METRICS = {
    "f1": "weighted F1 score on the test records, in [0, 1]",
    "accuracy": "accuracy on the test records, in [0, 1]",
    "records": "training records of all users",
    "test_records": "test records",
    "rounds": "rounds of averaging",
    "noise_deviation": "root mean square of the noise on one parameter",
    "true_delta_lower": "lower bound on the true delta of all rounds at epsilon",
    "true_delta_upper": "upper bound on it",
    "true_epsilon_upper": "upper bound on the true epsilon of all rounds at delta",
}
SPLITS_TRIALS = True
USERS = 3


SETTINGS = EPSILONS | {
    "networks": Setting(
        "a mapping from data sets to tiny, small or paper",
        mapping_of(one_of(*SIZES)),
        "size of the network; tiny: a plain CNN, paper: that of tldp2025",
    ),
    "rounds": Setting(
        "a mapping from data sets to whole numbers >= 1",
        mapping_of(integer(1)),
        "rounds of one local epoch each",
    ),
    "records": Setting(
        "a mapping from data sets to whole numbers >= 4",
        mapping_of(integer(USERS + 1)),
        "training records kept, drawn at random; all where absent",
        {},
    ),
    "test_records": Setting(
        "a mapping from data sets to whole numbers >= 1",
        mapping_of(integer(1)),
        "test records kept, drawn at random; all where absent",
        {},
    ),
    "words": Setting(
        "a mapping from data sets to whole numbers >= 1",
        mapping_of(integer(1)),
        "last words of a text that are read; all that are loaded where absent",
        {},
    ),
    "public_records": Setting(
        "a whole number >= 1",
        integer(1),
        "training records declared public, for the thresholds of DPHSGD alone",
        64,
    ),
    "clipping_bound": Setting("a number > 0", positive, "C, to which parameters are clipped", 1.0),
    "learning_rate": Setting("a number > 0", positive, "of Adam", 0.001),
    "batch": Setting("a whole number >= 1", integer(1), "records per local step", 64),
    "trials": Setting("a whole number >= 1", integer(1), "runs per epsilon", 3),
    "device": DEVICE,
}


def check(settings: dict) -> None:
    """Raise ConfigError unless every data set has rounds and a network of a size that exists."""
    require_entries(NAME, settings, "networks", "rounds")
    for dataset in settings["datasets"]:
        size = settings["networks"][dataset]
        if size not in NETWORKS[dataset]:
            raise ConfigError(
                f"config key experiments.private_parameters.networks.{dataset} must be "
                f"{' or '.join(NETWORKS[dataset])}, got {size}"
            )


@dataclass(frozen=True)
class Problem:
    """What all mechanisms share.

    users: inputs and labels of every user; public: those that are declared public; curvatures: of
    the loss at every trial's start, (M,), as far as they were needed.
    """

    network: Network
    users: list[tuple[np.ndarray, np.ndarray]]
    public: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]
    rounds: int
    settings: dict
    curvatures: dict[int, np.ndarray] = field(default_factory=dict)

    def curvature(self, names: Names, trial: int) -> np.ndarray:
        """The Hessian's diagonal at the start of a trial, on the public records."""
        from learning.training.curvature import hessian_diagonal

        if trial not in self.curvatures:
            start = self.network.initial(np.random.default_rng(names.shared_seed("start", trial)))
            rng = np.random.default_rng(names.shared_seed("curvature", trial))
            self.curvatures[trial] = hessian_diagonal(self.network, start, *self.public, rng)
        return self.curvatures[trial]


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """The grid over epsilon at the shape of all parameters."""
    network = NETWORKS[dataset][settings["networks"][dataset]]
    return points_over([(1, network.size)], settings, variant)


def load(settings: dict, dataset: str, folder: Path, names: Names) -> Problem:
    """The records of every user, those that are public, and those for the test."""
    split = data.load(
        dataset, folder, settings["records"].get(dataset), names.shared_seed("records")
    )
    rng = np.random.default_rng(names.shared_seed("users"))
    words = settings["words"].get(dataset, 0)
    inputs, tests = (each[:, -words:] for each in (split.train_inputs, split.test_inputs))
    order, public = rng.permutation(len(split.train_labels)), settings["public_records"]
    if len(order) < public + USERS:
        raise ValueError(
            f"{dataset} has {len(order)} training records, of which {public} are to be public: "
            f"fewer than one is left for each of {USERS} users; lower public_records"
        )
    parts = [order[:public], *np.array_split(order[public:], USERS)]
    shown, *users = ((inputs[part], split.train_labels[part]) for part in parts)
    count = len(split.test_labels)
    asked = settings["test_records"].get(dataset, count)
    if asked > count:
        raise ValueError(f"{dataset} has {count} test records, got {asked} as test_records")
    kept = rng.permutation(count)[:asked]
    return Problem(
        network=NETWORKS[dataset][settings["networks"][dataset]],
        users=users,
        public=shown,
        test=(tests[kept], split.test_labels[kept]),
        rounds=settings["rounds"][dataset],
        settings=settings,
    )


def measure(
    problem: Problem, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """What is spent, and weighted F1 and accuracy of the last model on the test records."""
    # Reading a config imports this module, and torch takes seconds to load.
    from learning.releases.repeated_releases import spending

    yield Value("records", float(sum(len(labels) for _, labels in problem.users)))
    yield Value("test_records", float(len(problem.test[1])))
    yield Value("rounds", float(problem.rounds))
    for trial in trials_of(problem.settings):
        mechanism = _mechanism(problem, variant, calibration, point, names, trial)
        if trial == 0:
            yield from spending(mechanism, problem.rounds)
        yield from _training(problem, mechanism, point, names, trial)


def _mechanism(
    problem: Problem, variant: Variant, calibration: str, point: Point, names: Names, trial: int
) -> Mechanism:
    """The mechanism of every release, with what it has to know of the network."""
    from learning.releases.repeated_releases import calibrated
    from learning.training.curvature import thresholds

    options = {}
    if "layers" in variant.mechanism.options:
        options["layers"] = [layer.size for layer in problem.network.layers]
    if "thresholds" in variant.mechanism.options:
        options["thresholds"] = thresholds(problem.curvature(names, trial))
    bound = problem.settings["clipping_bound"]
    query = box_query((1, problem.network.size), -bound, bound)
    budget = Budget(epsilon=point.epsilon, delta=point.delta)
    return calibrated(variant, query, budget, problem.rounds, calibration, **options)


def _training(
    problem: Problem, mechanism: Mechanism, point: Point, names: Names, trial: int
) -> Iterator[Value]:
    settings = problem.settings
    plan = averaging.Plan(
        rounds=problem.rounds,
        local=Training(
            epochs=1,
            batch=settings["batch"],
            learning_rate=settings["learning_rate"],
            device=settings["device"],
        ),
        bound=None if mechanism.guarantee == "none" else settings["clipping_bound"],
    )
    seeds = seeds_of(point, names, trial)
    import torch

    parameters = averaging.averaged(
        problem.network,
        problem.users,
        plan,
        mechanism.release,
        seeds,
        checkpoint=checkpoint_of(point, names, trial),
        label=label_of(mechanism, point, names, trial),
    )
    inputs, labels = problem.test
    logits = outputs(problem.network, torch.from_numpy(parameters), inputs)
    found = logits.argmax(axis=1)
    yield Value("f1", weighted_f1(labels, found), trial, seed=seeds.noise)
    yield Value("accuracy", float(np.mean(found == labels)), trial, seed=seeds.noise)
