"""Draw the gain of noise that is made for linear queries on histograms, or for the data.

`suite_linear` and `suite_linear_table` read the rows of the study linear_queries.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from claims.judged_rows import ok_rows, required, select
from datasets.titles import dataset_title
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.over_epsilon import groups_within
from paper_figures.selections import (
    SOURCE_WORDS,
    UNKNOWN,
    failed_mechanisms,
    guarantee_of,
    private_rows,
    size_of,
)
from paper_figures.style import (
    CALIBRATION_TITLES,
    PAGE,
    legend_order,
    mechanism_title,
)
from runs.results import Results

STUDY = "linear_queries"
WORKLOADS = {"prefix": "prefix sums", "all-range": "all ranges", "random": "random ranges"}
UNIT = "gaussian-analytic"
# The epsilon nearest to this one is drawn, because the ratios vary little with epsilon.
EPSILON = 0.1
# The ends of the axis, in multiples of the unit's error. Ratios beyond them are written as numbers.
SHOWN = (3e-3, 3e2)
# Colour, marker and vertical shift by workload; 1 is the distance between two lines.
WORKLOAD_MARKS = {
    "prefix": ("#0072B2", "o", -0.22),
    "all-range": ("#E69F00", "s", 0.0),
    "random": ("#009E73", "^", 0.22),
}
CLAIM_WORDS = {
    "pure": "claim epsilon-DP",
    "approximate": "claim (epsilon, delta)-DP",
    "local": "claim local DP",
    UNKNOWN: UNKNOWN,
}
KEYS = ["dataset", "workload", "mechanism", "calibration", "epsilon"]


@drawing("suite_linear", kind="figures", needs=[STUDY])
def linear(results: Results) -> Drawn:
    """Draw the error per query relative to i.i.d. Gaussian noise, by claim (rows) and data set."""
    errors = relative_errors(results.rows)
    epsilon = min(errors["epsilon"].unique(), key=lambda value: abs(math.log(value / EPSILON)))
    shown = private_rows(select(errors, epsilon=epsilon))
    shown = shown.assign(claims=shown["mechanism"].map(guarantee_of))
    groups = {
        claims: lines for claims in CLAIM_WORDS if (lines := _lines(select(shown, claims=claims)))
    }
    datasets = list(dict.fromkeys(shown["dataset"]))
    counts = [len(lines) for lines in groups.values()]
    figure, axes = plt.subplots(
        len(groups),
        len(datasets),
        figsize=(PAGE, 0.34 * sum(counts) + 1.2),
        height_ratios=counts,
        squeeze=False,
        sharex=True,
        sharey="row",
    )
    for row, (claims, lines) in zip(axes, groups.items(), strict=True):
        for ax, dataset in zip(row, datasets, strict=True):
            _draw_panel(ax, select(shown, dataset=dataset), lines)
        names = ["\n= ".join(map(mechanism_title, line)) for line in lines]
        row[0].set_yticks(range(len(lines)), names)
        row[0].set_ylim(len(lines) - 0.5, -0.5)
        row[-1].annotate(
            CLAIM_WORDS[claims], (1.03, 0.5), xycoords="axes fraction", rotation=-90, va="center"
        )
    for ax, dataset in zip(axes[0], datasets, strict=True):
        ax.set_title(dataset_title(dataset))
    figure.supxlabel("mean squared error per query / that of the analytic Gaussian", fontsize=8)
    _legend(figure, shown)
    beyond = shown[(shown["ratio"] > SHOWN[1]) | (shown["ratio"] < SHOWN[0])]
    rescaled = "exact" in set(beyond["calibration"])
    titles = {
        line[0]: " = ".join(map(mechanism_title, line))
        for lines in groups.values()
        for line in lines
    }
    drawn = shown[shown["mechanism"].isin(titles)]
    return Drawn(
        caption=(
            "Noise made for the queries or the data: mean squared error per query on histograms "
            f"at epsilon {epsilon:g}, relative to the analytic Gaussian mechanism; "
            f"{_budget_words(results.rows)}. Filled: as published; hollow: rescaled until the true "
            "delta at epsilon is the budget's. Arrows with numbers: beyond the axis."
            f"{' Numbers in italics: rescaled.' if rescaled else ''}"
        ),
        data=drawn.assign(line=drawn["mechanism"].map(titles))[["claims", "line", *KEYS, "ratio"]],
        figure=figure,
        note=(
            f"{_dataset_words(results.rows, errors)} The errors are in closed form where the "
            "covariance of the noise is known, and means over the trials elsewhere. Mechanisms "
            "whose errors agree everywhere share a line. A hollow marker on a filled one has the "
            "same error. suite_linear_table has the other epsilons and the controls. Published "
            "claims can be false, as DAWA's is; suite_verdicts says which."
            f"{_missing_sentences(results.rows)}"
        ),
    )


@drawing("suite_linear_table", kind="tables", needs=[STUDY])
def linear_table(results: Results) -> Drawn:
    """Tabulate errors at every epsilon, by data set, workload, mechanism and calibration."""
    errors = errors_per_query(results.rows)
    wide = errors.pivot(
        index=KEYS[:-1], columns="epsilon", values=["expected", "measured", "standard_error"]
    )
    columns = {
        f"{kind.replace('_', ' ')} at {epsilon:g}": wide[kind, epsilon].to_numpy()
        for epsilon in sorted(errors["epsilon"].unique())
        for kind in ("expected", "measured", "standard_error")
    }
    table = wide.index.to_frame(index=False)
    table.insert(3, "claims", table["mechanism"].map(guarantee_of))
    table = table.assign(**columns)
    ranks = {
        "dataset": list(dict.fromkeys(errors["dataset"])),
        "workload": list(WORKLOADS),
        "mechanism": legend_order(errors["mechanism"]),
        "calibration": list(CALIBRATION_TITLES),
    }
    table = table.sort_values(
        list(ranks), key=lambda column: column.map(ranks[column.name].index), kind="stable"
    )
    return Drawn(
        caption=(
            f"Mean squared error per query on histograms; {_budget_words(results.rows)}. Expected: "
            "in closed form, where the covariance of the noise is known. Measured: the mean over "
            "the trials, with its standard error. Calibrations: published, as the source states "
            "it; exact, rescaled until the true delta at epsilon is the budget's."
        ),
        data=table.reset_index(drop=True),
        note=(f"{_dataset_words(results.rows, errors)}{_missing_sentences(results.rows)}"),
    )


def errors_per_query(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row of errors per data set, workload, mechanism, calibration and epsilon.

    The other columns are expected (NaN if unknown), measured, standard_error (NaN for a single
    trial) and error, which is the expected error if it is known and otherwise the measured error.
    All are mean squared errors per query, in records^2.

    Raises:
        DrawingError: The results hold no errors.
    """
    grouped = ok_rows(rows, STUDY, "mse").groupby(KEYS, sort=False)["value"]
    errors = required(
        pd.DataFrame({"measured": grouped.mean(), "standard_error": grouped.sem()}),
        DrawingError(f"the results hold no errors of {STUDY}; run it first"),
    )
    errors["expected"] = ok_rows(rows, STUDY, "expected_mse").set_index(KEYS)["value"]
    # Sort by workload, in the order of the drawing.
    errors = errors.reset_index()
    errors = errors.sort_values(
        "workload", key=lambda names: names.map(list(WORKLOADS).index), kind="stable"
    ).reset_index(drop=True)
    return errors.assign(error=errors["expected"].fillna(errors["measured"]))


def relative_errors(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the column `ratio`, the error over that of the unit, to `errors_per_query`.

    Raises:
        DrawingError: The results lack the unit, the analytic Gaussian as published.
    """
    errors = errors_per_query(rows)
    unit = required(
        select(errors, mechanism=UNIT, calibration="published"),
        DrawingError(
            f"the errors are drawn relative to those of {UNIT} as published, and the results hold "
            "none; add it to the config"
        ),
    )
    keys = ["dataset", "workload", "epsilon"]
    unit = unit.set_index(keys)["error"].rename("unit")
    return errors.assign(ratio=errors["error"] / errors.join(unit, on=keys)["unit"])


def _lines(shown: pd.DataFrame) -> list[list[str]]:
    """Return groups of mechanisms whose errors agree everywhere, in the order of legends."""
    where = ["dataset", "workload", "calibration"]
    ratios = shown.pivot_table(index=where, columns="mechanism", values="ratio")
    # Where a mechanism has no result, it agrees only with mechanisms that have none either.
    logs = np.log(ratios[legend_order(ratios)]).fillna(math.inf)
    return groups_within(logs, 1e-6)


def _draw_panel(ax: plt.Axes, panel: pd.DataFrame, lines: list[list[str]]) -> None:
    """Draw a marker per workload and calibration for every line of coinciding mechanisms."""
    low, high = SHOWN
    ax.set(xscale="log", xlim=SHOWN)
    ax.axvline(1.0, color="black", linewidth=0.8)
    for height, line in enumerate(lines):
        points = select(panel, mechanism=line[0])
        inside = points[points["ratio"].between(low, high)]
        for row in inside.itertuples():
            colour, marker, shift = WORKLOAD_MARKS[row.workload]
            published = row.calibration == "published"
            ax.plot(
                row.ratio,
                height + shift,
                marker,
                markeredgecolor=colour,
                markerfacecolor=colour if published else "white",
                # Hollow markers are small, so that the edge of a filled marker below stays visible.
                markersize=5 if published else 3,
                zorder=3 if published else 4,
                markeredgewidth=0.9,
            )
        _number_beyond(ax, points[points["ratio"] > high], height, 0.98, "right")
        _number_beyond(ax, points[points["ratio"] < low], height, 0.02, "left")


def _number_beyond(ax: plt.Axes, beyond: pd.DataFrame, height: int, at: float, side: str) -> None:
    """Write the range of the ratios beyond the axis at its edge, with an arrow towards them."""
    if beyond.empty:
        return
    least, most = (
        f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
        for value in (beyond["ratio"].min(), beyond["ratio"].max())
    )
    number = least if least == most else f"{least} to {most}"
    words = f"{number} \N{RIGHTWARDS ARROW}" if side == "right" else f"\N{LEFTWARDS ARROW} {number}"
    hollow = set(beyond["calibration"]) == {"exact"}
    ax.text(
        at,
        height + (0.22 if hollow else -0.22),
        words,
        transform=ax.get_yaxis_transform(),
        ha=side,
        va="center",
        fontsize=6,
        style="italic" if hollow else "normal",
    )


def _legend(figure: plt.Figure, shown: pd.DataFrame) -> None:
    looks = [
        {"label": WORKLOADS[workload], "color": colour, "marker": marker}
        for workload, (colour, marker, _) in WORKLOAD_MARKS.items()
        if workload in set(shown["workload"])
    ]
    looks += [
        {"label": title, "color": "black", "marker": "o"}
        | {"markerfacecolor": "black" if calibration == "published" else "none"}
        for calibration, title in CALIBRATION_TITLES.items()
        if calibration in set(shown["calibration"])
    ]
    handles = [plt.Line2D([], [], linestyle="", **each) for each in looks]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))


def _budget_words(rows: pd.DataFrame) -> str:
    """Describe the adjacency, delta and the number of trials."""
    delta = ", ".join(f"{value:g}" for value in np.unique(rows["delta"]))
    trials = rows["trial"].max() + 1
    return f"one record is added or removed, delta {delta}, {trials} trials"


def _dataset_words(rows: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Describe the histograms with their sources, and the workloads."""
    descriptions = []
    for dataset in dict.fromkeys(errors["dataset"]):
        dataset_rows = select(rows, dataset=dataset)
        records = ok_rows(dataset_rows, STUDY, "records")["value"].iloc[0]
        source = SOURCE_WORDS[dataset_rows["data_source"].iloc[0]]
        cells = size_of(dataset_rows["shape"].iloc[0])
        descriptions.append(
            f"{dataset_title(dataset)} ({source}, {cells} cells, {records:.0f} records)"
        )
    return (
        f"Histograms: {'; '.join(descriptions)}. The l1 and l2 sensitivities are 1. On a map, "
        "prefix sums and ranges are rectangles. The matrix mechanisms receive the workload."
    )


def _missing_sentences(rows: pd.DataFrame) -> str:
    """Return sentences on mechanisms without a result on a data set or workload, or ""."""
    refused = select(rows, metric="refused").drop_duplicates(["mechanism", "dataset", "workload"])
    words = [
        f"{mechanism_title(row.mechanism)} ({WORKLOADS[row.workload]} on "
        f"{dataset_title(row.dataset)})"
        for row in refused.itertuples()
    ]
    partly = f" Workloads that are refused: {', '.join(words)}." if words else ""
    return failed_mechanisms(rows, STUDY, *rows["dataset"].unique()) + partly
