"""Linear queries on histograms: the gain of noise that is made for the queries or the data.

`suite_linear` and `suite_linear_table` read the rows of the study linear_queries.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from claims.judged_rows import LEVELS, ok_rows, required
from datasets.titles import dataset_title
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.over_epsilon import groups_within
from paper_figures.selections import (
    SOURCE_WORDS,
    UNKNOWN,
    failed_mechanisms,
    guarantee_of,
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
# The epsilon nearest to this is drawn, because the ratios vary little with epsilon.
EPSILON = 0.1
# The ends of the axis, in multiples of the unit's error; ratios beyond it are written as numbers.
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
    shown = errors[(errors["epsilon"] == epsilon) & ~errors["mechanism"].isin(LEVELS)]
    shown = shown.assign(claims=shown["mechanism"].map(guarantee_of))
    groups = {
        claims: lines
        for claims in ("pure", "approximate", "local", UNKNOWN)
        if (lines := _lines(shown[shown["claims"] == claims]))
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
        for axis, dataset in zip(row, datasets, strict=True):
            _draw_panel(axis, shown[shown["dataset"] == dataset], lines)
        names = ["\n= ".join(map(mechanism_title, line)) for line in lines]
        row[0].set_yticks(range(len(lines)), names)
        row[0].set_ylim(len(lines) - 0.5, -0.5)
        row[-1].annotate(
            CLAIM_WORDS[claims], (1.03, 0.5), xycoords="axes fraction", rotation=-90, va="center"
        )
    for axis, dataset in zip(axes[0], datasets, strict=True):
        axis.set_title(dataset_title(dataset))
    figure.supxlabel("mean squared error per query / that of the analytic Gaussian", fontsize=8)
    _legend(figure, shown)
    beyond = shown[(shown["ratio"] > SHOWN[1]) | (shown["ratio"] < SHOWN[0])]
    rescaled = "exact" in set(beyond["calibration"])
    titles = {key: line for lines in groups.values() for line in lines for key in line}
    drawn = shown[[titles[name][0] == name for name in shown["mechanism"]]]
    names = [" = ".join(map(mechanism_title, titles[name])) for name in drawn["mechanism"]]
    columns = ["claims", "line", *KEYS, "ratio"]
    return Drawn(
        caption=(
            "Noise made for the queries or the data: mean squared error per query on histograms "
            f"at epsilon {epsilon:g}, relative to the analytic Gaussian mechanism; "
            f"{_budget_words(results.rows)}. Filled: as published; hollow: rescaled until the true "
            "delta at epsilon is the budget's. Arrows with numbers: beyond the axis."
            f"{' Numbers in italics: rescaled.' if rescaled else ''}"
        ),
        data=drawn.assign(line=names)[columns],
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
    """Tabulate errors at every epsilon, a row per data set, workload, mechanism and calibration."""
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
    trial) and error, which is the expected error if it is known and the measured one otherwise.
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
    # Sort by workload, in the order in which they are drawn.
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
        errors[(errors["mechanism"] == UNIT) & (errors["calibration"] == "published")],
        DrawingError(
            f"the errors are drawn relative to those of {UNIT} as published, and the results hold "
            "none; add it to the config"
        ),
    )
    unit = unit.set_index(["dataset", "workload", "epsilon"])["error"]
    at = pd.MultiIndex.from_frame(errors[["dataset", "workload", "epsilon"]])
    return errors.assign(ratio=errors["error"] / unit.reindex(at).to_numpy())


def _lines(shown: pd.DataFrame) -> list[list[str]]:
    """Group the mechanisms whose errors agree everywhere, in the order of legends."""
    where = ["dataset", "workload", "calibration"]
    ratios = shown.pivot_table(index=where, columns="mechanism", values="ratio")
    # A mechanism without a result agrees only with others without one.
    logs = np.log(ratios[legend_order(ratios)]).fillna(math.inf)
    return groups_within(logs, 1e-6)


def _draw_panel(axis: plt.Axes, panel: pd.DataFrame, lines: list[list[str]]) -> None:
    """Draw a marker per workload and calibration on the line of each mechanism."""
    low, high = SHOWN
    axis.set(xscale="log", xlim=SHOWN)
    axis.axvline(1.0, color="black", linewidth=0.8)
    for height, line in enumerate(lines):
        own = panel[panel["mechanism"] == line[0]]
        inside = own[own["ratio"].between(low, high)]
        for row in inside.itertuples():
            colour, marker, shift = WORKLOAD_MARKS[row.workload]
            published = row.calibration == "published"
            axis.plot(
                row.ratio,
                height + shift,
                marker,
                markeredgecolor=colour,
                markerfacecolor=colour if published else "white",
                # Hollow markers are small, so that the edge of a filled one below stays visible.
                markersize=5 if published else 3,
                zorder=3 if published else 4,
                markeredgewidth=0.9,
            )
        _number_beyond(axis, own[own["ratio"] > high], height, 0.98, "right")
        _number_beyond(axis, own[own["ratio"] < low], height, 0.02, "left")


def _number_beyond(axis: plt.Axes, beyond: pd.DataFrame, height: int, at: float, side: str) -> None:
    """Write the ratios that lie beyond the axis at its edge, with an arrow towards them."""
    if beyond.empty:
        return
    least, most = (
        f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
        for value in (beyond["ratio"].min(), beyond["ratio"].max())
    )
    number = least if least == most else f"{least} to {most}"
    words = f"{number} \N{RIGHTWARDS ARROW}" if side == "right" else f"\N{LEFTWARDS ARROW} {number}"
    hollow = set(beyond["calibration"]) == {"exact"}
    axis.text(
        at,
        height + (0.22 if hollow else -0.22),
        words,
        transform=axis.get_yaxis_transform(),
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
    """Describe adjacency, delta and trials."""
    delta = ", ".join(f"{value:g}" for value in np.unique(rows["delta"]))
    trials = rows["trial"].max() + 1
    return f"one record is added or removed, delta {delta}, {trials} trials"


def _dataset_words(rows: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Describe the histograms with their sources, and the workloads."""
    described = []
    for dataset in dict.fromkeys(errors["dataset"]):
        own = rows[rows["dataset"] == dataset]
        records = ok_rows(own, STUDY, "records")["value"].iloc[0]
        source = SOURCE_WORDS[own["data_source"].iloc[0]]
        cells = size_of(own["shape"].iloc[0])
        described.append(
            f"{dataset_title(dataset)} ({source}, {cells} cells, {records:.0f} records)"
        )
    return (
        f"Histograms: {'; '.join(described)}. The l1 and l2 sensitivities are 1. On a map, prefix "
        "sums and ranges are rectangles. The matrix mechanisms receive the workload."
    )


def _missing_sentences(rows: pd.DataFrame) -> str:
    """Return sentences on mechanisms without a result on a data set or workload, or ""."""
    refused = rows[rows["metric"] == "refused"].drop_duplicates(
        ["mechanism", "dataset", "workload"]
    )
    words = [
        f"{mechanism_title(row.mechanism)} ({WORKLOADS[row.workload]} on "
        f"{dataset_title(row.dataset)})"
        for row in refused.itertuples()
    ]
    partly = f" Workloads that are refused: {', '.join(words)}." if words else ""
    return failed_mechanisms(rows, STUDY, *rows["dataset"].unique()) + partly
