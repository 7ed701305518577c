"""Template of a judge and of a table: copy this file to `paper_figures/<paper>/<study>.py`.

The judge decides the claims in `claims.yaml` beside it that name it. `snakemake --cores 1
my_paper_coins --configfile config/my_run.yaml` draws the table or figure, and so does a whole run.
Both read the same rows: select them once.
"""

from __future__ import annotations

import pandas as pd

from claims.intervals import Mean
from claims.ledger import CannotJudge, Claim, judge
from claims.rules import order
from claims.verdicts import Finding, Sizes
from paper_figures.drawings import Drawn, drawing
from paper_figures.selections import ok_rows
from runs.results import Results

SETTING = ["mechanism", "calibration", "epsilon"]


def errors(results: Results) -> pd.DataFrame:
    """Mean squared error over both halves, of every trial of every setting."""
    rows = ok_rows(results.rows, "my_study", "squared_error")
    return rows.groupby([*SETTING, "trial"], as_index=False)["value"].mean()


@judge(studies=("my_study",))
def coins_error(claim: Claim, results: Results) -> Finding:
    """Whether the error is as small as claimed. Arguments: mechanism, epsilon, largest."""
    wanted = claim.arguments
    found = errors(results)
    found = found[
        (found["mechanism"] == wanted["mechanism"]) & (found["calibration"] == "published")
    ]
    found = found[found["epsilon"] == wanted["epsilon"]]
    if found.empty:
        # The verdict is then "not run", with this reason.
        raise CannotJudge(f"no rows of {wanted['mechanism']} at epsilon {wanted['epsilon']:g}")
    # A rule decides, from the trials and the margin: the error is below the largest.
    below = Mean(wanted["largest"] - found["value"])
    return Finding(
        parts=order({f"{wanted['largest']:g} less the error": below}, margin=claim.margin),
        detail=f"Mean squared error {found['value'].mean():.3g} over both halves, simulated coins.",
        calibration="published",
        sizes=Sizes(trials=len(found)),
    )


@drawing("my_paper_coins", kind="tables", needs=("my_study",))
def coins_table(results: Results) -> Drawn:
    """The errors as a table. A figure has kind="figures" and returns Drawn(..., figure=figure)."""
    means = errors(results).groupby(SETTING, as_index=False)["value"].mean()
    return Drawn(caption="Mean squared error on simulated coins, over all trials.", data=means)
