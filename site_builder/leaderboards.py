"""Tables that rank mechanisms at every epsilon, by a mean with its 95% interval."""

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from claims.intervals import SHOWN, Mean
from claims.judged_rows import LEVELS
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from mechanisms.base.mechanism import CALIBRATIONS
from paper_figures.style import title_in
from runs.result_table import OK
from studies.base.metrics import Metric
from studies.base.study import Study

# Values within this relative difference are tied. The figures draw such values once.
TIE = 0.01
# A control that is no mechanism: an answer without data that is not random.
ZERO = "Predicting zero"
NO_DATA = ("random-answer", ZERO)
CONTROLS = (*LEVELS, ZERO)
# The words for choices whose values in the rows differ from the names in the claims.
WORDS = {"polynomial": "cubic", "rbf": "Gaussian"}


@dataclass(frozen=True, eq=False)
class View:
    """A table for a data set, a measure, a calibration and the values of the study's choices.

    Args:
        study: The study.
        dataset: The data set.
        measure: The metric that is ranked.
        choice: The values of the study's choices by their titles.
        calibration: "published" or "exact".
        delta: The delta of the budgets; None if they differ.
        epsilons: The columns: the epsilons at which two or more mechanisms have a score.
        ranking: The epsilons at which the best mechanism beats an answer without data: a random
            answer, zero or, if accuracies are ranked, the commonest class. At other epsilons
            nothing can be ranked.
        main: The epsilon whose scores sort the lines: of `ranking`, or of `epsilons` if that is
            empty, the epsilon nearest to 1 in ratio, and the smaller one of two equally near.
        scores: A row for each line and epsilon. A line is a mechanism, or a use of it. Lines with a
            score at `main` come first, best first. Then come lines without one, lines with a false
            claim, and the controls. The columns are

            - mechanism; use, or ""; title, for readers;
            - control: whether the line has no noise, or answers without data;
            - refuted: whether the line is published noise whose privacy claim is false;
            - epsilon, data_source, and metric, the metric that was measured;
            - value: the exact number, or the mean over trials;
            - low, high: the 95% interval of the mean, within the range of the measure; both are
              `value` for an exact number or a single trial;
            - trials: the number of trials, NaN for an exact number;
            - best: whether the score is the best, or tied with it, of noise without a false claim;
            - best_or_tied: `best`, at the epsilons of `ranking`.
    """

    study: Study
    dataset: str
    measure: Metric
    choice: Mapping[str, str]
    calibration: str
    delta: float | None
    epsilons: tuple[float, ...]
    ranking: tuple[float, ...]
    main: float
    scores: pd.DataFrame

    @property
    def name(self) -> str:
        """The anchor of the table on its page."""
        words = (self.study.name, self.dataset, self.measure.name, *self.choice.values())
        return "--".join((*words, self.calibration)).replace(" ", "-")

    @property
    def data_source(self) -> str:
        """The source of the data set."""
        return self.scores["data_source"].iloc[0]

    @property
    def choice_words(self) -> list[str]:
        """The values of the choices, for readers."""
        return [WORDS.get(value, value) for value in self.choice.values()]

    @property
    def named_choice(self) -> str:
        """The choices with their values, for readers: "learning rate 0.15"."""
        titles = (title.lower() for title in self.choice)
        return ", ".join(map(" ".join, zip(titles, self.choice_words, strict=True)))

    @property
    def title(self) -> str:
        """The title: the data, the choices and the measure."""
        data = ", ".join(filter(None, (dataset_title(self.dataset), self.named_choice)))
        return f"{data[0].upper()}{data[1:]}: {self.measure.heading}"

    @property
    def is_main(self) -> bool:
        """Whether the table is by the main measure of the study, at equal true privacy."""
        return self.measure is self.study.ranked[0] and self.calibration == "exact"

    @property
    def at_main(self) -> pd.DataFrame:
        """The scores at the main epsilon."""
        return self.scores[self.scores["epsilon"] == self.main]

    @cached_property
    def best_mechanisms(self) -> dict[str, str]:
        """The titles of the mechanisms that are best or tied at the main epsilon.

        If a mechanism has several such lines, the title is the first one's.
        """
        best = self.at_main[self.at_main["best"]].drop_duplicates("mechanism")
        return dict(zip(best["mechanism"], best["title"], strict=True))

    @property
    def in_columns(self) -> pd.DataFrame:
        """The scores at the epsilons of the columns."""
        return self.scores[self.scores["epsilon"].isin(self.epsilons)]

    @property
    def lines(self) -> list[dict[float, tuple]]:
        """The scores of every line that has one in the columns, by epsilon."""
        lines = {}
        for row in self.in_columns.itertuples():
            lines.setdefault(row.title, {})[row.epsilon] = row
        return list(lines.values())

    @property
    def elsewhere(self) -> list[str]:
        """The lines that have scores at other epsilons than the columns only, with the epsilons."""
        others = self.scores[~self.scores["title"].isin(self.in_columns["title"])]
        return [
            f"{title} (epsilon {', '.join(f'{each:g}' for each in epsilons)})"
            for title, epsilons in others.groupby("title", sort=False)["epsilon"]
        ]

    def table(self) -> pd.DataFrame:
        """Return the scores as rows, for download."""
        told = {
            "study": self.study.name,
            "dataset": self.dataset,
            "data_source": self.data_source,
            **self.choice,
            "measure": self.measure.heading,
            "better": self.measure.better,
            "calibration": self.calibration,
        }
        scored = ["mechanism", "use", "epsilon", "metric", "value", "low", "high", "trials"]
        own = self.scores[[*scored, "best_or_tied"]]
        return pd.DataFrame(told, index=own.index).join(own)


def views_of(
    study: Study, rows: pd.DataFrame, refuted: Collection[str] = frozenset()
) -> Iterator[View]:
    """Yield every table of a study, each at equal true privacy before published noise.

    Args:
        study: The study.
        rows: The rows of the study in a run.
        refuted: The mechanisms whose published claim is false.
    """
    if not study.ranked:
        return
    rows = rows[rows["status"] == OK]
    # The errors of predicting zero become the scores of a control.
    zero = rows["metric"] == "rmse_of_zero"
    named = {"mechanism": ZERO, "metric": study.ranked[0].name}
    rows = pd.concat([rows[~zero], rows[zero].assign(**named)])
    for dataset, on_data in rows.groupby("dataset", sort=False):
        for measure in study.ranked:
            scores = _scores(study, measure, on_data[on_data["metric"].isin(measure.columns)])
            for choice, chosen in _split_by_choice(study, scores):
                for calibration in reversed(CALIBRATIONS):
                    false = refuted if calibration == "published" else ()
                    view = _view(study, dataset, measure, choice, calibration, chosen, false)
                    if view is not None:
                        yield view


def _scores(study: Study, measure: Metric, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the score of each mechanism, use, choice, calibration and budget.

    If rows have several metrics of the measure, the first in its `columns` is the score.
    """
    coordinates = [each.name for each in study.coordinates if each.choice or each.is_use]
    keys = ["data_source", "mechanism", *coordinates, "calibration", "epsilon", "delta"]
    grouped = rows.groupby([*keys, "metric"], sort=False, dropna=False)
    scores = grouped.agg(values=("value", list), trials=("trial", "count")).reset_index()
    scores["trials"] = scores["trials"].astype(float).where(scores["trials"] > 0)
    scores["value"] = scores["values"].map(np.mean)
    scores["low"] = scores["high"] = scores["value"]
    several = scores["trials"] > 1
    intervals = [Mean(values).interval(SHOWN) for values in scores.loc[several, "values"]]
    scores.loc[several, ["low", "high"]] = np.reshape(intervals, (-1, 2)).clip(0, measure.largest)
    order = scores["metric"].map(measure.columns.index).sort_values(kind="stable").index
    return scores.loc[order].drop_duplicates(keys).sort_index()


def _split_by_choice(
    study: Study, scores: pd.DataFrame
) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield every combination of the study's choices with its scores."""
    titles = {each.name: each.choice for each in study.coordinates if each.choice}
    names = [name for name in titles if scores[name].nunique() > 1]
    for values in itertools.product(*(scores[name].dropna().unique() for name in names)):
        chosen = scores
        for name, value in zip(names, values, strict=True):
            # The column of a choice is empty if the score holds for all its values.
            chosen = chosen[(chosen[name] == value) | chosen[name].isna()]
        yield {titles[n]: str(value) for n, value in zip(names, values, strict=True)}, chosen


def _view(study, dataset, measure, choice, calibration, scores, refuted) -> View | None:
    control = scores["mechanism"].isin(CONTROLS)
    private = scores[~control & (scores["calibration"] == calibration)]
    counts = private.groupby("epsilon")["mechanism"].nunique()
    epsilons = tuple(counts.index[counts > 1])
    if not epsilons:
        return None
    deltas = private["delta"].unique()
    uses = [each.name for each in study.coordinates if each.is_use]
    controls = [
        _at_all(own, calibration, epsilons)
        for _, own in scores[control].groupby(["mechanism", *uses], dropna=False)
    ]
    scores = pd.concat([private, *controls])
    scores = scores.sort_values(["mechanism", *uses, "epsilon"], ignore_index=True)
    scores["use"] = [_use(zip(uses, own, strict=True)) for own in scores[uses].to_numpy()]
    scores["title"] = [
        title_in(study.name, row.mechanism, calibration) + (f" ({row.use})" if row.use else "")
        for row in scores.itertuples()
    ]
    scores["control"] = scores["mechanism"].isin(CONTROLS)
    scores["refuted"] = scores["mechanism"].isin(refuted)
    sign = 1 if measure.better == "smaller" else -1
    scores["best"] = _best(scores, sign)
    ranks = _ranking(scores, sign, measure, dataset)
    ranking = tuple(each for each in epsilons if each in ranks)
    scores["best_or_tied"] = scores["best"] & scores["epsilon"].isin(ranking)
    main = min(ranking or epsilons, key=lambda each: (abs(math.log(each)), each))
    at_main = scores[scores["epsilon"] == main].set_index("title")["value"]
    scores["cost"] = sign * scores["title"].map(at_main)
    return View(
        study=study,
        dataset=dataset,
        measure=measure,
        choice=choice,
        calibration=calibration,
        delta=float(deltas[0]) if len(deltas) == 1 else None,
        epsilons=epsilons,
        ranking=ranking,
        main=main,
        scores=scores.sort_values(["control", "refuted", "cost"], kind="stable"),
    )


def _at_all(own: pd.DataFrame, calibration: str, epsilons: Collection[float]) -> pd.DataFrame:
    """Return the scores of a control at all epsilons: the nearest score, as it ignores epsilon."""
    if own["calibration"].nunique() > 1:
        own = own[own["calibration"] == calibration]
    own = own.set_index("epsilon").sort_index()
    return own.reindex(own.index.union(epsilons), method="nearest").reset_index("epsilon")


def _use(values: Iterable[tuple[str, object]]) -> str:
    """Format the (column, value) pairs that describe a use; missing values are left out."""
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else str(value)
        for name, value in values
        if not pd.isna(value)
    )


def _best(scores: pd.DataFrame, sign: int) -> pd.Series:
    """Return whether each score is the best at its epsilon, or tied with the best.

    Controls and noise with a false claim do not compete.

    Args:
        scores: The scores.
        sign: 1 if smaller values are better, else -1.
    """
    competes = ~scores["control"] & ~scores["refuted"]
    own = scores[competes]
    top = own.loc[(sign * own["value"]).groupby(own["epsilon"]).idxmin()].set_index("epsilon")
    top = top.reindex(scores["epsilon"]).set_axis(scores.index)
    overlap = (scores["low"] <= top["high"]) & (top["low"] <= scores["high"])
    near = (scores["value"] - top["value"]).abs() <= TIE * top["value"].abs()
    return competes & (overlap | near)


def _ranking(scores: pd.DataFrame, sign: int, measure: Metric, dataset: str) -> pd.Index:
    """Return the epsilons at which the best score beats an answer without data; see `View.ranking`.

    They include epsilons at which no such answer is known, and none at which no mechanism competes.
    """
    # Times the sign, the lower end of an interval is the better one.
    ends = sign * scores[["low", "high"]]
    reached = ends.max(axis=1)[scores["best"]].groupby(scores["epsilon"]).min()
    without = ends.min(axis=1)[scores["mechanism"].isin(NO_DATA)].groupby(scores["epsilon"]).min()
    without = without.reindex(reached.index).fillna(math.inf)
    if "accuracy" in measure.name:
        # An accuracy that is tied with the share of the commonest class is no better.
        without = without.clip(upper=-MAJORITY.get(dataset, 0.0) * (1 + TIE))
    return reached.index[reached < without]
