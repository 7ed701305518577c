"""Sizes and networks of mgm2021's federated studies, and the noise of an upload (Section 8.2).

The noise has a closed form: it is proportional to the clip C, and otherwise depends only on the
layers, the rounds and the total budget.
"""

import math

import pandas as pd

from claims.judged_rows import calibrated, number_of, ok_rows, select
from claims.verdicts import Sizes
from learning.federated import layerwise_release
from learning.networks.network import Network
from mechanisms import Budget
from mechanisms.privacy.sampling import kairouz
from papers.mgm2021 import DELTA
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


def study_size(rows: pd.DataFrame, study: str, dataset: str) -> Sizes:
    """Return the records, rounds and network of a study on one data set."""
    own = select(rows, study=study, dataset=dataset)
    parameters = set(ok_rows(own, study, "parameters")["value"])
    small = dataset in SMALL and SMALL[dataset].size in parameters
    return Sizes(
        dataset=dataset,
        records=int(number_of(own, metric="records")),
        rounds=int(ok_rows(own, study, "test_accuracy")["round"].max()),
        network="small network" if small else NETWORKS[study].get(dataset, "network"),
    )


def noise_norm(mechanism: str, network: Network, rounds: int, epsilon: float) -> float:
    """Return the root mean square norm of the published noise on one upload, divided by C.

    Args:
        epsilon: The epsilon of the whole training.
    """
    queries = layerwise_release.layer_queries(network, 1.0)
    use = kairouz.share(Budget(epsilon=epsilon, delta=DELTA), rounds * len(queries))
    return math.sqrt(sum(calibrated(mechanism, query, use).expected_loss() for query in queries))
