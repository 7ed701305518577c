"""Figure 1 of tldp2025, its type I study, and the errors of Table 5 beside those of the study."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from experiments.table import OK
from paper_figures.errors import stated_errors
from paper_figures.registry import DrawingError, Drawn, Results, drawing
from paper_figures.select import SOURCE_WORDS, failed_mechanisms
from paper_figures.style import FOOTING_LINES, FOOTING_TITLES, PAGE, in_order, look

CLASSIFIER_WORDS = {
    "logistic": "logistic regression",
    "network": "a small convolutional network from scratch",
}
# They do not look at epsilon: lines across the panel.
LEVELS = ("non-private", "random-answer")
# Variants of a config that stand for an entry of Table 5.
STANDS_FOR = {"mvg-sqrt": "mvg"}


def measured(rows: pd.DataFrame, prefix: str = "") -> pd.DataFrame:
    """Rows of the study whose metric begins with `prefix`.

    Raises:
        DrawingError: There are none.
    """
    chosen = (rows["experiment"] == "private_data") & (rows["status"] == OK)
    chosen &= rows["metric"].str.startswith(prefix)
    if not chosen.any():
        raise DrawingError(f"the results hold no {prefix} of private_data; run it first")
    return rows[chosen]


@drawing("tldp2025_fig1", kind="figures", needs=["private_data"])
def figure_1(results: Results) -> Drawn:
    """F1 over epsilon, one row of panels per data set, one column per footing."""
    rows = measured(results.rows, "f1_")
    datasets = sorted(rows["dataset"].unique())
    footings = [f for f in FOOTING_LINES if f in set(rows["footing"])]
    figure, axes = plt.subplots(
        len(datasets),
        len(footings),
        figsize=(PAGE, 2.7 * len(datasets)),
        sharex="row",
        sharey=True,
        squeeze=False,
    )
    keys = ["dataset", "footing", "mechanism", "epsilon", "delta", "metric"]
    spread = rows.groupby(keys)["value"].agg(["mean", "min", "max", "count"]).reset_index()
    for (i, j), axis in np.ndenumerate(axes):
        panel = spread[(spread["dataset"] == datasets[i])]
        _draw_panel(axis, panel, footings[j])
        axis.set(xlabel="epsilon", ylim=(0, 1))
        if j == 0:
            axis.set_ylabel(f"F1 on clean images of {datasets[i]}")
        if i == 0:
            axis.set_title(FOOTING_TITLES[footings[j]])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    sources = "; ".join(_study_words(results.rows, dataset) for dataset in datasets)
    absent = "".join(failed_mechanisms(results.rows, "private_data", d) for d in datasets)
    caption = (
        f"tldp2025 Figure 1 (type I): {sources}. Every training image is released through the "
        "mechanism, the classifier is trained on what is released and tested on clean images; "
        "weighted F1, mean and range over "
        f"{int(spread['count'].max())} trials, delta {spread['delta'].iloc[0]:g}. Adjacency "
        "local: any image may become any other, all pixels in [0, 1]. Left: noise as published; "
        "right: rescaled until the true delta at epsilon is the budget's. TLDP claims pure "
        "epsilon and Laplace gives it; the others have delta (the classic Gaussian is stated for "
        "epsilon < 1 only). Variants of TLDP with and without weights coincide where hardly a "
        f"value is kept. The paper trains MobileNetV2, pre-trained on ImageNet.{absent}"
    )
    return Drawn(caption, spread, figure)


def _draw_panel(axis, panel: pd.DataFrame, footing: str) -> None:
    """One footing; levels have no footing of their own and are drawn on every panel."""
    for mechanism in in_order(panel["mechanism"]):
        style = look(mechanism)
        lines = panel[panel["mechanism"] == mechanism]
        if mechanism in LEVELS:
            level = lines[lines["footing"] == "published"]["mean"].mean()
            axis.axhline(level, color=style.colour, linestyle=":", label=style.title)
            continue
        line = lines[lines["footing"] == footing].sort_values("epsilon")
        axis.errorbar(
            line["epsilon"],
            line["mean"],
            yerr=[line["mean"] - line["min"], line["max"] - line["mean"]],
            color=style.colour,
            marker=style.marker,
            linewidth=1,
            label=style.title,
        )
    axis.set_xscale("log")


def _study_words(rows: pd.DataFrame, dataset: str) -> str:
    """Data set, its source, the records and the classifier."""
    own = rows[(rows["experiment"] == "private_data") & (rows["dataset"] == dataset)]
    classifier = next(m for m in own["metric"] if m.startswith("f1_"))[3:]
    records = int(own[own["metric"] == "records"]["value"].iloc[0])
    source = SOURCE_WORDS[own["data_source"].iloc[0]]
    return f"{dataset} ({source}), {records:,} training images, {CLASSIFIER_WORDS[classifier]}"


@drawing("tldp2025_table5", kind="tables", needs=["private_data"])
def table_5(results: Results) -> Drawn:
    """Stated error of one released image, the same in closed form, and as measured."""
    rows = measured(results.rows)
    rows = rows[rows["footing"] == "published"]
    keys = ["dataset", "shape", "mechanism", "epsilon"]
    means = rows.pivot_table(index=keys, columns="metric", values="value", aggfunc="mean")
    records = []
    for (dataset, shape, mechanism, epsilon), row in means.iterrows():
        axes = tuple(int(n) for n in shape.split("x"))
        stated = stated_errors(axes, epsilon, 1.0).get(STANDS_FOR.get(mechanism, mechanism))
        if stated is None:
            continue
        found = math.sqrt(row["squared_error"])
        records.append(
            {
                "data": dataset,
                "mechanism": mechanism,
                "epsilon": epsilon,
                "stated error": stated,
                "closed form": math.sqrt(row["expected_loss"]),
                "measured": found,
                "stated / measured": stated / found,
            }
        )
    if not records:
        raise DrawingError("Table 5 needs one of laplace, gaussian, mvg, idn, tldp-l, tldp-g")
    table = pd.DataFrame(records)
    order = table["mechanism"].map(in_order(table["mechanism"]).index)
    table = table.assign(order=order).sort_values(["data", "order", "epsilon"])
    caption = (
        "tldp2025 Table 5 on one image with pixels in [0, 1] (Delta = 1), noise as published: the "
        "stated expected error, sqrt(E||Z||^2) of the noise that is drawn, in closed form, and "
        "the root of the mean ||Z||^2 over all released images. Adjacency local. Gaussian, MVG "
        "and IDN are stated without a delta; ours have delta "
        f"{rows['delta'].iloc[0]:g} and, for MVG, mgm2021's zeta."
    )
    return Drawn(caption, table.drop(columns="order").reset_index(drop=True))
