"""Accuracy over epsilon with federated learning: Figures 2 and 3 of mgm2021."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy

from claims.judged_rows import listed, number_of, ok_rows, select
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from paper_figures.drawings import Drawn, drawing
from paper_figures.mgm2021.federated_study import HORIZONTAL, NETWORKS, VERTICAL, study_size
from paper_figures.over_epsilon import (
    Panels,
    add_true_epsilon,
    score_figure,
    spread_over_trials,
    study_words,
)
from papers.mgm2021 import VERTICAL_EPSILONS
from runs.results import Results


@drawing("mgm2021_fig2", kind="figures", needs=[HORIZONTAL])
def figure_2(results: Results) -> Drawn:
    """Draw accuracy over epsilon with private gradients of several participants."""
    return _draw(
        results.rows,
        HORIZONTAL,
        "mgm2021 Figure 2, horizontal federated learning",
        "Every participant clips its accumulated gradient to a box of half-width C (the paper's "
        "clip value) and uploads it layer by layer. Adjacency: all records of one participant may "
        "change, which moves a layer of m x n by 2 C sqrt(mn) in l2. As published, the composition "
        "theorem of Kairouz, Oh and Viswanath shares epsilon among rounds and layers; the Gaussian "
        "per element splits its share once more over the elements, as the paper's Table 4 does. "
        "(Read literally, its Section 8.2 gives every element the whole share, with far less noise "
        "than IDN's.) At equal true privacy the noise is rescaled until the true delta of the "
        "whole training at epsilon is delta. Training without privacy does not clip.",
        scope="the whole training",
        equal="At equal true privacy i.i.d. Gaussian noise differs only in how the budget is "
        "split among layers.",
    )


@drawing("mgm2021_fig3", kind="figures", needs=[VERTICAL])
def figure_3(results: Results) -> Drawn:
    """Draw accuracy over epsilon with private features of two participants."""
    uses = ok_rows(results.rows, VERTICAL, "use_epsilon")
    every = (uses["value"] >= uses["epsilon"]).all()
    scope = "every release" if every else "the whole training"
    return _draw(
        results.rows,
        VERTICAL,
        "mgm2021 Figure 3, vertical federated learning",
        "In every iteration both participants release their features of a batch; test features "
        "carry no noise. Adjacency: one record is replaced, and the paper's sensitivity lets all "
        f"features of its batch change. As published, epsilon is that of {scope}, "
        "amplified by the paper's Theorem 6. At equal true privacy the noise is rescaled until a "
        "bound on the true delta of the whole training at epsilon is delta. The bound composes all "
        "releases without amplification, because local models carry what they learned from a "
        "record into later batches.",
        scope=scope,
        random="training on random features",
        equal="At equal true privacy all i.i.d. Gaussian noise is the same, drawn as one curve.",
        marked=dict.fromkeys(VERTICAL_EPSILONS, "paper's range"),
    )


def _draw(
    rows: pd.DataFrame,
    study: str,
    title: str,
    note: str,
    *,
    scope: str,
    equal: str,
    random: str = "random answers",
    marked: Mapping[float, str] = {},
) -> Drawn:
    """Draw the mean final accuracy and its interval over epsilon, on every data set of the run.

    Beside every accuracy the data has an upper bound on the true epsilon of the whole training, if
    one is known and finite.

    Args:
        title: The beginning of the caption, which names the figure and the study.
        note: Sentences on what is released and how the budget is spent.
        scope: The unit to which the published epsilon applies, such as "every release".
        equal: A sentence for the caption about the panel at equal true privacy.
        random: The name of the line of the random answer.
        marked: The epsilons to mark in the panels as published, with their names.

    Raises:
        DrawingError: The results hold no accuracies of the study.
    """
    table = spread_over_trials(rows, study, statistics=("mean", "std", "count"))
    quantile = scipy.special.stdtrit((table["count"] - 1).clip(lower=1), 0.975)
    # A single trial has no interval: its standard deviation is missing.
    table["half_interval"] = quantile * table["std"] / np.sqrt(table["count"])
    table = add_true_epsilon(table, rows, study)
    half = table["half_interval"].fillna(0)
    bars = table.assign(min=table["mean"] - half, max=table["mean"] + half)
    datasets = sorted(table["dataset"].unique())
    sizes = {dataset: study_size(rows, study, dataset) for dataset in datasets}
    caption = (
        f"{title}: final test accuracy, mean and 95% interval (Student's) over "
        f"{study_words(rows, study, table)}. Dotted: without privacy, and {random}"
        f"; dashed, if known: the majority class. {equal}"
    )
    guesses = [f"{MAJORITY[d]:.2f} on {dataset_title(d)}" for d in datasets if d in MAJORITY]
    scores = f" Always predicting the majority class scores {listed(guesses)}." if guesses else ""
    note = (
        f"{note} The paper states no accuracy in numbers, so there is no marker for it. "
        "Intervals are drawn within [0, 1]. The data file has an upper bound on the true epsilon "
        f"of the training beside every accuracy, where one is known and finite.{scores}"
    )
    panels = Panels(
        "test accuracy,",
        {
            "published": f"claimed epsilon of {scope}",
            "exact": "epsilon of the whole training (true: at most this)",
        },
        marked=marked,
    )

    def trained(dataset: str) -> str:
        size, own = sizes[dataset], select(rows, study=study, dataset=dataset)
        return (
            f"{size.network}, {size.records:,} training records, {size.rounds} rounds, "
            f"{number_of(own, metric='uses'):,.0f} releases of up to "
            f"{own['shape'].iloc[0].replace('x', ' x ')}"
        )

    def beside(dataset: str) -> str:
        network = sizes[dataset].network
        papers = NETWORKS[study].get(dataset, network)
        return f",\n{network} (paper: {papers})" if network != papers else ""

    drawn = score_figure(rows, study, bars, panels, caption, note, trained=trained, beside=beside)
    return replace(drawn, data=table)
