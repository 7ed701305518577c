"""Tables 3 to 6 and Figure 4 of mvg2018: the three experiments, and what they cost."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd

from experiments.contract.treatments import IID
from experiments.regression import PCA, SCALING, SUBSPACE
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.mvg2018.treatment_trials import best_share, measured, right_directions
from paper_figures.results import Results
from paper_figures.selections import failed_mechanisms, main_dataset, ok_rows
from paper_figures.style import CALIBRATION_LINES, CALIBRATION_TITLES, PAGE, in_order
from paper_figures.verdict_rules import mean_interval, paired_difference
from runs.rows import OK

EXPERIMENTS = ("regression", "first_component", "covariance")
# The mechanisms behind the paper's methods; Experiment II has its own Gaussian and Exponential.
METHODS = {
    "non-private": "Non-private",
    "random-answer": "Random guess",
    "mvg": "MVG",
    "gaussian": "Gaussian",
    "jl": "JL transform",
    "laplace": "Laplace",
    "exponential": "Exponential",
}
COMPONENT_METHODS = METHODS | {"analyze-gauss": "Gaussian", "ppca": "Exponential"}
del COMPONENT_METHODS["gaussian"], COMPONENT_METHODS["exponential"]
# What the text says of the error above MVG's; the tables' own numbers are lost in it.
STATED_ABOVE_MVG = {
    "regression": {"Gaussian": 0.003, "JL transform": 0.0006},
    "first_component": {
        "Gaussian": 0.01,
        "JL transform": 0.0001,
        "Laplace": 0.03,
        "Exponential": 0.01,
    },
    "covariance": {
        "Gaussian": 0.004,
        "JL transform": 0.001,
        "Laplace": 0.005,
        "Exponential": 0.006,
    },
}
# Milliseconds per method as far as they are in the text; it lost which column is missing.
STATED_MILLISECONDS = {
    "MVG": "36.2, 1.8",
    "Gaussian": "1.0, 0.4, 10.0",
    "JL transform": "192.7, 637.4",
    "Laplace": "0.4, 0.5, 8.0",
    "Exponential": "627.2, 2112.7",
}
WORDS = {
    "regression": "root mean squared error of kernel ridge regression on exact test records",
    "first_component": "lambda_1 - v^T C v of the first principal component v (eq. 4)",
    "covariance": "RSS of all principal components (eq. 5)",
}
QUERIES = {
    "regression": "f(X) = X with the target as one more feature, l2 sensitivity 2 sqrt(m)",
    "first_component": (
        "f(X) = X X^T / N, l2 sensitivity 2 m / N as published and sqrt(2) m / N, the true one, "
        "at the exact calibration"
    ),
    "covariance": "f(X) = X, l2 sensitivity 2 sqrt(m)",
}
_METHOD = "method of the paper"
_METHOD_ORDER = (
    "Non-private",
    "Random guess",
    "MVG",
    "MVG-1",
    "MVG-2",
    "Gaussian",
    "JL transform",
    "Laplace",
    "Exponential",
)
_SET_COLOURS = ("#009E73", "#D55E00", "#0072B2", "#CC79A7", "#999933", "#56B4E9")
_SET_MARKERS = "Dos^vP"


def methods(experiment: str) -> dict[str, str]:
    """The paper's name of each mechanism that it compares in an experiment."""
    return COMPONENT_METHODS if experiment == "first_component" else METHODS


def _treated(
    trials: pd.DataFrame, mechanism: str, right: str | None
) -> list[tuple[str, pd.DataFrame]]:
    """The treatments of one mechanism and calibration that are shown, each at its best share.

    The subspace is for mechanisms that the paper compares, wrong directions for MVG itself.
    """
    hidden = trials["directions"].str.startswith(SCALING)
    if mechanism not in METHODS:
        hidden |= trials["directions"] == SUBSPACE
        hidden |= ~trials["directions"].isin(("", IID, PCA, right))
    own = trials[~hidden]
    return [(name, best_share(group)) for name, group in own.groupby("directions", sort=False)]


def _method(experiment: str, mechanism: str, directions: str, right: str | None) -> str:
    """The row of the paper's table that this is, or nothing."""
    name = methods(experiment).get(mechanism, "")
    if name != "MVG":
        return name if directions == "" else ""
    if experiment != "regression":
        return name if directions == right else ""
    return {right: "MVG-1", PCA: "MVG-2"}.get(directions, "")


def _table(results: Results, experiment: str, number: int) -> Drawn:
    dataset, source = main_dataset(results.rows, experiment)
    rows = results.rows[results.rows["dataset"] == dataset]
    trials = measured(rows, experiment)
    if trials.empty:
        raise DrawingError(f"no mechanism has a result of {experiment}")
    records = []
    for calibration in CALIBRATION_LINES:
        own = trials[trials["calibration"] == calibration]
        mvg = own[own["mechanism"] == "mvg"]
        right = right_directions(mvg)
        reference = None if right is None else best_share(mvg[mvg["directions"] == right])
        for mechanism in in_order(own["mechanism"]):
            for directions, group in _treated(own[own["mechanism"] == mechanism], mechanism, right):
                method = _method(experiment, mechanism, directions, right)
                records.append(
                    {
                        "calibration": calibration,
                        _METHOD: method,
                        "mechanism": mechanism,
                        "directions": directions,
                        "tau": group["share"].iloc[0],
                    }
                    | _numbers(group, reference)
                    | {"stated above MVG": STATED_ABOVE_MVG[experiment].get(method)}
                )
    if experiment == "regression":
        records += _predictions(rows)
    # The paper's own rows first, in its order.
    order = [*_METHOD_ORDER, ""]
    records.sort(key=lambda row: (row["calibration"] == "exact", order.index(row[_METHOD])))
    table = pd.DataFrame(records)
    first = trials.iloc[0]
    absent = failed_mechanisms(results.rows, experiment, dataset)
    caption = (
        f"mvg2018 Table {number} on {source}: {WORDS[experiment]}, mean over {_count(trials)} "
        f"trials with the half-width of its 95% interval. {QUERIES[experiment]}, adjacency: one "
        f"record is replaced; shape {first['shape']}, epsilon {first['epsilon']:g}, delta 1/N = "
        f"{first['delta']:.3g}. {_CHOICES[experiment]} gamma, which the paper does not state, is "
        "its largest value for data in [-1, 1]. MVG's directions are named by the features that "
        "share tau of its precision; tau is the best of "
        f"{trials['share'].nunique()} shares, chosen with the data, as the paper does. "
        "'above MVG' is the paired difference to MVG with the right features, over shared trials "
        "and with its 95% interval; 'stated above MVG' is what the paper's text says. Calibration "
        "published: noise as the papers calibrate it; exact: rescaled until the true delta at "
        f"epsilon is the budget's.{absent}"
    )
    return Drawn(caption, table)


_CHOICES = {
    "regression": (
        "The scaling of the records into [-1, 1] uses the data and is not private; kernel and "
        "ridge are cross-validated without noise; every trial leaves out other test records, the "
        f"same for all. '{PCA}' learns MVG's directions with 20% of the budget (MOD-SULQ; basic "
        f"composition), '{SUBSPACE}' is the mechanism on the right features and the target alone "
        "(Section 9.3)."
    ),
    "first_component": (
        "The records are in [-1, 1] as published, or scaled onto it, which uses the data; the "
        "covariance is not centred. MVG is Algorithm 2."
    ),
    "covariance": (
        "Every feature is scaled onto [-1, 1], which uses the data and is not private; the "
        "covariance is not centred. MVG is Algorithm 1."
    ),
}


def _count(trials: pd.DataFrame) -> int:
    return int(trials["trial"].nunique())


def _numbers(trials: pd.DataFrame, reference: pd.DataFrame | None) -> dict[str, float | None]:
    """Mean, interval and paired difference to the reference, as columns of a table."""
    interval = mean_interval(trials["value"])
    found = {"mean": interval.mean, "95% +-": interval.high - interval.mean}
    if reference is None:
        return found
    difference = paired_difference(trials, reference)
    # Predictions that all vanish differ by rounding; no minus before a zero.
    ends = (round(end, 9) + 0.0 for end in difference[:3])
    return found | dict(zip(("above MVG", "from", "to"), ends, strict=True))


def _predictions(rows: pd.DataFrame) -> list[dict]:
    """The errors of predictions that use no features, as rows of Table 3."""
    records = []
    for metric, words in (("rmse_of_zero", "predict zero"), ("rmse_of_mean", "predict the mean")):
        trials = rows[(rows["metric"] == metric) & (rows["status"] == OK)]
        if len(trials):
            records.append(
                {"calibration": "published", _METHOD: "", "mechanism": words}
                | _numbers(trials, None)
            )
    return records


@drawing("mvg2018_table3", kind="tables", needs=["regression"])
def table_3(results: Results) -> Drawn:
    """Experiment I: regression."""
    return _table(results, "regression", 3)


@drawing("mvg2018_table4", kind="tables", needs=["first_component"])
def table_4(results: Results) -> Drawn:
    """Experiment II: the first principal component."""
    return _table(results, "first_component", 4)


@drawing("mvg2018_table5", kind="tables", needs=["covariance"])
def table_5(results: Results) -> Drawn:
    """Experiment III: covariance estimation."""
    return _table(results, "covariance", 5)


@drawing("mvg2018_table6", kind="tables", needs=EXPERIMENTS, timings=EXPERIMENTS)
def table_6(results: Results) -> Drawn:
    """Milliseconds of one release in the three experiments."""
    seconds = release_seconds(results)
    table = seconds.unstack("experiment").reindex(columns=list(EXPERIMENTS)) * 1e3
    table = table.loc[in_order(table.index)]
    names = METHODS | COMPONENT_METHODS
    records = [
        {
            _METHOD: names.get(mechanism, ""),
            "mechanism": mechanism,
            "Exp. I": row["regression"],
            "Exp. II": row["first_component"],
            "Exp. III": row["covariance"],
            "paper": STATED_MILLISECONDS.get(names.get(mechanism, ""), ""),
        }
        for mechanism, row in table.iterrows()
    ]
    sources = [main_dataset(results.rows, experiment)[1] for experiment in EXPERIMENTS]
    caption = (
        "mvg2018 Table 6: wall-clock milliseconds of one release, median over trials (and over "
        "treatments, where there are several), one core, published calibration, which is not "
        f"timed. Experiments I to III on {', '.join(sources)}. One record is replaced; epsilon 1, "
        "delta 1/N. MVG's directions are the axes (and in I also the private principal "
        "directions), which cost no matrix product; the paper's MVG takes an SVD of both "
        "covariances. The paper's numbers are those left in its text, which lost some columns. "
        "Seconds depend on the machine; their order can be compared."
    )
    return Drawn(caption, pd.DataFrame(records))


def release_seconds(results: Results) -> pd.Series:
    """Median seconds by mechanism and experiment, on the main data set as published."""
    chosen = []
    for experiment in EXPERIMENTS:
        timings = results.timings[results.timings["experiment"] == experiment]
        own = (timings["dataset"] == main_dataset(results.rows, experiment)[0]) & (
            timings["calibration"] == "published"
        )
        named = timings["metric"].str.startswith("release_seconds")
        named &= ~timings["metric"].str.endswith(SUBSPACE)
        chosen.append(timings[own & named & (timings["status"] == OK)])
    return pd.concat(chosen).groupby(["mechanism", "experiment"])["value"].median()


@drawing("mvg2018_fig4", kind="figures", needs=EXPERIMENTS)
def figure_4(results: Results) -> Drawn:
    """Error over tau, one line per set of informative features, one panel per experiment."""
    data, sources = [], []
    for experiment in EXPERIMENTS:
        dataset, source = main_dataset(results.rows, experiment)
        sources.append(source)
        trials = measured(results.rows[results.rows["dataset"] == dataset], experiment)
        data.append(trials[trials["mechanism"] == "mvg"])
    trials = pd.concat(data)
    if trials.empty:
        raise DrawingError("Figure 4 needs the mechanism mvg")
    calibrations = [f for f in CALIBRATION_LINES if f in set(trials["calibration"])]
    keys = ["experiment", "calibration", "directions", "share"]
    # Groups without a share (i.i.d. noise) count as well.
    groups = trials.groupby(keys, sort=False, dropna=False)["value"]
    intervals = groups.apply(mean_interval)
    lines = pd.DataFrame(
        [(*key, i.mean, i.low, i.high) for key, i in intervals.items()],
        columns=[*keys, "mean", "low", "high"],
    )
    zero = _error_of_zero(results.rows)
    figure, axes = plt.subplots(
        len(calibrations),
        3,
        figsize=(PAGE, 0.9 + 1.9 * len(calibrations)),
        sharex=True,
        squeeze=False,
    )
    for column, experiment in enumerate(EXPERIMENTS):
        for row, calibration in enumerate(calibrations):
            panel = lines[
                (lines["experiment"] == experiment) & (lines["calibration"] == calibration)
            ]
            _panel(axes[row, column], panel)
            if experiment == "regression" and zero is not None:
                axes[row, column].axhline(
                    zero, color="#888888", dashes=(6, 3), label="predict zero"
                )
        axes[0, column].set_title(_TITLES[experiment])
        axes[-1, column].set_xlabel("tau")
        handles, labels = axes[0, column].get_legend_handles_labels()
        axes[-1, column].legend(
            handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.28), fontsize=6
        )
    for row, calibration in enumerate(calibrations):
        axes[row, 0].set_ylabel(CALIBRATION_TITLES[calibration])
    caption = (
        f"mvg2018 Figure 4 on {', '.join(sources)}: MVG's error over tau, the share of precision "
        "that the named features get in equal parts, with 95% intervals over "
        f"{_count(trials)} trials; the dotted line is equal precision (i.i.d. noise), the dashed "
        "one the error of always predicting zero; points are moved sideways to show those below. "
        "Left: "
        f"{WORDS['regression']}; middle: {WORDS['first_component']}; right: "
        f"{WORDS['covariance']}. Adjacency: one record is replaced; epsilon 1, delta 1/N; gamma, "
        "which the paper does not state, is its largest value for data in [-1, 1]. Rows: noise as "
        "published, and rescaled until the true delta at epsilon is the budget's."
    )
    return Drawn(caption, lines, figure)


_TITLES = {
    "regression": "I: regression\nRMSE",
    "first_component": "II: first component\nlambda_1 - v^T C v",
    "covariance": "III: covariance\nRSS",
}


def _error_of_zero(rows: pd.DataFrame) -> float | None:
    """RMSE of always predicting zero, where the run has the non-private control."""
    dataset, _ = main_dataset(rows, "regression")
    found = ok_rows(rows, "regression", "rmse_of_zero", dataset)["value"]
    return None if found.empty else float(found.mean())


def _panel(axis, panel: pd.DataFrame) -> None:
    shared = panel[panel["share"].notna()]
    groups = list(shared.groupby("directions", sort=False))
    for index, (name, line) in enumerate(groups):
        line = line.sort_values("share")
        axis.errorbar(
            line["share"] + 0.01 * (index - (len(groups) - 1) / 2),
            line["mean"],
            yerr=(line["mean"] - line["low"], line["high"] - line["mean"]),
            color=_SET_COLOURS[index % len(_SET_COLOURS)],
            marker=_SET_MARKERS[index % len(_SET_MARKERS)],
            linewidth=0.8,
            capsize=1.5,
            label=name,
        )
    for mean in panel[panel["directions"] == IID]["mean"]:
        axis.axhline(mean, color="black", linestyle=":", label=IID)
