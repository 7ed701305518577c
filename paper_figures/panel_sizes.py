"""Compare the sizes of a run with those of the papers, for the figures on learning."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from claims.judged_rows import listed, ok_rows, select
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
from runs.result_table import OK

IMAGES = {name: TLDP_RECORDS[name] for name in ("mnist", "cifar10", "svhn")}
TLDP_EPOCHS = {name: TLDP_ROUNDS[name] for name in IMAGES}
# The metrics and the columns that count the rounds or epochs of a run.
TURN_METRICS, TURN_COLUMNS = ["rounds", "epochs"], ["round", "epoch"]


class Size(NamedTuple):
    """The size of a study on one data set; None stands for a number that the run lacks."""

    records: float | None = None
    turns: float | None = None
    trials: int | None = None


class Figure(NamedTuple):
    """A paper's figure with a panel for each data set.

    Args:
        records: The paper's training records, by data set.
        turns: The paper's rounds or epochs, by data set, if it has several.
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
    """Return the size of a study, given the rows of one data set."""
    records = ok_rows(rows, study, "records")["value"]
    if records.empty:
        return Size()
    study_rows = select(rows, study=study)
    stated = select(study_rows[study_rows["metric"].isin(TURN_METRICS)], status=OK)["value"]
    counted = study_rows.reindex(columns=TURN_COLUMNS).max().dropna()
    turns = max([*stated, *counted], default=None)
    return Size(records.max(), turns, study_rows["trial"].max() + 1)


def size_words(rows: pd.DataFrame, study: str, dataset: str) -> str:
    """Describe a size as "3,000 records (paper: 55,000)" or "simulated data"; "" if unknown."""
    dataset_rows = select(rows, study=study, dataset=dataset)
    if (dataset_rows["data_source"] == "simulated").any():
        return "simulated data"
    here, words = size_here(dataset_rows, study), []
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
    panels = {dataset for each in FIGURES if each.study == study for dataset in each.records}
    names = sorted(map(dataset_title, panels.difference(select(rows, study=study)["dataset"])))
    return f" The paper also has {listed(names)}, which this run lacks." if names else ""
