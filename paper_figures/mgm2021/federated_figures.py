"""Figures 2 and 3 of mgm2021: federated learning with noisy gradients, and with noisy features."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.over_epsilon import draw_spread
from paper_figures.results import Results
from paper_figures.selections import SOURCE_WORDS, failed_mechanisms, ok_rows, published_only


@drawing("mgm2021_fig2", kind="figures", needs=["federated_horizontal"])
def figure_2(results: Results) -> Drawn:
    """Accuracy over epsilon with private gradients of five participants."""
    return _accuracies(
        results.rows,
        "federated_horizontal",
        "mgm2021 Figure 2 (horizontal federated learning, five participants)",
        "Every participant's accumulated gradient is clipped to a box of half-width C (the paper's "
        "clip value) and uploaded layer by layer. Adjacency: all of one participant's records may "
        "change, which moves a layer of m x n by 2 C sqrt(mn) in l2. As published, epsilon is "
        "shared among rounds and layers by the composition theorem of Kairouz, Oh and Viswanath; "
        "the Gaussian per element splits its share once more over the elements, as the paper's "
        "Table 4 has it (read literally, its Section 8.2 gives every element the whole share: far "
        "less noise than IDN's). At equal true privacy the noise is rescaled until the true delta "
        "of the whole training at epsilon is delta; Gaussian noises then differ by their shares "
        "among the layers alone. ",
    )


@drawing("mgm2021_fig3", kind="figures", needs=["federated_vertical"])
def figure_3(results: Results) -> Drawn:
    """Accuracy over epsilon with private features of two participants."""
    return _accuracies(
        results.rows,
        "federated_vertical",
        "mgm2021 Figure 3 (vertical federated learning, two participants)",
        "Both participants' features of a batch are released in every iteration; tests are without "
        "noise. Adjacency: a record is replaced, and the paper's sensitivity lets all features of "
        f"its batch change. As published, epsilon is that of {_meant(results.rows)}, amplified by "
        "the paper's Theorem 6. At equal true privacy the noise is rescaled until a bound on the "
        "true delta of the whole training at epsilon is delta: that of the composition of all "
        "releases, which nothing amplifies, as local models carry what they learned from a record "
        "into later batches. Gaussian noise of one size on all elements is then one and the same. ",
    )


def _meant(rows: pd.DataFrame) -> str:
    """What a published budget is meant for: seen from the budgets of single uses."""
    uses = ok_rows(rows, "federated_vertical", "use_epsilon")
    return "every release" if (uses["value"] >= uses["epsilon"]).all() else "the whole training"


def _accuracies(rows: pd.DataFrame, experiment: str, name: str, words: str) -> Drawn:
    finals = ok_rows(rows, experiment, "final_test_accuracy")
    if finals.empty:
        raise DrawingError(f"the results hold no accuracies of {experiment}; run it first")
    keys = ["dataset", "calibration", "mechanism", "epsilon", "delta"]
    table = finals.groupby(keys)["value"].agg(["mean", "std", "count"]).reset_index()
    quantile = stats.t.ppf(0.975, (table["count"] - 1).clip(lower=1))
    # A single trial has no interval: its standard deviation is missing.
    table["half_interval"] = quantile * table["std"] / np.sqrt(table["count"])
    spent = ok_rows(rows, experiment, "true_epsilon_upper")[[*keys, "value"]]
    table = table.merge(spent.rename(columns={"value": "true_epsilon_upper"}), "left", keys)
    datasets = sorted(table["dataset"].unique())
    half = table["half_interval"].fillna(0)
    bars = table.assign(min=table["mean"] - half, max=table["mean"] + half)
    studies = "; ".join(_study_words(rows, experiment, dataset) for dataset in datasets)
    caption = (
        f"{name}: accuracy after the last round, mean and 95% interval (Student's) over "
        f"{table['count'].max()} trials, delta {table['delta'].iloc[0]:g}. {studies}. {words}"
        "Dotted: without noise and clipping, and with answers that ignore the data. The data file "
        "has an upper bound on the true epsilon of the training beside every accuracy, where one "
        f"is known and finite.{failed_mechanisms(rows, experiment, *datasets)}"
        f"{published_only(rows, experiment, *datasets)}"
    )
    return Drawn(caption, table, draw_spread(bars, "test accuracy,"))


def _study_words(rows: pd.DataFrame, experiment: str, dataset: str) -> str:
    """Data set, its source, and the sizes of its training."""
    own = rows[(rows["experiment"] == experiment) & (rows["dataset"] == dataset)]
    records = ok_rows(own, experiment, "records")["value"].iloc[0]
    rounds = ok_rows(own, experiment, "test_accuracy")["element"].max()
    uses = ok_rows(own, experiment, "uses")["value"].iloc[0]
    source = SOURCE_WORDS[own["data_source"].iloc[0]]
    return (
        f"{dataset} ({source}): {records:,.0f} training records, {rounds} rounds, {uses:,.0f} "
        f"releases of up to {own['shape'].iloc[0].replace('x', ' x ')}"
    )
