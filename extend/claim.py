"""Template of a judge and of a figure: copy this file to `paper_figures/<paper>/<study>.py`.

The judge decides the claims that name it in the `claims.yaml` of the same folder. A whole run draws
the figure, and so does `snakemake --cores 1 my_paper2026_coins --configfile config/my-run.yaml`.
Select the rows once, because the judge and the figure read the same ones.
"""

import pandas as pd

from claims.comparisons import order
from claims.intervals import Mean
from claims.judged_rows import ok_rows
from claims.judges import CannotJudge, Epsilon, Positive, judge
from claims.verdicts import Finding, Sizes
from paper_figures import pyplot as plt
from paper_figures.drawings import Drawn, drawing
from paper_figures.style import look
from runs.results import Results

SETTING = ["mechanism", "calibration", "epsilon"]


def errors(results: Results) -> pd.DataFrame:
    """Return the mean squared error over both halves, for every trial of every setting."""
    rows = ok_rows(results.rows, "my_study", "squared_error")
    return rows.groupby([*SETTING, "trial"], as_index=False)["value"].mean()


@judge(studies=("my_study",))
def coins_error(
    results: Results, *, mechanism: str, epsilon: Epsilon, largest: Positive, margin: float
) -> Finding:
    """Judge whether the error is as small as claimed.

    The keyword arguments are the schema of the claim's `arguments`, except for `margin` and
    `tolerance`, which are fields of the claim.
    """
    own = errors(results)
    own = own[(own["mechanism"] == mechanism) & (own["calibration"] == "published")]
    own = own[own["epsilon"] == epsilon]
    if own.empty:
        # The verdict is then "not run", with this reason.
        raise CannotJudge(f"no rows of {mechanism} at epsilon {epsilon:g}")
    # A comparison decides, from the trials and the margin, whether the error is below the largest.
    below = Mean(largest - own["value"])
    return Finding(
        parts=order({f"{largest:g} less the error": below}, margin=margin),
        detail=f"Mean squared error {own['value'].mean():.3g} over both halves, simulated coins.",
        calibration="published",
        sizes=Sizes(trials=len(own)),
    )


@drawing("my_paper2026_coins", kind="figures", needs=("my_study",))
def coins_figure(results: Results) -> Drawn:
    """Draw the errors over epsilon. (A table has kind="tables" and returns no figure.)"""
    means = errors(results).groupby(SETTING, as_index=False)["value"].mean()
    figure, axis = plt.subplots()
    for (mechanism, calibration), curve in means.groupby(["mechanism", "calibration"]):
        # A mechanism has the same colour, marker and title in every figure.
        axis.plot(curve["epsilon"], curve["value"], **look(mechanism).at(calibration))
    axis.set(xlabel="epsilon", ylabel="mean squared error", yscale="log")
    axis.legend(loc="upper left", bbox_to_anchor=(1, 1))
    caption = "Mean squared error on simulated coins, over all trials."
    return Drawn(caption=caption, data=means, figure=figure)
