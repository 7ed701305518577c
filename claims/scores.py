"""Scores over epsilon, for figures and for claims about orders, levels and rises.

A score is the accuracy or the F1 of a trained model, with a row for each trial.
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

# The metric that is the score, by study.
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
        rows: A frame with columns dataset, mechanism, epsilon, trial and value. The controls in
            LEVELS ignore epsilon.
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
        """The rows without the controls."""
        return self.rows[~self.rows["mechanism"].isin(LEVELS)]

    @property
    def trials(self) -> int:
        """The number of trials."""
        return int(self.private["trial"].nunique())

    @property
    def epsilons(self) -> list[float]:
        """The epsilons, in increasing order."""
        return sorted(self.private["epsilon"].unique())

    @property
    def range_of_epsilons(self) -> str:
        """The smallest and the largest epsilon as text, or the only one."""
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
        """Return the scores at epsilons from `least` to `largest`, and the scores of the controls.

        Raises:
            CannotJudge: There is no such epsilon.
        """
        control = self.rows["mechanism"].isin(LEVELS)
        inside = self.rows["epsilon"].between(least, largest) & ~control
        missing = CannotJudge(f"The results have no budget from {least:g} to {largest:g}")
        required(self.rows[inside], missing)
        return replace(self, rows=self.rows[inside | control])

    def level(self, mechanism: str) -> float:
        """Return the mean over all trials and epsilons of a mechanism, such as a control."""
        return float(pick(self.rows, mechanism=mechanism)["value"].mean())

    def peak(self, mechanisms: Iterable[str]) -> tuple[str, float]:
        """Return the mechanism and the epsilon of the highest mean among these mechanisms.

        Raises:
            CannotJudge: There are no scores of them.
        """
        return self.select(mechanisms).means.idxmax()

    def best(self, mechanisms: Iterable[str]) -> float:
        """Return the highest mean among these mechanisms; `peak` says what it raises."""
        return float(self.means[self.peak(mechanisms)])

    def score(self, mechanism: str, epsilon: float) -> Mean:
        """Return the mean over trials of one mechanism at one epsilon, with its interval."""
        own = pick(self.rows, mechanism=mechanism, epsilon=epsilon)
        return Mean(own["value"].to_numpy(float), self.resolution)

    def by_trial(self, mechanism: str, epsilons: Collection[float]) -> pd.DataFrame:
        """Return each trial's mean over these epsilons, or over all epsilons for a control.

        The columns are trial and value. A trial that lacks one of the epsilons is left out.

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
            # The mean of a trial that lacks an epsilon would be over other epsilons.
            whole = own.groupby("trial")["epsilon"].nunique() == own["epsilon"].nunique()
            own = own[own["trial"].map(whole)]
        return own.groupby("trial")["value"].mean().reset_index()

    def gap(self, larger: str, smaller: str, epsilon: float | None = None) -> Mean:
        """Return the mean of `larger` - `smaller`, two mechanisms, paired by trial.

        The scores are those at an epsilon, or by default the means over the epsilons of both.

        Raises:
            CannotJudge: A mechanism has no scores, or the two share no epsilon.
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
        """Return the score at the largest epsilon minus the score at the smallest one, by trial.

        Raises:
            CannotJudge: The mechanism has no scores, or only one epsilon.
        """
        own = pick(self.rows, mechanism=mechanism)
        ends = [own["epsilon"].max(), own["epsilon"].min()]
        if ends[0] == ends[1]:
            raise CannotJudge(f"One budget of {mechanism} shows no trend")
        high, low = (self.by_trial(mechanism, [end]).set_index("trial")["value"] for end in ends)
        return (high - low).dropna()

    @property
    def floor(self) -> tuple[float | None, str]:
        """The best score without private answers, and its source in words; (None, "") if unknown.

        The source is the most common class or the random answer. If there are many classes, the
        random answer scores higher, because networks also learn from the labels beside it.
        """
        random = self.rows[self.rows["mechanism"] == "random-answer"]["value"]
        known = [] if random.empty else [(float(random.mean()), "the random answer")]
        if self.dataset in MAJORITY:
            known.append((MAJORITY[self.dataset], "the majority class"))
        return max(known, default=(None, ""))

    def signal(self, mechanisms: Collection[str], margin: float) -> Signal:
        """Return the signal of these mechanisms, by their means over trials and the controls."""
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
        """Return the scores at the epsilons at which one of the mechanisms has learned.

        A mechanism has learned if its mean is above the floor by more than the margin, and its
        whole 95% interval is above the floor: the mean of a few models that are mostly noise may be
        above it by chance. At other epsilons, scores may differ although no mechanism has learned.
        If there is no such epsilon, or no floor, all scores are returned, and `signal` says what is
        missing. The choice of epsilons depends on the scores that are then compared, through the
        better mechanism, whichever it is. The intervals do not account for that.
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
        """Judge whether a mechanism is at most a margin above chance at epsilons up to `end`.

        The epsilon with the best mean decides; its interval does not account for that choice. If
        all epsilons are larger than `end`, a low score at the smallest one confirms the part,
        because more noise does not raise a score. A higher score there decides nothing.
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
        """Find the epsilon at which a mechanism reaches a score.

        Raises:
            CannotJudge: The mechanism has no scores.
        """
        own = self.select([mechanism])
        return on_curve({each: self.score(mechanism, each) for each in own.epsilons}, stated)


class ByDataset(dict[str, Scores]):
    """The scores of a study at one calibration, by data set.

    A data set that the run does not have raises CannotJudge in place of KeyError.
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
    """Return the scores on every official data set of a study, in alphabetical order.

    Args:
        rows: The rows of a run.
        study: The study.
        calibration: The calibration.
        mechanisms: The mechanisms that a claim is about; the default takes all.
        resolution: The least standard error of a mean.
        at: Values of the study's coordinates, such as range="clip".
    """
    by_dataset, found = ByDataset(), ok_rows(rows, study, SCORED[study])
    by_dataset.calibration = calibration
    if found.empty:
        # Without rows of the study, the frame may lack the columns of its coordinates.
        return by_dataset
    found = select(found, data_source="official", calibration=calibration, **at)
    if mechanisms is not None:
        found = found[found["mechanism"].isin(mechanisms)]
    # Leave out a data set that has only controls.
    for name in sorted(found[~found["mechanism"].isin(LEVELS)]["dataset"].unique()):
        by_dataset[name] = Scores(found[found["dataset"] == name], resolution)
    return by_dataset


def select_datasets(found: Mapping[str, Scores], datasets: Iterable[str]) -> dict[str, Scores]:
    """Return the scores on those of `datasets` that a run has, in this order.

    Raises:
        CannotJudge: The run has none of them.
    """
    titles = {name: dataset_title(name) for name in datasets}
    own = {name: found[name] for name in titles if name in found}
    missing = CannotJudge(f"This run has none of {', '.join(titles.values())}")
    return required(own, missing)


def absent_datasets(found: Container[str], datasets: Iterable[str], about: str = "") -> list[Part]:
    """Return a part `not run` for each data set that a run lacks; its name is `about` + title."""
    return [Part(about + dataset_title(name), NOT_RUN) for name in datasets if name not in found]


def sizes_in_lines(lines: Iterable[Sizes]) -> dict[str, Sizes | list[Sizes]]:
    """Return the fields `sizes` and `other_sizes` of a finding, from the sizes on each data set."""
    first, *others = lines
    return {"sizes": first, "other_sizes": others}
