"""Every panel of the papers' figures on learning: its data, the size here and the paper's.

The table `suite_panels` has a row for each; a panel without rows names the data set that is missing
or was not run.
"""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from datasets.titles import dataset_title
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.imgm2022.numbers import RECORDS as IMGM_RECORDS
from paper_figures.mgm2021.numbers import (
    HORIZONTAL_RECORDS,
    HORIZONTAL_ROUNDS,
    VERTICAL_RECORDS,
)
from paper_figures.r1smg2024.numbers import TRAINING
from paper_figures.selections import ok_rows
from paper_figures.tldp2025.numbers import RECORDS as TLDP_RECORDS
from paper_figures.tldp2025.numbers import ROUNDS as TLDP_ROUNDS
from runs.results import Results

IMAGES = {name: TLDP_RECORDS[name] for name in ("mnist", "cifar10", "svhn")}
# Columns that count the rounds or epochs of a run.
TURNS = ("round", "epoch")
TRIES = ("rounds or epochs here", "rounds or epochs in the paper", "trials here")


class Figure(NamedTuple):
    """A figure with a panel per data set.

    records, turns: The paper's training records, and rounds or epochs where it has several, by
        data set.
    """

    paper: str
    name: str
    study: str
    records: Mapping[str, int]
    turns: Mapping[str, int] = {}


FIGURES = (
    Figure("mgm2021", "Figure 2", "federated_horizontal", HORIZONTAL_RECORDS, HORIZONTAL_ROUNDS),
    Figure("mgm2021", "Figure 3", "federated_vertical", VERTICAL_RECORDS),
    Figure("imgm2022", "Figure 1", "features", IMGM_RECORDS),
    *(
        Figure("r1smg2024", name, "dpsgd", {data: one.records}, {data: one.epochs})
        for (data, one), name in zip(TRAINING.items(), ("Figure 7", "Figure 8"), strict=True)
    ),
    Figure("tldp2025", "Figure 1", "private_data", IMAGES),
    Figure("tldp2025", "Figure 2", "private_features", IMAGES),
    Figure("tldp2025", "Figure 3", "private_parameters", TLDP_RECORDS, TLDP_ROUNDS),
)


@drawing("suite_panels", kind="tables", needs=[figure.study for figure in FIGURES])
def panels(results: Results) -> Drawn:
    """One row per panel."""
    rows = results.rows
    if not rows["study"].isin([figure.study for figure in FIGURES]).any():
        raise DrawingError("the results hold no study of these figures")
    rows = rows[rows["data_source"] == "official"]
    records = [
        {
            "paper": figure.paper,
            "figure": figure.name,
            "data": dataset_title(dataset),
            **_here(rows[rows["dataset"] == dataset], figure),
            "records in the paper": records,
            "rounds or epochs in the paper": figure.turns.get(dataset),
        }
        for figure in FIGURES
        for dataset, records in figure.records.items()
    ]
    table = pd.DataFrame(records)
    order = ["paper", "figure", "data", "records here", "records in the paper", *TRIES]
    caption = (
        "The panels of the papers' figures on learning: training records, rounds or epochs, and "
        "trials of this run, beside the paper's. A panel without numbers was not run."
    )
    note = (
        "Of records that are released as features or images, those that are released. The "
        "networks are named below each figure. SVHN, Purchase-100 and Texas-100 have to be "
        "downloaded, and DarkNet requested from its owner; `python -m datasets fetch` says how."
    )
    whole = [name for name in order if name not in ("paper", "figure", "data")]
    return Drawn(caption, table[order].astype({name: "Int64" for name in whole}), note=note)


def _here(rows: pd.DataFrame, figure: Figure) -> dict[str, float | None]:
    """The sizes of a study on one data set; None where it was not run."""
    own = ok_rows(rows, figure.study, "records")
    if own.empty:
        return dict.fromkeys(("records here", TRIES[0], TRIES[2]))
    of_study = rows[rows["study"] == figure.study]
    metric = ok_rows(rows, figure.study, "rounds")["value"]
    counted = [of_study[name].max() for name in TURNS if name in of_study]
    turns = [*metric, *(number for number in counted if pd.notna(number))]
    return {
        "records here": own["value"].max(),
        TRIES[0]: max(turns) if turns else None,
        TRIES[2]: of_study["trial"].max() + 1,
    }
