"""Figure 6 of r1smg2024: principal components of a private covariance matrix."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd

from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.results import Results
from paper_figures.selections import failed_mechanisms, main_dataset, ok_rows
from paper_figures.style import CALIBRATION_LINES, CALIBRATION_TITLES, PAGE, in_order, look

# R1SMG's epsilon in the paper's figure is this many times smaller than the others'.
RATIO = 1e7
METRICS = {
    "total_deviation": "total deviation",
    "leading_deviation": "deviation, first {k}",
    "accuracy": "test accuracy",
}


def drawn_epsilon(rows: pd.DataFrame) -> pd.Series:
    """Where rows stand on the axis of epsilon, NaN where they are not drawn.

    As published R1SMG is drawn at 1e7 times its epsilon, as in the paper; at the exact calibration,
    which compares at one budget, at its own.
    """
    far_smaller = (rows["mechanism"] == "r1smg") & (rows["calibration"] == "published")
    position = rows["epsilon"].where(~far_smaller, rows["epsilon"] * RATIO)
    reach = rows.loc[rows["mechanism"] != "r1smg", "epsilon"]
    inside = position.between(reach.min() * (1 - 1e-9), reach.max() * (1 + 1e-9))
    return position.where(inside)


@drawing("r1smg2024_fig6", kind="figures", needs=["pca"])
def figure_6(results: Results) -> Drawn:
    """Deviations of the components and accuracy over epsilon, both calibrations."""
    dataset, source = main_dataset(results.rows, "pca")
    rows = pd.concat(ok_rows(results.rows, "pca", metric, dataset) for metric in METRICS)
    rows = rows.assign(drawn_at=drawn_epsilon(rows))
    private = rows[(rows["mechanism"] != "non-private") & rows["drawn_at"].notna()]
    truth = rows[rows["mechanism"] == "non-private"].groupby("metric")["value"].mean()
    if private.empty or truth.empty:
        raise DrawingError("Figure 6 needs non-private and another mechanism in pca")
    keys = ["metric", "calibration", "mechanism", "epsilon", "drawn_at"]
    means = private.groupby(keys, sort=False)["value"].agg(["mean", "std", "size"]).reset_index()
    means["error"] = means["std"].fillna(0) / means["size"] ** 0.5
    means = means.sort_values("drawn_at", kind="stable")
    calibrations = [
        calibration for calibration in CALIBRATION_LINES if calibration in set(means["calibration"])
    ]
    leading = int(ok_rows(results.rows, "pca", "components", dataset)["value"].iloc[0])
    figure, axes = plt.subplots(
        len(METRICS),
        len(calibrations),
        figsize=(PAGE, 6.6),
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    for row, (metric, words) in zip(axes, METRICS.items(), strict=True):
        for axis, calibration in zip(row, calibrations, strict=True):
            panel = means[(means["metric"] == metric) & (means["calibration"] == calibration)]
            line = look("non-private")
            axis.axhline(truth[metric], color=line.colour, linestyle=":", label=line.title)
            for mechanism in in_order(panel["mechanism"]):
                line, style = panel[panel["mechanism"] == mechanism], look(mechanism)
                axis.errorbar(
                    line["drawn_at"],
                    line["mean"],
                    yerr=line["error"],
                    color=style.colour,
                    marker=style.marker,
                    elinewidth=0.7,
                    label=style.title,
                )
        row[0].set_ylabel(words.format(k=leading))
    for axis, calibration in zip(axes[0], calibrations, strict=True):
        axis.set_title(CALIBRATION_TITLES[calibration])
    for axis in axes[-1]:
        axis.set_xlabel("epsilon")
    _legend(figure, axes)
    absent = failed_mechanisms(results.rows, "pca", dataset)
    caption = _caption(results.rows, dataset, source, means, leading)
    return Drawn(caption + absent, means, figure)


def _legend(figure: plt.Figure, axes) -> None:
    """One entry per mechanism, wherever it was drawn."""
    entries = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=6)


def _caption(
    rows: pd.DataFrame, dataset: str, source: str, means: pd.DataFrame, leading: int
) -> str:
    records = ok_rows(rows, "pca", "records", dataset)
    count, side = records["value"].iloc[0], records["shape"].iloc[0].split("x")[0]
    return (
        f"r1smg2024 Figure 6 on {source}: {count:.0f} records of {side} features "
        f"in [-1, 1], one of them replaced; mean and standard error of {means['size'].max()} "
        f"releases, delta {records['delta'].iloc[0]:g}. Top: total deviation over all components "
        f"(PPCA releases the first {leading} alone). Middle: how much less variance the span of "
        f"the first {leading} holds than that of the best. Bottom: accuracy of a linear SVM on the "
        f"first {leading}. Left: as published, R1SMG at 1e-7 times the epsilon of the axis as in "
        "the paper; right: rescaled until the true delta at the epsilon of the axis is the "
        "budget's, for R1SMG too."
    )
