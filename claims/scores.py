"""Scores over epsilon: what figures draw, and what claims about orders, levels and rises rest on.

A score is the accuracy or the F1 of a trained model, one row for each trial.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import pandas as pd
import scipy

from claims.comparisons import Signal, at_most
from claims.implied_epsilon import Implied, on_curve
from claims.intervals import SHOWN, Mean, paired
from claims.judged_rows import LEVELS, listed, ok_rows, pick, required
from claims.judges import CannotJudge
from claims.mechanism_titles import mechanism_title
from claims.verdicts import CONFIRMED, INCONCLUSIVE, Part, Sizes
from datasets.majority import MAJORITY
from datasets.titles import dataset_title

# The metric of a study that is the score of its models.
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
    """The scores on one data set, a row for each trial.

    Args:
        rows: Columns dataset, mechanism, epsilon, trial and value. The controls, LEVELS, ignore
            epsilon.
        resolution: The least standard error of a mean, such as one record of the test set.
    """

    rows: pd.DataFrame
    resolution: float = 0.0

    @property
    def dataset(self) -> str:
        """Key of the data set."""
        return self.rows["dataset"].iloc[0]

    @property
    def title(self) -> str:
        """Title of the data set."""
        return dataset_title(self.dataset)

    @property
    def private(self) -> pd.DataFrame:
        """The rows, controls aside."""
        return self.rows[~self.rows["mechanism"].isin(LEVELS)]

    @property
    def trials(self) -> int:
        """Number of trials."""
        return int(self.private["trial"].nunique())

    @property
    def epsilons(self) -> list[float]:
        """The budgets in order."""
        return sorted(self.private["epsilon"].unique())

    @property
    def range_of_epsilons(self) -> str:
        """The smallest and the largest budget as text, or the only one."""
        return " to ".join(dict.fromkeys(f"{self.epsilons[end]:g}" for end in (0, -1)))

    @property
    def means(self) -> pd.Series:
        """Mean over the trials by (mechanism, epsilon)."""
        return self.rows.groupby(["mechanism", "epsilon"], observed=True)["value"].mean()

    def at(self, **values) -> Self:
        """The scores with these column values; CannotJudge where there are none."""
        return replace(self, rows=pick(self.rows, **values))

    def select(self, mechanisms: Iterable[str]) -> Self:
        """The scores of these mechanisms; CannotJudge where there are none."""
        own = self.rows[self.rows["mechanism"].isin(list(mechanisms))]
        missing = CannotJudge(f"The results have no scores of {listed(mechanisms)}")
        return replace(self, rows=required(own, missing))

    def select_budgets(self, least: float, largest: float) -> Self:
        """The scores at budgets from one to another, and the controls.

        Raises:
            CannotJudge: There is no such budget.
        """
        control = self.rows["mechanism"].isin(LEVELS)
        inside = self.rows["epsilon"].between(least, largest) & ~control
        missing = CannotJudge(f"The results have no budget from {least:g} to {largest:g}")
        required(self.rows[inside], missing)
        return replace(self, rows=self.rows[inside | control])

    def level(self, mechanism: str) -> float:
        """Mean over all trials and budgets of a mechanism, such as a control."""
        return float(pick(self.rows, mechanism=mechanism)["value"].mean())

    def peak(self, mechanisms: Iterable[str]) -> tuple[str, float]:
        """The mechanism and the epsilon of the highest mean; CannotJudge where there is none."""
        return self.select(mechanisms).means.idxmax()

    def best(self, mechanisms: Iterable[str]) -> float:
        """The highest mean of these mechanisms; CannotJudge where there is none."""
        return float(self.means[self.peak(mechanisms)])

    def score(self, mechanism: str, epsilon: float) -> Mean:
        """The trials of one mechanism at one epsilon as an effect."""
        own = pick(self.rows, mechanism=mechanism, epsilon=epsilon)
        return Mean(own["value"].to_numpy(float), self.resolution)

    def by_trial(self, mechanism: str, epsilons: Collection[float]) -> pd.DataFrame:
        """The mean over some budgets for each trial; of a control, which ignores them, over all.

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
        return own.groupby("trial")["value"].mean().reset_index()

    def gap(self, larger: str, smaller: str, epsilon: float | None = None) -> Mean:
        """The score of one mechanism less that of another, trial by trial.

        At one epsilon, or without one over the mean of the budgets that both have.

        Raises:
            CannotJudge: One has no scores, or they share no budget.
        """
        shared = [epsilon] if epsilon else self.shared_budgets(larger, smaller)
        both = (self.by_trial(name, shared) for name in (larger, smaller))
        return paired(*both, resolution=self.resolution)

    def shared_budgets(self, *mechanisms: str) -> list[float]:
        """The budgets that these have in common; CannotJudge where there is none."""
        own = [name for name in mechanisms if name not in LEVELS]
        budgets = [set(pick(self.rows, mechanism=name)["epsilon"]) for name in own]
        missing = CannotJudge(f"{listed(mechanisms)} share no budget on {self.title}")
        return required(sorted(set.intersection(*budgets)), missing)

    def rise(self, mechanism: str) -> pd.Series:
        """The score at the largest less that at the smallest budget, by trial.

        Raises:
            CannotJudge: There is one budget only.
        """
        own = pick(self.rows, mechanism=mechanism)
        ends = [own["epsilon"].max(), own["epsilon"].min()]
        if ends[0] == ends[1]:
            raise CannotJudge(f"One budget of {mechanism} shows no trend")
        high, low = (self.by_trial(mechanism, [end]).set_index("trial")["value"] for end in ends)
        return (high - low).dropna()

    @property
    def floor(self) -> tuple[float | None, str]:
        """The best score that needs no private answers, and what has it; None where none is known.

        That of the commonest class or of random answers. The latter is larger where classes are
        many: networks also learn from the labels beside random answers.
        """
        random = self.rows[self.rows["mechanism"] == "random-answer"]["value"]
        known = [] if random.empty else [(float(random.mean()), "the random answer")]
        if self.dataset in MAJORITY:
            known.append((MAJORITY[self.dataset], "the majority class"))
        return max(known, default=(None, ""))

    def signal(self, mechanisms: Collection[str], margin: float) -> Signal:
        """Whether mechanisms differ from the controls at any budget, by their means over trials."""
        floor, words = self.floor
        exact = self.rows[self.rows["mechanism"] == "non-private"]["value"]
        return Signal(
            means=tuple(self.means[self.means.index.isin(mechanisms, level="mechanism")]),
            floor=floor,
            ceiling=None if exact.empty else float(exact.mean()),
            margin=margin,
            floor_words=words,
            better="larger",
        )

    def keep_learned(self, mechanisms: Collection[str], margin: float) -> Self:
        """The scores at budgets at which one of the mechanisms is above the floor by the margin.

        Its whole 95% interval must be above the floor too: a few models that are mostly noise may
        by chance be above it in the mean. At the other budgets scores differ without any mechanism
        having learned. All scores where there is no such budget, or no floor: then `signal` says
        what is missing. The budgets are chosen by the scores that are then compared, by the better
        of the two whichever it is: intervals do not count that choice.
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
        """Whether a mechanism, at its best budget up to `end`, is at most a margin above chance.

        Where all of its budgets are larger, a low score at the smallest shows it: with more noise
        it is no better. A higher one shows nothing.
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
        """The epsilon at which one mechanism reaches a stated score; CannotJudge without scores."""
        own = self.select([mechanism])
        return on_curve({each: self.score(mechanism, each) for each in own.epsilons}, stated)


class ByDataset(dict[str, Scores]):
    """The scores of a study at one calibration by data set.

    Raises:
        CannotJudge: In place of a KeyError.
    """

    calibration: str = "published"

    def __missing__(self, dataset: str) -> Scores:
        where = "" if self.calibration == "published" else " at equal true privacy"
        raise CannotJudge(f"This run has no {dataset_title(dataset)}{where}")


def label_of(mechanism: str, epsilon: float) -> str:
    """ "TLDP-G at epsilon 0.9"."""
    return f"{mechanism_title(mechanism)} at epsilon {epsilon:g}"


def official_scores(
    rows: pd.DataFrame,
    study: str,
    calibration: str = "published",
    mechanisms: Collection[str] | None = None,
    resolution: float = 0.0,
    **at: str,
) -> ByDataset:
    """The scores on every official data set of a study, in alphabetical order; may be empty.

    Args:
        mechanisms: Those that a claim is about: others neither decide it nor keep it open. None for
            all.
        resolution: As in `Scores`.
        at: Coordinates of the study, such as range="clip".
    """
    by_dataset, found = ByDataset(), ok_rows(rows, study, SCORED[study])
    by_dataset.calibration = calibration
    if found.empty:
        # A table without rows of the study lacks its coordinates, too.
        return by_dataset
    for column, value in {"data_source": "official", "calibration": calibration, **at}.items():
        found = found[found[column] == value]
    if mechanisms is not None:
        found = found[found["mechanism"].isin(mechanisms)]
    # Controls alone show nothing.
    for name in sorted(found[~found["mechanism"].isin(LEVELS)]["dataset"].unique()):
        by_dataset[name] = Scores(found[found["dataset"] == name], resolution)
    return by_dataset


def select_datasets(found: Mapping[str, Scores], datasets: Iterable[str]) -> dict[str, Scores]:
    """The scores on those of some data sets that a run has, in this order.

    Raises:
        CannotJudge: It has none of them.
    """
    titles = {name: dataset_title(name) for name in datasets}
    own = {name: found[name] for name in titles if name in found}
    missing = CannotJudge(f"This run has none of {', '.join(titles.values())}")
    return required(own, missing)


def sizes_in_lines(lines: Iterable[Sizes]) -> dict[str, Sizes | list[Sizes]]:
    """The sizes of a finding, a line for each data set."""
    first, *others = lines
    return {"sizes": first, "other_sizes": others}
