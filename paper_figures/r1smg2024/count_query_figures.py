"""Drawings of r1smg2024's 89 x 89 count query, Section 7.1: Figures 4 and 5, Table 1, and errors.

They show the main data set of the run: Figures 4 and 5 at the budget that the paper gives each
mechanism, the others at all budgets. The verdicts are in count_query.py.
"""

from __future__ import annotations

import itertools
import math
import textwrap

import numpy as np
import pandas as pd
import scipy

from claims.intervals import SHOWN, Mean
from claims.judged_rows import LEVELS, listed, ok_rows, required, select
from paper_figures import pyplot as plt
from paper_figures.curves import break_gaps
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.legends import entries_of
from paper_figures.over_epsilon import groups_within
from paper_figures.r1smg2024.count_query import (
    BUDGET_WORDS,
    select_paper_budget,
)
from paper_figures.r1smg2024.theorems import stated_constant
from paper_figures.selections import axes_of, failed_mechanisms, main_dataset
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    add_own_mechanisms,
    legend_order,
    look,
    mechanism_title,
)
from papers.r1smg2024 import (
    LARGEST_COUNT,
    LARGEST_RELEASED,
    PICKUPS,
    STATED_LOSSES,
    count_epsilon,
    count_query,
)
from runs.results import Results

# The mechanisms of Figure 5 and of Table 1.
COMPARED = ("r1smg", "gaussian", "gaussian-analytic", "mvg")


@drawing("r1smg2024_fig5", kind="figures", needs=["count_query"])
def figure_5(results: Results) -> Drawn:
    """Draw the distribution of L over the trials: its mean, and its shape relative to the mean."""
    dataset, source = main_dataset(results.rows, "count_query")
    losses = select_paper_budget(ok_rows(results.rows, "count_query", "loss", dataset))
    compared = add_own_mechanisms(COMPARED, losses["mechanism"].unique())
    losses = losses[losses["mechanism"].isin(compared)]
    if losses.empty or losses["trial"].nunique() < 3:
        raise DrawingError(
            f"Figure 5 needs 3 or more trials of one of {', '.join(COMPARED)} at the paper's budget"
        )
    calibrations = [each for each in CALIBRATION_LINES if each in set(losses["calibration"])]
    figure = plt.figure(figsize=(PAGE, 4.6))
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.2))
    axes = upper.subplots(1, len(calibrations), sharex=True, sharey=True, squeeze=False)[0]
    for axis, calibration in zip(axes, calibrations, strict=True):
        _draw_means(axis, select(losses, calibration=calibration), calibration)
    _draw_shapes(lower, select(losses, calibration=calibrations[0]))
    trials = losses.groupby(["mechanism", "calibration"]).size().max()
    return Drawn(
        caption=(
            f"r1smg2024 Figure 5 on {source}: accuracy loss L = ||noise||^2 of the "
            f"{losses['shape'].iloc[0]} count query, "
            f"{trials} trials, {BUDGET_WORDS}, l2 sensitivity sqrt(2) (replacing one pickup). "
            "Above: mean of L with its 95% interval, beside the paper's mean of 100 draws. Below: "
            "histograms and densities of L over its mean, the same at either calibration."
        ),
        data=losses[["mechanism", "calibration", "epsilon", "delta", "trial", "value"]],
        figure=figure,
        note=(
            "L is the loss before post-processing. The lower panels end at 5 times the mean at "
            "most, which R1SMG's loss exceeds with probability 2.5%. Kernel densities are smooth "
            "and blur the edge at 0. At equal true privacy, noise is rescaled until the true delta "
            "at epsilon is the budget's, and all i.i.d. Gaussian noise has the same distribution. "
            "The shape of L does not depend on the scale of the noise. MVG's gamma, which the "
            "paper does not state, is the number of pickups; r1-f5-loss takes its smallest value. "
            "R1SMG's mean over the trials rests on a few large losses; r1-f5-loss has the exact "
            "one."
        ),
    )


def _draw_means(axis: plt.Axes, losses: pd.DataFrame, calibration: str) -> None:
    """Draw the mean of L with its 95% interval, a row per mechanism."""
    mechanisms = legend_order(losses["mechanism"])
    for place, mechanism in enumerate(mechanisms):
        values, style = select(losses, mechanism=mechanism)["value"], look(mechanism)
        interval = Mean(values.to_numpy(float)).interval(SHOWN)
        axis.hlines(place, *interval, color=style.colour, linewidth=3)
        axis.plot(values.mean(), place, marker=style.marker, color=style.colour, markersize=4)
        if calibration == "published" and mechanism in STATED_LOSSES:
            stated = STATED_LOSSES[mechanism]
            axis.plot(stated, place, "*", color="black", markersize=7)
            axis.annotate(
                f"paper: {stated:,.0f}",
                (stated, place),
                fontsize=6,
                xytext=(0, 4),
                textcoords="offset points",
                ha="center",
            )
    axis.set_yticks(range(len(mechanisms)), [look(each).title for each in mechanisms])
    axis.set(
        ylim=(len(mechanisms) - 0.5, -0.5),
        xscale="log",
        # Leave room for the paper's numbers.
        xlim=(min(STATED_LOSSES.values()) / 100, None),
        title=CALIBRATION_TITLES[calibration],
        xlabel="mean of L, squared pickups",
    )


def _draw_shapes(part: plt.Figure, losses: pd.DataFrame) -> None:
    """Draw the histogram and density of L over its mean, with R1SMG apart from the others."""
    mechanisms = legend_order(losses["mechanism"])
    others = [mechanism for mechanism in mechanisms if mechanism != "r1smg"]
    groups = [names for names in (legend_order({*mechanisms} - {*others}), others) if names]
    axes = part.subplots(1, len(groups), squeeze=False)[0]
    for axis, names in zip(axes, groups, strict=True):
        for mechanism, line in zip(names, itertools.cycle(("-", "--", ":")), strict=False):
            values, style = select(losses, mechanism=mechanism)["value"], look(mechanism)
            ratio = values.to_numpy() / values.mean()
            low, high = max(ratio.min() - 0.02, 0.0), min(ratio.max() + 0.02, 5.0)
            grid = np.linspace(low, high, 500)
            bins = np.linspace(low, high, 40)
            # The weights count all trials, including those beyond the axis.
            weights = np.full(len(ratio), 1 / (len(ratio) * (bins[1] - bins[0])))
            axis.hist(ratio, bins, weights=weights, color=style.colour, alpha=0.25)
            density = scipy.stats.gaussian_kde(ratio)(grid)
            axis.plot(grid, density, line, color=style.colour, label=style.title)
        axis.set(xlabel="L / mean of L", ylabel="density", ylim=(0, None))
        axis.legend(fontsize=6)


@drawing("r1smg2024_table1", kind="tables", needs=["count_query"])
def table_1(results: Results) -> Drawn:
    """Tabulate the constants C_C, C_A, C_M and C_R times s^2 beside the true expected losses."""
    dataset, source = main_dataset(results.rows, "count_query")
    rows = ok_rows(results.rows, "count_query", "expected_loss", dataset)
    rows = required(
        rows[rows["mechanism"].isin(COMPARED)],
        DrawingError(f"Table 1 needs one of {', '.join(COMPARED)}"),
    )
    squared = count_query(PICKUPS).l2_sensitivity ** 2
    records = []
    for row in rows.itertuples():
        name, constant = stated_constant(row.mechanism, *axes_of(row.shape), row.epsilon, row.delta)
        bound = constant * squared
        holds = "yes" if row.value >= bound * (1 - 1e-9) else "no"
        records.append(
            {
                "mechanism": row.mechanism,
                "calibration": row.calibration,
                "epsilon": row.epsilon,
                "delta": row.delta,
                "constant": name,
                "stated lower bound": bound,
                "true expected loss": row.value,
                "true / bound": row.value / bound,
                "bound holds": holds if row.calibration == "published" else "",
            }
        )
    return Drawn(
        caption=(
            f"r1smg2024 Table 1 at the {rows['shape'].iloc[0]} count query, l2 sensitivity sqrt(2) "
            "(replacing one pickup): the lower bounds C s^2 that the paper states for the expected "
            "loss, and the expected loss in closed form. MVG's noise depends on gamma, here the "
            f"number of pickups in the map of {source}."
        ),
        data=pd.DataFrame(records),
        note="The paper states its bounds for the published noise only.",
    )


# Panels (a) to (h) of the paper's figure.
PANELS = (
    "non-private",
    "r1smg",
    "gaussian",
    "gaussian-analytic",
    "mvg",
    "mgm",
    "dawa-published",
    "hb",
)
COLUMNS = 4
# Reasons why mechanisms have no map at equal true privacy.
WITHOUT_EXACT_MAP = {
    "non-private": "there is no noise to rescale",
    "dawa-published": "DAWA's exact privacy is not known, so its noise cannot be rescaled to it",
    "hb": "the estimate of H_b may reveal less than its measurements, so its exact privacy is not "
    "known",
}


@drawing("r1smg2024_fig4", kind="figures", needs=["count_query"], maps=("count_query",))
def figure_4(results: Results) -> Drawn:
    """Draw heat maps of the released counts on one colour scale, the non-private map first."""
    dataset, source = main_dataset(results.rows, "count_query")
    cells = select_paper_budget(ok_rows(results.maps, "count_query", "released_count", dataset))
    panels = add_own_mechanisms(PANELS, cells["mechanism"].unique())
    cells = cells[cells["mechanism"].isin(panels)]
    if not {"non-private"} < set(cells["mechanism"]):
        raise DrawingError(
            "Figure 4 needs the maps of non-private and other mechanisms at the paper's budgets; "
            "set count_query.map_epsilons in the config"
        )
    rows = results.rows[results.rows["dataset"] == dataset]
    counts = select_paper_budget(ok_rows(rows, "count_query", "largest_count"))
    largest = counts.groupby(["mechanism", "calibration"])["value"].mean()
    maps = {
        key: group.pivot(index="row", columns="column", values="value").to_numpy()
        for key, group in cells.groupby(["mechanism", "calibration"])
    }
    shown = [m for m in panels if (m, "published") in maps]
    calibrations = [c for c in CALIBRATION_LINES if any((m, c) in maps for m in shown[1:])]
    figure = _draw_maps(maps, largest, shown, calibrations)
    trials = rows["trial"].max() + 1
    side = len(maps["non-private", "published"])
    return Drawn(
        caption=(
            f"r1smg2024 Figure 4 on {source}: first trial of the {side} x {side} count query after "
            f"post-processing, {BUDGET_WORDS}, l2 sensitivity sqrt(2) (replacing one pickup). "
            f"Below a map: its mean largest count over {trials} trials. All maps use the colour "
            "scale (square root) of the exact counts. Noise as published, and rescaled until the "
            "true delta at epsilon is the budget's."
        ),
        data=_drawn_numbers(cells, largest, shown),
        figure=figure,
        note=(
            "Counts above the scale and negative counts are drawn in the colours at its ends. "
            'Numbers after "paper" are those that the paper states. Published claims can be false, '
            "as those of R1SMG and DAWA are; suite_verdicts says which. The paper does not state "
            "its bounding box: r1-f4-max has the largest exact count in other boxes."
            f"{failed_mechanisms(rows[rows['mechanism'].isin(shown)], 'count_query', dataset)}"
        ),
    )


def _drawn_numbers(cells: pd.DataFrame, largest: pd.Series, shown: list[str]) -> pd.DataFrame:
    """Return a row per cell and a row of mean largest counts, with a column per map."""
    named = cells.assign(map=cells["mechanism"] + " (" + cells["calibration"] + ")")
    drawn = named[named["mechanism"].isin(shown)]
    table = drawn.pivot(index=["row", "column"], columns="map", values="value").reset_index()
    labels = {f"{m} ({f})": value for (m, f), value in largest.items()}
    below = pd.DataFrame([labels])[[name for name in table.columns if name in labels]]
    table = pd.concat(
        [
            table.assign(quantity="released count"),
            below.assign(quantity="mean largest count"),
        ],
        ignore_index=True,
    )
    return table[["quantity", "row", "column", *below.columns]]


def _draw_maps(
    maps: dict[tuple[str, str], np.ndarray],
    largest: pd.Series,
    shown: list[str],
    calibrations: list[str],
) -> plt.Figure:
    """Draw bands of four mechanisms; every band has a row of maps per calibration."""
    from matplotlib.colors import PowerNorm

    bands = math.ceil(len(shown) / COLUMNS)
    count = bands * len(calibrations)
    figure, axes = plt.subplots(count, COLUMNS, figsize=(PAGE, 1.72 * count), squeeze=False)
    figure.get_layout_engine().set(h_pad=0.02, w_pad=0.01, hspace=0, wspace=0)
    truth = maps["non-private", "published"]
    norm = PowerNorm(0.5, vmin=0, vmax=truth.max())
    for axis in axes.flat:
        axis.set(xticks=[], yticks=[])
        axis.grid(False)
        axis.set_box_aspect(truth.shape[0] / truth.shape[1])
    for index, mechanism in enumerate(shown):
        band, column = divmod(index, COLUMNS)
        for offset, calibration in enumerate(calibrations):
            axis = axes[band * len(calibrations) + offset, column]
            if offset == 0:
                stated = "" if mechanism == "non-private" else f", ε = {count_epsilon(mechanism):g}"
                axis.set_title(look(mechanism).title + stated, fontsize=7)
            if column == 0:
                axis.set_ylabel(CALIBRATION_TITLES[calibration], fontsize=7)
            key = (mechanism, calibration)
            if key not in maps:
                reason = WITHOUT_EXACT_MAP.get(mechanism, "not in this run")
                axis.text(
                    0.5,
                    0.5,
                    textwrap.fill(f"No map: {reason}.", 28),
                    ha="center",
                    va="center",
                    fontsize=6,
                )
                axis.spines[:].set_visible(False)
                continue
            # The image has one pixel per cell; negative counts have the colour of zero.
            image = axis.imshow(
                maps[key], origin="lower", cmap="cividis", norm=norm, interpolation="nearest"
            )
            words = f"mean largest count {largest[key]:.4g}{_paper_count(*key)}"
            if calibration != "published" and count_epsilon(mechanism) != count_epsilon("gaussian"):
                words += f"\nhere ε = {count_epsilon('gaussian'):g}"
            axis.set_xlabel(words, fontsize=6, labelpad=1)
    for axis in axes[-len(calibrations) :, len(shown) - (bands - 1) * COLUMNS :].flat:
        axis.set_axis_off()
    words = "pickups per cell (square-root scale)"
    figure.colorbar(image, ax=axes, extend="both", shrink=0.6, aspect=40, label=words)
    return figure


def _paper_count(mechanism: str, calibration: str) -> str:
    """Return the paper's largest count of a map as the end of a label, or ""."""
    if mechanism == "non-private":
        return f"\n(paper: about {LARGEST_COUNT})"
    if calibration == "published" and mechanism in LARGEST_RELEASED:
        return f"\n(paper: above {LARGEST_RELEASED[mechanism]})"
    return ""


METRICS = {"rmse_valid_cell": "per valid cell", "rectangle_rmse": "per rectangle"}
# Curves within this relative difference cannot be told apart.
ALIKE = 0.1
# The titles of rows of panels; mechanisms that FAMILIES does not name are other noise.
GAUSSIAN = "Gaussian noise"
COUNTING = "for histograms and workloads"
OTHER = "other noise"
FAMILIES = dict.fromkeys(
    (
        "gaussian",
        "gaussian-analytic",
        "gaussian-per-element",
        "mvg",
        "mvg-sqrt",
        "mgm",
        "udn",
        "imgm",
        "tldp-g",
        "tldp-g-w",
    ),
    GAUSSIAN,
) | dict.fromkeys(
    (
        "matrix-mechanism",
        "matrix-mechanism-cvxpy",
        "matrix-mechanism-l1",
        "hb",
        "dawa",
        "dawa-published",
    ),
    COUNTING,
)


@drawing("r1smg2024_counts", kind="figures", needs=["count_query"])
def counts_over_epsilon(results: Results) -> Drawn:
    """Draw the error per valid cell and per random rectangle over epsilon, a row per family."""
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
    return Drawn(
        caption=(
            f"The count query of r1smg2024 on {source} over epsilon, after post-processing: root "
            "mean squared error per valid cell and per random rectangle, in pickups, mean over "
            f"{trials} trials, delta {rows['delta'].iloc[0]:g}, l2 sensitivity sqrt(2) (replacing "
            "one pickup). As published, and rescaled until the true delta at epsilon is the "
            "budget's."
        ),
        data=means,
        figure=figure,
        note=(
            "At equal true privacy all i.i.d. Gaussian noise is the same, so its curves coincide. "
            "The exact answer has no error per cell, which a logarithmic axis cannot show; per "
            "rectangle it has that of the cells that post-processing sets to zero. Published "
            "claims can be false, as R1SMG's is; suite_verdicts says which."
            f"{_coinciding_sentences(private)}"
            f"{failed_mechanisms(results.rows, 'count_query', dataset)}"
        ),
    )


def _coinciding_sentences(means: pd.DataFrame) -> str:
    """Return a sentence for each calibration with curves that coincide in all its panels, or ""."""
    sentences = ""
    for calibration in CALIBRATION_LINES:
        table = select(means, calibration=calibration).pivot_table(
            index=["metric", "epsilon"], columns="mechanism", values="value", sort=False
        )
        # The margin is relative, hence the logarithms below. At equal true privacy all Gaussian
        # noise is the same, which the note says already.
        told = [
            name
            for name in legend_order(table.columns)
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


def _draw_family(part: plt.Figure, means: pd.DataFrame, levels: pd.Series) -> None:
    """Draw a panel per metric and calibration."""
    calibrations = [each for each in CALIBRATION_LINES if each in set(means["calibration"])]
    axes = part.subplots(1, len(METRICS) * len(calibrations), sharex=True)
    panels = itertools.product(METRICS, calibrations)
    for axis, (metric, calibration) in zip(axes, panels, strict=True):
        panel = select(means, metric=metric, calibration=calibration)
        for mechanism in legend_order(panel["mechanism"]):
            points = select(panel, mechanism=mechanism)[["epsilon", "value"]]
            line = break_gaps(points, "epsilon")
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
            # Label only whole powers of ten; more labels would touch.
            axis.yaxis.set_minor_formatter("")
        axis.tick_params(labelsize=6)
    for of_metric in np.split(axes, len(METRICS)):
        limits = np.array([axis.get_ylim() for axis in of_metric])
        for axis in of_metric:
            axis.set_ylim(limits.min(), limits.max())
    axes[0].set_ylabel("RMSE, pickups")
    entries = entries_of(axes)
    part.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=5, fontsize=6)
