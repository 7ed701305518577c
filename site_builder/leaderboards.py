"""Tables that rank mechanisms by a mean, with its 95% interval, at every epsilon."""

import itertools
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from claims.intervals import SHOWN, Mean
from claims.judged_rows import LEVELS
from datasets.majority import MAJORITY
from mechanisms.base.mechanism import CALIBRATIONS
from paper_figures.style import title_in
from runs.result_table import OK
from studies.base.metrics import Metric
from studies.base.study import Study

# Values within this relative difference are tied, as the figures draw them once.
TIE = 0.01
# A control that is no mechanism: an answer without data that is not random.
ZERO = "Predicting zero"
NO_DATA = ("random-answer", ZERO)
CONTROLS = (*LEVELS, ZERO)
# The names of choices in the claims, where they differ from those in the rows.
WORDS = {"polynomial": "cubic", "rbf": "Gaussian"}


@dataclass(frozen=True)
class Score:
    """The score of a mechanism at one epsilon.

    Args:
        value: The exact number, or the mean over trials.
        low, high: The 95% interval of the mean, within the range of the measure; both are `value`
            for an exact number or a single trial.
        trials: The number of trials, None for an exact number.
        metric: The metric that was measured.
    """

    value: float
    low: float
    high: float
    trials: int | None
    metric: str


@dataclass(frozen=True)
class Line:
    """One mechanism, or one use of it, with its scores by epsilon.

    Args:
        mechanism: The key of the mechanism.
        name: The title of the mechanism in this study.
        use: The use of the mechanism, or "".
        scores: The scores by epsilon.
        refuted: Whether this is published noise whose privacy claim is false.
    """

    mechanism: str
    name: str
    use: str
    scores: dict[float, Score]
    refuted: bool

    @property
    def title(self) -> str:
        """The title with the use, for readers."""
        return f"{self.name} ({self.use})" if self.use else self.name

    @property
    def is_control(self) -> bool:
        """Whether this is a control: no noise, or an answer without data."""
        return self.mechanism in CONTROLS


@dataclass(frozen=True)
class View:
    """One table, for a data set, a measure, a calibration and the reader's other choices.

    Args:
        study: The study.
        dataset, data_source: The data set and its source.
        measure: The metric that is ranked.
        choice: The values of the study's choices, as pairs (title, value).
        calibration: "published" or "exact".
        delta: The delta of the budgets; None if they differ.
        lines: The mechanisms, in this order: those with a score at `main`, best first; those
            without one there; those with a false claim; the controls.
        epsilons: The columns, budgets at which two or more mechanisms have a score.
    """

    study: Study
    dataset: str
    data_source: str
    measure: Metric
    choice: tuple[tuple[str, str], ...]
    calibration: str
    delta: float | None
    lines: tuple[Line, ...]
    epsilons: tuple[float, ...]

    @property
    def name(self) -> str:
        """The anchor of the table on its page."""
        words = (self.study.name, self.dataset, self.measure.name)
        chosen = (value for _, value in self.choice)
        return "--".join((*words, *chosen, self.calibration)).replace(" ", "-")

    @property
    def sign(self) -> int:
        """The factor that makes the smaller value the better one."""
        return 1 if self.measure.better == "smaller" else -1

    @property
    def choice_words(self) -> list[str]:
        """The values of the choices, for readers."""
        return [WORDS.get(value, value) for _, value in self.choice]

    @property
    def named_choice(self) -> str:
        """The choices with their values, for readers: "learning rate 0.15"."""
        titles = (title.lower() for title, _ in self.choice)
        return ", ".join(map(" ".join, zip(titles, self.choice_words, strict=True)))

    @property
    def is_main(self) -> bool:
        """Whether this is by the main measure of the study, at equal true privacy."""
        return self.measure is self.study.ranked[0] and self.calibration == "exact"

    @cached_property
    def main(self) -> float:
        """The epsilon that ranks, of those at which anything can be ranked.

        It is the one nearest to 1 in ratio, and the smaller one of two equally near.
        """
        ranking = [epsilon for epsilon in self.epsilons if self.tells_apart(epsilon)]
        return min(ranking or self.epsilons, key=lambda each: (abs(math.log(each)), each))

    @cached_property
    def best(self) -> dict[float, list[Line]]:
        """The competing lines that are best or tied with the best, by epsilon."""
        return {epsilon: list(self._tied(epsilon)) for epsilon in self.epsilons}

    def leads(self, line: Line, epsilon: float) -> bool:
        """Return whether a line is best, or tied with the best, and anything can be ranked."""
        return line in self.best.get(epsilon, ()) and self.tells_apart(epsilon)

    @property
    def best_mechanisms(self) -> dict[str, Line]:
        """The first best or tied line of each mechanism at the main epsilon, by its key."""
        found: dict[str, Line] = {}
        for line in self.best[self.main]:
            found.setdefault(line.mechanism, line)
        return found

    def _tied(self, epsilon: float) -> Iterator[Line]:
        """Yield the best lines; controls and noise with a false claim cannot be among them."""
        competing = [
            line
            for line in self.lines
            if epsilon in line.scores and not line.is_control and not line.refuted
        ]
        if not competing:
            return
        scores = [line.scores[epsilon] for line in competing]
        top = min(scores, key=lambda score: self.sign * score.value)
        for line, score in zip(competing, scores, strict=True):
            overlap = score.low <= top.high and top.low <= score.high
            if overlap or abs(score.value - top.value) <= TIE * abs(top.value):
                yield line

    def tells_apart(self, epsilon: float) -> bool:
        """Return whether the best beats an answer without data; otherwise nothing can be ranked.

        Such an answer is random, a prediction of zero or, if accuracies are ranked, the commonest
        class. The result is true if no such answer is known, and false if nothing competes.
        """
        floor = [
            line.scores[epsilon]
            for line in self.lines
            if line.mechanism in NO_DATA and epsilon in line.scores
        ]
        best = [line.scores[epsilon] for line in self.best[epsilon]]
        if not best:
            return False
        if self.sign > 0:
            without = min((score.low for score in floor), default=math.inf)
            return min(score.high for score in best) < without
        without = max((score.high for score in floor), default=-math.inf)
        if "accuracy" in self.measure.name:
            # An accuracy within a tie of the commonest class's share is no better.
            without = max(without, MAJORITY.get(self.dataset, 0.0) * (1 + TIE))
        return max(score.low for score in best) > without

    @property
    def elsewhere(self) -> list[str]:
        """The mechanisms whose scores are all at epsilons outside the table's columns."""
        return [
            f"{line.title} (epsilon {', '.join(f'{e:g}' for e in sorted(line.scores))})"
            for line in self.lines
            if not line.is_control and not set(line.scores) & set(self.epsilons)
        ]

    @property
    def shown(self) -> list[Line]:
        """The lines with a score in the table."""
        return [line for line in self.lines if set(line.scores) & set(self.epsilons)]

    def table(self) -> pd.DataFrame:
        """Return the scores as rows, for download."""
        return pd.DataFrame(
            {
                "study": self.study.name,
                "dataset": self.dataset,
                "data_source": self.data_source,
                **dict(self.choice),
                "measure": self.measure.heading,
                "better": self.measure.better,
                "calibration": self.calibration,
                "mechanism": line.mechanism,
                "use": line.use,
                "epsilon": epsilon,
                "metric": score.metric,
                "value": score.value,
                "low": score.low,
                "high": score.high,
                "trials": score.trials,
                "best_or_tied": self.leads(line, epsilon),
            }
            for line in self.lines
            for epsilon, score in line.scores.items()
        )


def views_of(
    study: Study, rows: pd.DataFrame, refuted: Collection[str] = frozenset()
) -> Iterator[View]:
    """Yield every table that a run has of a study, equal true privacy before published noise.

    Args:
        refuted: The mechanisms whose published claim is false.
    """
    if not study.ranked:
        return
    rows = rows[rows["status"] == OK]
    # The errors of predicting zero are those of a control.
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
    """Return a `score` per mechanism, use, choice, calibration and budget.

    A score is by the first metric of the measure that is present.
    """
    coordinates = [each.name for each in study.coordinates if each.choice or each.is_use]
    keys = ["data_source", "mechanism", *coordinates, "calibration", "epsilon", "delta"]
    grouped = rows.groupby([*keys, "metric"], sort=False, dropna=False)
    scores = grouped.agg(values=("value", list), trials=("trial", "count")).reset_index()
    scores["score"] = [
        _score(row.metric, np.array(row.values), row.trials == 0, measure.largest)
        for row in scores.itertuples()
    ]
    order = scores["metric"].map(measure.columns.index).sort_values(kind="stable").index
    return scores.loc[order].drop_duplicates(keys).sort_index()


def _score(metric: str, values: np.ndarray, exact: bool, largest: float) -> Score:
    value = float(values.mean())
    if exact or len(values) == 1:
        return Score(value, value, value, None if exact else 1, metric)
    low, high = Mean(values).interval(SHOWN)
    return Score(value, max(low, 0.0), min(high, largest), len(values), metric)


def _split_by_choice(
    study: Study, scores: pd.DataFrame
) -> Iterator[tuple[tuple[tuple[str, str], ...], pd.DataFrame]]:
    """Yield every combination of the study's choices with its scores."""
    titles = {each.name: each.choice for each in study.coordinates if each.choice}
    names = [name for name in titles if scores[name].nunique() > 1]
    values = [list(dict.fromkeys(scores[name].dropna())) for name in names]
    for combination in itertools.product(*values):
        chosen = scores
        for name, value in zip(names, combination, strict=True):
            # A score that holds for all values of the choice has no value in its column.
            chosen = chosen[(chosen[name] == value) | chosen[name].isna()]
        choice = tuple(
            (titles[name], str(value)) for name, value in zip(names, combination, strict=True)
        )
        yield choice, chosen


def _view(study, dataset, measure, choice, calibration, scores, refuted) -> View | None:
    control = scores["mechanism"].isin(CONTROLS)
    private = scores[~control & (scores["calibration"] == calibration)]
    counts = private.groupby("epsilon")["mechanism"].nunique()
    epsilons = tuple(counts.index[counts > 1])
    if not epsilons:
        return None
    deltas = private["delta"].unique()
    scores = pd.concat([private, scores[control]])
    view = View(
        study=study,
        dataset=dataset,
        data_source=scores["data_source"].iloc[0],
        measure=measure,
        choice=choice,
        calibration=calibration,
        delta=float(deltas[0]) if len(deltas) == 1 else None,
        lines=tuple(_lines(study, scores, calibration, refuted, epsilons)),
        epsilons=epsilons,
    )

    def rank(line: Line) -> tuple:
        missing = view.main not in line.scores
        value = 0 if missing else view.sign * line.scores[view.main].value
        return line.is_control, line.refuted, missing, value

    return replace(view, lines=tuple(sorted(view.lines, key=rank)))


def _lines(
    study: Study,
    found: pd.DataFrame,
    calibration: str,
    refuted: Collection[str],
    epsilons: Collection[float],
) -> Iterator[Line]:
    """Yield a line per mechanism and use, sorted by name, with its scores by epsilon.

    Controls ignore epsilon: the score of one that was run at one epsilon is that at all.
    """
    uses = [each.name for each in study.coordinates if each.is_use]
    for values, own in found.groupby(["mechanism", *uses], sort=True, dropna=False):
        mechanism, *details = values
        if mechanism in CONTROLS and own["calibration"].nunique() > 1:
            own = own[own["calibration"] == calibration]
        named = zip(uses, details, strict=True)
        use = ", ".join(_use(name, value) for name, value in named if not pd.isna(value))
        name = title_in(study.name, mechanism, calibration)
        scores = dict(sorted(zip(own["epsilon"], own["score"], strict=True)))
        if mechanism in CONTROLS and not scores.keys() >= set(epsilons):
            scores = dict.fromkeys(epsilons, next(iter(scores.values()))) | scores
        yield Line(mechanism, name, use, scores, mechanism in refuted)


def _use(name: str, value: object) -> str:
    return f"{name} {value:g}" if isinstance(value, float) else str(value)
