"""Errors of the count query over epsilon, of every mechanism; r1smg2024 Section 7.1."""

import itertools
import math

import numpy as np
import pandas as pd

from claims.judged_rows import LEVELS, listed, ok_rows, required
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.legends import entries_of
from paper_figures.over_epsilon import groups_within
from paper_figures.selections import failed_mechanisms, main_dataset
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    in_order,
    look,
    mechanism_title,
)
from runs.results import Results

METRICS = {"rmse_valid_cell": "per valid cell", "rectangle_rmse": "per rectangle"}
# Relative difference of curves that nobody can tell apart.
ALIKE = 0.1
# A row of panels each; what is in none of these is other noise.
GAUSSIAN = "Gaussian noise"
COUNTING = "for histograms and workloads"
OTHER = "other noise"
FAMILIES = {
    "gaussian": GAUSSIAN,
    "gaussian-analytic": GAUSSIAN,
    "gaussian-per-element": GAUSSIAN,
    "mvg": GAUSSIAN,
    "mvg-sqrt": GAUSSIAN,
    "mgm": GAUSSIAN,
    "udn": GAUSSIAN,
    "imgm": GAUSSIAN,
    "tldp-g": GAUSSIAN,
    "tldp-g-w": GAUSSIAN,
    "matrix-mechanism": COUNTING,
    "matrix-mechanism-cvxpy": COUNTING,
    "matrix-mechanism-l1": COUNTING,
    "hb": COUNTING,
    "dawa": COUNTING,
    "dawa-published": COUNTING,
}


@drawing("r1smg2024_counts", kind="figures", needs=["count_query"])
def counts_over_epsilon(results: Results) -> Drawn:
    """Error per valid cell and per random rectangle over epsilon, a row of panels per family."""
    dataset, source = main_dataset(results.rows, "count_query")
    rows = pd.concat(ok_rows(results.rows, "count_query", m, dataset) for m in METRICS)
    keys = ["metric", "calibration", "mechanism", "epsilon", "delta"]
    means = (
        rows.groupby(keys, sort=False)["value"]
        .mean()
        .reset_index()
        .sort_values("epsilon", kind="stable")
    )
    private = required(
        means[~means["mechanism"].isin(LEVELS)],
        DrawingError("the results hold no errors of a private mechanism in count_query"),
    )
    family = private["mechanism"].map(FAMILIES).fillna(OTHER)
    shown = [name for name in (GAUSSIAN, OTHER, COUNTING) if (family == name).any()]
    levels = means[means["mechanism"].isin(LEVELS)].groupby(["metric", "mechanism"])["value"].mean()
    figure = plt.figure(figsize=(PAGE, 2.6 * len(shown)))
    parts = figure.subfigures(len(shown), 1, squeeze=False)[:, 0]
    for part, name in zip(parts, shown, strict=True):
        _draw_family(part, private[family == name], levels)
        part.suptitle(name, fontsize=8, x=0.01, ha="left")
    trials = rows.groupby(keys).size().max()
    caption = (
        f"The count query of r1smg2024 on {source} over epsilon, after post-processing: root mean "
        f"squared error per valid cell and per random rectangle, in pickups, mean over {trials} "
        f"trials, delta {rows['delta'].iloc[0]:g}, l2 sensitivity sqrt(2) (replacing one pickup). "
        "As published, and rescaled until the true delta at epsilon is the budget's."
    )
    note = (
        "At equal true privacy all i.i.d. Gaussian noise is the same, so its curves coincide. The "
        "exact answer has no error per cell, which a logarithmic axis cannot show; per rectangle "
        "it has that of the cells that post-processing sets to zero. Claims as published can be "
        "false, as R1SMG's is: suite_verdicts says which."
    )
    note += _coinciding(private) + failed_mechanisms(results.rows, "count_query", dataset)
    return Drawn(caption, means, figure, note)


def _coinciding(means: pd.DataFrame) -> str:
    """A sentence per calibration on curves that lie on each other in every panel, or nothing."""
    sentences = ""
    for calibration in CALIBRATION_LINES:
        table = means[means["calibration"] == calibration].pivot_table(
            index=["metric", "epsilon"], columns="mechanism", values="value", sort=False
        )
        # Logarithms, as the margin is relative. At equal true privacy, Gaussian noise is one noise.
        told = [
            name
            for name in in_order(table.columns)
            if calibration == "published" or FAMILIES.get(name) != GAUSSIAN
        ]
        groups = groups_within(np.log(table[told]), math.log1p(ALIKE))
        alike = [listed([mechanism_title(each) for each in g]) for g in groups if len(g) > 1]
        if alike:
            sentences += (
                f" {CALIBRATION_TITLES[calibration].capitalize()}, these curves are within "
                f"{ALIKE:.0%} of each other: {'; '.join(alike)}."
            )
    return sentences


def _write_one_curve(axis: plt.Axes, panel: pd.DataFrame) -> None:
    """Say so where all curves of a panel, of several mechanisms, lie on each other."""
    table = np.log(panel.pivot_table(index="epsilon", columns="mechanism", values="value"))
    if len(table.columns) > 1 and len(groups_within(table, math.log1p(ALIKE))) == 1:
        kind = {"ha": "center", "fontsize": 6, "transform": axis.transAxes}
        axis.text(0.5, 0.9, "all curves coincide", **kind)


def _draw_family(part: plt.Figure, means: pd.DataFrame, levels: pd.Series) -> None:
    """A panel per metric and calibration."""
    calibrations = [each for each in CALIBRATION_LINES if each in set(means["calibration"])]
    axes = part.subplots(1, len(METRICS) * len(calibrations), sharex=True)
    panels = itertools.product(METRICS, calibrations)
    for axis, (metric, calibration) in zip(axes, panels, strict=True):
        panel = means[(means["metric"] == metric) & (means["calibration"] == calibration)]
        for mechanism in in_order(panel["mechanism"]):
            line = panel[panel["mechanism"] == mechanism]
            axis.loglog(line["epsilon"], line["value"], **look(mechanism).line)
        for mechanism in LEVELS:
            level = levels.get((metric, mechanism), 0.0)
            if level > 0:
                style = look(mechanism)
                axis.axhline(level, color=style.colour, linestyle=":", label=style.title)
        axis.set_title(f"{METRICS[metric]},\n{CALIBRATION_TITLES[calibration]}", fontsize=7)
        axis.set_xlabel("epsilon", labelpad=1)
        low, high = axis.get_ylim()
        if high > 10 * low:
            # The names of whole powers of ten are enough; others would touch.
            axis.yaxis.set_minor_formatter("")
        axis.tick_params(labelsize=6)
        _write_one_curve(axis, panel)
    for of_metric in np.split(axes, len(METRICS)):
        limits = np.array([axis.get_ylim() for axis in of_metric])
        for axis in of_metric:
            axis.set_ylim(limits.min(), limits.max())
    axes[0].set_ylabel("RMSE, pickups")
    entries = entries_of(axes)
    part.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=5, fontsize=6)
