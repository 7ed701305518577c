"""Template of a judge and of a table: copy this file to `paper_figures/<paper>/<study>.py`.

The judge decides the claims in `claims.yaml` beside it that name it. `snakemake my_paper_coins`
draws the table or figure, and so does a whole run. Both read the same rows: select them once.
"""

from __future__ import annotations

import pandas as pd

from paper_figures.drawings import Drawn, drawing
from paper_figures.ledger import CannotJudge, Claim, judge
from paper_figures.results import Results
from paper_figures.selections import ok_rows
from paper_figures.verdicts import CONFIRMED, CONTRADICTED, Finding, Part


def errors(results: Results) -> pd.DataFrame:
    """Mean squared error of every mechanism, calibration and epsilon, over trials and halves."""
    rows = ok_rows(results.rows, "my_study", "squared_error")
    keys = ["mechanism", "calibration", "epsilon"]
    return rows.groupby(keys, as_index=False)["value"].mean()


@judge(experiments=("my_study",))
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
    error = float(found["value"].iloc[0])
    verdict = CONFIRMED if error <= wanted["largest"] else CONTRADICTED
    return Finding(
        parts=[Part(name="error", verdict=verdict, found=f"{error:.3g}")],
        detail="Mean over trials and halves, simulated coins.",
        calibration="published",
    )


@drawing("my_paper_coins", kind="tables", needs=("my_study",))
def coins_table(results: Results) -> Drawn:
    """The errors as a table. A figure has kind="figures" and returns Drawn(..., figure=figure)."""
    return Drawn(caption="Mean squared error on simulated coins.", data=errors(results))
