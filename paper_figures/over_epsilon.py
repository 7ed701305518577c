"""Accuracy over epsilon, a row of panels per data set and a column per calibration."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from claims.judged_rows import LEVELS, listed, ok_rows, required
from claims.scores import SCORED
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from paper_figures import pyplot as plt
from paper_figures.clear_words import Place, write_clear
from paper_figures.curves import with_gaps
from paper_figures.drawings import DrawingError, Drawn
from paper_figures.legends import entries_of
from paper_figures.panel_sizes import missing_words, size_words
from paper_figures.selections import SOURCE_WORDS, failed_mechanisms, published_only
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
# Sizes of markers in points, from the first to the last: of a lone curve, and of several.
MARKERS = {False: (4, 4), True: (7.5, 3)}
# Whether a mechanism's theorem does not cover the budget.
OUTSIDE = "outside its theorem"
FLOOR = "majority class"
# What trains a network in place of a release, in studies where `random-answer` does that.
TRAINED_ON_RANDOM = {
    "features": "Random features",
    "federated_vertical": "Random features",
    "private_features": "Random features",
    "private_data": "Random images",
}
# What a point of a curve is.
KEYS = ["dataset", "calibration", "mechanism", "epsilon", "delta"]
# What an epsilon on the axis is; at equal true privacy it is the bound on the true one.
EPSILONS = {"published": "claimed epsilon", "exact": "epsilon (true: at most this)"}


class Stated(NamedTuple):
    """A score of the paper, and the epsilon that it says to be below, where it does."""

    score: float
    below: float | None = None


class Panels(NamedTuple):
    """The parts of a figure around its curves.

    Args:
        score: What the means are of; the title of the row of panels follows.
        epsilons: What the epsilon of a calibration is.
        floor: What the accuracy of a guess is called in the legend; "" where none is drawn.
        beside: What was trained by title of the row, such as "3,000 records (paper: 55,000)".
        stated: The paper's scores by title of the row and by what they are for. They stand as stars
            in the panel as published.
        marked: Epsilons with a line in the panels as published, and words for it.
        empty: What a panel says that has no curve of its own; without it, it has the controls.
        lone: What a panel at equal true privacy says that has one curve, for all mechanisms.
        random: What the control `random-answer` is; without it, its title.
    """

    score: str
    epsilons: Mapping[str, str] = EPSILONS
    floor: str = FLOOR
    beside: Mapping[str, str] = {}
    stated: Mapping[str, Mapping[str, Stated]] = {}
    marked: Mapping[float, str] = {}
    empty: str = ""
    lone: str = ""
    random: str = ""


def spread_over_trials(
    rows: pd.DataFrame,
    study: str,
    *keys: str,
    statistics: Sequence[str] = ("mean", "min", "max", "count"),
) -> pd.DataFrame:
    """Statistics of a study's scores over the trials at every budget.

    Args:
        *keys: Further columns to keep, which are constant over the trials.

    Raises:
        DrawingError: There are no scores.
    """
    found = required(
        ok_rows(rows, study, SCORED[study]),
        DrawingError(f"the results hold no {SCORED[study]} of {study}; run it first"),
    )
    by = [*KEYS, *keys]
    spread = found.groupby(by)["value"].agg(list(statistics))
    warned = found["message"].fillna("").str.contains("the theorem is proved")
    spread[OUTSIDE] = warned.groupby([found[key] for key in by]).any()
    return spread.reset_index()


def add_true_epsilon(spread: pd.DataFrame, rows: pd.DataFrame, study: str) -> pd.DataFrame:
    """The spread with the upper bound on the run's true epsilon, where one is known and finite."""
    true = ok_rows(rows, study, "true_epsilon_upper")[[*KEYS, "value"]]
    return spread.merge(true.rename(columns={"value": "true_epsilon_upper"}), "left", KEYS)


def draw_spread(spread: pd.DataFrame, panels: Panels) -> plt.Figure:
    """A row of panels for each data set, a column for each calibration; controls are lines.

    A guess, such as the commonest class, has a dashed line where random answers have another score.

    Args:
        spread: Columns dataset, calibration, mechanism, epsilon, mean in [0, 1], and the ends min
            and max of its error bar, which is drawn within [0, 1]. An optional column OUTSIDE says
            which points have a hollow marker, and `panel` has the title of the row of panels, in
            place of the data set's.
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
    own = {title: spread[spread["panel"] == title] for title in rows}
    for (i, j), axis in np.ndenumerate(axes):
        _panel(axis, own[rows[i]], columns[j], panels.random)
        if (floor := _guess_to_draw(own[rows[i]])) is not None:
            axis.axhline(floor, color="grey", linestyle="--", linewidth=1, label=panels.floor)
        axis.set(ylim=_limits(own[rows[i]]))
    for title, axis in zip(rows, axes[:, 0], strict=True):
        axis.set_ylabel(f"{panels.score} {title}")
    for title, axis in zip(rows, axes[:, -1], strict=True):
        kind = {"rotation": 270, "va": "center", "fontsize": 6, "transform": axis.transAxes}
        axis.text(1.02, 0.5, panels.beside.get(title, ""), **kind)
    for calibration, column in zip(columns, axes.T, strict=True):
        column[0].set_title(CALIBRATION_TITLES[calibration])
        kept = [axis for axis in column if axis.containers or not _blank(axis, panels.empty)]
        (kept or column)[-1].set_xlabel(panels.epsilons[calibration])
    _legend(figure, axes, spread, panels)
    for (i, j), axis in np.ndenumerate(axes):
        _name_missing(axis, own[rows[i]], columns[j], panels.lone)
    for title, axis in zip(rows, axes[:, 0], strict=True):
        _mark(axis, panels.stated.get(title, {}), panels.marked)
    return figure


def label_panels(spread: pd.DataFrame) -> pd.DataFrame:
    """The spread with the title of the row in `panel`, and the accuracy of a guess in `guess`."""
    guess = spread["dataset"].map(MAJORITY)
    title = spread.get("panel", spread["dataset"].map(dataset_title))
    return spread.assign(panel=title, guess=guess)


def _blank(axis: plt.Axes, words: str) -> bool:
    """Replace all that a panel without curves has by these words; False without words."""
    if words:
        for artist in [*axis.lines, *axis.patches]:
            artist.remove()
        axis.set_axis_off()
        axis.text(0.5, 0.5, words, ha="center", transform=axis.transAxes, fontsize=7)
    return bool(words)


def _legend(figure: plt.Figure, axes: np.ndarray, spread: pd.DataFrame, panels: Panels) -> None:
    """One legend of all panels: a data set may lack mechanisms that another has."""
    drawn = entries_of(axes.flat)
    titles = [_title(m, panels.random) for m in in_order(spread["mechanism"])]
    if OUTSIDE in spread and spread[OUTSIDE].any():
        titles.append(f"hollow: {OUTSIDE}")
        (drawn[titles[-1]],) = axes[0, 0].plot([], [], "o", color="grey", markerfacecolor="white")
    titles = [title for title in [*titles, panels.floor] if title in drawn]
    figure.legend([drawn[t] for t in titles], titles, loc="outside lower center", ncols=5)


def _mark(axis: plt.Axes, stated: Mapping[str, Stated], marked: Mapping[float, str]) -> None:
    """The paper's scores: on a line below the epsilon that it states, or at the right end.

    And lines at the epsilons that are marked, with their words.
    """
    for epsilon in marked:
        axis.axvline(epsilon, color="black", linewidth=0.8, linestyle="-.", zorder=1)
    for score, below in stated.values():
        axis.set_ylim(top=min(1.0, max(axis.get_ylim()[1], score + 0.1)))
        if below is None:
            # In axes coordinates along epsilon: the paper states few of its budgets.
            place = axis.get_yaxis_transform()
            star = {"markersize": 8, "transform": place, "clip_on": False}
            axis.plot(0.985, score, "*", color="black", **star)
            continue
        least = axis.get_xlim()[0]
        axis.plot([least, below], [score, score], color="black", linewidth=1.5, zorder=4)
        axis.plot(math.sqrt(least * below), score, "*", color="black", markersize=8, zorder=5)
        axis.set_xlim(left=least)
    for words, (score, below) in stated.items():
        x, y = _panel_point(axis, below or axis.get_xlim()[1], score)
        sides = (Place(x - 0.045, y), Place(0.02, y, "left"))
        if below is not None:
            sides = (Place(x + 0.02, y, "left"), Place(0.98, y))
        heights = ((0.02, "bottom"), (-0.03, "top"), (0.08, "bottom"), (-0.1, "top"))
        places = [side._replace(y=y + up, va=va) for side in sides for up, va in heights]
        write_clear(axis, f"paper, {words}: {score:g}", places)
    for epsilon, text in marked.items():
        x, _ = _panel_point(axis, epsilon, 0)
        sides = ((x + 0.02, "left"), (x - 0.02, "right"), (0.98, "right"))
        heights = (0.6, 0.7, 0.85, 0.45, 0.3, 0.15, 0.02)
        write_clear(axis, text, [Place(at, y, side) for y in heights for at, side in sides])


def _panel_point(axis: plt.Axes, epsilon: float, score: float) -> np.ndarray:
    """Where a point is in a panel, as shares of its sides."""
    return axis.transAxes.inverted().transform(axis.transData.transform((epsilon, score)))


def _name_missing(axis: plt.Axes, rows: pd.DataFrame, calibration: str, lone: str) -> None:
    """The mechanisms that have a curve in the other panel of a row alone, or why one has all."""
    own = rows[~rows["mechanism"].isin(LEVELS)]
    here = set(own[own["calibration"] == calibration]["mechanism"])
    if len(here) == 1 and calibration == "exact":
        axis.text(0.5, 0.45, lone, ha="center", fontsize=7, transform=axis.transAxes)
    missing = in_order(set(own["mechanism"]) - here) if len(here) > 1 else []
    if missing:
        words = f"no curve here: {', '.join(map(mechanism_title, missing))}"
        ends = ((0.99, "right"), (0.01, "left"))
        places = [Place(x, y, ha) for y in (0.02, 0.6, 0.3, 0.8) for x, ha in ends]
        write_clear(axis, words, places, color="#444444")


def _guess_to_draw(rows: pd.DataFrame) -> float | None:
    """The score of a guess on the data set of a panel, where random answers have another one."""
    floor = rows["guess"].iloc[0]
    random = rows[rows["mechanism"] == "random-answer"]["mean"]
    return floor if ((random - floor).abs() > ALIKE).all() and pd.notna(floor) else None


def floor_words(spread: pd.DataFrame, guess: str) -> str:
    """The end of a sentence, "; dashed: `guess`", or nothing where nothing is dashed."""
    drawn = (_guess_to_draw(rows) for _, rows in label_panels(spread).groupby("panel"))
    return f"; dashed: {guess}" if any(floor is not None for floor in drawn) else ""


def _limits(rows: pd.DataFrame) -> tuple[float, float]:
    """Those of an accuracy, or closer where all that is drawn lies in one half."""
    floor = _guess_to_draw(rows)
    drawn = [] if floor is None else [floor]
    low, high = min([rows["min"].min(), *drawn]), max([rows["max"].max(), *drawn])
    if low > 0.5:
        return low - 0.02, min(1.0, high + 0.02)
    return 0.0, high + 0.02 if high < 0.5 else 1.0


def _title(mechanism: str, random: str) -> str:
    return random if random and mechanism == "random-answer" else mechanism_title(mechanism)


def _panel(axis, rows: pd.DataFrame, calibration: str, random: str) -> None:
    hollow = rows[OUTSIDE] if OUTSIDE in rows else pd.Series(False, rows.index)
    hollow = hollow & (rows["calibration"] == calibration) & (calibration == "published")
    sizes = _marker_sizes(rows[rows["calibration"] == calibration])
    for mechanism in in_order(rows["mechanism"]):
        style = look(mechanism)
        own = rows[rows["mechanism"] == mechanism]
        if mechanism in LEVELS:
            level = own[own["calibration"] == "published"]["mean"].mean()
            axis.axhline(level, color=style.colour, linestyle=":", label=_title(mechanism, random))
            axis.axhspan(own["min"].min(), own["max"].max(), color=style.colour, alpha=0.12, lw=0)
            continue
        line = own[own["calibration"] == calibration].sort_values("epsilon", kind="stable")
        if line.empty:
            continue
        drawn = with_gaps(line[["epsilon", "mean", "min", "max"]], "epsilon")
        axis.errorbar(
            drawn["epsilon"],
            drawn["mean"],
            # The mean of equal numbers may differ from them by rounding.
            yerr=[
                (drawn["mean"] - drawn["min"].clip(lower=0)).clip(lower=0),
                (drawn["max"].clip(upper=1) - drawn["mean"]).clip(lower=0),
            ],
            linewidth=1,
            markersize=sizes[mechanism],
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
            markersize=sizes[mechanism],
            # As `errorbar` draws filled ones: below what is drawn later.
            zorder=2.1,
        )
    axis.set_xscale("log")


def _marker_sizes(rows: pd.DataFrame) -> dict[str, float]:
    """Points, by mechanism: of curves that lie on each other, what is drawn later is smaller."""
    own = rows[~rows["mechanism"].isin(LEVELS)]
    means = own.pivot_table(index="epsilon", columns="mechanism", values="mean")
    groups = groups_within(means[in_order(means)], ALIKE)
    return {
        name: size
        for group in groups
        for name, size in zip(group, np.linspace(*MARKERS[len(group) > 1], len(group)), strict=True)
    }


def true_epsilons(spread: pd.DataFrame, mechanism: str) -> str:
    """The true epsilon of a mechanism's claims as published, by panel; "" where unknown."""
    own = spread[(spread["mechanism"] == mechanism) & (spread["calibration"] == "published")]
    own = label_panels(own.dropna(subset="true_epsilon_upper"))
    return "; ".join(
        f"{title}: "
        + ", ".join(
            f"{true:.3g} for {claimed:g}"
            for claimed, true in zip(part["epsilon"], part["true_epsilon_upper"], strict=True)
        )
        for title, part in own.groupby("panel")
    )


def coinciding(spread: pd.DataFrame) -> str:
    """One sentence on the curves of each panel that nobody can tell apart, or nothing.

    It begins with a space, so that it can follow another sentence.

    Args:
        spread: As for `draw_spread`.
    """
    private = label_panels(spread[~spread["mechanism"].isin(LEVELS)])
    panels = []
    for (title, calibration), panel in private.groupby(["panel", "calibration"]):
        means = panel.pivot_table(index="epsilon", columns="mechanism", values="mean")
        alike = [group for group in groups_within(means[in_order(means)], ALIKE) if len(group) > 1]
        if alike:
            everything = len(alike) == 1 and len(alike[0]) == means.shape[1]
            words = ["all"] if everything else [listed(map(mechanism_title, g)) for g in alike]
            place = f"{title}, {CALIBRATION_TITLES[calibration]}"
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


def study_words(rows: pd.DataFrame, study: str, spread: pd.DataFrame) -> str:
    """Trials, delta and data: "20 trials, delta 1e-05, on MNIST (official data)"."""
    own = rows[(rows["study"] == study) & rows["dataset"].isin(spread["dataset"])]
    sources = ", ".join(
        f"{listed(sorted(map(dataset_title, found['dataset'])))} ({SOURCE_WORDS[source]})"
        for source, found in own.drop_duplicates("dataset").groupby("data_source")
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
    """The figure of a study, with the size of the run beside each panel.

    The note begins with what was trained, and ends with the curves that are hidden or were not run.

    Args:
        spread: As for `draw_spread`; with all of its rows and columns it is the figure's data.
        trained: The words on what was trained on a data set.
        beside: The words beside the panels of a data set, after its size, from the line break on.
    """
    datasets = sorted(set(spread["dataset"]))
    words = (f"{dataset_title(dataset)}: {trained(dataset)}" for dataset in datasets)
    note = (
        f"{'; '.join(words)}. {note}{coinciding(spread)}{published_only(rows, study, *datasets)}"
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
