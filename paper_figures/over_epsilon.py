"""Draw accuracy over epsilon: a row of panels per data set, and a column per calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from claims.judged_rows import LEVELS, listed, ok_rows, required, select
from claims.scores import SCORED
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from mechanisms.query.words import rounded_up
from paper_figures import pyplot as plt
from paper_figures.curves import break_gaps
from paper_figures.drawings import DrawingError, Drawn
from paper_figures.legends import entries_of
from paper_figures.panel_sizes import missing_words, size_words
from paper_figures.selections import (
    SOURCE_WORDS,
    failed_mechanisms,
    private_rows,
    published_only,
)
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    legend_order,
    look,
    mechanism_title,
)

# On an axis from 0 to 1, the markers of means that differ by at most this much overlap.
ALIKE = 0.03
# Marker sizes in points, for the first and the last of the curves that coincide.
ALONE, COINCIDING = (4, 4), (7.5, 3)
# The column that says whether a budget lies outside the range of the mechanism's theorem.
OUTSIDE = "outside its theorem"
FLOOR = "majority class"
# The titles of the control `random-answer`, by study, if it trains a network on random data.
TRAINED_ON_RANDOM = {
    "features": "Random features",
    "federated_vertical": "Random features",
    "private_features": "Random features",
    "private_data": "Random images",
}
# The columns that identify a point of a curve.
KEYS = ["dataset", "calibration", "mechanism", "epsilon", "delta"]
# Labels of the epsilon axis. At equal true privacy, epsilon is an upper bound on the true epsilon.
EPSILONS = {"published": "claimed epsilon", "exact": "epsilon (true: at most this)"}


class Stated(NamedTuple):
    """A score in the paper, and the epsilon below which it is reached; None if not stated."""

    score: float
    below: float | None = None


class Panels(NamedTuple):
    """The labels and marks of a figure around its curves.

    Args:
        score: The label of the score axis, before the title of the row of panels.
        epsilons: The label of the epsilon axis by calibration.
        floor: The legend's name for the accuracy of a guess; "" if none is drawn.
        beside: The text at the right of a row of panels, by the row's title, on the size of the
            training: "3,000 records (paper: 55,000)".
        stated: The paper's scores by the row's title and then by label. They are drawn as stars in
            the panel as published.
        marked: The legend's names of vertical lines in the panels as published, by epsilon.
        empty: The text of a panel without curves.
        random: The name of the control `random-answer`, or "" for its usual title.
    """

    score: str
    epsilons: Mapping[str, str] = EPSILONS
    floor: str = FLOOR
    beside: Mapping[str, str] = {}
    stated: Mapping[str, Mapping[str, Stated]] = {}
    marked: Mapping[float, str] = {}
    empty: str = ""
    random: str = ""


def spread_over_trials(
    rows: pd.DataFrame,
    study: str,
    *keys: str,
    statistics: Sequence[str] = ("mean", "min", "max", "count"),
) -> pd.DataFrame:
    """Compute statistics of a study's scores over the trials, for every mechanism and budget.

    Args:
        *keys: Further columns to group by, such as "range".
        statistics: The names of the statistics, which become columns.

    Raises:
        DrawingError: There are no scores.
    """
    found = required(
        ok_rows(rows, study, SCORED[study]),
        DrawingError(f"the results hold no {SCORED[study]} of {study}; run it first"),
    )
    warned = found["message"].fillna("").str.contains("the theorem is proved")
    groups = found.assign(**{OUTSIDE: warned}).groupby([*KEYS, *keys])
    spread = groups["value"].agg(list(statistics))
    spread[OUTSIDE] = groups[OUTSIDE].any()
    return spread.reset_index()


def add_true_epsilon(spread: pd.DataFrame, rows: pd.DataFrame, study: str) -> pd.DataFrame:
    """Add the column `true_epsilon_upper` to the spread; it is NaN if unknown or infinite."""
    true = ok_rows(rows, study, "true_epsilon_upper")[[*KEYS, "value"]]
    return spread.merge(true.rename(columns={"value": "true_epsilon_upper"}), "left", KEYS)


def draw_spread(spread: pd.DataFrame, panels: Panels) -> plt.Figure:
    """Draw a row of panels per data set and a column per calibration.

    Controls are horizontal lines. A dashed line shows the score of always guessing the most common
    class.

    Args:
        spread: A table with the columns dataset, calibration, mechanism, epsilon, mean (a score in
            [0, 1]), min, max and OUTSIDE. Error bars reach from min to max, clipped to [0, 1].
            OUTSIDE is true for points that get a hollow marker as published. The optional column
            `panel` has the title of the row of panels; without it, the title is the data set's.
    """
    spread = label_panels(spread)
    if not panels.floor:
        spread["guess"] = np.nan
    rows = sorted(spread["panel"].unique())
    columns = [c for c in CALIBRATION_LINES if c in set(spread["calibration"])]
    figure, axes = plt.subplots(
        len(rows),
        len(columns),
        figsize=(PAGE, 0.8 + 2.2 * len(rows)),
        sharex="row",
        sharey="row",
        squeeze=False,
    )
    for (i, j), ax in np.ndenumerate(axes):
        row = select(spread, panel=rows[i])
        _panel(ax, row, columns[j], panels.random)
        ax.axhline(row["guess"].iloc[0], color="grey", linestyle="--", lw=1, label=panels.floor)
        ax.set(ylim=_limits(row))
        if not ax.containers:
            ax.text(
                0.5,
                0.65,
                panels.empty,
                ha="center",
                va="center",
                fontsize=7,
                transform=ax.transAxes,
            )
    for title, (first, last) in zip(rows, axes[:, [0, -1]], strict=True):
        first.set_ylabel(f"{panels.score} {title}")
        stated = panels.stated.get(title, {})
        _mark(first, stated, panels.marked)
        stars = (f"star: paper, {words}: {each.score:g}" for words, each in stated.items())
        last.text(
            1.02,
            0.5,
            ",\n".join(filter(None, (panels.beside.get(title, ""), *stars))),
            rotation=270,
            va="center",
            fontsize=6,
            transform=last.transAxes,
        )
    for calibration, column in zip(columns, axes.T, strict=True):
        column[0].set_title(CALIBRATION_TITLES[calibration])
        column[-1].set_xlabel(panels.epsilons[calibration])
    _legend(figure, axes, spread, panels)
    return figure


def label_panels(spread: pd.DataFrame) -> pd.DataFrame:
    """Add the columns `panel`, the title of the row, and `guess`, the accuracy of a guess."""
    guess = spread["dataset"].map(MAJORITY)
    title = spread.get("panel", spread["dataset"].map(dataset_title))
    return spread.assign(panel=title, guess=guess)


def _legend(figure: plt.Figure, axes: np.ndarray, spread: pd.DataFrame, panels: Panels) -> None:
    """Draw one legend for all panels, because no panel needs to have every mechanism."""
    drawn = entries_of(axes.flat)
    titles = [_title(m, panels.random) for m in legend_order(spread["mechanism"])]
    if spread[OUTSIDE].any():
        titles.append(f"hollow: {OUTSIDE}")
        (drawn[titles[-1]],) = axes[0, 0].plot([], [], "o", color="grey", markerfacecolor="white")
    titles = [
        each
        for each in (*titles, panels.floor, *dict.fromkeys(panels.marked.values()))
        if each in drawn
    ]
    figure.legend([drawn[t] for t in titles], titles, loc="outside lower center", ncols=5)


def _mark(ax: plt.Axes, stated: Mapping[str, Stated], marked: Mapping[float, str]) -> None:
    """Draw the paper's scores as stars, and vertical lines at the marked epsilons.

    If the paper states an epsilon below which it reaches the score, the star stands there, with a
    line to its left. Otherwise the star stands at the right end of the panel, without a line.
    """
    for epsilon, words in marked.items():
        ax.axvline(epsilon, color="black", lw=0.8, linestyle="-.", zorder=1, label=words)
    star = {"color": "black", "marker": "*", "markersize": 8, "clip_on": False, "zorder": 5}
    for score, below in stated.values():
        low, high = ax.get_ylim()
        ax.set_ylim(max(0.0, min(low, score - 0.05)), min(1.0, max(high, score + 0.1)))
        if below is None:
            # The paper states no epsilon, so x is in axes coordinates.
            ax.plot(0.985, score, transform=ax.get_yaxis_transform(), **star)
        else:
            ends = [ax.get_xlim()[0], below]
            ax.plot(ends, [score, score], markevery=[1], scalex=False, **star)


def _limits(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the limits of the score axis: [0, 1], or closer if all scores lie in one half."""
    low, high = rows[["min", "guess"]].min(axis=None), rows[["max", "guess"]].max(axis=None)
    if low > 0.5:
        return low - 0.02, min(1.0, high + 0.02)
    return 0.0, high + 0.02 if high < 0.5 else 1.0


def _title(mechanism: str, random: str) -> str:
    return random if random and mechanism == "random-answer" else mechanism_title(mechanism)


def _panel(ax, rows: pd.DataFrame, calibration: str, random: str) -> None:
    sizes = _marker_sizes(select(rows, calibration=calibration))
    for mechanism in legend_order(rows["mechanism"]):
        style = look(mechanism)
        curve = select(rows, mechanism=mechanism)
        if mechanism in LEVELS:
            level = select(curve, calibration="published")["mean"].mean()
            ax.axhline(level, color=style.colour, linestyle=":", label=_title(mechanism, random))
            ax.axhspan(curve["min"].min(), curve["max"].max(), color=style.colour, alpha=0.12, lw=0)
            continue
        line = select(curve, calibration=calibration)
        if line.empty:
            continue
        drawn = break_gaps(line[["epsilon", "mean", "min", "max"]], "epsilon")
        ax.errorbar(
            drawn["epsilon"],
            drawn["mean"],
            # Rounding can put the mean of equal numbers slightly outside their range.
            yerr=[
                (drawn["mean"] - drawn["min"].clip(lower=0)).clip(lower=0),
                (drawn["max"].clip(upper=1) - drawn["mean"]).clip(lower=0),
            ],
            linewidth=1,
            markersize=sizes[mechanism],
            **style.line,
        )
        beyond = line[line[OUTSIDE] & (calibration == "published")]
        ax.plot(
            beyond["epsilon"],
            beyond["mean"],
            linestyle="none",
            marker=style.marker,
            markersize=sizes[mechanism],
            markeredgecolor=style.colour,
            markerfacecolor="white",
            # `errorbar` draws its filled markers at this zorder, below those of later curves.
            zorder=2.1,
        )
    ax.set_xscale("log")
    epsilons = private_rows(rows)["epsilon"]
    if epsilons.nunique() == 1:
        # Matplotlib's own limits would cut off the markers of a single epsilon.
        ax.set_xlim(epsilons.min() / 10, epsilons.max() * 10)


def _marker_sizes(rows: pd.DataFrame) -> dict[str, float]:
    """Return marker sizes in points by mechanism, decreasing among curves that coincide."""
    sizes = {}
    for group in _coinciding(rows):
        ends = COINCIDING if len(group) > 1 else ALONE
        sizes |= zip(group, np.linspace(*ends, len(group)), strict=True)
    return sizes


def _coinciding(rows: pd.DataFrame) -> list[list[str]]:
    """Group the mechanisms of a panel whose means lie within ALIKE at every epsilon."""
    means = private_rows(rows).pivot_table(index="epsilon", columns="mechanism", values="mean")
    return groups_within(means[legend_order(means)], ALIKE)


def true_epsilons(spread: pd.DataFrame, mechanism: str) -> str:
    """List upper bounds on a mechanism's true epsilon as published, by panel; "" if unknown."""
    claims = select(spread, mechanism=mechanism, calibration="published")
    bounds = label_panels(claims.dropna(subset="true_epsilon_upper"))
    return "; ".join(
        f"{title}: "
        + ", ".join(
            f"{rounded_up(true)} for {claimed:g}"
            for claimed, true in zip(part["epsilon"], part["true_epsilon_upper"], strict=True)
        )
        for title, part in bounds.groupby("panel")
    )


def coinciding_sentence(spread: pd.DataFrame) -> str:
    """Return a sentence on the curves that cannot be told apart in a panel, or "".

    The sentence begins with a space, so that it can follow another sentence.

    Args:
        spread: The table described in `draw_spread`.
    """
    panels = []
    for (title, calibration), panel in label_panels(spread).groupby(["panel", "calibration"]):
        groups = _coinciding(panel)
        alike = [listed(map(mechanism_title, group)) for group in groups if len(group) > 1]
        if alike:
            words = ["all"] if len(groups) == 1 else alike
            panels.append(f"{title}, {CALIBRATION_TITLES[calibration]}: {', and '.join(words)}")
    if not panels:
        return ""
    return f" Curves that coincide within {ALIKE:g} at every epsilon: {'; '.join(panels)}."


def groups_within(values: pd.DataFrame, margin: float) -> list[list[str]]:
    """Group the columns that lie within `margin` of each other in every row that both have."""
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
    """Describe the number of trials, by data set if it differs: "20 (Adult), 10 (MNIST) trials".

    Args:
        spread: A table with the columns dataset and count, the number of trials.
    """
    counts = spread.groupby("dataset")["count"].max()
    if counts.nunique() == 1:
        return f"{int(counts.iloc[0])} trials"
    words = (f"{int(n)} ({dataset_title(dataset)})" for dataset, n in counts.items())
    return f"{', '.join(words)} trials"


def study_words(rows: pd.DataFrame, study: str, spread: pd.DataFrame) -> str:
    """Describe trials, delta and data: "20 trials, delta 1e-05, on MNIST (official data)"."""
    study_rows = select(rows, study=study)
    study_rows = study_rows[study_rows["dataset"].isin(spread["dataset"])]
    sources = ", ".join(
        f"{listed(sorted(map(dataset_title, found['dataset'])))} ({SOURCE_WORDS[source]})"
        for source, found in study_rows.drop_duplicates("dataset").groupby("data_source")
    )
    return f"{trial_words(spread)}, delta {spread['delta'].iloc[0]:g}, on {sources}"


def score_figure(
    rows: pd.DataFrame,
    study: str,
    spread: pd.DataFrame,
    panels: Panels,
    caption: str,
    note: str,
    *,
    trained: Callable[[str], str],
    beside: Callable[[str], str] = lambda dataset: "",
) -> Drawn:
    """Draw the figure of a study, with the size of the run beside each row of panels.

    The trained models are put before the note, and the curves that are hidden or not run after it.

    Args:
        spread: The table described in `draw_spread`; all of it becomes the figure's data.
        trained: A function that describes the training on a data set.
        beside: A function that returns the text to append to the size beside a data set's panels,
            with the leading line break.
    """
    datasets = sorted(set(spread["dataset"]))
    words = (f"{dataset_title(dataset)}: {trained(dataset)}" for dataset in datasets)
    note = (
        f"{'; '.join(words)}. {note}{coinciding_sentence(spread)}"
        f"{published_only(rows, study, *datasets)}"
        f"{missing_words(rows, study)}"
        f"{failed_mechanisms(rows, study, *datasets)}"
    )
    titles = label_panels(spread).groupby("panel")["dataset"].first()
    sizes = {
        title: f"{size_words(rows, study, dataset)}{beside(dataset)}".lstrip(",\n")
        for title, dataset in titles.items()
    }
    panels = panels._replace(beside=sizes, random=TRAINED_ON_RANDOM.get(study, ""))
    return Drawn(caption, spread, draw_spread(spread, panels), note)
