"""Linear queries on histograms: what noise gains that is made for the queries or for the data.

`suite_linear` and `suite_linear_table` read the rows of the study linear_queries.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mechanisms import all_mechanisms
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.results import Results
from paper_figures.selections import LEVELS, SOURCE_WORDS, ok_rows, size_of
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    dataset_title,
    in_order,
    look,
    mechanism_title,
)
from runs.rows import OK

EXPERIMENT = "linear_queries"
WORKLOADS = {"prefix": "prefix sums", "all-range": "all ranges", "random": "random ranges"}
UNIT = "gaussian-analytic"
# Times the unit's error; what is larger is drawn here.
CEILING = 100.0
PURE_MARK = "\N{DAGGER}"
KEYS = ["dataset", "workload", "mechanism", "calibration", "epsilon"]


@drawing("suite_linear", kind="figures", needs=[EXPERIMENT])
def linear(results: Results) -> Drawn:
    """Error per query over epsilon relative to i.i.d. Gaussian noise: workloads x data sets."""
    errors = errors_per_query(results.rows)
    unit = errors[(errors["mechanism"] == UNIT) & (errors["calibration"] == "published")]
    if unit.empty:
        raise DrawingError(
            f"the errors are drawn relative to those of {UNIT} as published, and the results hold "
            "none; add it to the config"
        )
    unit = unit.set_index(["dataset", "workload", "epsilon"])["error"]
    at = pd.MultiIndex.from_frame(errors[["dataset", "workload", "epsilon"]])
    errors = errors.assign(ratio=errors["error"] / unit.reindex(at).to_numpy())
    shown = errors[~errors["mechanism"].isin(LEVELS)]
    datasets = list(dict.fromkeys(shown["dataset"]))
    figure, axes = plt.subplots(
        len(WORKLOADS),
        len(datasets),
        figsize=(PAGE, 1.5 * len(WORKLOADS) + 1.1),
        squeeze=False,
        sharex=True,
        sharey="row",
    )
    for row, (workload, title) in zip(axes, WORKLOADS.items(), strict=True):
        for axis, dataset in zip(row, datasets, strict=True):
            panel = shown[(shown["workload"] == workload) & (shown["dataset"] == dataset)]
            _draw_panel(axis, panel)
        row[0].set_ylabel(f"{title}\nerror / Gaussian's")
    for axis, dataset in zip(axes[0], datasets, strict=True):
        axis.set_title(dataset_title(dataset))
    for axis in axes[-1]:
        axis.set_xlabel("epsilon")
    _legend(figure, in_order(shown["mechanism"]), shown["calibration"])
    caption = (
        "Mean squared error per query on histograms, relative to that of the analytic Gaussian "
        f"mechanism as published; {_budget_words(results.rows)}. Solid: as published; dashed, "
        "hollow: rescaled until the true delta at epsilon is the budget's. "
        f"{PURE_MARK}: claims pure epsilon-DP; the others claim (epsilon, delta)-DP. Ratios above "
        f"{CEILING:g} are drawn at {CEILING:g}."
    )
    note = (
        f"{_dataset_words(results.rows, errors)} The errors are in closed form where the "
        "covariance of the noise is known, and means over the trials elsewhere. "
        f"suite_linear_table has the controls.{_without_result(results.rows)}"
    )
    return Drawn(caption, shown.drop(columns="error"), figure, note)


@drawing("suite_linear_table", kind="tables", needs=[EXPERIMENT])
def linear_table(results: Results) -> Drawn:
    """One row per data set, workload, mechanism and calibration: errors at every epsilon."""
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
    table.insert(3, "claims", table["mechanism"].map(_claim))
    table = table.assign(**columns)
    ranks = {
        "dataset": list(dict.fromkeys(errors["dataset"])),
        "workload": list(WORKLOADS),
        "mechanism": in_order(errors["mechanism"]),
        "calibration": list(CALIBRATION_TITLES),
    }
    order = pd.DataFrame({key: table[key].map(names.index) for key, names in ranks.items()})
    table = table.loc[order.sort_values(list(ranks), kind="stable").index]
    caption = (
        f"Mean squared error per query on histograms; {_budget_words(results.rows)}. Expected: in "
        "closed form, where the covariance of the noise is known. Measured: the mean over the "
        "trials, with its standard error. Calibrations: published, as the source states it; exact, "
        "rescaled until the true delta at epsilon is the budget's."
    )
    note = f"{_dataset_words(results.rows, errors)}{_without_result(results.rows)}"
    return Drawn(caption, table.reset_index(drop=True), note=note)


def errors_per_query(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per data set, workload, mechanism, calibration and epsilon.

    Columns besides those: expected (NaN where unknown), measured, standard_error (NaN for a
    single trial) and error, which is the expected error where it is known and else the measured.
    All are mean squared errors per query, in records^2.

    Raises:
        DrawingError: The results hold no errors.
    """
    grouped = ok_rows(rows, EXPERIMENT, "mse").groupby(KEYS, sort=False)["value"]
    errors = pd.DataFrame({"measured": grouped.mean(), "standard_error": grouped.sem()})
    if errors.empty:
        raise DrawingError(f"the results hold no errors of {EXPERIMENT}; run it first")
    errors["expected"] = ok_rows(rows, EXPERIMENT, "expected_mse").set_index(KEYS)["value"]
    # Workload by workload, as they are drawn.
    errors = errors.reset_index()
    errors = errors.sort_values(
        "workload", key=lambda names: names.map(list(WORKLOADS).index), kind="stable"
    ).reset_index(drop=True)
    return errors.assign(error=errors["expected"].fillna(errors["measured"]))


def _draw_panel(axis: plt.Axes, panel: pd.DataFrame) -> None:
    for mechanism in in_order(panel["mechanism"]):
        style = look(mechanism)
        for calibration, linestyle in CALIBRATION_LINES.items():
            line = panel[(panel["mechanism"] == mechanism) & (panel["calibration"] == calibration)]
            line = line.sort_values("epsilon")
            hollow = {"markerfacecolor": "white"} if calibration == "exact" else {}
            axis.plot(
                line["epsilon"],
                line["ratio"].clip(upper=CEILING),
                linestyle=linestyle,
                color=style.colour,
                marker=style.marker,
                linewidth=0.9,
                **hollow,
            )
    axis.set(xscale="log", yscale="log")


def _legend(figure: plt.Figure, mechanisms: list[str], calibrations: pd.Series) -> None:
    handles = []
    for mechanism in mechanisms:
        style = look(mechanism)
        label = style.title + (PURE_MARK if _claim(mechanism) == "pure" else "")
        handles.append(plt.Line2D([], [], color=style.colour, marker=style.marker, label=label))
    for calibration, linestyle in CALIBRATION_LINES.items():
        if calibration in set(calibrations):
            label = CALIBRATION_TITLES[calibration]
            handles.append(plt.Line2D([], [], color="black", linestyle=linestyle, label=label))
    figure.legend(handles=handles, loc="outside lower center", ncols=4)


def _claim(mechanism: str) -> str:
    """What a mechanism claims; unknown for a variant, since only its config names the class."""
    known = all_mechanisms()
    return known[mechanism].guarantee if mechanism in known else "see the config"


def _budget_words(rows: pd.DataFrame) -> str:
    """Adjacency, delta and trials."""
    rows = rows[rows["experiment"] == EXPERIMENT]
    delta = ", ".join(f"{value:g}" for value in np.unique(rows["delta"]))
    trials = rows["trial"].max() + 1
    return f"one record is added or removed, delta {delta}, {trials} trials"


def _dataset_words(rows: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Two sentences: the histograms and their sources; the workloads."""
    rows = rows[rows["experiment"] == EXPERIMENT]
    described = []
    for dataset in dict.fromkeys(errors["dataset"]):
        own = rows[rows["dataset"] == dataset]
        records = ok_rows(own, EXPERIMENT, "records")["value"].iloc[0]
        source = SOURCE_WORDS[own["data_source"].iloc[0]]
        cells = size_of(own["shape"].iloc[0])
        described.append(
            f"{dataset_title(dataset)} ({source}, {cells} cells, {records:.0f} records)"
        )
    return (
        f"Histograms: {'; '.join(described)}. The l1 and l2 sensitivities are 1. On a map, prefix "
        "sums and ranges are rectangles. The matrix mechanisms receive the workload."
    )


def _without_result(rows: pd.DataFrame) -> str:
    """One sentence about mechanisms without a result on a data set or a workload, or nothing."""
    rows = rows[rows["experiment"] == EXPERIMENT]
    missing = rows[(rows["status"] != OK) | (rows["metric"] == "refused")]
    if missing.empty:
        return ""
    datasets = rows["dataset"].nunique()
    parts = []
    for (mechanism, calibration), group in missing.groupby(["mechanism", "calibration"], sort=True):
        words = []
        for status, own in group[group["status"] != OK].groupby("status"):
            on = own["dataset"].unique()
            where = ", ".join(map(dataset_title, on)) if len(on) < datasets else "every histogram"
            words.append(f"{status} on {where}")
        partly = group[group["status"] == OK][["dataset", "workload"]].drop_duplicates()
        words += [
            f"refuses {WORKLOADS[row.workload]} on {dataset_title(row.dataset)}"
            for row in partly.itertuples()
        ]
        title = f"{mechanism_title(mechanism)} {CALIBRATION_TITLES[calibration]}"
        parts.append(f"{title} ({'; '.join(words)})")
    return f" Without a result: {', '.join(parts)}."
