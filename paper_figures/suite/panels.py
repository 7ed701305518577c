"""The table `suite_panels`: every panel of the papers' figures on learning, with sizes.

A row has the panel's data, the size of the run and that of the paper. A panel that was not run
names its data set all the same.
"""

import pandas as pd

from claims.paper import paper_of
from datasets.titles import dataset_title
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.panel_sizes import FIGURES, Figure, size_here
from runs.results import Results

TRIES = ("rounds or epochs here", "rounds or epochs in the paper", "trials here")
DIFFERS = "what else differs in the reference run (the paper's in brackets)"


@drawing("suite_panels", kind="tables", needs=[figure.study for figure in FIGURES])
def panels(results: Results) -> Drawn:
    """Tabulate the panels, one per row."""
    rows = results.rows
    if not rows["study"].isin([figure.study for figure in FIGURES]).any():
        raise DrawingError("the results hold no study of these figures")
    rows = rows[rows["data_source"] == "official"]
    records = [
        {
            "paper": figure.paper,
            "figure": figure.name,
            "data": dataset_title(dataset),
            **_here(rows[rows["dataset"] == dataset], figure.study),
            "records in the paper": records,
            "rounds or epochs in the paper": figure.turns.get(dataset),
            DIFFERS: _differing(figure, dataset),
        }
        for figure in FIGURES
        for dataset, records in figure.records.items()
    ]
    table = pd.DataFrame(records)
    table.loc[table["records here"].isna(), DIFFERS] = "not run"
    whole = ["records here", "records in the paper", *TRIES]
    order = ["paper", "figure", "data", *whole, DIFFERS]
    return Drawn(
        caption=(
            "The panels of the papers' figures on learning, and those announced: training records, "
            "rounds or epochs, and trials of this run, beside the paper's, and what else differs "
            "from the paper's protocol. A panel without numbers was not run."
        ),
        data=table[order].astype({name: "Int64" for name in whole}),
        note=(
            "For released features and images, the table counts the released records. What "
            "differs in the reference run also stands below each figure. SVHN, Purchase-100 and "
            "Texas-100 have to be downloaded, and DarkNet requested from its owner; `python -m "
            "datasets fetch` says how."
        ),
    )


def _differing(figure: Figure, dataset: str) -> str:
    """Describe how the reference run differs from the paper's on one data set."""
    by_dataset = paper_of(figure.paper).differs.get(figure.study, {})
    return by_dataset.get(dataset, "nothing that the paper states")


def _here(rows: pd.DataFrame, study: str) -> dict[str, float | None]:
    """Return the sizes of a study on one data set."""
    here = size_here(rows, study)
    return {"records here": here.records, TRIES[0]: here.turns, TRIES[2]: here.trials}
