"""Accuracy over epsilon, a row of panels per data set and a column per calibration."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from claims.judged_rows import LEVELS, listed, ok_rows, required
from datasets.titles import dataset_title
from paper_figures import pyplot as plt
from paper_figures.clear_words import Place, write_clear
from paper_figures.drawings import DrawingError
from paper_figures.legends import entries_of
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    in_order,
    look,
    mechanism_title,
)

# Means on an axis from 0 to 1 that differ by no more than this lie within one marker.
ALIKE = 0.03
# Whether a mechanism's theorem does not cover the budget.
OUTSIDE = "outside its theorem"
FLOOR = "majority class"
# What an epsilon on the axis is; at equal true privacy it is the bound on the true one.
EPSILONS = {"published": "claimed epsilon", "exact": "epsilon (true: at most this)"}


def spread_over_trials(rows: pd.DataFrame, study: str, metric: str) -> pd.DataFrame:
    """Mean and range over trials at every grid point, with the run's true epsilon where known.

    Raises:
        DrawingError: There are no such rows.
    """
    found = required(
        ok_rows(rows, study, metric),
        DrawingError(f"the results hold no {metric} of {study}; run it first"),
    )
    keys = ["dataset", "calibration", "mechanism", "epsilon", "delta"]
    spread = found.groupby(keys)["value"].agg(["mean", "min", "max", "count"])
    spread[OUTSIDE] = outside_theorem(found).groupby([found[key] for key in keys]).any()
    true = ok_rows(rows, study, "true_epsilon_upper").set_index(keys)["value"]
    return spread.join(true.rename("true_epsilon_upper")).reset_index()


def outside_theorem(rows: pd.DataFrame) -> pd.Series:
    """Whether the run warned that a mechanism's theorem does not cover the budget of a row."""
    return rows["message"].fillna("").str.contains("the theorem is proved")


def draw_spread(
    spread: pd.DataFrame,
    score: str,
    floors: Mapping[str, float] | None = None,
    sizes: Mapping[str, str] | None = None,
    epsilons: Mapping[str, str] = EPSILONS,
    floor_title: str = FLOOR,
) -> plt.Figure:
    """One panel per data set and calibration; controls are lines across every panel.

    Args:
        spread: Columns dataset, calibration, mechanism, epsilon, mean in [0, 1], and the ends min
            and max of its error bar, which is drawn within [0, 1]. An optional column OUTSIDE says
            which points have a hollow marker.
        score: What the means are of; the data set's name follows.
        floors: Score of a guess by data set; drawn where random answers have another one.
        sizes: What was trained by data set, such as "3,000 records (paper: 55,000)"; it stands
            beside the panels.
        epsilons: What the epsilon of a calibration is.
        floor_title: What the floors are, in the legend.
    """
    datasets = sorted(spread["dataset"].unique())
    calibrations = [c for c in CALIBRATION_LINES if c in set(spread["calibration"])]
    figure, axes = plt.subplots(
        len(datasets),
        len(calibrations),
        figsize=(PAGE, 0.8 + 2.2 * len(datasets)),
        sharex="row",
        sharey="row",
        squeeze=False,
    )
    for (i, j), axis in np.ndenumerate(axes):
        own = spread[spread["dataset"] == datasets[i]]
        _panel(axis, own, calibrations[j])
        floor = (floors or {}).get(datasets[i])
        _floor(axis, own, floor, floor_title)
        axis.set(ylim=_limits(own, floor))
        if j == 0:
            axis.set_ylabel(f"{score} {dataset_title(datasets[i])}")
        if i == 0:
            axis.set_title(CALIBRATION_TITLES[calibrations[j]])
        if i == len(datasets) - 1:
            axis.set_xlabel(epsilons[calibrations[j]])
        if j == len(calibrations) - 1:
            kind = {"rotation": 270, "va": "center", "fontsize": 6, "transform": axis.transAxes}
            axis.text(1.02, 0.5, (sizes or {}).get(datasets[i], ""), **kind)
    # A data set may lack mechanisms that another has.
    drawn = entries_of(axes.flat)
    titles = [mechanism_title(m) for m in in_order(spread["mechanism"])]
    titles = [title for title in titles if title in drawn]
    if OUTSIDE in spread and spread[OUTSIDE].any():
        titles.append(f"hollow: {OUTSIDE}")
        (drawn[titles[-1]],) = axes[0, 0].plot([], [], "o", color="grey", markerfacecolor="white")
    if floor_title in drawn:
        titles.append(floor_title)
    figure.legend([drawn[t] for t in titles], titles, loc="outside lower center", ncols=5)
    for (i, j), axis in np.ndenumerate(axes):
        _name_missing(axis, spread[spread["dataset"] == datasets[i]], calibrations[j])
    return figure


def _name_missing(axis, rows: pd.DataFrame, calibration: str) -> None:
    """The mechanisms that have a curve in the other panel of a row alone."""
    own = rows[~rows["mechanism"].isin(LEVELS)]
    here = set(own[own["calibration"] == calibration]["mechanism"])
    missing = in_order(set(own["mechanism"]) - here) if len(here) > 1 else []
    if missing:
        words = f"no curve here: {', '.join(map(mechanism_title, missing))}"
        ends = ((0.99, "right"), (0.01, "left"))
        places = [Place(x, y, ha) for y in (0.02, 0.6, 0.3, 0.8) for x, ha in ends]
        write_clear(axis, words, places, color="#444444")


def _floor(axis, rows: pd.DataFrame, floor: float | None, title: str) -> None:
    """The score of a guess, such as the accuracy of the commonest class, if not random's too."""
    if _stands_out(rows, floor):
        axis.axhline(floor, color="grey", linestyle="--", linewidth=1, label=title)


def _stands_out(rows: pd.DataFrame, floor: float | None) -> bool:
    random = rows[rows["mechanism"] == "random-answer"]["mean"]
    return floor is not None and bool(((random - floor).abs() > ALIKE).all())


def floor_words(spread: pd.DataFrame, floors: Mapping[str, float], guess: str) -> str:
    """What is dashed, to end a sentence: "; dashed: `guess`"; nothing where nothing is."""
    drawn = (_stands_out(rows, floors.get(name)) for name, rows in spread.groupby("dataset"))
    return f"; dashed: {guess}" if any(drawn) else ""


def _limits(rows: pd.DataFrame, floor: float | None) -> tuple[float, float]:
    """Those of an accuracy, or closer where all that is drawn lies in one half."""
    drawn = [floor] if _stands_out(rows, floor) else []
    low, high = min([rows["min"].min(), *drawn]), max([rows["max"].max(), *drawn])
    if low > 0.5:
        return low - 0.02, min(1.0, high + 0.02)
    return 0.0, high + 0.02 if high < 0.5 else 1.0


def _panel(axis, rows: pd.DataFrame, calibration: str) -> None:
    hollow = rows[OUTSIDE] if OUTSIDE in rows else pd.Series(False, rows.index)
    hollow = hollow & (rows["calibration"] == calibration) & (calibration == "published")
    for mechanism in in_order(rows["mechanism"]):
        style = look(mechanism)
        own = rows[rows["mechanism"] == mechanism]
        if mechanism in LEVELS:
            level = own[own["calibration"] == "published"]["mean"].mean()
            axis.axhline(level, color=style.colour, linestyle=":", label=style.title)
            axis.axhspan(own["min"].min(), own["max"].max(), color=style.colour, alpha=0.12, lw=0)
            continue
        line = own[own["calibration"] == calibration].sort_values("epsilon", kind="stable")
        if line.empty:
            continue
        axis.errorbar(
            line["epsilon"],
            line["mean"],
            # The mean of equal numbers may differ from them by rounding.
            yerr=[
                (line["mean"] - line["min"].clip(lower=0)).clip(lower=0),
                (line["max"].clip(upper=1) - line["mean"]).clip(lower=0),
            ],
            linewidth=1,
            **style.line,
        )
        beyond = line[hollow.loc[line.index]]
        axis.plot(
            beyond["epsilon"],
            beyond["mean"],
            linestyle="none",
            marker=style.marker,
            markeredgecolor=style.colour,
            markerfacecolor="white",
            zorder=4,
        )
    axis.set_xscale("log")


def true_epsilons(spread: pd.DataFrame, mechanism: str) -> str:
    """The true epsilon of a mechanism's claims as published, by data set; "" where unknown."""
    own = spread[(spread["mechanism"] == mechanism) & (spread["calibration"] == "published")]
    own = own.dropna(subset="true_epsilon_upper")
    return "; ".join(
        f"{dataset_title(dataset)}: "
        + ", ".join(
            f"{true:.3g} for {claimed:g}"
            for claimed, true in zip(part["epsilon"], part["true_epsilon_upper"], strict=True)
        )
        for dataset, part in own.groupby("dataset")
    )


def coinciding(spread: pd.DataFrame) -> str:
    """One sentence on the curves of each panel that nobody can tell apart, or nothing.

    It begins with a space, so that it can follow another sentence.

    Args:
        spread: As for `draw_spread`.
    """
    private = spread[~spread["mechanism"].isin(LEVELS)]
    panels = []
    for (dataset, calibration), panel in private.groupby(["dataset", "calibration"]):
        means = panel.pivot_table(index="epsilon", columns="mechanism", values="mean")
        alike = [group for group in groups_within(means[in_order(means)], ALIKE) if len(group) > 1]
        if alike:
            everything = len(alike) == 1 and len(alike[0]) == means.shape[1]
            words = ["all"] if everything else [listed(map(mechanism_title, g)) for g in alike]
            place = f"{dataset_title(dataset)}, {CALIBRATION_TITLES[calibration]}"
            panels.append(f"{place}: {', and '.join(words)}")
    if not panels:
        return ""
    return f" Curves that coincide within {ALIKE:g} at every epsilon: {'; '.join(panels)}."


def groups_within(values: pd.DataFrame, margin: float) -> list[list[str]]:
    """The columns in groups that lie within `margin` of each other in every row both have."""
    groups: list[list[str]] = []
    for name in values:
        for group in groups:
            apart = values[group].sub(values[name], axis=0).abs()
            if apart.notna().any().all() and not (apart > margin).any(axis=None):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def trial_words(spread: pd.DataFrame) -> str:
    """The trials behind the means, by data set where they differ: "20 (Adult), 10 (MNIST) trials".

    Args:
        spread: Columns dataset and count.
    """
    counts = spread.groupby("dataset")["count"].max()
    if counts.nunique() == 1:
        return f"{int(counts.iloc[0])} trials"
    words = (f"{int(n)} ({dataset_title(dataset)})" for dataset, n in counts.items())
    return f"{', '.join(words)} trials"
