"""The sizes of a run and of the papers, for each panel of the figures on learning."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from claims.judged_rows import listed, ok_rows
from datasets.titles import dataset_title
from papers.imgm2022 import FEATURE_EPOCHS, GRADIENT_EPOCHS, GRADIENT_RECORDS
from papers.imgm2022 import RECORDS as IMGM_RECORDS
from papers.mgm2021 import (
    HORIZONTAL_RECORDS,
    HORIZONTAL_ROUNDS,
    VERTICAL_RECORDS,
)
from papers.r1smg2024 import TRAINING
from papers.tldp2025 import RECORDS as TLDP_RECORDS
from papers.tldp2025 import ROUNDS as TLDP_ROUNDS

IMAGES = {name: TLDP_RECORDS[name] for name in ("mnist", "cifar10", "svhn")}
TLDP_EPOCHS = {name: TLDP_ROUNDS[name] for name in IMAGES}
# The metrics and columns that count the rounds or epochs of a run.
TURN_METRICS, TURNS = ("rounds", "epochs"), ("round", "epoch")


class Size(NamedTuple):
    """The size of a study on one data set; a number that is not known or not run is None."""

    records: float | None = None
    turns: float | None = None
    trials: int | None = None


class Figure(NamedTuple):
    """A figure with a panel for each data set.

    Args:
        records: The paper's training records by data set.
        turns: The paper's rounds or epochs by data set, where it has several.
        unit: The unit of the turns, "rounds" or "epochs".
    """

    paper: str
    name: str
    study: str
    records: Mapping[str, int]
    turns: Mapping[str, int] = {}
    unit: str = "rounds"


FIGURES = (
    Figure(
        "mgm2021",
        "Figure 2",
        "federated_horizontal",
        HORIZONTAL_RECORDS,
        HORIZONTAL_ROUNDS,
    ),
    Figure(
        "mgm2021",
        "Figure 3",
        "federated_vertical",
        VERTICAL_RECORDS,
    ),
    Figure(
        "imgm2022",
        "Figure 1",
        "features",
        IMGM_RECORDS,
        FEATURE_EPOCHS,
        "epochs",
    ),
    # The paper describes this setup but gives no results.
    Figure(
        "imgm2022",
        "type I, no figure",
        "gradients",
        GRADIENT_RECORDS,
        GRADIENT_EPOCHS,
        "epochs",
    ),
    *(
        Figure(
            "r1smg2024",
            name,
            "dpsgd",
            {data: one.records},
            {data: one.epochs},
            "epochs",
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
    ),
    Figure(
        "tldp2025",
        "Figure 2",
        "private_features",
        IMAGES,
        TLDP_EPOCHS,
        "epochs",
    ),
    Figure(
        "tldp2025",
        "Figure 3",
        "private_parameters",
        TLDP_RECORDS,
        TLDP_ROUNDS,
    ),
)


def size_here(rows: pd.DataFrame, study: str) -> Size:
    """Return the size of a study; the rows are those of one data set."""
    own = ok_rows(rows, study, "records")
    if own.empty:
        return Size()
    of_study = rows[rows["study"] == study]
    metric = (count for name in TURN_METRICS for count in ok_rows(rows, study, name)["value"])
    counted = [of_study[name].max() for name in TURNS if name in of_study]
    turns = [*metric, *(number for number in counted if pd.notna(number))]
    return Size(own["value"].max(), max(turns, default=None), of_study["trial"].max() + 1)


def size_words(rows: pd.DataFrame, study: str, dataset: str) -> str:
    """Describe a size as "3,000 records (paper: 55,000)" or "simulated data"; "" if unknown."""
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
    """Return a sentence on the paper's panels that this run lacks, or ""."""
    run = set(rows[rows["study"] == study]["dataset"])
    panels = {dataset for each in FIGURES if each.study == study for dataset in each.records}
    names = sorted(map(dataset_title, panels - run))
    return f" The paper also has {listed(names)}, which this run lacks." if names else ""
