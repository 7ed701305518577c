"""A sampled attack on one noisy gradient, at the step budgets of r1smg2024's learning study.

`suite_canary` reads the rows of the study dpsgd.
"""

import numpy as np
import pandas as pd

from claims.judged_rows import required
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.legends import entries_of
from paper_figures.selections import main_dataset, ok_rows, size_of
from paper_figures.style import CALIBRATION_LINES, PAGE, in_order, look
from runs.results import Results

FALSE, TRUE = "canary_false_positive_rate", "canary_true_positive_rate"


@drawing("suite_canary", kind="figures", needs=["dpsgd"])
def canary(results: Results) -> Drawn:
    """True over false positive rate of the likelihood-ratio test for one gradient."""
    dataset, source = main_dataset(results.rows, "dpsgd")
    rows = results.rows[results.rows["dataset"] == dataset]
    table = _rates(rows)
    epsilons = sorted(table["epsilon"].unique())
    figure, axes = plt.subplots(
        1, len(epsilons), figsize=(PAGE, 3.4), sharex=True, sharey=True, squeeze=False
    )
    positive = table.loc[table[FALSE] > 0, FALSE]
    low = 10 ** np.floor(np.log10(positive.min())) if len(positive) else 1e-3
    for axis, epsilon in zip(axes[0], epsilons, strict=True):
        _draw_panel(axis, table[table["epsilon"] == epsilon], low)
    axes[0, 0].set_ylabel("true positive rate")
    handles = entries_of(axes[0])
    # The two lines that every panel has come last.
    for label in ("claimed bound", "guessing"):
        handles[label] = handles.pop(label)
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=3)
    caption = (
        "Does one noisy gradient sum contain a canary gradient of the clipping norm? Rates of the "
        f"likelihood-ratio test; {size_of(rows['shape'].iloc[0]):,} parameters, {source}, one "
        "record added or removed. The noise meets one step's budget by r1smg2024 eq. (16), as "
        "published (solid) or rescaled until its true delta is the budget's (dashed). Points in "
        "the shaded region contradict the claim TPR <= e^epsilon FPR + delta, up to the sampling "
        "error."
    )
    note = (
        "The attacker knows all other gradients, and the records are not sampled. The thresholds "
        "of the test come from separate releases. Rates of zero are not drawn."
    )
    return Drawn(caption, table, figure, note)


def _rates(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per mechanism, calibration, budget and threshold: both rates, the claimed bound."""
    keys = ["mechanism", "calibration", "epsilon", "delta", "false_positive_rate"]
    rates = required(
        pd.concat(ok_rows(rows, "dpsgd", metric) for metric in (FALSE, TRUE)),
        DrawingError("the results hold no canary rates of a mechanism with an exact profile"),
    )
    table = rates.pivot_table(index=keys, columns="metric", values="value").reset_index()
    for name in ("step_epsilon", "step_delta"):
        step = ok_rows(rows, "dpsgd", name).groupby("epsilon")["value"].first()
        table[name] = table["epsilon"].map(step)
    bound = np.exp(table["step_epsilon"]) * table[FALSE] + table["step_delta"]
    return table.assign(bound=bound.clip(upper=1.0))


def _draw_panel(axis: plt.Axes, panel: pd.DataFrame, low: float) -> None:
    """The rates at one budget; `low` is the left end of the axis."""
    for mechanism in in_order(panel["mechanism"]):
        style = look(mechanism)
        for calibration in CALIBRATION_LINES:
            chosen = (panel["mechanism"] == mechanism) & (panel["calibration"] == calibration)
            seen = panel[chosen & (panel[FALSE] > 0) & (panel[TRUE] > 0)]
            if seen.empty:
                continue
            axis.loglog(seen[FALSE], seen[TRUE], **style.at(calibration))
    step_epsilon, step_delta = panel["step_epsilon"].iloc[0], panel["step_delta"].iloc[0]
    grid = np.geomspace(low, 1, 200)
    claim = np.minimum(np.exp(step_epsilon) * grid + step_delta, 1.0)
    axis.loglog(grid, claim, color="black", label="claimed bound")
    axis.fill_between(grid, claim, 1.3, color="#D55E00", alpha=0.07, linewidth=0)
    axis.plot(grid, grid, color="#888888", linestyle=":", label="guessing")
    axis.set(xlabel="false positive rate", ylim=(low, 1.3))
    axis.set_title(f"step budget ({step_epsilon:.3g}, {step_delta:.2g})")
