"""The 89 x 89 count query, r1smg2024 Section 7.1: Figure 5, Table 1, errors over epsilon, verdicts.

Figure 4 and the claims about it are in count_query_maps.py. Figures are drawn on the run's main
data set; claims are judged on the official Uber pickups only. Both read the rows at the epsilon
that the paper gives a mechanism.
"""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.selections import failed_mechanisms, main_dataset, ok_rows
from paper_figures.style import CALIBRATION_LINES, CALIBRATION_TITLES, PAGE, in_order, look
from paper_figures.verdict_rules import (
    Interval,
    bootstrap_difference,
    mean_interval,
    official_study,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_numbers,
    verdict_on_order,
)
from papers.r1smg2024 import COUNT_DELTA, PICKUPS, count_epsilon, count_query, stated_constant

SHAPE = "89x89"
# The mechanisms of Figure 5 and of Table 1.
COMPARED = ("r1smg", "gaussian", "gaussian-analytic", "mvg")


def at_paper_epsilon(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows at the epsilon that Figures 4 and 5 give the mechanism: 1e-5 for R1SMG, else 0.5."""
    return rows[
        np.isclose(rows["epsilon"], rows["mechanism"].map(count_epsilon), rtol=1e-9, atol=0)
    ]


def official_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """The paper's own query and budgets: Uber pickups, 89 x 89 cells, delta 1e-7.

    Raises:
        CannotJudge: The run has no such rows.
    """
    found = official_study(
        rows, "count_query", about="the Uber pickups", shape=SHAPE, delta=COUNT_DELTA
    )
    return at_paper_epsilon(found)


def budget_words() -> str:
    """The paper's budgets as a part of a sentence."""
    others, r1smg = count_epsilon("gaussian"), count_epsilon("r1smg")
    return f"epsilon {others:g} (R1SMG: {r1smg:g}), delta {COUNT_DELTA:g}"


def by_mechanism(
    rows: pd.DataFrame, others: list[str], metric: str, calibration: str = "published"
) -> dict[str, pd.DataFrame]:
    """A metric of R1SMG and of other mechanisms, a row per trial.

    Raises:
        CannotJudge: A mechanism has no such rows.
    """
    return {
        key: pick(rows, metric=metric, mechanism=key, calibration=calibration)
        for key in ("r1smg", *others)
    }


def advantages(frames: dict[str, pd.DataFrame]) -> dict[str, Interval]:
    """Paired differences of the others and R1SMG: positive where R1SMG has less."""
    return {
        key: paired_difference(frame, frames["r1smg"])
        for key, frame in frames.items()
        if key != "r1smg"
    }


@drawing("r1smg2024_fig5", kind="figures", needs=["count_query"])
def figure_5(results: Results) -> Drawn:
    """Distribution of L over the trials: on one axis, and relative to its mean."""
    dataset, source = main_dataset(results.rows, "count_query")
    losses = at_paper_epsilon(ok_rows(results.rows, "count_query", "loss", dataset))
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
        f"r1smg2024 Figure 5 on {source}: accuracy loss L = ||noise||^2 of the count query, "
        f"{trials} trials, {budget_words()}, l2 sensitivity sqrt(2) (replacing one pickup). "
        "Histograms (a) and kernel densities (c) of log10 L, vertical lines at the mean of L; "
        "the same (b, d) of L over its mean. Left: as published; right: rescaled until the true "
        "delta at epsilon is the budget's."
    )
    note = (
        "L is the loss before post-processing. (b) and (d) are cut off at 5 times the mean, which "
        "R1SMG's loss exceeds with probability 2.5%. Kernel densities are smooth and blur the edge "
        "at 0. At equal true privacy all i.i.d. Gaussian noise has one distribution."
    )
    columns = ["mechanism", "calibration", "epsilon", "delta", "trial", "value"]
    return Drawn(caption, losses[columns], figure, note)


def _loss_panels(axes: np.ndarray, groups: dict[str, np.ndarray]) -> None:
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
        # A spike beside a flat curve: linear up to 1, logarithmic above.
        axis.set_yscale("symlog", linthresh=1)
        axis.set_ylim(0)
    for axis, words in zip(axes, ("trials", "trials", "density", "density"), strict=True):
        axis.set_ylabel(words)


@drawing("r1smg2024_counts", kind="figures", needs=["count_query"])
def counts_over_epsilon(results: Results) -> Drawn:
    """Error per valid cell and per random rectangle over epsilon, for every mechanism."""
    dataset, source = main_dataset(results.rows, "count_query")
    metrics = {"rmse_valid_cell": "RMSE per valid cell", "rectangle_rmse": "RMSE per rectangle"}
    rows = pd.concat(ok_rows(results.rows, "count_query", m, dataset) for m in metrics)
    rows = rows[rows["mechanism"] != "non-private"]
    if rows.empty:
        raise DrawingError("the results hold no errors of a private mechanism in count_query")
    keys = ["metric", "calibration", "mechanism", "epsilon", "delta"]
    means = rows.groupby(keys, sort=False)["value"].mean().reset_index().sort_values("epsilon")
    calibrations = [f for f in CALIBRATION_LINES if f in set(means["calibration"])]
    figure, axes = plt.subplots(
        len(metrics),
        len(calibrations),
        figsize=(PAGE, 5.0),
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
            kind = {"color": style.colour, "marker": style.marker, "label": style.title}
            axis.loglog(line["epsilon"], line["value"], **kind)
        if row == 0:
            axis.set_title(CALIBRATION_TITLES[calibration])
        if column == 0:
            axis.set_ylabel(metrics[metric])
    for axis in axes[-1]:
        axis.set_xlabel("epsilon")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    trials = rows.groupby(keys).size().max()
    caption = (
        f"The count query of r1smg2024 on {source} over epsilon, after post-processing: root mean "
        f"squared error per valid cell and per random rectangle, in pickups, mean over {trials} "
        f"trials, delta {rows['delta'].iloc[0]:g}, l2 sensitivity sqrt(2) (replacing one pickup). "
        "Left: as published; right: rescaled until the true delta at epsilon is the budget's."
    )
    note = "At equal true privacy all i.i.d. Gaussian noise is the same."
    note += failed_mechanisms(results.rows, "count_query", dataset)
    return Drawn(caption, means, figure, note)


@drawing("r1smg2024_table1", kind="tables", needs=["count_query"])
def table_1(results: Results) -> Drawn:
    """The constants C_C, C_A, C_M and C_R times s^2 beside the true expected losses."""
    dataset, source = main_dataset(results.rows, "count_query")
    rows = ok_rows(results.rows, "count_query", "expected_loss", dataset)
    rows = rows[rows["mechanism"].isin(COMPARED)]
    if rows.empty:
        raise DrawingError(f"Table 1 needs one of {', '.join(COMPARED)}")
    squared = count_query(PICKUPS).l2_sensitivity ** 2
    records = []
    for row in rows.itertuples():
        m, n = (int(axis) for axis in row.shape.split("x"))
        name, constant = stated_constant(row.mechanism, m, n, row.epsilon, row.delta)
        bound = constant * squared
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
                "bound holds": _holds(row.calibration, row.value, bound),
            }
        )
    caption = (
        f"r1smg2024 Table 1 at the {rows['shape'].iloc[0]} count query, l2 sensitivity sqrt(2) "
        "(replacing one pickup): the lower bounds C s^2 that the paper states for the expected "
        "loss, and the expected loss in closed form. MVG's noise depends on gamma, here the number "
        f"of pickups in the map of {source}."
    )
    note = "The paper states its bounds for the published noise only."
    return Drawn(caption, pd.DataFrame(records), note=note)


def _holds(calibration: str, loss: float, bound: float) -> str:
    if calibration != "published":
        return ""
    return "yes" if loss >= bound * (1 - 1e-9) else "no"


@judge(experiments=("count_query",))
def accuracy_loss(claim: Claim, results: Results) -> Finding:
    """Figure 5: mean L. Arguments: others, mechanisms; stated, of r1smg and of the others."""
    rows = official_counts(results.rows)
    a = claim.arguments
    frames = by_mechanism(rows, a["others"], "loss")
    found = {key: mean_interval(frame["value"]) for key, frame in frames.items()}
    expected = {
        key: float(frame["value"].iloc[0])
        for key, frame in by_mechanism(rows, a["others"], "expected_loss").items()
    }
    pairs = ((found[k].mean, a["stated"]["r1smg" if k == "r1smg" else "others"]) for k in found)
    return Finding(
        ours=", ".join(f"{interval.mean:.3g} ({key})" for key, interval in found.items()),
        verdict=verdict_on_numbers(pairs, claim.tolerance),
        detail=(
            f"L = ||noise||^2 before post-processing, {budget_words()}, s^2 = 2; in closed form "
            f"{', '.join(f'{value:.4g} ({key})' for key, value in expected.items())}. L does not "
            "depend on the data, except for MVG through gamma, which the paper does not state "
            "(ours: the number of pickups). That R1SMG's mean is the smallest: "
            f"{verdict_on_order(*advantages(frames).values())}."
        ),
        calibration="published",
        trials=found["r1smg"].trials,
    )


@judge(experiments=("count_query",))
def loss_shape(claim: Claim, results: Results) -> Finding:
    """Figure 5: skewness and kurtosis of L. Arguments: others, mechanisms."""
    rows = official_counts(results.rows)
    others = claim.arguments["others"]
    frames = by_mechanism(rows, others, "loss")
    values = {key: frame["value"].to_numpy(float) for key, frame in frames.items()}
    differences = [
        bootstrap_difference(values["r1smg"], values[key], statistic)
        for key in others
        for statistic in (stats.skew, stats.kurtosis)
    ]
    least = min(float(stats.normaltest(values[key]).pvalue) for key in others)
    bell = REPRODUCED if least > 0.001 else NOT_REPRODUCED
    shapes = {key: (stats.skew(v), 3 + stats.kurtosis(v)) for key, v in values.items()}
    return Finding(
        ours="skewness and kurtosis "
        + ", ".join(f"{s:.2g} and {k:.3g} ({key})" for key, (s, k) in shapes.items()),
        verdict=verdict_of_parts(verdict_on_order(*differences), bell),
        detail=(
            f"Moments about the mean over trials, {budget_words()}; 95% bootstrap intervals of the "
            "differences from R1SMG's, and a normality test of the others, whose smallest p-value "
            f"is {least:.2g}. The shape of L depends neither on the data nor on the scale of the "
            "noise."
        ),
        calibration="published",
        trials=len(values["r1smg"]),
    )
