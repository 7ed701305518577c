"""Scores over epsilon, which figures draw and on which claims about orders, levels and rises rest.

A score is the accuracy or the F1 of a trained model, with one row for each trial.
"""

import math
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import pandas as pd
import scipy

from claims.comparisons import Signal, at_most
from claims.implied_epsilon import Implied, on_curve
from claims.intervals import SHOWN, Mean, paired
from claims.judged_rows import LEVELS, listed, ok_rows, pick, range_text, required, select
from claims.judges import CannotJudge
from claims.mechanism_titles import mechanism_title
from claims.verdicts import CONFIRMED, INCONCLUSIVE, NOT_RUN, Part, Sizes
from datasets.majority import MAJORITY
from datasets.titles import dataset_title

# The metric of each study that is the score of its models.
SCORED = {
    "private_data": "f1",
    "private_features": "f1",
    "private_parameters": "f1",
    "features": "test_accuracy",
    "gradients": "final_test_accuracy",
    "federated_horizontal": "final_test_accuracy",
    "federated_sums": "final_test_accuracy",
    "federated_vertical": "final_test_accuracy",
}


@dataclass(frozen=True)
class Scores:
    """The scores on one data set, with a row for each trial.

    Args:
        rows: A frame with columns dataset, mechanism, epsilon, trial and value. The controls,
            LEVELS, ignore epsilon.
        resolution: The least standard error of a mean, such as one record of the test set.
    """

    rows: pd.DataFrame
    resolution: float = 0.0

    @property
    def dataset(self) -> str:
        """The key of the data set."""
        return self.rows["dataset"].iloc[0]

    @property
    def title(self) -> str:
        """The title of the data set."""
        return dataset_title(self.dataset)

    @property
    def private(self) -> pd.DataFrame:
        """The rows without those of controls."""
        return self.rows[~self.rows["mechanism"].isin(LEVELS)]

    @property
    def trials(self) -> int:
        """The number of trials."""
        return int(self.private["trial"].nunique())

    @property
    def epsilons(self) -> list[float]:
        """The budgets in order."""
        return sorted(self.private["epsilon"].unique())

    @property
    def range_of_epsilons(self) -> str:
        """The smallest and the largest budget as text, or the only one."""
        return range_text(f"{self.epsilons[0]:g}", f"{self.epsilons[-1]:g}")

    @property
    def means(self) -> pd.Series:
        """The means over trials, by (mechanism, epsilon)."""
        return self.rows.groupby(["mechanism", "epsilon"], observed=True)["value"].mean()

    def at(self, **values) -> Self:
        """Return the scores with these column values, or raise CannotJudge if there are none."""
        return replace(self, rows=pick(self.rows, **values))

    def select(self, mechanisms: Iterable[str]) -> Self:
        """Return the scores of these mechanisms, or raise CannotJudge if there are none."""
        own = self.rows[self.rows["mechanism"].isin(list(mechanisms))]
        missing = CannotJudge(f"The results have no scores of {listed(mechanisms)}")
        return replace(self, rows=required(own, missing))

    def select_budgets(self, least: float, largest: float) -> Self:
        """Return the scores at budgets between two, both included, and those of the controls.

        Raises:
            CannotJudge: There is no such budget.
        """
        control = self.rows["mechanism"].isin(LEVELS)
        inside = self.rows["epsilon"].between(least, largest) & ~control
        missing = CannotJudge(f"The results have no budget from {least:g} to {largest:g}")
        required(self.rows[inside], missing)
        return replace(self, rows=self.rows[inside | control])

    def level(self, mechanism: str) -> float:
        """Return the mean over all trials and budgets of a mechanism, such as a control."""
        return float(pick(self.rows, mechanism=mechanism)["value"].mean())

    def peak(self, mechanisms: Iterable[str]) -> tuple[str, float]:
        """Return the mechanism and epsilon of the highest mean; CannotJudge if there is none."""
        return self.select(mechanisms).means.idxmax()

    def best(self, mechanisms: Iterable[str]) -> float:
        """Return the highest mean of these mechanisms, or raise CannotJudge if there is none."""
        return float(self.means[self.peak(mechanisms)])

    def score(self, mechanism: str, epsilon: float) -> Mean:
        """Return the mean over trials of one mechanism at one epsilon, with its interval."""
        own = pick(self.rows, mechanism=mechanism, epsilon=epsilon)
        return Mean(own["value"].to_numpy(float), self.resolution)

    def by_trial(self, mechanism: str, epsilons: Collection[float]) -> pd.DataFrame:
        """Return the mean over some budgets for each trial, or over all budgets for a control.

        Raises:
            CannotJudge: The mechanism has no scores there.
        """
        own = pick(self.rows, mechanism=mechanism)
        if mechanism not in LEVELS:
            missing = CannotJudge(
                f"The results have no {mechanism_title(mechanism)} on {self.title} at epsilon "
                f"{listed(f'{epsilon:g}' for epsilon in epsilons)}"
            )
            own = required(own[own["epsilon"].isin(epsilons)], missing)
            # A trial without a score at some budget would be a mean over other budgets.
            whole = own.groupby("trial")["epsilon"].nunique() == own["epsilon"].nunique()
            own = own[own["trial"].map(whole)]
        return own.groupby("trial")["value"].mean().reset_index()

    def gap(self, larger: str, smaller: str, epsilon: float | None = None) -> Mean:
        """Return the difference between the scores of two mechanisms, paired by trial.

        It is taken at one epsilon, or by default over the mean of the budgets that both have.

        Raises:
            CannotJudge: One of them has no scores, or they share no budget.
        """
        shared = [epsilon] if epsilon else self._shared_budgets(larger, smaller)
        both = (self.by_trial(name, shared) for name in (larger, smaller))
        return paired(*both, resolution=self.resolution)

    def _shared_budgets(self, *mechanisms: str) -> list[float]:
        own = [name for name in mechanisms if name not in LEVELS]
        budgets = [set(pick(self.rows, mechanism=name)["epsilon"]) for name in own]
        missing = CannotJudge(f"{listed(mechanisms)} share no budget on {self.title}")
        return required(sorted(set.intersection(*budgets)), missing)

    def rise(self, mechanism: str) -> pd.Series:
        """Return the score at the largest budget minus that at the smallest, by trial.

        Raises:
            CannotJudge: There is only one budget.
        """
        own = pick(self.rows, mechanism=mechanism)
        ends = [own["epsilon"].max(), own["epsilon"].min()]
        if ends[0] == ends[1]:
            raise CannotJudge(f"One budget of {mechanism} shows no trend")
        high, low = (self.by_trial(mechanism, [end]).set_index("trial")["value"] for end in ends)
        return (high - low).dropna()

    @property
    def floor(self) -> tuple[float | None, str]:
        """The best score without private answers and its source in words; (None, "") if unknown.

        The source is the most common class or random answers. The latter score higher if there are
        many classes, as networks also learn from the labels beside random answers.
        """
        random = self.rows[self.rows["mechanism"] == "random-answer"]["value"]
        known = [] if random.empty else [(float(random.mean()), "the random answer")]
        if self.dataset in MAJORITY:
            known.append((MAJORITY[self.dataset], "the majority class"))
        return max(known, default=(None, ""))

    def signal(self, mechanisms: Collection[str], margin: float) -> Signal:
        """Return the signal that mechanisms differ from the controls, by means over trials."""
        floor, words = self.floor
        exact = self.rows[self.rows["mechanism"] == "non-private"]["value"]
        return Signal(
            means=tuple(self.means[self.means.index.isin(mechanisms, level="mechanism")]),
            floor=floor,
            ceiling=None if exact.empty else float(exact.mean()),
            margin=margin,
            floor_words=words,
        )

    def keep_learned(self, mechanisms: Collection[str], margin: float) -> Self:
        """Return the scores at budgets at which one of the mechanisms has learned.

        That is, its mean is above the floor by the margin, and its whole 95% interval is above the
        floor, as a few models that are mostly noise may have a mean above it by chance. At other
        budgets scores may differ although no mechanism has learned. If there is no such budget, or
        no floor, all scores are returned, and `signal` says what is missing. The choice of budgets
        depends on the scores that are then compared, through the better mechanism, whichever it is,
        and intervals do not account for that.
        """
        floor, _ = self.floor
        if floor is None:
            return self
        own = self.rows[self.rows["mechanism"].isin(mechanisms)]
        scores = own.groupby(["mechanism", "epsilon"], observed=True)["value"]
        half = scipy.special.stdtrit(scores.count() - 1, (1 + SHOWN) / 2) * scores.sem()
        learns = (scores.mean() > floor + margin) & (scores.mean() - half > floor)
        budgets = learns[learns].index.get_level_values("epsilon")
        kept = self.rows[self.rows["epsilon"].isin(budgets)]
        return self if kept.empty else replace(self, rows=kept)

    def low(self, mechanism: str, margin: float, end: float = math.inf) -> Part:
        """Judge whether a mechanism is at most a margin above chance at budgets up to `end`.

        The best of these budgets decides; its interval does not account for that choice. If all
        budgets are larger, a low score at the smallest one confirms it, because more noise makes it
        no better. A higher score there decides nothing.
        """
        own = self.select([mechanism])
        least = own.epsilons[0]
        _, epsilon = own.select_budgets(0.0, max(end, least)).peak([mechanism])
        name = f"{self.title}, {label_of(mechanism, epsilon)} above random answers"
        part = at_most(name, self.gap(mechanism, "random-answer", epsilon), margin=margin)
        if least <= end or part.verdict == CONFIRMED:
            return part
        return replace(part, verdict=INCONCLUSIVE, reason=f"not run up to {end:g}")

    def implied(self, mechanism: str, stated: float) -> Implied:
        """Find the epsilon at which a mechanism reaches a score; CannotJudge if it has none."""
        own = self.select([mechanism])
        return on_curve({each: self.score(mechanism, each) for each in own.epsilons}, stated)


class ByDataset(dict[str, Scores]):
    """The scores of a study at one calibration, by data set.

    Raises:
        CannotJudge: The run does not have the data set; this replaces KeyError.
    """

    calibration: str = "published"

    def __missing__(self, dataset: str) -> Scores:
        where = "" if self.calibration == "published" else " at equal true privacy"
        raise CannotJudge(f"This run has no {dataset_title(dataset)}{where}")


def label_of(mechanism: str, epsilon: float) -> str:
    """Format as "TLDP-G at epsilon 0.9"."""
    return f"{mechanism_title(mechanism)} at epsilon {epsilon:g}"


def official_scores(
    rows: pd.DataFrame,
    study: str,
    calibration: str = "published",
    mechanisms: Collection[str] | None = None,
    resolution: float = 0.0,
    **at: str,
) -> ByDataset:
    """Return the scores on every official data set of a study, in alphabetical order; may be empty.

    Args:
        rows: The rows of a run.
        study: The study.
        calibration: The calibration.
        mechanisms: The mechanisms that a claim is about; others have no part in it. None takes all.
        resolution: The least standard error of a mean.
        at: Values of the study's coordinates, such as range="clip".
    """
    by_dataset, found = ByDataset(), ok_rows(rows, study, SCORED[study])
    by_dataset.calibration = calibration
    if found.empty:
        # A table without rows of the study may lack its coordinates, too.
        return by_dataset
    found = select(found, data_source="official", calibration=calibration, **at)
    if mechanisms is not None:
        found = found[found["mechanism"].isin(mechanisms)]
    # A data set with only controls shows nothing.
    for name in sorted(found[~found["mechanism"].isin(LEVELS)]["dataset"].unique()):
        by_dataset[name] = Scores(found[found["dataset"] == name], resolution)
    return by_dataset


def select_datasets(found: Mapping[str, Scores], datasets: Iterable[str]) -> dict[str, Scores]:
    """Return the scores on those of some data sets that a run has, in this order.

    Raises:
        CannotJudge: The run has none of them.
    """
    titles = {name: dataset_title(name) for name in datasets}
    own = {name: found[name] for name in titles if name in found}
    missing = CannotJudge(f"This run has none of {', '.join(titles.values())}")
    return required(own, missing)


def absent_datasets(found: Container[str], datasets: Iterable[str], about: str = "") -> list[Part]:
    """Return a part `not run` about each data set that a run lacks, named by `about` and title."""
    return [Part(about + dataset_title(name), NOT_RUN) for name in datasets if name not in found]


def sizes_in_lines(lines: Iterable[Sizes]) -> dict[str, Sizes | list[Sizes]]:
    """Return the fields of a finding for its sizes, with a line for each data set."""
    first, *others = lines
    return {"sizes": first, "other_sizes": others}
