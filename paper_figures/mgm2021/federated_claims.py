"""mgm2021 Figures 2 and 3: accuracies of federated learning, judged on official data only."""

from __future__ import annotations

import itertools

import pandas as pd

from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, CannotJudge, Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import (
    Interval,
    listed,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_order,
)
from runs.rows import OK

EXPERIMENTS = ("federated_horizontal", "federated_vertical")


@judge(experiments=EXPERIMENTS)
def federated_order(claim: Claim, results: Results) -> Finding:
    """An order of mechanisms by accuracy, at every budget of a range, as published.

    Arguments: experiment; datasets, those of the paper; order, mechanisms from best to worst;
    range, the paper's epsilons [low, high], or null where they are only in a figure: all that were
    run; close, a pair that is said to be about as good, or null.

    Judged by paired differences of final accuracies, averaged over the budgets of the range, on
    each official data set that the run has.
    """
    a = claim.arguments
    datasets = official(results.rows, a["experiment"], a["datasets"])
    verdicts, words, others = [], [], []
    every_gain, trials = [], []
    for dataset in datasets:
        rows = _finals(results.rows, a["experiment"], dataset)
        pairs = list(itertools.pairwise(a["order"]))
        inside = _within(rows, a["range"])
        gains = [_gain(inside, better, worse) for better, worse in pairs]
        every_gain += gains
        if a["close"]:
            near = _gain(inside, *a["close"])
            verdicts.append(_judge_close(near, claim.tolerance))
            words.append(f"{dataset}: {' less '.join(a['close'])} {near}")
        words += [
            f"{dataset}: {better} less {worse} {gain}"
            for (better, worse), gain in zip(pairs, gains, strict=True)
        ]
        trials.append(gains[0].trials)
        if a["range"]:
            every = listed(f"{_gain(rows, *pair).mean:+.3g}" for pair in pairs)
            others.append(f"On {dataset} over all budgets of the run the differences are {every}.")
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(verdict_on_order(*every_gain), *verdicts),
        detail=" ".join(
            [
                "Paired differences of final test accuracies with 95% intervals, means over the "
                f"budgets{_range_words(a['range'])}.",
                *(_study(results.rows, a["experiment"], dataset) for dataset in datasets),
                *others,
                _missing(a["datasets"], datasets),
            ]
        ).strip(),
        calibration="published",
        trials=min(trials),
    )


@judge(experiments=EXPERIMENTS)
def federated_trend(claim: Claim, results: Results) -> Finding:
    """Accuracy rises with epsilon, and mechanisms come close at large epsilon, as published.

    Arguments: experiment; datasets; mechanisms. Rising: the largest budget of the run less the
    smallest one, paired by trial. Close: the means of all but one of them at the largest budget lie
    within the tolerance.
    """
    a = claim.arguments
    datasets = official(results.rows, a["experiment"], a["datasets"])
    verdicts, words, rises = [], [], []
    for dataset in datasets:
        rows = _finals(results.rows, a["experiment"], dataset)
        ends = []
        for mechanism in a["mechanisms"]:
            own = pick(rows, mechanism=mechanism)
            low, high = own["epsilon"].min(), own["epsilon"].max()
            if low == high:
                raise CannotJudge(f"One budget of {mechanism} on {dataset} shows no trend")
            rise = paired_difference(own[own["epsilon"] == high], own[own["epsilon"] == low])
            rises.append(rise)
            words.append(f"{dataset}: {mechanism} {rise} from {low:g} to {high:g}")
            ends.append(own[own["epsilon"] == high]["value"].mean())
        ends = sorted(ends)
        spread = min(ends[-1] - ends[1], ends[-2] - ends[0])
        verdicts.append(REPRODUCED if spread <= claim.tolerance else NOT_REPRODUCED)
        words.append(f"{dataset}: {spread:.3g} between all but one at the largest")
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(verdict_on_order(*rises), *verdicts),
        detail=" ".join(
            [
                "Gains of the final test accuracy with 95% intervals.",
                *(_study(results.rows, a["experiment"], dataset) for dataset in datasets),
                _missing(a["datasets"], datasets),
            ]
        ).strip(),
        calibration="published",
        trials=min(rise.trials for rise in rises),
    )


@judge(experiments=("federated_horizontal",))
def matrix_mechanism_on_adult(claim: Claim, results: Results) -> Finding:
    """The matrix mechanism against the paper's Gaussian (close) and UDN (better) on Adult.

    Arguments: experiment, matrix, gaussian, udn: names of the three.
    """
    a = claim.arguments
    (dataset,) = official(results.rows, a["experiment"], ["adult"])
    rows = _finals(results.rows, a["experiment"], dataset)
    near = _gain(rows, a["matrix"], a["gaussian"])
    gain = _gain(rows, a["matrix"], a["udn"])
    return Finding(
        ours=f"MM less Gaussian {near}; MM less UDN {gain}",
        verdict=verdict_of_parts(_judge_close(near, claim.tolerance), verdict_on_order(gain)),
        detail=(
            "Paired differences of final test accuracies with 95% intervals, means over the run's "
            f"budgets. {_study(results.rows, a['experiment'], dataset)} The matrix mechanism "
            "answers the identity of a whole layer, which is the classic Gaussian on it; the paper "
            "takes the sensitivity of single elements for its Gaussian, and says so of the matrix "
            "mechanism in Type II."
        ),
        calibration="published",
        trials=near.trials,
    )


def official(rows: pd.DataFrame, experiment: str, datasets: list[str]) -> list[str]:
    """Those of the paper's data sets that the run has from their official files.

    Raises:
        CannotJudge: It has none of them.
    """
    chosen = (rows["experiment"] == experiment) & (rows["data_source"] == "official")
    chosen &= rows["status"] == OK
    found = set(rows[chosen]["dataset"])
    if not found & set(datasets):
        raise CannotJudge(
            f"A claim about {listed(datasets)}; the results have none of them from {experiment}"
        )
    return [dataset for dataset in datasets if dataset in found]


def _finals(rows: pd.DataFrame, experiment: str, dataset: str) -> pd.DataFrame:
    at = {"experiment": experiment, "dataset": dataset, "data_source": "official"}
    return pick(rows, metric="final_test_accuracy", calibration="published", **at)


def _within(rows: pd.DataFrame, limits: list[float] | None) -> pd.DataFrame:
    if limits is None:
        return rows
    inside = rows[rows["epsilon"].between(*limits)]
    if inside.empty:
        raise CannotJudge(f"The results have no budget from {limits[0]:g} to {limits[1]:g}")
    return inside


def _gain(rows: pd.DataFrame, better: str, worse: str) -> Interval:
    """Paired difference of the mean accuracies over the budgets that both have."""
    both = [pick(rows, mechanism=mechanism) for mechanism in (better, worse)]
    shared = set(both[0]["epsilon"]) & set(both[1]["epsilon"])
    if not shared:
        raise CannotJudge(f"{better} and {worse} share no budget")
    return paired_difference(
        *(
            frame[frame["epsilon"].isin(shared)].groupby("trial")["value"].mean().reset_index()
            for frame in both
        )
    )


def _judge_close(difference: Interval, tolerance: float) -> str:
    """Whether the whole interval lies within the tolerance of zero."""
    inside = -tolerance <= difference.low and difference.high <= tolerance
    return REPRODUCED if inside else NOT_REPRODUCED


def _range_words(limits: list[float] | None) -> str:
    return " of the run" if limits is None else f" from {limits[0]:g} to {limits[1]:g}"


def _study(rows: pd.DataFrame, experiment: str, dataset: str) -> str:
    """Records, rounds and budgets of a study, as a sentence."""
    own = pick(rows, experiment=experiment, dataset=dataset, data_source="official")
    records = pick(own, metric="records")["value"].iloc[0]
    finals = pick(own, metric="final_test_accuracy", calibration="published")
    rounds = pick(own, metric="test_accuracy")["element"].max()
    levels = finals.groupby("mechanism")["value"].mean()
    known = [f"{m} {levels[m]:.3g}" for m in ("non-private", "random-answer") if m in levels]
    public = f", accuracy {listed(known)}" if known else ""
    epsilons = sorted(
        finals[~finals["mechanism"].isin(["non-private", "random-answer"])]["epsilon"].unique()
    )
    return (
        f"{dataset}: {records:.0f} training records, {rounds} rounds, epsilon "
        f"{listed(f'{e:g}' for e in epsilons)}{public}."
    )


def _missing(wanted: list[str], found: list[str]) -> str:
    absent = [dataset for dataset in wanted if dataset not in found]
    return f"Not in this run: {listed(absent)}." if absent else ""
