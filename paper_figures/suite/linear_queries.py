"""Linear queries on histograms: what noise made for the queries, or for the data, gains."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mechanisms import all_mechanisms
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.results import Results
from paper_figures.selections import SOURCE_WORDS, ok_rows, size_of
from paper_figures.style import CALIBRATION_LINES, CALIBRATION_TITLES, PAGE, in_order, look

EXPERIMENT = "linear_queries"
WORKLOADS = {"prefix": "prefix sums", "all-range": "all ranges", "random": "random ranges"}
UNIT = "gaussian-analytic"
CONTROLS = ("non-private", "random-answer")
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
        raise DrawingError(f"suite_linear draws errors over those of {UNIT}; add it to the config")
    unit = unit.set_index(["dataset", "workload", "epsilon"])["error"]
    at = pd.MultiIndex.from_frame(errors[["dataset", "workload", "epsilon"]])
    errors = errors.assign(ratio=errors["error"] / unit.reindex(at).to_numpy())
    shown = errors[~errors["mechanism"].isin(CONTROLS)]
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
        axis.set_title(dataset)
    for axis in axes[-1]:
        axis.set_xlabel("epsilon")
    _legend(figure, in_order(shown["mechanism"]), shown["calibration"])
    caption = (
        f"Mean squared error per query over that of the analytic Gaussian noise as published, "
        f"{_setting_words(results.rows, errors)} Solid: as published; dashed, hollow: rescaled "
        f"until the true delta at epsilon is the budget's. {PURE_MARK}: claims pure epsilon-DP, "
        "the others (epsilon, delta)-DP. Closed forms where the covariance of the noise is known, "
        f"means of the trials for DAWA. Ratios above {CEILING:g} are drawn at {CEILING:g}; the "
        f"controls are in suite_linear_table.{_without_result(results.rows)}"
    )
    return Drawn(caption, shown.drop(columns="error"), figure)


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
        f"Mean squared error per query, {_setting_words(results.rows, errors)} expected: closed "
        "form, where the covariance of the noise is known; measured: mean over the trials, with "
        "its standard error. Calibrations: as published, and rescaled until the true delta at epsilon "
        f"is the budget's.{_without_result(results.rows)}"
    )
    return Drawn(caption, table.reset_index(drop=True))


def errors_per_query(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per data set, workload, mechanism, calibration and epsilon.

    Columns besides those: expected (NaN where unknown), measured, standard_error (NaN for a
    single trial) and error, the expected one where there is one.
    """
    parts = []
    for workload in WORKLOADS:
        grouped = ok_rows(rows, EXPERIMENT, f"mse {workload}").assign(workload=workload)
        grouped = grouped.groupby(KEYS, sort=False)["value"]
        part = pd.DataFrame({"measured": grouped.mean(), "standard_error": grouped.sem()})
        exact = ok_rows(rows, EXPERIMENT, f"expected_mse {workload}").assign(workload=workload)
        part["expected"] = exact.set_index(KEYS)["value"]
        parts.append(part)
    errors = pd.concat(parts).reset_index()
    if errors.empty:
        raise DrawingError(f"the results hold no errors of {EXPERIMENT}; run it first")
    return errors.assign(error=errors["expected"].fillna(errors["measured"]))


def _draw_panel(axis: plt.Axes, panel: pd.DataFrame) -> None:
    for mechanism in in_order(panel["mechanism"]):
        style = look(mechanism)
        for calibration, linestyle in CALIBRATION_LINES.items():
            line = panel[(panel["mechanism"] == mechanism) & (panel["calibration"] == calibration)]
            line = line.sort_values("epsilon")
            hollow = {"markerfacecolor": "white"} if calibration == "exact" else {}
            axis.loglog(
                line["epsilon"],
                line["ratio"].clip(upper=CEILING),
                linestyle=linestyle,
                color=style.colour,
                marker=style.marker,
                linewidth=0.9,
                **hollow,
            )


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
    """What a mechanism claims; unknown for a variant, whose class is in the config alone."""
    known = all_mechanisms()
    return known[mechanism].guarantee if mechanism in known else "see the config"


def _setting_words(rows: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Data, their source, adjacency, delta and trials."""
    rows = rows[rows["experiment"] == EXPERIMENT]
    described = []
    for dataset in dict.fromkeys(errors["dataset"]):
        own = rows[rows["dataset"] == dataset]
        records = ok_rows(own, EXPERIMENT, "records")["value"].iloc[0]
        source = SOURCE_WORDS[own["data_source"].iloc[0]]
        cells = size_of(own["shape"].iloc[0])
        described.append(f"{dataset} ({source}, {cells} cells, {records:.0f} records)")
    trials = rows["trial"].max() + 1
    delta = ", ".join(f"{value:g}" for value in np.unique(rows["delta"]))
    return (
        f"on histograms: {'; '.join(described)}. One record is added or removed: l1 and l2 "
        f"sensitivity 1. delta {delta}, {trials} trials. Prefix sums and all ranges are rectangles "
        "on a map; matrix mechanisms are told the workload."
    )


def _without_result(rows: pd.DataFrame) -> str:
    """One sentence about the mechanisms that serve a data set at no budget, or nothing."""
    rows = rows[rows["experiment"] == EXPERIMENT]
    refused = rows[(rows["status"] != "ok") | rows["metric"].str.startswith("refused ")]
    if refused.empty:
        return ""
    parts = []
    for (mechanism, calibration), group in refused.groupby(["mechanism", "calibration"], sort=True):
        whole = group[group["status"] != "ok"]
        words = [f"{s} {', '.join(g['dataset'].unique())}" for s, g in whole.groupby("status")]
        partly = group[group["status"] == "ok"]
        partly = partly[["dataset", "metric"]].drop_duplicates()
        words += [f"{row.metric} of {row.dataset}" for row in partly.itertuples()]
        parts.append(f"{mechanism} ({calibration}): {', '.join(words)}")
    return f" Without a result: {'; '.join(parts)}."
