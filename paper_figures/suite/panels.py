"""Tabulate every panel of the papers' figures on learning, with its sizes.

A row of the table `suite_panels` has a panel's data set, and the sizes in the run and in the paper.
Panels that were not run have a row too.
"""

import pandas as pd

from claims.judged_rows import required, select
from claims.paper import paper_of
from datasets.titles import dataset_title
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.panel_sizes import FIGURES, size_here
from runs.results import Results

DIFFERS = "what else differs in the reference run (the paper's in brackets)"
STUDIES = [figure.study for figure in FIGURES]


@drawing("suite_panels", kind="tables", needs=STUDIES)
def panels(results: Results) -> Drawn:
    """Tabulate the panels, one per row."""
    rows = required(
        results.rows[results.rows["study"].isin(STUDIES)],
        DrawingError("the results hold no study of these figures"),
    )
    rows = select(rows, data_source="official")
    records = []
    for figure in FIGURES:
        differs = paper_of(figure.paper).differs.get(figure.study, {})
        for dataset, stated in figure.records.items():
            here = size_here(select(rows, dataset=dataset), figure.study)
            differing = differs.get(dataset, "nothing that the paper states")
            records.append(
                {
                    "paper": figure.paper,
                    "figure": figure.name,
                    "data": dataset_title(dataset),
                    "records here": here.records,
                    "records in the paper": stated,
                    "rounds or epochs here": here.turns,
                    "rounds or epochs in the paper": figure.turns.get(dataset),
                    "trials here": here.trials,
                    DIFFERS: "not run" if here.records is None else differing,
                }
            )
    table = pd.DataFrame(records)
    whole = table.columns[3:-1]
    return Drawn(
        caption=(
            "The panels of the papers' figures on learning, and those announced: training records, "
            "rounds or epochs, and trials of this run, beside the paper's, and what else differs "
            "from the paper's protocol. A panel without numbers was not run."
        ),
        data=table.astype(dict.fromkeys(whole, "Int64")),
        note=(
            "For released features and images, the table counts the released records. What "
            "differs in the reference run also stands below each figure. SVHN, Purchase-100 and "
            "Texas-100 have to be downloaded, and DarkNet requested from its owner; `python -m "
            "datasets fetch` says how."
        ),
    )
