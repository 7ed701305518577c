"""Figures 4, 5 and 9 and Table 1 of r1smg2024, and its stability theorems."""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm
from scipy import stats

from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.results import Results
from paper_figures.selections import failed_mechanisms, main_dataset, ok_rows, size_of
from paper_figures.style import CALIBRATION_LINES, CALIBRATION_TITLES, PAGE, in_order, look
from papers.r1smg2024 import count_query, stated_constant

MAPS = (
    "non-private",
    "r1smg",
    "gaussian",
    "gaussian-analytic",
    "mvg",
    "mgm",
    "dawa-published",
    "hb",
)
COMPARED = ("r1smg", "gaussian", "gaussian-analytic", "mvg")


def at_paper_epsilon(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows at the budget whose maps are kept: the paper's own epsilon of each mechanism."""
    kept = rows[(rows["metric"] == "released_count") & (rows["element"] == 0)]
    budgets = kept[["mechanism", "epsilon"]].drop_duplicates()
    return rows.merge(budgets, on=["mechanism", "epsilon"])


def budget_words(rows: pd.DataFrame) -> str:
    """epsilon of each mechanism, and the delta they share."""
    pairs = rows[["mechanism", "epsilon", "delta"]].drop_duplicates()
    common = pairs["epsilon"].mode()[0]
    others = pairs[(pairs["epsilon"] != common) & (pairs["mechanism"] != "non-private")]
    exceptions = "".join(f" ({r.mechanism}: {r.epsilon:g})" for r in others.itertuples())
    return f"epsilon {common:g}{exceptions}, delta {pairs['delta'].iloc[0]:g}"


@drawing("r1smg2024_fig4", kind="figures", needs=["count_query"])
def figure_4(results: Results) -> Drawn:
    """Heat maps of the released counts on one colour scale, the non-private map first."""
    dataset, source = main_dataset(results.rows, "count_query")
    rows = ok_rows(results.rows, "count_query", "released_count", dataset)
    if rows.empty:
        raise DrawingError("the results hold no maps; set count_query.map_epsilons in the config")
    shape = tuple(int(n) for n in rows["shape"].iloc[0].split("x"))
    maps = {
        key: group.sort_values("element")["value"].to_numpy().reshape(shape)
        for key, group in rows.groupby(["mechanism", "calibration"])
    }
    if ("non-private", "published") not in maps:
        raise DrawingError("Figure 4 needs the non-private map; add non-private to count_query")
    truth = maps["non-private", "published"]
    shown = [m for m in MAPS if (m, "published") in maps]
    calibrations = [f for f in CALIBRATION_LINES if any((m, f) in maps for m in shown[1:])]
    figure, axes = plt.subplots(
        len(calibrations), len(shown), figsize=(PAGE, 1.2 * len(calibrations)), squeeze=False
    )
    figure.get_layout_engine().set(h_pad=0.03, w_pad=0.01, hspace=0, wspace=0)
    norm = PowerNorm(0.5, vmin=0, vmax=truth.max())
    for row, calibration in enumerate(calibrations):
        for axis, mechanism in zip(axes[row], shown, strict=True):
            axis.set(xticks=[], yticks=[])
            axis.grid(False)
            released = maps.get(
                (mechanism, calibration), truth if mechanism == "non-private" else None
            )
            if released is None:
                axis.set_box_aspect(shape[0] / shape[1])
                axis.text(0.5, 0.5, "no result", ha="center", transform=axis.transAxes)
                continue
            # Rasterised at one pixel per cell; negative answers take the colour of zero.
            image = axis.imshow(
                released, origin="lower", cmap="cividis", norm=norm, interpolation="nearest"
            )
            if row == 0:
                axis.set_title(look(mechanism).title.replace(" ", "\n", 1), fontsize=7)
            axis.set_xlabel(f"max {released.max():.4g}", fontsize=6)
        axes[row, 0].set_ylabel(CALIBRATION_TITLES[calibration], fontsize=7)
    figure.colorbar(image, ax=axes, extend="both", shrink=0.85, aspect=25, label="pickups per cell")
    words = budget_words(rows)
    absent = failed_mechanisms(results.rows, "count_query", dataset)
    caption = (
        f"r1smg2024 Figure 4 on {source}: first trial of the {shape[0]} x {shape[1]} count query "
        f"after post-processing, {words}, l2 sensitivity sqrt(2) (replacing one pickup). One "
        "colour scale (square root) for all maps, that of the non-private counts; larger and "
        "negative answers take its end colours. Rows: noise as published, and rescaled until the "
        f"true delta at epsilon is the budget's.{absent}"
    )
    drawn = rows[rows["mechanism"].isin(shown)]
    drawn = drawn.assign(map=drawn["mechanism"] + " (" + drawn["calibration"] + ")")
    data = drawn.pivot(index="element", columns="map", values="value").reset_index()
    return Drawn(caption, data, figure)


@drawing("r1smg2024_fig5", kind="figures", needs=["count_query"])
def figure_5(results: Results) -> Drawn:
    """Distribution of L over the trials: on one axis, and relative to its own mean."""
    dataset, source = main_dataset(results.rows, "count_query")
    rows = at_paper_epsilon(results.rows[results.rows["dataset"] == dataset])
    losses = ok_rows(rows, "count_query", "loss", dataset)
    losses = losses[losses["mechanism"].isin(COMPARED)]
    if losses.empty or losses["trial"].nunique() < 3:
        raise DrawingError(f"Figure 5 needs 3 or more trials of one of {', '.join(COMPARED)}")
    calibrations = [f for f in CALIBRATION_LINES if f in set(losses["calibration"])]
    figure, axes = plt.subplots(4, len(calibrations), figsize=(PAGE, 7.2), squeeze=False)
    for column, calibration in enumerate(calibrations):
        chosen = losses[losses["calibration"] == calibration]
        groups = {
            mechanism: chosen[chosen["mechanism"] == mechanism]["value"].to_numpy()
            for mechanism in in_order(chosen["mechanism"])
        }
        _loss_panels(axes[:, column], groups)
        axes[0, column].set_title(CALIBRATION_TITLES[calibration])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    for axis, letter in zip(axes[:, 0], "abcd", strict=True):
        axis.set_ylabel(f"({letter})  {axis.get_ylabel()}")
    trials = losses.groupby(["mechanism", "calibration"]).size().max()
    caption = (
        f"r1smg2024 Figure 5 on {source}: accuracy loss L = ||noise||^2 before post-processing, "
        f"{trials} trials, {budget_words(losses)}, l2 sensitivity sqrt(2) (replacing one pickup). "
        "(a) Histograms and (c) kernel densities of log10 L on one axis, vertical lines at the "
        "mean; (b) histograms and (d) kernel densities of L over its own mean, cut off at 5 times "
        "the mean (R1SMG exceeds it with probability 2.5%). Densities are smoothed and blur the "
        "edge at 0. Left: noise as published; right: rescaled until the true delta at epsilon is "
        "the budget's, where all i.i.d. Gaussian noise has one distribution."
    )
    columns = ["mechanism", "calibration", "epsilon", "delta", "trial", "value"]
    return Drawn(caption, losses[columns], figure)


def _loss_panels(axes, groups: dict[str, np.ndarray]) -> None:
    everything = np.log10(np.concatenate(list(groups.values())))
    low, high = everything.min() - 0.2, everything.max() + 0.2
    bins, grid = np.linspace(low, high, 80), np.linspace(low, high, 800)
    relative, fine = np.linspace(0, 5, 60), np.linspace(0, 5, 500)
    for mechanism, values in groups.items():
        style = look(mechanism)
        kind = {"color": style.colour, "label": style.title}
        logs, ratio = np.log10(values), values / values.mean()
        axes[0].hist(logs, bins, alpha=0.6, **kind)
        axes[1].hist(ratio, relative, histtype="step", linewidth=1.2, **kind)
        axes[2].plot(grid, stats.gaussian_kde(logs)(grid), **kind)
        axes[2].axvline(np.log10(values.mean()), color=style.colour, linestyle=":")
        axes[3].plot(fine, stats.gaussian_kde(ratio)(fine), **kind)
    for axis in axes[[0, 2]]:
        axis.set_xlabel("log10 L")
    for axis in axes[[1, 3]]:
        axis.set_xlabel("L / mean of L")
    for axis in axes[1:]:
        # A spike next to a flat curve: linear up to 1, logarithmic from there on.
        axis.set_yscale("symlog", linthresh=1)
        axis.set_ylim(0)
    for axis, words in zip(axes, ("trials", "trials", "density", "density"), strict=True):
        axis.set_ylabel(words)


@drawing("r1smg2024_counts", kind="figures", needs=["count_query"])
def counts_over_epsilon(results: Results) -> Drawn:
    """Error per valid cell and per random rectangle over epsilon, every mechanism."""
    dataset, source = main_dataset(results.rows, "count_query")
    metrics = {"rmse_valid_cell": "RMSE per valid cell", "rectangle_rmse": "RMSE per rectangle"}
    rows = pd.concat(ok_rows(results.rows, "count_query", m, dataset) for m in metrics)
    rows = rows[rows["mechanism"] != "non-private"]
    keys = ["metric", "calibration", "mechanism", "epsilon", "delta"]
    means = rows.groupby(keys, sort=False)["value"].mean().reset_index().sort_values("epsilon")
    calibrations = [f for f in CALIBRATION_LINES if f in set(means["calibration"])]
    figure, axes = plt.subplots(
        len(metrics),
        len(calibrations),
        figsize=(PAGE, 4.6),
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    for (row, metric), (column, calibration) in itertools.product(
        enumerate(metrics), enumerate(calibrations)
    ):
        axis = axes[row, column]
        panel = means[(means["metric"] == metric) & (means["calibration"] == calibration)]
        for mechanism in in_order(panel["mechanism"]):
            line, style = panel[panel["mechanism"] == mechanism], look(mechanism)
            axis.loglog(
                line["epsilon"],
                line["value"],
                color=style.colour,
                marker=style.marker,
                label=style.title,
            )
        if row == 0:
            axis.set_title(CALIBRATION_TITLES[calibration])
        if column == 0:
            axis.set_ylabel(metrics[metric])
    for axis in axes[-1]:
        axis.set_xlabel("epsilon")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    trials = rows.groupby(keys).size().max()
    absent = failed_mechanisms(results.rows, "count_query", dataset)
    caption = (
        f"The count query of r1smg2024 on {source} over epsilon, after post-processing: root mean "
        f"squared error per valid cell and per random rectangle, mean over {trials} trials, delta "
        f"{rows['delta'].iloc[0]:g}, l2 sensitivity sqrt(2) (replacing one pickup). Left: noise as "
        "published; right: rescaled until the true delta at epsilon is the budget's, where all "
        f"i.i.d. Gaussian noise is the same.{absent}"
    )
    return Drawn(caption, means, figure)


@drawing("r1smg2024_fig9", kind="figures", needs=["noise_only/fixed-sensitivity"])
def figure_9(results: Results) -> Drawn:
    """Expected loss over M, one panel per epsilon, both calibrations."""
    rows = ok_rows(results.rows, "noise_only", "expected_loss", "fixed-sensitivity")
    rows = rows[rows["mechanism"].isin(("r1smg", "gaussian", "gaussian-analytic"))]
    rows = rows.assign(size=rows["shape"].map(size_of)).sort_values("size")
    epsilons = sorted(rows["epsilon"].unique(), reverse=True)
    figure, axes = plt.subplots(1, len(epsilons), figsize=(PAGE, 2.6), sharey=True, squeeze=False)
    for axis, epsilon in zip(axes[0], epsilons, strict=True):
        for (mechanism, calibration), group in rows[rows["epsilon"] == epsilon].groupby(
            ["mechanism", "calibration"]
        ):
            style = look(mechanism)
            axis.loglog(
                group["size"],
                group["value"],
                color=style.colour,
                marker=style.marker,
                linestyle=CALIBRATION_LINES[calibration],
                markerfacecolor="white" if calibration == "exact" else style.colour,
                label=f"{style.title}, {CALIBRATION_TITLES[calibration]}",
            )
        axis.axhline(2 / epsilon, color="black", linestyle=":", label="2 / epsilon")
        axis.set(xlabel="M", title=f"epsilon = {epsilon:g}")
    axes[0, 0].set_ylabel("E L")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    caption = (
        "r1smg2024 Figure 9: expected accuracy loss E L = E||noise||^2 in closed form over the "
        f"number of elements M, l2 sensitivity 1, delta {rows['delta'].iloc[0]:g}. Solid: noise as "
        "published; dashed: rescaled until the true delta at epsilon is the budget's (the classic "
        "and the analytic Gaussian then coincide). Dotted: "
        "the limit 2/epsilon that the paper gives for R1SMG."
    )
    columns = ["mechanism", "calibration", "epsilon", "delta", "size", "value"]
    return Drawn(caption, rows[columns], figure)


@drawing("r1smg2024_table1", kind="tables", needs=["count_query"])
def table_1(results: Results) -> Drawn:
    """The constants C_C, C_A, C_M and C_R times s^2 beside the true expected losses."""
    dataset, source = main_dataset(results.rows, "count_query")
    rows = ok_rows(results.rows, "count_query", "expected_loss", dataset)
    rows = rows[rows["mechanism"].isin(COMPARED)]
    if rows.empty:
        raise DrawingError(f"Table 1 needs one of {', '.join(COMPARED)}")
    squared = count_query(1).l2_sensitivity ** 2
    records = []
    for row in rows.itertuples():
        m, n = (int(axis) for axis in row.shape.split("x"))
        name, constant = stated_constant(row.mechanism, m, n, row.epsilon, row.delta)
        records.append(
            {
                "mechanism": row.mechanism,
                "calibration": row.calibration,
                "epsilon": row.epsilon,
                "delta": row.delta,
                "constant": name,
                "stated lower bound": constant * squared,
                "true expected loss": row.value,
                "true / bound": row.value / (constant * squared),
                "bound holds": _holds(row.calibration, row.value, constant * squared),
            }
        )
    caption = (
        f"r1smg2024 Table 1 at the {rows['shape'].iloc[0]} count query, l2 sensitivity sqrt(2) "
        "(replacing one pickup): the lower bounds C s^2 on the expected loss as the paper states "
        "them for the published noise, and the expected loss in closed form. MVG's noise depends "
        f"on gamma, here the number of pickups of {source}."
    )
    return Drawn(caption, pd.DataFrame(records))


def _holds(calibration: str, loss: float, bound: float) -> str:
    """Whether a stated bound holds; it is stated for the published noise only."""
    if calibration != "published":
        return ""
    return "yes" if loss >= bound * (1 - 1e-9) else "no"


@drawing("r1smg2024_stability", kind="tables", needs=["noise_only/fixed-sensitivity"])
def stability(results: Results) -> Drawn:
    """Theorems 8 and 9 and what they are read to mean: kurtosis, skewness and tails of L."""
    metrics = {
        "raw_kurtosis": "E[L^4]/E[L^2]^2",
        "raw_skewness": "E[L^3]/E[L^2]^1.5",
        "central_kurtosis": "kurtosis (central)",
        "central_skewness": "skewness (central)",
        "tail_exact_2": "P(L > 2 E L)",
        "tail_exact_5": "P(L > 5 E L)",
        "tail_sampled_5": "P(L > 5 E L), sampled",
        "sampled_trials": "draws",
    }
    rows = results.rows[
        (results.rows["dataset"] == "fixed-sensitivity")
        & (results.rows["calibration"] == "published")
        & results.rows["metric"].isin(metrics)
        & (results.rows["status"] == "ok")
    ]
    # Shape statistics of L do not depend on the scale of the noise: one epsilon is enough.
    rows = rows[rows["epsilon"] == rows["epsilon"].max()]
    table = rows.pivot_table(
        index=["mechanism", "shape"], columns="metric", values="value", sort=False
    )
    table = table.reset_index().assign(M=lambda t: t["shape"].map(size_of))
    order = table["mechanism"].map(in_order(table["mechanism"]).index)
    table = table.assign(order=order).sort_values(["M", "order"])
    present = [metric for metric in metrics if metric in table]
    table = table[["mechanism", "M", *present]].rename(columns=metrics)
    caption = (
        "r1smg2024 Theorems 8 and 9 and Remark 2: moments of L = ||noise||^2 about zero (as the "
        "paper defines kurtosis and skewness) and about the mean (as usual), and the probability "
        "of a large loss; closed forms, with a sampled tail beside them. No data; the published "
        "calibration (rescaling the noise changes none of these)."
    )
    return Drawn(caption, table)
