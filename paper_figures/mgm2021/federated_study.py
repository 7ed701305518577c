"""Sizes and networks of mgm2021's two federated studies, for their figures and verdicts."""

from typing import NamedTuple

import pandas as pd

from claims.judged_rows import ok_rows
from learning.networks.network import Network
from studies import federated_horizontal
from studies.federated_horizontal import SMALL

HORIZONTAL, VERTICAL = "federated_horizontal", "federated_vertical"
# The horizontal study whose uploads are sums over steps.
SUMS = "federated_sums"
# The network of a data set, as the paper names it.
NETWORKS = {
    HORIZONTAL: {"mnist": "LeNet", "cifar10": "ResNet-18", "imdb": "LSTM", "adult": "MLP"},
    SUMS: {"mnist": "LeNet", "imdb": "LSTM"},
    VERTICAL: {
        "adult": "split MLP",
        "purchase100": "split FCN",
        "location30": "split NN",
        "texas100": "split NN",
    },
}


class StudySize(NamedTuple):
    """The network of one data set, its records, rounds and releases, and their shape."""

    network: str
    records: float
    rounds: int
    releases: float
    shape: str


def study_size(rows: pd.DataFrame, study: str, dataset: str) -> StudySize:
    """The size of a study on one data set; all its mechanisms have the same."""
    own = rows[(rows["study"] == study) & (rows["dataset"] == dataset)]
    small = dataset in SMALL and trained_network(rows, dataset) is SMALL[dataset]
    return StudySize(
        network="small network" if small else NETWORKS[study].get(dataset, "network"),
        records=ok_rows(own, study, "records")["value"].iloc[0],
        rounds=int(ok_rows(own, study, "test_accuracy")["round"].max()),
        releases=ok_rows(own, study, "uses")["value"].iloc[0],
        shape=own["shape"].iloc[0].replace("x", " x "),
    )


def trained_network(rows: pd.DataFrame, dataset: str) -> Network:
    """The network of the horizontal study: the paper's, or the small one in its place."""
    own = ok_rows(rows, HORIZONTAL, "parameters")
    sizes = set(own[own["dataset"] == dataset]["value"])
    small = dataset in SMALL and SMALL[dataset].size in sizes
    return (SMALL if small else federated_horizontal.NETWORKS)[dataset]
