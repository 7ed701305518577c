"""Sizes and networks of mgm2021's federated studies, and the noise of an upload (Section 8.2).

The noise has a closed form: it is proportional to the clip C, and otherwise depends only on the
layers, the rounds and the total budget.
"""

import math
from typing import NamedTuple

import pandas as pd
import scipy

from claims.judged_rows import calibrated, listed, ok_rows, select
from datasets.titles import dataset_title
from learning.federated import layerwise_release
from learning.networks.network import Network
from mechanisms import Budget
from mechanisms.privacy.sampling import kairouz
from mechanisms.query.words import rounded_down
from paper_figures.style import mechanism_title
from papers.mgm2021 import DELTA, HORIZONTAL_ROUNDS
from studies import federated_horizontal
from studies.federated_horizontal import SMALL

HORIZONTAL, VERTICAL = "federated_horizontal", "federated_vertical"
# The horizontal study whose uploads are sums over steps.
SUMS = "federated_sums"
# The paper's names for its networks, by study and data set.
NETWORKS = {
    study: {"mnist": "LeNet", "cifar10": "ResNet-18", "imdb": "LSTM", "adult": "MLP"}
    for study in (HORIZONTAL, SUMS)
} | {
    VERTICAL: {
        "adult": "split MLP",
        "purchase100": "split FCN",
        "location30": "split NN",
        "texas100": "split NN",
    },
}


class StudySize(NamedTuple):
    """The network, records, rounds and releases of a study on one data set.

    Args:
        shape: The shape of the releases.
    """

    network: str
    records: float
    rounds: int
    releases: float
    shape: str


def study_size(rows: pd.DataFrame, study: str, dataset: str) -> StudySize:
    """Return the size of a study on one data set, which all its mechanisms share."""
    own = select(rows, study=study, dataset=dataset)
    small = dataset in SMALL and trained_network(rows, study, dataset) is SMALL[dataset]
    return StudySize(
        network="small network" if small else NETWORKS[study].get(dataset, "network"),
        records=ok_rows(own, study, "records")["value"].iloc[0],
        rounds=int(ok_rows(own, study, "test_accuracy")["round"].max()),
        releases=ok_rows(own, study, "uses")["value"].iloc[0],
        shape=own["shape"].iloc[0].replace("x", " x "),
    )


def trained_network(rows: pd.DataFrame, study: str, dataset: str) -> Network:
    """Return the network of HORIZONTAL or SUMS: the paper's, or the small one in its place."""
    sizes = set(ok_rows(rows, study, "parameters", dataset)["value"])
    small = dataset in SMALL and SMALL[dataset].size in sizes
    return (SMALL if small else federated_horizontal.NETWORKS)[dataset]


# The range of total epsilons in which the noises of two mechanisms may cross.
_LEAST, _LARGEST = 1.0, 1e15


def noise_norm(mechanism: str, network: Network, rounds: int, epsilon: float) -> float:
    """Return the root mean square norm of the published noise on one upload, divided by C.

    Args:
        epsilon: The epsilon of the whole training.
    """
    queries = layerwise_release.layer_queries(network, 1.0)
    use = kairouz.share(Budget(epsilon=epsilon, delta=DELTA), rounds * len(queries))
    return math.sqrt(sum(calibrated(mechanism, query, use).expected_loss() for query in queries))


def less_noise_below(one: str, other: str, network: Network, rounds: int) -> float:
    """Return the total epsilon below which `one` has less noise than `other`.

    Raises:
        ValueError: `one` has less noise at every epsilon, or at none.
    """

    def excess(logarithm: float) -> float:
        norms = (noise_norm(key, network, rounds, math.exp(logarithm)) for key in (one, other))
        return math.log(next(norms) / next(norms))

    return math.exp(scipy.optimize.brentq(excess, math.log(_LEAST), math.log(_LARGEST), xtol=1e-9))


def noise_order_sentences(
    rows: pd.DataFrame, datasets: list[str], one: str, other: str, least: str
) -> list[str]:
    """Describe up to which total epsilon `one` has less noise than `other`, and more than `least`.

    The sentences are about the networks and rounds of the run, and about those of the paper.
    """
    run = {
        name: (trained_network(rows, HORIZONTAL, name), study_size(rows, HORIZONTAL, name).rounds)
        for name in datasets
    }
    papers = {
        name: (federated_horizontal.NETWORKS[name], HORIZONTAL_ROUNDS[name]) for name in datasets
    }

    def crossings(trainings: dict[str, tuple[Network, int]]) -> str:
        return listed(
            f"{rounded_down(less_noise_below(one, other, *training), 2)} on {dataset_title(name)}"
            for name, training in trainings.items()
        )

    def times(training: tuple[Network, int]) -> str:
        # The ratio grows with epsilon, so it is least at _LEAST.
        norms = (noise_norm(key, *training, _LEAST) for key in (one, least))
        return rounded_down(next(norms) / next(norms))

    return [
        f"By closed forms, the noise of {mechanism_title(one)} as published has a smaller norm "
        f"than that of {mechanism_title(other)} up to a total epsilon of {crossings(run)}; with "
        f"the paper's networks and rounds, up to {crossings(papers)}.",
        f"Its norm is larger than that of the noise of {mechanism_title(least)} on a whole layer, "
        f"at every total epsilon from {_LEAST:g}: at least "
        f"{listed(f'{times(run[name])} times on {dataset_title(name)}' for name in datasets)}.",
    ]
