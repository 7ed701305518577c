"""Accuracies of the two federated studies: what their figures and their verdicts both read."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from paper_figures.drawings import DrawingError, Drawn
from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, CannotJudge, Claim, Finding
from paper_figures.over_epsilon import draw_spread
from paper_figures.selections import (
    LEVELS,
    SOURCE_WORDS,
    failed_mechanisms,
    ok_rows,
    published_only,
)
from paper_figures.style import dataset_title
from paper_figures.verdict_rules import (
    Interval,
    listed,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_order,
)


def final_accuracies(rows: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Test accuracies after the last round of a study, one row per trial; may be empty."""
    return ok_rows(rows, experiment, "final_test_accuracy")


class StudySize(NamedTuple):
    """What was trained on one data set: its source, training records, rounds, releases, shape."""

    source: str
    records: float
    rounds: int
    releases: float
    shape: str


def study_size(rows: pd.DataFrame, experiment: str, dataset: str) -> StudySize:
    """The size of a study on one data set; all its mechanisms have the same."""
    own = rows[(rows["experiment"] == experiment) & (rows["dataset"] == dataset)]
    return StudySize(
        source=SOURCE_WORDS[own["data_source"].iloc[0]],
        records=ok_rows(own, experiment, "records")["value"].iloc[0],
        rounds=int(ok_rows(own, experiment, "test_accuracy")["round"].max()),
        releases=ok_rows(own, experiment, "uses")["value"].iloc[0],
        shape=own["shape"].iloc[0].replace("x", " x "),
    )


def draw_accuracies(rows: pd.DataFrame, experiment: str, title: str, note: str) -> Drawn:
    """Mean final accuracy and its interval over epsilon, on every data set that the run has.

    The data has an upper bound on the true epsilon of a whole training beside every accuracy, where
    one is known and finite.

    Args:
        title: The caption's first words: which figure, which study.
        note: What is released and how the budget is spent.

    Raises:
        DrawingError: The results hold no accuracies of the study.
    """
    finals = final_accuracies(rows, experiment)
    if finals.empty:
        raise DrawingError(f"the results hold no accuracies of {experiment}; run it first")
    keys = ["dataset", "calibration", "mechanism", "epsilon", "delta"]
    table = finals.groupby(keys)["value"].agg(["mean", "std", "count"]).reset_index()
    quantile = stats.t.ppf(0.975, (table["count"] - 1).clip(lower=1))
    # A single trial has no interval: its standard deviation is missing.
    table["half_interval"] = quantile * table["std"] / np.sqrt(table["count"])
    spent = ok_rows(rows, experiment, "true_epsilon_upper")[[*keys, "value"]]
    table = table.merge(spent.rename(columns={"value": "true_epsilon_upper"}), "left", keys)
    half = table["half_interval"].fillna(0)
    bars = table.assign(min=table["mean"] - half, max=table["mean"] + half)
    datasets = sorted(table["dataset"].unique())
    sizes = {dataset: study_size(rows, experiment, dataset) for dataset in datasets}
    sources = listed(f"{dataset_title(name)} ({size.source})" for name, size in sizes.items())
    caption = (
        f"{title}: test accuracy after the last round, mean and 95% interval (Student's) over "
        f"{table['count'].max()} trials, delta {table['delta'].iloc[0]:g}, on {sources}. Dotted: "
        "without privacy, and answers that ignore the data."
        f"{published_only(rows, experiment, *datasets)}"
    )
    numbers = "; ".join(
        f"{dataset_title(dataset)}: {size.records:,.0f} training records, {size.rounds} rounds, "
        f"{size.releases:,.0f} releases of up to {size.shape}"
        for dataset, size in sizes.items()
    )
    note = (
        f"{numbers}. {note} Intervals are drawn within [0, 1]. The data file has an upper bound on "
        "the true epsilon of the training beside every accuracy, where one is known and finite."
        f"{failed_mechanisms(rows, experiment, *datasets)}"
    )
    return Drawn(caption, table, draw_spread(bars, "test accuracy,"), note)


def judge_order(claim: Claim, rows: pd.DataFrame, experiment: str) -> Finding:
    """An order of mechanisms by accuracy, as published.

    Arguments: datasets, those of the paper; order, mechanisms from best to worst; range, the
    paper's epsilons [low, high], or null where they are only in a figure, which takes all that
    were run; close, a pair that is said to be about as good, or null.

    Judged by paired differences of final accuracies, averaged over the budgets of the range, on
    each official data set that the run has.

    Raises:
        CannotJudge: The run has none of the data sets, or no budget of the range.
    """
    a = claim.arguments
    datasets = official_datasets(rows, experiment, a["datasets"])
    pairs = list(itertools.pairwise(a["order"]))
    verdicts, words, others = [], [], []
    every_gain, trials = [], []
    for dataset in datasets:
        finals = published_finals(rows, experiment, dataset)
        inside = _within(finals, a["range"])
        gains = [gain(inside, better, worse) for better, worse in pairs]
        every_gain += gains
        if a["close"]:
            near = gain(inside, *a["close"])
            verdicts.append(verdict_on_closeness(near, claim.tolerance))
            words.append(f"{dataset}: {' less '.join(a['close'])} {near}")
        words += [
            f"{dataset}: {better} less {worse} {found}"
            for (better, worse), found in zip(pairs, gains, strict=True)
        ]
        trials.append(gains[0].trials)
        if a["range"]:
            every = listed(f"{gain(finals, *pair).mean:+.3g}" for pair in pairs)
            others.append(f"On {dataset} over all budgets of the run the differences are {every}.")
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(verdict_on_order(*every_gain), *verdicts),
        detail=" ".join(
            [
                "Paired differences of final test accuracies with 95% intervals, means over the "
                f"budgets{_range_words(a['range'])}.",
                *(size_sentence(rows, experiment, dataset) for dataset in datasets),
                *others,
                missing_sentence(a["datasets"], datasets),
            ]
        ).strip(),
        calibration="published",
        trials=min(trials),
    )


def official_datasets(rows: pd.DataFrame, experiment: str, datasets: list[str]) -> list[str]:
    """Those of the paper's data sets that the run has from their official files.

    Raises:
        CannotJudge: It has none of them.
    """
    finals = final_accuracies(rows, experiment)
    present = set(finals[finals["data_source"] == "official"]["dataset"])
    found = [dataset for dataset in datasets if dataset in present]
    if not found:
        raise CannotJudge(
            f"A claim about {listed(datasets)}; the results have none of them from {experiment}"
        )
    return found


def published_finals(rows: pd.DataFrame, experiment: str, dataset: str) -> pd.DataFrame:
    """Final accuracies as published, on one official data set."""
    finals = final_accuracies(rows, experiment)
    return pick(finals, dataset=dataset, data_source="official", calibration="published")


def _within(rows: pd.DataFrame, limits: list[float] | None) -> pd.DataFrame:
    if limits is None:
        return rows
    inside = rows[rows["epsilon"].between(*limits)]
    if inside.empty:
        raise CannotJudge(f"The results have no budget from {limits[0]:g} to {limits[1]:g}")
    return inside


def gain(rows: pd.DataFrame, better: str, worse: str) -> Interval:
    """Paired difference of the mean accuracies over the budgets that both have.

    Raises:
        CannotJudge: They share no budget.
    """
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


def verdict_on_closeness(difference: Interval, tolerance: float) -> str:
    """Whether the whole interval lies within the tolerance of zero."""
    inside = -tolerance <= difference.low and difference.high <= tolerance
    return REPRODUCED if inside else NOT_REPRODUCED


def _range_words(limits: list[float] | None) -> str:
    return " of the run" if limits is None else f" from {limits[0]:g} to {limits[1]:g}"


def size_sentence(rows: pd.DataFrame, experiment: str, dataset: str) -> str:
    """Records, rounds, budgets and controls of a study on one official data set."""
    size = study_size(rows, experiment, dataset)
    finals = published_finals(rows, experiment, dataset)
    means = finals.groupby("mechanism")["value"].mean()
    known = [f"{m} {means[m]:.3g}" for m in LEVELS if m in means]
    controls = f", accuracy {listed(known)}" if known else ""
    epsilons = sorted(finals[~finals["mechanism"].isin(LEVELS)]["epsilon"].unique())
    return (
        f"{dataset}: {size.records:.0f} training records, {size.rounds} rounds, epsilon "
        f"{listed(f'{e:g}' for e in epsilons)}{controls}."
    )


def missing_sentence(wanted: list[str], found: list[str]) -> str:
    """The data sets that the run lacks; "" where it has all."""
    absent = [dataset for dataset in wanted if dataset not in found]
    return f"Not in this run: {listed(absent)}." if absent else ""
