"""The F1 scores of tldp2025's three studies: one selection for their figures and their judges."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from claims.comparisons import at_most, equal, every, most, order
from claims.implied_epsilon import Implied, on_curve
from claims.intervals import Mean, paired
from claims.judged_rows import LEVELS, listed, ok_rows, pick, required
from claims.judges import CannotJudge
from claims.verdicts import CONFIRMED, INCONCLUSIVE, NOT_RUN, Outcome, Part
from datasets.titles import dataset_title
from paper_figures import pyplot as plt
from paper_figures.clear_words import Place, write_clear
from paper_figures.drawings import DrawingError
from paper_figures.over_epsilon import (
    EPSILONS,
    OUTSIDE,
    coinciding,
    draw_spread,
    outside_theorem,
    trial_words,
)
from paper_figures.selections import SOURCE_WORDS
from paper_figures.style import mechanism_title

TLDP = ("tldp-l", "tldp-g")
VARIANTS = (*TLDP, "tldp-l-w", "tldp-g-w")
OTHERS = ("laplace", "gaussian", "mvg-sqrt", "idn")
FALSE_CLAIM = "TLDP's claim is false for a whole tensor (tldp-thm1)."
PAPER_ALONE = "The figure shows the paper's mechanisms; its CSV file has all that were run."
# One of 2,000 test records, the smallest test set of the studies' reference runs.
STEP = 1 / 2000
# At equal true privacy: the largest lead of TLDP over the best of the others that counts as none,
# and the F1 above random answers and a guess from which on a model has learned.
SLIGHT, LEARNED = 0.05, 0.15
# The mechanisms that the paper compares, and the controls: its figures show them and its claims are
# about them. A run may have others, which the CSV files beside the figures have too.
OF_THE_PAPER = (
    *LEVELS,
    *("laplace", "gaussian", "mvg", "mvg-sqrt", "idn"),
    *(*VARIANTS, "llagp", "dphsgd"),
)


class Stated(NamedTuple):
    """A score of the paper, and the epsilon that it says to be below, where it does."""

    score: float
    below: float | None = None


def f1_scores(rows: pd.DataFrame, study: str) -> pd.DataFrame:
    """The F1 scores of a study, a row per trial; empty where there are none."""
    return ok_rows(rows, study, "f1")


def over_trials(scores: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Mean, min, max and count of the scores over the trials at every budget.

    Args:
        scores: Rows of `f1_scores`.
        *keys: Further columns to keep, which are constant over the trials.
    """
    by = ["dataset", "calibration", "mechanism", "epsilon", "delta", *keys]
    found = scores.groupby(by)["value"].agg(["mean", "min", "max", "count"])
    found[OUTSIDE] = outside_theorem(scores).groupby([scores[key] for key in by]).any()
    return found.reset_index()


def drawn_scores(rows: pd.DataFrame, study: str, *keys: str) -> pd.DataFrame:
    """`over_trials` of all scores of a study.

    Raises:
        DrawingError: There are none.
    """
    scores = required(
        f1_scores(rows, study),
        DrawingError(f"the results hold no F1 scores of {study}; run it first"),
    )
    return over_trials(scores, *keys)


def score_figure(
    spread: pd.DataFrame,
    label: str,
    stated: Mapping[str, Mapping[str, Stated]],
    sizes: Mapping[str, str],
    floors: Mapping[str, float] | None = None,
    epsilons: Mapping[str, str] = EPSILONS,
    marked: Mapping[float, str] | None = None,
) -> plt.Figure:
    """F1 over epsilon: a row of panels for each data set, a column for each calibration.

    Args:
        spread: As `drawn_scores` returns it. An optional column `panel` has the title of the row of
            panels, in place of the data set's.
        label: What the scores are of; the title of the row follows.
        stated: The paper's scores by title of the row and by what they are for. They stand as stars
            in the panel as published.
        sizes, floors, epsilons: As in `draw_spread`, by title of the row.
        marked: Epsilons with a line in the panels as published, and words for it.
    """
    shown = _by_panel(spread)
    figure = draw_spread(shown, label, floors, sizes, epsilons, floor_title="a guess")
    rows = sorted(shown["dataset"].unique())
    columns = len(figure.axes) // len(rows)
    labels = [axis.get_xlabel() for axis in figure.axes[-columns:]]
    lowest = figure.axes[-columns:]
    for row, title in enumerate(rows):
        _mark(figure.axes[row * columns], stated.get(title, {}), marked or {})
        for column, axis in enumerate(figure.axes[row * columns : (row + 1) * columns]):
            if axis.containers:
                lowest[column] = axis
            else:
                for artist in [*axis.lines, *axis.patches]:
                    artist.remove()
                axis.set_axis_off()
                words = "not run: the same noise\nas in the panel above"
                axis.text(0.5, 0.5, words, ha="center", transform=axis.transAxes, fontsize=7)
    for axis, label in zip(lowest, labels, strict=True):
        axis.set_xlabel(label)
    return figure


def hidden_curves(spread: pd.DataFrame) -> str:
    """One sentence on the curves of `score_figure` that coincide, or nothing."""
    return coinciding(_by_panel(spread))


def _by_panel(spread: pd.DataFrame) -> pd.DataFrame:
    """The scores of the mechanisms that are drawn, with the title of the panel as the data set."""
    shown = spread[spread["mechanism"].isin(OF_THE_PAPER)]
    panels = shown["panel"] if "panel" in shown else shown["dataset"].map(dataset_title)
    return shown.assign(dataset=panels)


def _mark(axis: plt.Axes, stated: Mapping[str, Stated], marked: Mapping[float, str]) -> None:
    """The paper's scores: on a line below the epsilon that it states, or at the right end.

    And lines at the epsilons that are marked, with their words.
    """
    ends = []
    for epsilon in marked:
        axis.axvline(epsilon, color="black", linewidth=0.8, linestyle="-.", zorder=1)
    for words, (score, below) in stated.items():
        axis.set_ylim(top=min(1.0, max(axis.get_ylim()[1], score + 0.1)))
        text = f"paper, {words}: {score:g}"
        if below is None:
            # In axes coordinates along epsilon: the paper states few of its budgets.
            place = axis.get_yaxis_transform()
            star = {"markersize": 8, "transform": place, "clip_on": False}
            axis.plot(0.985, score, "*", color="black", **star)
            ends.append((text, score, None))
            continue
        least = axis.get_xlim()[0]
        axis.plot([least, below], [score, score], color="black", linewidth=1.5, zorder=4)
        axis.plot(math.sqrt(least * below), score, "*", color="black", markersize=8, zorder=5)
        axis.set_xlim(left=least)
        ends.append((text, score, below))
    for text, score, below in ends:
        at = (axis.get_xlim()[1] if below is None else below, score)
        x, y = axis.transAxes.inverted().transform(axis.transData.transform(at))
        if below is None:
            sides = (Place(x - 0.045, y), Place(0.02, y, "left"))
        else:
            sides = (Place(x + 0.02, y, "left"), Place(0.98, y))
        heights = ((0.02, "bottom"), (-0.03, "top"), (0.08, "bottom"), (-0.1, "top"))
        places = [side._replace(y=y + up, va=va) for side in sides for up, va in heights]
        write_clear(axis, text, places)
    for epsilon, text in marked.items():
        x, _ = axis.transAxes.inverted().transform(axis.transData.transform((epsilon, 0)))
        sides = ((x + 0.02, "left"), (x - 0.02, "right"), (0.98, "right"))
        heights = (0.6, 0.7, 0.85, 0.45, 0.3, 0.15, 0.02)
        write_clear(axis, text, [Place(at, y, side) for y in heights for at, side in sides])


def at_equal_privacy(spread: pd.DataFrame, floors: Mapping[str, float] | None = None) -> str:
    """What the right panels show, to end a sentence: "; at this calibration ..."; or nothing.

    Args:
        floors: The score of a guess by data set, where it may be more than that of random answers.
    """
    exact = spread[(spread["calibration"] == "exact") & ~spread["mechanism"].isin(LEVELS)]
    if exact.empty:
        return ""
    chance = spread[spread["mechanism"] == "random-answer"].groupby("dataset")["mean"].mean()
    floor = chance.combine(pd.Series(floors or {}, dtype=float).reindex(chance.index), np.fmax)
    if (exact["mean"] <= exact["dataset"].map(floor) + LEARNED).all():
        return "; at this calibration no model learns"
    own = exact["mechanism"].isin(VARIANTS)
    best = [
        rows.groupby(["dataset", "epsilon"])["mean"].max() for rows in (exact[own], exact[~own])
    ]
    ahead = (best[0] - best[1]).max() > SLIGHT
    return "" if ahead else "; at this calibration TLDP has no lead"


def trials_and_delta(spread: pd.DataFrame) -> str:
    """How many trials stand behind the means and ranges, at which delta."""
    delta = f"delta {spread['delta'].iloc[0]:g}"
    return f"mean and range over {trial_words(spread)}, {delta}"


def sources(rows: pd.DataFrame, study: str) -> str:
    """The data sets of a study by where they come from: "IMDB and MNIST (official data)"."""
    own = rows[rows["study"] == study].drop_duplicates("dataset")
    return ", ".join(
        f"{listed(sorted(map(dataset_title, found['dataset'])))} ({SOURCE_WORDS[source]})"
        for source, found in own.groupby("data_source")
    )


def shared_number(rows: pd.DataFrame, study: str, dataset: str, metric: str) -> float:
    """A number that all cells of a data set have in common.

    Raises:
        CannotJudge: The results do not have it.
    """
    own = pick(rows, study=study, dataset=dataset, metric=metric)
    return float(own["value"].iloc[0])


@dataclass(frozen=True)
class OfficialScores:
    """The F1 scores on one official data set at one calibration, a row per trial."""

    rows: pd.DataFrame

    @property
    def means(self) -> pd.Series:
        """Mean over the trials by (mechanism, epsilon): the lines of the figure."""
        return over_trials(self.rows).set_index(["mechanism", "epsilon"])["mean"]

    @property
    def trials(self) -> int:
        """Number of trials."""
        return int(self.rows["trial"].nunique())

    def of(self, mechanism: str, epsilon: float) -> pd.DataFrame:
        """The trials of one mechanism at one epsilon; CannotJudge where there are none."""
        return pick(self.rows, mechanism=mechanism, epsilon=epsilon)

    def best(self, mechanisms: Iterable[str]) -> float:
        """The highest mean of these mechanisms; CannotJudge where there is none."""
        return float(self.means[self.peak(mechanisms)])

    def peak(self, mechanisms: Iterable[str]) -> tuple[str, float]:
        """The mechanism and the epsilon of the highest mean; CannotJudge where there is none."""
        return self.of_any(mechanisms).means.idxmax()

    def score(self, mechanism: str, epsilon: float) -> Mean:
        """The trials of one mechanism at one epsilon as an effect."""
        return Mean(self.of(mechanism, epsilon)["value"].to_numpy(float), STEP)

    def above_chance(self, mechanism: str, epsilon: float) -> Mean:
        """F1 less that of random answers, which ignore epsilon, trial by trial."""
        random = pick(self.rows, mechanism="random-answer")
        return paired(self.of(mechanism, epsilon), random, resolution=STEP)

    def gap(self, larger: str, smaller: str, epsilon: float) -> Mean:
        """F1 of one mechanism less that of another at one epsilon, trial by trial."""
        both = (self.of(larger, epsilon), self.of(smaller, epsilon))
        return paired(*both, resolution=STEP)

    def near_chance(self, name: str, mechanisms: Iterable[str], margin: float) -> Part:
        """All of these, each at its best epsilon, are within a margin of random answers."""
        peaks = [self.peak([mechanism]) for mechanism in mechanisms]
        gaps = {label_of(*peak): self.above_chance(*peak) for peak in peaks}
        return every(name, equal(gaps, margin=margin))

    def low(self, mechanism: str, margin: float, end: float = math.inf) -> Part:
        """Whether one, at its best epsilon up to `end`, is above random by at most the margin.

        Where all of its epsilons are larger, a low score at the smallest shows it: with more noise
        it is no better. A higher one shows nothing.
        """
        own = self.of_any([mechanism]).rows
        least = own["epsilon"].min()
        peak = OfficialScores(own[own["epsilon"] <= max(end, least)]).peak([mechanism])
        title = dataset_title(self.rows["dataset"].iloc[0])
        name = f"{title}, {label_of(*peak)} above random answers"
        part = at_most(name, self.above_chance(*peak), margin=margin)
        if least <= end or part.verdict == CONFIRMED:
            return part
        return replace(part, verdict=INCONCLUSIVE, reason=f"not run up to {end:g}")

    def implied(self, mechanism: str, stated: float) -> Implied:
        """The epsilon at which one mechanism reaches a stated score; CannotJudge without scores."""
        own = pick(self.rows, mechanism=mechanism)
        curve = {epsilon: self.score(mechanism, epsilon) for epsilon in own["epsilon"].unique()}
        return on_curve(curve, stated)

    @property
    def epsilons(self) -> list[float]:
        """The budgets, controls aside, in order."""
        return sorted(self.rows[~self.rows["mechanism"].isin(LEVELS)]["epsilon"].unique())

    @property
    def range_of_epsilons(self) -> str:
        """The smallest and the largest budget as text, or the only one."""
        return " to ".join(dict.fromkeys(f"{self.epsilons[end]:g}" for end in (0, -1)))

    def level(self, control: str) -> float:
        """Mean over all trials of a control, which ignores epsilon."""
        return float(pick(self.rows, mechanism=control)["value"].mean())

    def within(self, *, below: float) -> Self:
        """The scores at epsilons below a bound."""
        return OfficialScores(self.rows[self.rows["epsilon"] < below])

    def of_any(self, mechanisms: Iterable[str]) -> Self:
        """The scores of these mechanisms; CannotJudge where there are none."""
        own = self.rows[self.rows["mechanism"].isin(list(mechanisms))]
        return OfficialScores(
            required(own, CannotJudge(f"The results have no F1 of {listed(mechanisms)}"))
        )

    def at(self, epsilon: float) -> Self:
        """The scores at one epsilon."""
        return OfficialScores(pick(self.rows, epsilon=epsilon))


def theorem_2_words(scores: OfficialScores) -> str:
    """The scores of the classic Gaussian, as those of the Gaussian of the paper's Theorem 2.

    sigma_1^2 = I Delta^2 / (2 epsilon) is the classic variance 2 ln(1.25 / delta) I Delta^2 /
    epsilon'^2 at epsilon' = sqrt(4 ln(1.25 / delta) epsilon), whatever I and Delta are.
    """
    own = scores.rows[scores.rows["mechanism"] == "gaussian"]
    if own.empty:
        return ""
    square = 4 * math.log(1.25 / own["delta"].iloc[0])
    found = listed(
        f"{group['value'].mean():.2g} at {epsilon**2 / square:.2g}"
        for epsilon, group in own.groupby("epsilon")
    )
    return (
        "Theorem 2's Gaussian has at epsilon the noise of the classic one, which was run, at "
        f"{math.sqrt(square):.3g} sqrt(epsilon). So it has the F1 {found}."
    )


def implied_words(published: OfficialScores, exact: OfficialScores, stated: float) -> str:
    """The epsilons at which the TLDP methods reach the stated score."""
    found = listed(
        f"{published.implied(key, stated)} ({mechanism_title(key)}, at equal true privacy "
        f"{exact.implied(key, stated)})"
        for key in TLDP
    )
    return f"Epsilon at which F1 is {stated:g}, with 95% intervals: {found}."


def either_side(
    found: Mapping[str, "OfficialScores"], crossing: float, margin: float
) -> list[Outcome]:
    """TLDP-G above TLDP-L at most budgets, below and above the one at which their noise is equal.

    The paper does not state the epsilons of its figures: each side is an outcome.

    Args:
        found: The scores by data set.
        crossing: The epsilon at which both have the same noise, whatever Delta is.
    """
    gaps = {
        (dataset, epsilon): scores.gap("tldp-g", "tldp-l", epsilon)
        for dataset, scores in found.items()
        for epsilon in scores.of_any(["tldp-g"]).epsilons
    }
    return [
        Outcome(
            choice=f"budgets {words}",
            parts=_most_of({at: gap for at, gap in gaps.items() if chosen(at[1])}, margin),
        )
        for words, chosen in {
            f"below epsilon {crossing:g}, where TLDP-G has less noise": lambda e: e < crossing,
            f"above epsilon {crossing:g}, where TLDP-L has less noise": lambda e: e > crossing,
        }.items()
    ]


def _most_of(gaps: dict[tuple[str, float], Mean], margin: float) -> tuple[Part, ...]:
    """Whether TLDP-G leads at most of these budgets, with its lead at each."""
    if not gaps:
        return (Part("no budgets there", NOT_RUN),)
    named = {
        f"{dataset_title(dataset)} at {epsilon:g}": gap for (dataset, epsilon), gap in gaps.items()
    }
    leads = order(named, margin=margin)
    part = most("TLDP-G above TLDP-L at most of them:", leads)
    shown = listed(f"{lead.name}: {lead.found}" for lead in leads)
    return (replace(part, found=f"{part.found}: {shown}"),)


def label_of(mechanism: str, epsilon: float) -> str:
    """ "TLDP-G at epsilon 0.9"."""
    return f"{mechanism_title(mechanism)} at epsilon {epsilon:g}"


def official_scores(
    rows: pd.DataFrame, study: str, dataset: str, calibration: str = "published", **at: str
) -> OfficialScores:
    """The F1 scores of the paper's mechanisms on an official data set.

    CannotJudge where the run has none. Other mechanisms are left out: a claim of the paper says
    nothing of them, so that they neither decide it nor keep it open.

    `at` chooses coordinates of the study, such as range="clip".
    """
    scores = f1_scores(rows, study)
    chosen = {"dataset": dataset, "data_source": "official", "calibration": calibration} | at
    required(scores, CannotJudge(f"The results have no F1 scores of {study}"))
    return OfficialScores(pick(scores[scores["mechanism"].isin(OF_THE_PAPER)], **chosen))


def official_datasets(rows: pd.DataFrame, study: str) -> list[str]:
    """The official data sets of a study in a run; CannotJudge where there is none."""
    found = pick(rows, study=study)
    found = required(
        found[found["data_source"] == "official"],
        CannotJudge(f"The run has no official data for {study}"),
    )
    return sorted(found["dataset"].unique())
