"""Figures 1 to 3 of tldp2025, its three studies, and the errors of Table 5 beside type I's."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd

from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.over_epsilon import draw_spread
from paper_figures.results import Results
from paper_figures.selections import LEVELS, SOURCE_WORDS, failed_mechanisms
from paper_figures.style import in_order, look
from papers.tldp2025 import stated_errors
from runs.rows import OK

CLASSIFIER_WORDS = {
    "logistic": "logistic regression",
    "network": "a small convolutional network from scratch",
    "mobilenet_v2": "MobileNetV2 from ImageNet weights",
}
# Variants of a config that stand for an entry of Table 5.
STANDS_FOR = {"mvg-sqrt": "mvg"}
# Those of the paper's figures. Other mechanisms are in the numbers beside a figure.
DRAWN = (
    *LEVELS,
    *("laplace", "gaussian", "mvg", "mvg-sqrt", "idn"),
    *("tldp-l", "tldp-g", "tldp-l-w", "tldp-g-w", "llagp", "dphsgd"),
)


def measured(
    rows: pd.DataFrame, prefix: str = "", experiment: str = "private_data"
) -> pd.DataFrame:
    """Rows of a study whose metric begins with `prefix`.

    Raises:
        DrawingError: There are none.
    """
    chosen = (rows["experiment"] == experiment) & (rows["status"] == OK)
    chosen &= rows["metric"].str.startswith(prefix)
    if not chosen.any():
        raise DrawingError(f"the results hold no {prefix} of {experiment}; run it first")
    return rows[chosen]


@drawing("tldp2025_fig1", kind="figures", needs=["private_data"])
def figure_1(results: Results) -> Drawn:
    """F1 over epsilon, one row of panels per data set, one column per calibration."""
    spread, figure = _scores(measured(results.rows, "f1_"), "F1 on clean images of")
    datasets = sorted(spread["dataset"].unique())
    sources = "; ".join(_study_words(results.rows, dataset) for dataset in datasets)
    absent = failed_mechanisms(results.rows, "private_data", *datasets)
    caption = (
        f"tldp2025 Figure 1 (type I): {sources}. Every training image is released through the "
        "mechanism, the classifier is trained on what is released and tested on clean images; "
        "weighted F1, mean and range over "
        f"{int(spread['count'].max())} trials, delta {spread['delta'].iloc[0]:g}. Adjacency "
        "local: any image may become any other, all pixels in [0, 1]; labels are public. Left: "
        "noise as published; right: rescaled until the true delta at epsilon is the budget's. "
        "TLDP claims pure "
        "epsilon and Laplace gives it; the others have delta (the classic Gaussian is stated for "
        "epsilon < 1 only). Variants of TLDP with and without weights coincide where hardly a "
        "value is kept. The paper trains MobileNetV2, pre-trained on ImageNet. Mechanisms that its "
        f"figures do not have are in the numbers beside this one.{absent}"
    )
    return Drawn(caption, spread, figure)


def _scores(rows: pd.DataFrame, label: str) -> tuple[pd.DataFrame, plt.Figure]:
    """Means and ranges over the trials, and their figure."""
    keys = ["dataset", "calibration", "mechanism", "epsilon", "delta", "metric"]
    spread = rows.groupby(keys)["value"].agg(["mean", "min", "max", "count"]).reset_index()
    return spread, draw_spread(spread[spread["mechanism"].isin(DRAWN)], label)


def _study_words(rows: pd.DataFrame, dataset: str) -> str:
    """Data set, its source, the records and the classifier."""
    own = rows[(rows["experiment"] == "private_data") & (rows["dataset"] == dataset)]
    classifier = next(m for m in own["metric"] if m.startswith("f1_"))[3:]
    records = int(own[own["metric"] == "records"]["value"].iloc[0])
    source = SOURCE_WORDS[own["data_source"].iloc[0]]
    return f"{dataset} ({source}), {records:,} training images, {CLASSIFIER_WORDS[classifier]}"


@drawing("tldp2025_fig2", kind="figures", needs=["private_features"])
def figure_2(results: Results) -> Drawn:
    """F1 over epsilon of a last layer trained on released features."""
    rows = measured(results.rows, "", "private_features")
    spread, figure = _scores(rows[rows["metric"] == "f1"], "F1 on clean features of")
    facts = _facts(rows, ("records",))
    sources = "; ".join(
        f"{dataset} ({SOURCE_WORDS[own['source']]}): {_extractor_words(rows, dataset)}, "
        f"{own['records']:,.0f} other records released as {own['shape']} features"
        for dataset, own in facts.items()
    )
    absent = failed_mechanisms(results.rows, "private_features", *facts)
    caption = (
        f"tldp2025 Figure 2 (type II): {sources}. Every feature vector is released through the "
        "mechanism, a last fully connected layer is trained on what is released and tested on the "
        "features of clean images; weighted F1, mean and range over "
        f"{int(spread['count'].max())} trials, delta {spread['delta'].iloc[0]:g}. Adjacency "
        "local: any vector may become any other, labels are public; all features in [-1, 1], a "
        "range of 2 (the "
        "paper's Table 3 states Delta = 256, at which all noise would be 128 times as large). "
        "Left: noise as published, the classic Gaussian's for epsilon < 1 only; right: rescaled "
        "until the true delta at epsilon is the budget's. The paper's extractor is MobileNetV2, "
        f"pre-trained on ImageNet.{absent}"
    )
    return Drawn(caption, spread, figure)


def _extractor_words(rows: pd.DataFrame, dataset: str) -> str:
    """What gives the features, and how good it is where the suite has trained it."""
    own = rows[rows["dataset"] == dataset].groupby("metric")["value"].first()
    if own["public_records"] == 0:
        return "MobileNetV2 with ImageNet weights, tanh in the place of ReLU6"
    return (
        f"an extractor trained on {own['public_records']:,.0f} public records (accuracy "
        f"{own['extractor_accuracy']:.2f} with a head of its own)"
    )


@drawing("tldp2025_fig3", kind="figures", needs=["private_parameters"])
def figure_3(results: Results) -> Drawn:
    """F1 over epsilon of averaged models, and what all rounds truly spend."""
    rows = measured(results.rows, "", "private_parameters")
    spread, figure = _scores(rows[rows["metric"] == "f1"], "F1 on the test records of")
    keys = ["dataset", "calibration", "mechanism", "epsilon"]
    spent = rows[rows["metric"].isin(("true_epsilon_upper", "true_delta_upper"))]
    spent = spent.pivot_table(index=keys, columns="metric", values="value").reset_index()
    facts = _facts(rows, ("records", "rounds"))
    sources = "; ".join(
        f"{dataset} ({SOURCE_WORDS[own['source']]}): {own['records']:,.0f} records, a model of "
        f"{own['shape']} parameters, {own['rounds']:.0f} rounds"
        for dataset, own in facts.items()
    )
    absent = failed_mechanisms(results.rows, "private_parameters", *facts)
    caption = (
        f"tldp2025 Figure 3 (type III): {sources}. Three users train for an epoch, clip every "
        "parameter to [-1, 1], send all of them through the mechanism and get back the mean; "
        f"weighted F1, mean and range over {int(spread['count'].max())} trials, delta "
        f"{spread['delta'].iloc[0]:g}. Adjacency local: the parameters of a user may become any "
        "others, within a range of 2 each (the paper's Table 4 states Delta = 256, for IMDB "
        "400,001, at which all noise would be larger by as much; and its list adds one noise to "
        "the mean, where its text has every user add their own). Left: as published, epsilon is "
        "that of one release, the classic Gaussian's for epsilon < 1 only; what all rounds truly "
        "spend "
        f"at that delta, at the largest epsilon: {_true_totals(spent)}. Right: rescaled until "
        "the true delta of all rounds together is the budget's. LLAGP and DPHSGD are what the "
        "paper says of them, with choices of our own where it is silent; DPHSGD's thresholds come "
        f"from public records.{absent}"
    )
    return Drawn(caption, spread.merge(spent, on=keys, how="left"), figure)


def _facts(rows: pd.DataFrame, metrics: tuple[str, ...]) -> dict[str, dict]:
    """Numbers that all cells of a data set share, its source and the size of an answer."""
    found = {}
    for dataset, own in rows.groupby("dataset"):
        numbers = {m: float(own[own["metric"] == m]["value"].iloc[0]) for m in metrics}
        size = int(own["shape"].iloc[0].split("x")[-1])
        found[dataset] = numbers | {"source": own["data_source"].iloc[0], "shape": f"{size:,}"}
    return found


def _true_totals(spent: pd.DataFrame) -> str:
    """True epsilon of every mechanism as published, at the largest epsilon of each data set."""
    own = spent[(spent["calibration"] == "published") & ~spent["mechanism"].isin(LEVELS)]
    own = own[own["epsilon"] == own.groupby("dataset")["epsilon"].transform("max")]
    words = []
    for dataset, rows in own.groupby("dataset"):
        true = rows.set_index("mechanism")["true_epsilon_upper"]
        listed = ", ".join(f"{look(m).title} {true[m]:.3g}" for m in in_order(true.index))
        words.append(f"{dataset} (epsilon {rows['epsilon'].iloc[0]:g}) {listed}")
    return "; ".join(words)


@drawing("tldp2025_table5", kind="tables", needs=["private_data"])
def table_5(results: Results) -> Drawn:
    """Stated error of one released image, the same in closed form, and as measured."""
    rows = measured(results.rows)
    rows = rows[rows["calibration"] == "published"]
    keys = ["dataset", "shape", "mechanism", "epsilon"]
    means = rows.pivot_table(index=keys, columns="metric", values="value", aggfunc="mean")
    records = []
    for (dataset, shape, mechanism, epsilon), row in means.iterrows():
        axes = tuple(int(n) for n in shape.split("x"))
        stated = stated_errors(axes, epsilon, 1.0).get(STANDS_FOR.get(mechanism, mechanism))
        if stated is None:
            continue
        found = math.sqrt(row["squared_error"])
        records.append(
            {
                "data": dataset,
                "mechanism": mechanism,
                "epsilon": epsilon,
                "stated error": stated,
                "closed form": math.sqrt(row["expected_loss"]),
                "measured": found,
                "stated / measured": stated / found,
            }
        )
    if not records:
        raise DrawingError("Table 5 needs one of laplace, gaussian, mvg, idn, tldp-l, tldp-g")
    table = pd.DataFrame(records)
    order = table["mechanism"].map(in_order(table["mechanism"]).index)
    table = table.assign(order=order).sort_values(["data", "order", "epsilon"])
    caption = (
        "tldp2025 Table 5 on one image with pixels in [0, 1] (Delta = 1), noise as published: the "
        "stated expected error, sqrt(E||Z||^2) of the noise that is drawn, in closed form, and "
        "the root of the mean ||Z||^2 over all released images. Adjacency local. Gaussian, MVG "
        "and IDN are stated without a delta; ours have delta "
        f"{rows['delta'].iloc[0]:g} and, for MVG, mgm2021's zeta."
    )
    return Drawn(caption, table.drop(columns="order").reset_index(drop=True))
