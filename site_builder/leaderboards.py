"""Tables that rank mechanisms by a mean, with its 95% interval, at every epsilon."""

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
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
from studies.regression import Regression

# Values within this relative difference are tied, as the figures draw them once.
TIE = 0.01
# A control that is no mechanism: an answer without data that is not random. OF_ZERO has the metric
# of its errors by study.
ZERO = "Predicting zero"
OF_ZERO = {Regression.name: "rmse_of_zero"}
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

    @property
    def relative(self) -> bool:
        """Whether the score has an interval to show."""
        return self.trials is not None and self.trials > 1


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
    refuted: bool = False

    @property
    def title(self) -> str:
        """The title with the use, for readers."""
        return f"{self.name} ({self.use})" if self.use else self.name

    @property
    def is_control(self) -> bool:
        """Whether this is a control: no noise, or an answer without data."""
        return self.mechanism in CONTROLS

    @property
    def competes(self) -> bool:
        """Whether it can be the best: controls and noise with a false claim cannot."""
        return not self.is_control and not self.refuted


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
        main: The epsilon that ranks, the one nearest to 1 at which anything can be ranked.
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
    main: float

    @property
    def name(self) -> str:
        """The anchor of the table on its page."""
        words = (self.study.name, self.dataset, self.measure.name)
        chosen = (value for _, value in self.choice)
        return "--".join((*words, *chosen, self.calibration)).replace(" ", "-")

    @property
    def choice_words(self) -> list[str]:
        """The values of the choices, for readers."""
        return [WORDS.get(value, value) for _, value in self.choice]

    @property
    def named_choice(self) -> str:
        """The choices with their values, for readers: "learning rate 0.15"."""
        titles = (title.lower() for title, _ in self.choice)
        return ", ".join(map(" ".join, zip(titles, self.choice_words, strict=True)))

    @cached_property
    def best(self) -> dict[float, set[tuple[str, str]]]:
        """The competing lines that are best or tied with the best, by epsilon."""
        return {
            epsilon: {(line.mechanism, line.use) for line in self._tied(epsilon)}
            for epsilon in self.epsilons
        }

    def leads(self, line: Line, epsilon: float) -> bool:
        """Return whether a line is best, or tied with the best, and anything can be ranked."""
        return self.is_best(line, epsilon) and self.tells_apart(epsilon)

    def is_best(self, line: Line, epsilon: float) -> bool:
        """Return whether the line is best, or tied with the best, at this epsilon."""
        return (line.mechanism, line.use) in self.best.get(epsilon, ())

    @property
    def best_mechanisms(self) -> dict[str, Line]:
        """The first best or tied line of each mechanism at the main epsilon, by its key."""
        best = [line for line in self.lines if self.is_best(line, self.main)]
        found: dict[str, Line] = {}
        for line in best:
            found.setdefault(line.mechanism, line)
        return found

    def _tied(self, epsilon: float) -> Iterator[Line]:
        competing = [line for line in self.lines if line.competes and epsilon in line.scores]
        sign = 1 if self.measure.better == "smaller" else -1
        if not competing:
            return
        top = min(competing, key=lambda line: sign * line.scores[epsilon].value).scores[epsilon]
        for line in competing:
            score = line.scores[epsilon]
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
        best = [x.scores[epsilon] for x in self.lines if self.is_best(x, epsilon)]
        if not best:
            return False
        if self.measure.better == "smaller":
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


def main_epsilon(epsilons: Sequence[float]) -> float:
    """Return the epsilon nearest to 1 in ratio, the smaller one of two equally near."""
    return min(epsilons, key=lambda epsilon: (abs(math.log(epsilon)), epsilon))


def views_of(
    study: Study, rows: pd.DataFrame, refuted: Collection[str] = frozenset()
) -> Iterator[View]:
    """Yield every table that a run has of a study, equal true privacy before published noise.

    Args:
        refuted: The mechanisms whose published claim is false.
    """
    metrics = {column for measure in study.ranked for column in measure.columns}
    rows = _relabel_zero(study, rows[rows["status"] == OK])
    scores = _scores(study, rows[rows["metric"].isin(metrics)])
    for dataset in dict.fromkeys(scores["dataset"]):
        on_data = scores[scores["dataset"] == dataset]
        for measure in study.ranked:
            measured = _select_metric(on_data, measure)
            for choice, chosen in _split_by_choice(study, measured):
                for calibration in reversed(CALIBRATIONS):
                    false = refuted if calibration == "published" else ()
                    view = _view(study, dataset, measure, choice, calibration, chosen, false)
                    if view is not None:
                        yield view


def _relabel_zero(study: Study, rows: pd.DataFrame) -> pd.DataFrame:
    """Relabel the errors of predicting zero as those of a control."""
    if study.name not in OF_ZERO:
        return rows
    zero = rows["metric"] == OF_ZERO[study.name]
    named = {"mechanism": ZERO, "metric": study.ranked[0].name}
    return pd.concat([rows[~zero], rows[zero].assign(**named)])


def _choices(study: Study) -> dict[str, str]:
    """Return the titles, by column, of those columns whose value the reader chooses."""
    return {each.name: each.choice for each in study.coordinates if each.choice}


def _uses(study: Study) -> list[str]:
    """Return the columns that distinguish several uses of one mechanism."""
    return [each.name for each in study.coordinates if each.is_use]


def _scores(study: Study, rows: pd.DataFrame) -> pd.DataFrame:
    """Return a `score` per mechanism, use, choice, calibration, budget and metric."""
    coordinates = [*_choices(study), *_uses(study)]
    keys = ["dataset", "data_source", "mechanism", *coordinates]
    keys += ["calibration", "epsilon", "delta", "metric"]
    # With many rows, comparing integer codes is faster than comparing text.
    codes = {name: pd.factorize(rows[name], use_na_sentinel=False) for name in keys}
    coded = pd.DataFrame({name: code for name, (code, _) in codes.items()})
    values = rows["value"].to_numpy(float)
    largest = {name: measure.largest for measure in study.ranked for name in measure.columns}
    exact = rows["trial"].isna().to_numpy()
    found = []
    for key, index in coded.groupby(keys, sort=False).indices.items():
        named = {name: codes[name][1][code] for name, code in zip(keys, key, strict=True)}
        metric = named["metric"]
        score = _score(metric, values[index], exact[index].all(), largest[metric])
        found.append(named | {"score": score})
    return pd.DataFrame(found, columns=[*keys, "score"])


def _score(metric: str, values: np.ndarray, exact: bool, largest: float) -> Score:
    value = float(values.mean())
    if exact or len(values) == 1:
        return Score(value, value, value, None if exact else 1, metric)
    low, high = Mean(values).interval(SHOWN)
    return Score(value, max(low, 0.0), min(high, largest), len(values), metric)


def _select_metric(scores: pd.DataFrame, measure: Metric) -> pd.DataFrame:
    """Return the scores of a measure, by the first of its metrics that is present."""
    own = scores[scores["metric"].isin(measure.columns)]
    order = own["metric"].map(measure.columns.index)
    own = own.assign(order=order).sort_values("order", kind="stable")
    keys = [name for name in scores if name not in ("metric", "score")]
    return own.drop_duplicates(keys).drop(columns="order").sort_index()


def _split_by_choice(
    study: Study, scores: pd.DataFrame
) -> Iterator[tuple[tuple[tuple[str, str], ...], pd.DataFrame]]:
    """Yield every combination of the study's choices with its scores."""
    titles = _choices(study)
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
    scores = scores[control | (scores["calibration"] == calibration)]
    lines = [
        replace(line, refuted=line.mechanism in refuted)
        for line in _lines(study, scores, calibration)
    ]
    counts: dict[float, set[str]] = {}
    for line in lines:
        for epsilon in line.scores if not line.is_control else ():
            counts.setdefault(epsilon, set()).add(line.mechanism)
    epsilons = tuple(sorted(epsilon for epsilon, names in counts.items() if len(names) > 1))
    if not epsilons:
        return None
    deltas = scores.loc[~scores["mechanism"].isin(CONTROLS), "delta"].unique()
    view = View(
        study=study,
        dataset=dataset,
        data_source=scores["data_source"].iloc[0],
        measure=measure,
        choice=choice,
        calibration=calibration,
        delta=float(deltas[0]) if len(deltas) == 1 else None,
        lines=tuple(_spread_control(line, epsilons) for line in lines),
        epsilons=epsilons,
        main=main_epsilon(epsilons),
    )
    ranking = [epsilon for epsilon in epsilons if view.tells_apart(epsilon)]
    return _rank(replace(view, main=main_epsilon(ranking or epsilons)))


def _rank(view: View) -> View:
    sign = 1 if view.measure.better == "smaller" else -1

    def rank(line: Line) -> tuple:
        missing = view.main not in line.scores
        return (
            line.is_control,
            line.refuted,
            missing,
            0 if missing else sign * line.scores[view.main].value,
        )

    return replace(view, lines=tuple(sorted(view.lines, key=rank)))


def _spread_control(line: Line, epsilons: tuple[float, ...]) -> Line:
    """Copy the score of a control that was run at one epsilon to all: controls ignore epsilon."""
    if not line.is_control or set(epsilons) <= set(line.scores):
        return line
    only = next(iter(line.scores.values()))
    return replace(line, scores=dict.fromkeys(epsilons, only) | line.scores)


def _lines(study: Study, found: pd.DataFrame, calibration: str) -> Iterator[Line]:
    """Yield a line per mechanism and use, sorted by name, with its scores by epsilon."""
    uses = _uses(study)
    for values, own in found.groupby(["mechanism", *uses], sort=True, dropna=False):
        mechanism, *details = values
        if mechanism in CONTROLS and own["calibration"].nunique() > 1:
            own = own[own["calibration"] == calibration]
        named = zip(uses, details, strict=True)
        use = ", ".join(_use(name, value) for name, value in named if not pd.isna(value))
        name = title_in(study.name, mechanism, calibration)
        scores = dict(sorted(zip(own["epsilon"], own["score"], strict=True)))
        yield Line(mechanism, name, use, scores)


def _use(name: str, value: object) -> str:
    return f"{name} {value:g}" if isinstance(value, float) else str(value)
