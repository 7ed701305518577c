"""Accuracies of the two federated studies: the rows that figures and verdicts read; the drawing."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from claims.judged_rows import LEVELS, listed, ok_rows, pick, required
from claims.judges import CannotJudge
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from learning.networks.network import Network
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn
from paper_figures.over_epsilon import (
    OUTSIDE,
    coinciding,
    draw_spread,
    floor_words,
    outside_theorem,
    trial_words,
)
from paper_figures.panel_sizes import differing_words, missing_words, size_words
from paper_figures.selections import SOURCE_WORDS, failed_mechanisms, published_only
from paper_figures.style import mechanism_title
from studies import federated_horizontal
from studies.federated_horizontal import SMALL

# The network of a data set, as the paper names it.
NETWORKS = {
    "federated_horizontal": {
        "mnist": "LeNet",
        "cifar10": "ResNet-18",
        "imdb": "LSTM",
        "adult": "MLP",
    },
    "federated_vertical": {
        "adult": "split MLP",
        "purchase100": "split FCN",
        "location30": "split NN",
        "texas100": "split NN",
    },
}


def final_accuracies(rows: pd.DataFrame, study: str) -> pd.DataFrame:
    """Test accuracies after the last round of a study, one row per trial; may be empty."""
    return ok_rows(rows, study, "final_test_accuracy")


def official_datasets(rows: pd.DataFrame, study: str, datasets: list[str]) -> list[str]:
    """Those of the paper's data sets that the run has from their official files.

    Raises:
        CannotJudge: It has none of them.
    """
    finals = final_accuracies(rows, study)
    present = set(finals[finals["data_source"] == "official"]["dataset"])
    found = [dataset for dataset in datasets if dataset in present]
    if not found:
        lacks = {1: "does not have it", 2: "has neither"}
        raise CannotJudge(
            f"The claim is about {listed(map(dataset_title, datasets))}, and this run of "
            f"{study} {lacks.get(len(datasets), 'has none of them')}"
        )
    return found


def published_finals(
    rows: pd.DataFrame, study: str, dataset: str, limits: list[float] | None = None
) -> pd.DataFrame:
    """Final accuracies as published on one official data set, at budgets within limits.

    Controls, which ignore epsilon, are kept at any.

    Raises:
        CannotJudge: There is no budget within the limits.
    """
    finals = final_accuracies(rows, study)
    found = pick(finals, dataset=dataset, data_source="official", calibration="published")
    if limits is None:
        return found
    control = found["mechanism"].isin(LEVELS)
    inside = found["epsilon"].between(*limits) & ~control
    if not inside.any():
        raise CannotJudge(f"The results have no budget from {limits[0]:g} to {limits[1]:g}")
    return found[inside | control]


class StudySize(NamedTuple):
    """What was trained on one data set, with how many rounds and releases, and their shape."""

    source: str
    network: str
    records: float
    rounds: int
    releases: float
    shape: str


def study_size(rows: pd.DataFrame, study: str, dataset: str) -> StudySize:
    """The size of a study on one data set; all its mechanisms have the same."""
    own = rows[(rows["study"] == study) & (rows["dataset"] == dataset)]
    small = dataset in SMALL and trained_network(rows, dataset) is SMALL[dataset]
    network = "small network" if small else NETWORKS[study].get(dataset, "network")
    return StudySize(
        source=SOURCE_WORDS[own["data_source"].iloc[0]],
        network=network,
        records=ok_rows(own, study, "records")["value"].iloc[0],
        rounds=int(ok_rows(own, study, "test_accuracy")["round"].max()),
        releases=ok_rows(own, study, "uses")["value"].iloc[0],
        shape=own["shape"].iloc[0].replace("x", " x "),
    )


def trained_network(rows: pd.DataFrame, dataset: str) -> Network:
    """What the horizontal study has trained: the paper's network, or the small one in its place."""
    own = ok_rows(rows, "federated_horizontal", "parameters")
    sizes = set(own[own["dataset"] == dataset]["value"])
    small = dataset in SMALL and SMALL[dataset].size in sizes
    return (SMALL if small else federated_horizontal.NETWORKS)[dataset]


def draw_accuracies(
    rows: pd.DataFrame,
    study: str,
    title: str,
    note: str,
    *,
    scope: str,
    equal: str,
    random: str = "random answers",
    lone: str = "",
) -> Drawn:
    """Mean final accuracy and its interval over epsilon, on every data set that the run has.

    The data has an upper bound on the true epsilon of a whole training beside every accuracy, where
    one is known and finite.

    Args:
        title: The caption's first words: which figure, which study.
        note: What is released and how the budget is spent.
        scope: What the epsilon as published is that of.
        equal: One sentence for the caption about the panel at equal true privacy.
        random: What the line of the random answer is.
        lone: What a panel at equal true privacy says that has one curve, for all mechanisms.

    Raises:
        DrawingError: The results hold no accuracies of the study.
    """
    finals = required(
        final_accuracies(rows, study),
        DrawingError(f"the results hold no accuracies of {study}; run it first"),
    )
    keys = ["dataset", "calibration", "mechanism", "epsilon", "delta"]
    table = finals.groupby(keys)["value"].agg(["mean", "std", "count"])
    table[OUTSIDE] = outside_theorem(finals).groupby([finals[key] for key in keys]).any()
    table = table.reset_index()
    quantile = scipy.special.stdtrit((table["count"] - 1).clip(lower=1), 0.975)
    # A single trial has no interval: its standard deviation is missing.
    table["half_interval"] = quantile * table["std"] / np.sqrt(table["count"])
    spent = ok_rows(rows, study, "true_epsilon_upper")[[*keys, "value"]]
    table = table.merge(spent.rename(columns={"value": "true_epsilon_upper"}), "left", keys)
    half = table["half_interval"].fillna(0)
    bars = table.assign(min=table["mean"] - half, max=table["mean"] + half)
    datasets = sorted(table["dataset"].unique())
    sizes = {dataset: study_size(rows, study, dataset) for dataset in datasets}
    sources = listed(f"{dataset_title(name)} ({size.source})" for name, size in sizes.items())
    caption = (
        f"{title}: final test accuracy, mean and 95% interval (Student's) over "
        f"{trial_words(table)}, delta {table['delta'].iloc[0]:g}, on {sources}. Dotted: "
        f"without privacy, and {random}{floor_words(table, MAJORITY, 'the majority class')}. "
        f"{equal}".rstrip()
    )
    numbers = "; ".join(
        f"{dataset_title(dataset)}: {size.network}, {size.records:,.0f} training records, "
        f"{size.rounds} rounds, {size.releases:,.0f} releases of up to {size.shape}"
        for dataset, size in sizes.items()
    )
    note = (
        f"{numbers}. {note} The paper states no accuracy in numbers, so there is no marker for it. "
        "Intervals are drawn within [0, 1]. The data file has an upper bound on the true epsilon "
        "of the training beside every accuracy, where one is known and finite."
        f"{_majority_words(datasets)}{_partial_words(table)}{_fewer_exact_words(table)}"
        f"{coinciding(table)}"
        f"{published_only(rows, study, *datasets)}{missing_words(rows, study)}"
        f"{differing_words(rows, study)}"
        f"{failed_mechanisms(rows, study, *datasets)}"
    )
    beside = {name: _beside(rows, study, name, sizes[name].network) for name in datasets}
    epsilons = {
        "published": f"claimed epsilon of {scope}",
        "exact": "epsilon of the whole training (true: at most this)",
    }
    figure = draw_spread(bars, "test accuracy,", MAJORITY, beside, epsilons)
    _explain_lone_curves(figure, table, lone)
    return Drawn(caption, table, figure, note)


def _beside(rows: pd.DataFrame, study: str, dataset: str, network: str) -> str:
    """What a panel says of its size: records, rounds, and a network that stands for the paper's."""
    papers = NETWORKS[study].get(dataset, network)
    stands_for = f"{network} (paper: {papers})" if network != papers else ""
    return ",\n".join(filter(None, (size_words(rows, study, dataset), stands_for)))


def _majority_words(datasets: list[str]) -> str:
    """One sentence about the data sets whose majority class is known, or nothing."""
    known = [f"{MAJORITY[d]:.2f} on {dataset_title(d)}" for d in datasets if d in MAJORITY]
    return f" Always predicting the majority class scores {listed(known)}." if known else ""


def _partial_words(table: pd.DataFrame) -> str:
    """One sentence about the mechanisms that were run on some of the data sets only, or nothing."""
    every = set(table["dataset"])
    where: dict[tuple[str, ...], list[str]] = {}
    for mechanism, own in table.groupby("mechanism", sort=False):
        if set(own["dataset"]) != every:
            where.setdefault(tuple(sorted(set(own["dataset"]))), []).append(mechanism)
    return "".join(
        f" Run on {listed(map(dataset_title, datasets))} only: "
        f"{listed(map(mechanism_title, mechanisms))}."
        for datasets, mechanisms in where.items()
    )


def _fewer_exact_words(table: pd.DataFrame) -> str:
    """One sentence on data sets with fewer budgets at equal true privacy, or nothing."""
    own = table[~table["mechanism"].isin(LEVELS)]
    budgets = own.groupby(["dataset", "calibration"])["epsilon"].agg(set)
    fewer = []
    for dataset in sorted(set(own["dataset"])):
        run = {name: budgets.get((dataset, name), set()) for name in ("published", "exact")}
        if run["exact"] and run["exact"] < run["published"]:
            values = listed(f"{epsilon:g}" for epsilon in sorted(run["exact"]))
            fewer.append(f"{dataset_title(dataset)} at epsilon {values}")
    if not fewer:
        return ""
    return f" At equal true privacy, these were run at fewer budgets: {listed(fewer)}."


def _explain_lone_curves(figure: plt.Figure, table: pd.DataFrame, words: str) -> None:
    """Write `words` into every panel at equal true privacy that has the curve of one mechanism."""
    exact = table[(table["calibration"] == "exact") & ~table["mechanism"].isin(LEVELS)]
    counts = exact.groupby("dataset")["mechanism"].nunique()
    panels = [axis for axis in figure.axes if axis.get_subplotspec().is_last_col()]
    for axis, dataset in zip(panels, sorted(table["dataset"].unique()), strict=True):
        if counts.get(dataset) == 1:
            kind = {"ha": "center", "fontsize": 7, "transform": axis.transAxes}
            axis.text(0.5, 0.45, words, **kind)
