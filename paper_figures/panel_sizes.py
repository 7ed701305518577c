"""How large a run is, beside the paper's: one entry per panel of the figures on learning."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from claims.judged_rows import listed, ok_rows
from datasets.titles import dataset_title
from paper_figures.imgm2022.numbers import FEATURE_EPOCHS, GRADIENT_EPOCHS, GRADIENT_RECORDS
from paper_figures.imgm2022.numbers import RECORDS as IMGM_RECORDS
from paper_figures.mgm2021.numbers import (
    HORIZONTAL_RECORDS,
    HORIZONTAL_ROUNDS,
    VERTICAL_RECORDS,
)
from paper_figures.r1smg2024.numbers import TRAINING
from paper_figures.tldp2025.numbers import RECORDS as TLDP_RECORDS
from paper_figures.tldp2025.numbers import ROUNDS as TLDP_ROUNDS

IMAGES = {name: TLDP_RECORDS[name] for name in ("mnist", "cifar10", "svhn")}
TLDP_EPOCHS = {name: TLDP_ROUNDS[name] for name in IMAGES}
PUBLIC_BODY = "body trained on public records, 0.3 of all (its training is not stated)"
MEAN_SENSITIVITY = "the mean of a lot has sensitivity C / lot (C)"
# On MNIST the stated epsilons give the stated sigmas.
DPSGD_SIGMAS = {"cifar10": "DPSGD's sigma 1.38 and 0.57 (1.1 and 0.5), from the stated epsilons"}
OWN_EXTRACTOR = (
    "tanh network trained {epochs} epochs on the other half of the records (MobileNetV2)"
)
# Metrics and columns that count the rounds or epochs of a run.
TURN_METRICS, TURNS = ("rounds", "epochs"), ("round", "epoch")


class Size(NamedTuple):
    """Of a study on one data set; None where it has no such number, or was not run."""

    records: float | None = None
    turns: float | None = None
    trials: int | None = None


class Figure(NamedTuple):
    """A figure with a panel per data set.

    records, turns: The paper's training records, and rounds or epochs where it has several, by
        data set.
    unit: What the turns are.
    differs: Where the reference run departs from what the paper states beside these sizes, by data
        set: network, extractor, local epochs, optimiser, sigma, tests.
    """

    paper: str
    name: str
    study: str
    records: Mapping[str, int]
    turns: Mapping[str, int] = {}
    unit: str = "rounds"
    differs: Mapping[str, str] = {}


FIGURES = (
    Figure(
        "mgm2021",
        "Figure 2",
        "federated_horizontal",
        HORIZONTAL_RECORDS,
        HORIZONTAL_ROUNDS,
        differs={
            "mnist": "10,000 test records (5,000)",
            "cifar10": "small CNN (ResNet-18); 2 local epochs (3); 2,000 test records (10,000)",
            "imdb": "embedding and LSTM of 16 (128); 5,000 test records (25,000)",
        },
    ),
    Figure(
        "mgm2021",
        "Figure 3",
        "federated_vertical",
        VERTICAL_RECORDS,
        differs={"adult": "5,000 test records (16,281)"},
    ),
    Figure(
        "imgm2022",
        "Figure 1",
        "features",
        IMGM_RECORDS,
        FEATURE_EPOCHS,
        "epochs",
        differs={
            "mnist": PUBLIC_BODY,
            "cifar10": f"small CNN (VGG-16); {PUBLIC_BODY}",
            "imdb": PUBLIC_BODY,
        },
    ),
    # The paper has its setup, and no results yet.
    Figure(
        "imgm2022",
        "type I, no figure",
        "gradients",
        GRADIENT_RECORDS,
        GRADIENT_EPOCHS,
        "epochs",
        differs={
            "mnist": f"lot of 256 records (1,024); {MEAN_SENSITIVITY}",
            "adult": MEAN_SENSITIVITY,
            "cora": MEAN_SENSITIVITY,
        },
    ),
    *(
        Figure(
            "r1smg2024",
            name,
            "dpsgd",
            {data: one.records},
            {data: one.epochs},
            "epochs",
            differs=DPSGD_SIGMAS,
        )
        for (data, one), name in zip(TRAINING.items(), ("Figure 7", "Figure 8"), strict=True)
    ),
    Figure(
        "tldp2025",
        "Figure 1",
        "private_data",
        IMAGES,
        TLDP_EPOCHS,
        "epochs",
        differs={
            "mnist": "logistic regression (MobileNetV2, pre-trained, with Adam)",
            "cifar10": "small CNN (MobileNetV2, pre-trained)",
        },
    ),
    Figure(
        "tldp2025",
        "Figure 2",
        "private_features",
        IMAGES,
        TLDP_EPOCHS,
        "epochs",
        differs={
            "mnist": OWN_EXTRACTOR.format(epochs=4),
            "cifar10": OWN_EXTRACTOR.format(epochs=3),
        },
    ),
    Figure(
        "tldp2025",
        "Figure 3",
        "private_parameters",
        TLDP_RECORDS,
        TLDP_ROUNDS,
        differs={
            "mnist": "CNN of 6,434 parameters (MobileNetV2)",
            "cifar10": "CNN of 7,010 parameters (MobileNetV2)",
            "imdb": "one BiLSTM layer of 8 cells (two of 256, dropout); the last 60 words (500)",
        },
    ),
)


# The studies whose figures say for each panel where our method is not the paper's.
PANELLED = {figure.study for figure in FIGURES}


def size_here(rows: pd.DataFrame, study: str) -> Size:
    """The size of a study on the one data set of the rows."""
    own = ok_rows(rows, study, "records")
    if own.empty:
        return Size()
    of_study = rows[rows["study"] == study]
    metric = (count for name in TURN_METRICS for count in ok_rows(rows, study, name)["value"])
    counted = [of_study[name].max() for name in TURNS if name in of_study]
    turns = [*metric, *(number for number in counted if pd.notna(number))]
    return Size(own["value"].max(), max(turns, default=None), of_study["trial"].max() + 1)


def size_words(rows: pd.DataFrame, study: str, dataset: str) -> str:
    """Lines such as "3,000 records (paper: 55,000)", or "simulated data"; "" where not known."""
    own = rows[(rows["study"] == study) & (rows["dataset"] == dataset)]
    if (own["data_source"] == "simulated").any():
        return "simulated data"
    here, words = size_here(own, study), []
    for figure in FIGURES:
        if figure.study != study or dataset not in figure.records:
            continue
        for number, papers, unit in (
            (here.records, figure.records[dataset], "records"),
            (here.turns, figure.turns.get(dataset), figure.unit),
        ):
            if number is not None and papers is not None:
                words.append(f"{number:,.0f} {unit} (paper: {papers:,})")
    return ",\n".join(words)


def missing_words(rows: pd.DataFrame, study: str) -> str:
    """One sentence on the panels of the paper that this run lacks, or nothing."""
    run = set(rows[rows["study"] == study]["dataset"])
    panels = {dataset for each in FIGURES if each.study == study for dataset in each.records}
    names = sorted(map(dataset_title, panels - run))
    return f" The paper also has {listed(names)}, which this run lacks." if names else ""


def differing_words(rows: pd.DataFrame, study: str) -> str:
    """One sentence on where the panels of the reference run depart from the paper's protocol.

    Of the data sets in the rows; nothing where there is no difference.
    """
    run = set(rows[rows["study"] == study]["dataset"])
    found = [
        f"{dataset_title(dataset)}: {figure.differs[dataset]}"
        for figure in FIGURES
        if figure.study == study
        for dataset in figure.records
        if dataset in run and dataset in figure.differs
    ]
    if not found:
        return ""
    words = ". ".join(found)
    return (
        f" The reference run differs from the paper's protocol (the paper's in brackets). {words}."
    )
