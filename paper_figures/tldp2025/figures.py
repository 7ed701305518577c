"""Figures 1 to 3 of tldp2025, which show F1 over epsilon in its three studies, and Table 5."""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from claims.judged_rows import number_of, ok_rows, required, select
from datasets.titles import dataset_title
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.over_epsilon import (
    Panels,
    Stated,
    score_figure,
    spread_over_trials,
    study_words,
    true_epsilons,
)
from paper_figures.selections import axes_of, query_size
from paper_figures.style import legend_order
from paper_figures.tldp2025.scores import (
    CLASSIFIER_WORDS,
    FEATURES,
    IMAGES,
    OF_THE_PAPER,
    PARAMETERS,
    width_of,
)
from papers.tldp2025 import (
    CLIP,
    COMPARABLE_ABOVE,
    NETWORKS,
    PIXELS,
    STATED_DELTA,
    STATED_DELTA_IMDB,
    STATED_F1_FEATURES,
    STATED_F1_IMAGES,
    STATED_F1_IMDB,
    stated_errors,
)
from papers.tldp2025 import (
    FEATURES as FEATURE_RANGE,
)
from runs.result_table import OK
from runs.results import Results
from studies.private_parameters import PUBLIC_RECORDS

# Variants of the config that stand for an entry of Table 5.
STANDS_FOR = {"mvg-sqrt": "mvg"}
# Scores that the paper's text states, by study, title of the panel and label.
STATED = {
    IMAGES: {
        "MNIST": {"TLDP below epsilon 1": Stated(STATED_F1_IMAGES["mnist"], 1.0)},
        "SVHN": {"TLDP below epsilon 1": Stated(STATED_F1_IMAGES["svhn"], 1.0)},
        "CIFAR-10": {"TLDP in the end": Stated(STATED_F1_IMAGES["cifar10"])},
    },
    FEATURES: {
        "MNIST": {"TLDP at most": Stated(STATED_F1_FEATURES["mnist"])},
        "CIFAR-10": {"TLDP in the end": Stated(STATED_F1_FEATURES["cifar10"])},
        "SVHN": {"TLDP in the end": Stated(STATED_F1_FEATURES["svhn"])},
    },
    PARAMETERS: {
        f"IMDB, Delta = {width:,}": {
            "TLDP, LLAGP": Stated(STATED_F1_IMDB["tldp"]),
            "others": Stated(STATED_F1_IMDB["others"]),
        }
        for width in (2, STATED_DELTA_IMDB)
    },
}


@drawing("tldp2025_fig1", kind="figures", needs=[IMAGES])
def figure_1(results: Results) -> Drawn:
    """Draw F1 over epsilon with released images."""
    rows = results.rows
    spread = spread_over_trials(rows, IMAGES, "classifier")
    classifiers = spread.groupby("dataset")["classifier"].first().map(CLASSIFIER_WORDS)
    return _draw(
        rows,
        IMAGES,
        spread,
        Panels("F1 on clean images of", floor=""),
        what=(
            "tldp2025 Figure 1 (type I): weighted F1 of classifiers that are trained on released "
            "images and tested on clean ones. Left: noise as published. Right: noise rescaled "
            "until its true delta at epsilon is the budget's"
        ),
        note=(
            "The paper trains MobileNetV2, pre-trained on ImageNet, on all images. Any "
            "image may become any other, all pixels lie in [0, 1], and labels are public. TLDP "
            "claims pure epsilon-LDP, and Laplace noise satisfies it; the others have delta. TLDP "
            "with and without weights coincide where hardly any value is kept. Nothing is measured "
            "between the markers. A point below the line of random images is no worse than "
            "guessing: under large noise a classifier ends up predicting one class, which has an "
            "F1 of 0.018 for ten equally frequent classes. One trained on random images guesses "
            "among all of them. A point above the line without noise does not mean that privacy "
            "helps: small noise keeps a classifier from overfitting."
        ),
        trained=lambda dataset, records: f"{records} training images, {classifiers[dataset]}",
        beside=lambda dataset: f"\n{classifiers[dataset]}",
    )


@drawing("tldp2025_fig2", kind="figures", needs=[FEATURES])
def figure_2(results: Results) -> Drawn:
    """Draw F1 over epsilon with released features."""
    rows, width = results.rows, FEATURE_RANGE[1] - FEATURE_RANGE[0]
    return _draw(
        rows,
        FEATURES,
        spread_over_trials(rows, FEATURES),
        Panels("F1 on clean features of", floor=""),
        what=(
            "tldp2025 Figure 2 (type II): weighted F1 of a last layer that is trained on released "
            "features and tested on those of clean images. Left: noise as published. Right: noise "
            "rescaled until its true delta at epsilon is the budget's"
        ),
        note=(
            "The paper's extractor is MobileNetV2, pre-trained on ImageNet. Every "
            "feature vector is released through the mechanism; any vector may become any other, "
            f"and labels are public. Features lie in [-1, 1], a range of {width:g}; the paper's "
            f"Table 3 states Delta = {STATED_DELTA}, at which all noise would be "
            f"{STATED_DELTA / width:g} times as large."
        ),
        trained=lambda dataset, records: (
            f"{_extractor(rows, dataset)}, {records} other records released "
            f"as {query_size(rows, FEATURES, dataset):,} features"
        ),
    )


def _extractor(rows: pd.DataFrame, dataset: str) -> str:
    """Describe the extractor, with its accuracy if the suite has trained it."""
    public = number_of(rows, study=FEATURES, dataset=dataset, metric="public_records")
    if public == 0:
        return "MobileNetV2 with ImageNet weights, with tanh in place of ReLU6"
    accuracy = number_of(rows, study=FEATURES, dataset=dataset, metric="extractor_accuracy")
    return (
        f"an extractor trained on {public:,.0f} public records (accuracy {accuracy:.2f} with its "
        "own last layer)"
    )


@drawing("tldp2025_fig3", kind="figures", needs=[PARAMETERS])
def figure_3(results: Results) -> Drawn:
    """Draw F1 over epsilon of the averaged models, with the true budget of all rounds."""
    rows = results.rows
    spread = spread_over_trials(rows, PARAMETERS, "range")
    spread["panel"] = [
        f"{dataset_title(dataset)}, Delta = {width_of(dataset, name):,g}"
        for dataset, name in zip(spread["dataset"], spread["range"], strict=True)
    ]
    # The upper bounds on the true delta and epsilon of all rounds become a column each.
    spent = pd.concat(
        ok_rows(rows, PARAMETERS, f"true_{each}_upper") for each in ("delta", "epsilon")
    )
    keys = ["dataset", "range", "calibration", "mechanism", "epsilon"]
    spent = spent.pivot_table(index=keys, columns="metric", values="value").reset_index()
    spread = spread.merge(spent, on=keys, how="left")
    width = 2 * CLIP
    times = STATED_DELTA / width
    panels = Panels(
        "F1 of",
        {
            "published": "claimed epsilon of a release",
            "exact": "epsilon of all rounds (true: at most this)",
        },
        floor="a guess",
        marked={COMPARABLE_ABOVE: f"paper: comparable above {COMPARABLE_ABOVE}"},
        empty="not run: the same noise\nas in the panel above",
    )

    def trained(dataset: str, records: str) -> str:
        rounds = number_of(rows, study=PARAMETERS, dataset=dataset, metric="rounds")
        size = query_size(rows, PARAMETERS, dataset)
        return f"{records} records, a model of {size:,} parameters, {rounds:.0f} rounds"

    def beside(dataset: str) -> str:
        papers = f" (paper: {NETWORKS[dataset]})" if dataset in NETWORKS else ""
        return f",\n{query_size(rows, PARAMETERS, dataset):,} parameters{papers}"

    return _draw(
        rows,
        PARAMETERS,
        spread,
        panels,
        what=(
            "tldp2025 Figure 3 (type III): weighted F1 of a model that three users train by "
            "averaging parameters. Left: as published; epsilon is per release. Right: noise "
            "rescaled until the true delta of all rounds together is the budget's"
        ),
        note=(
            "In every round each user trains for an epoch, clips every parameter to "
            f"[-{CLIP:g}, {CLIP:g}], releases all of them through the mechanism and gets back the "
            "mean of the users. The parameters of a user may become any others. A parameter has a "
            f"range of {width:g}; the paper's Table 4 states Delta = {STATED_DELTA}, for IMDB "
            f"{STATED_DELTA_IMDB:,}. At a given epsilon all noise is then {times:g} and "
            f"{STATED_DELTA_IMDB / width:,.0f} times as large. On images, TLDP-L at Delta = "
            f"{STATED_DELTA} has the noise that it has at Delta = 2 and epsilon / {times:g}; "
            f"TLDP-G, at epsilon / {times**2:,.0f}. Dotted: without noise, and random parameters; "
            "dashed, if known: a guess, the share of the majority class, about the F1 of naming "
            "classes at random. The paper's list of steps adds noise once, to the mean; in "
            "its text every user adds noise, as here. True epsilon of TLDP-G's claims, all "
            f"rounds, at most: {true_epsilons(spread, 'tldp-g')}; the data file has it for all. "
            "LLAGP and DPHSGD follow the paper's description, with our choices where it leaves "
            f"something open; DPHSGD's thresholds come from {PUBLIC_RECORDS} more records, which "
            "are public. "
            "A query is one row, so that at equal true privacy MVG and IDN would have the "
            "noise of the classic Gaussian."
        ),
        trained=trained,
        beside=beside,
    )


def _draw(
    rows: pd.DataFrame,
    study: str,
    spread: pd.DataFrame,
    panels: Panels,
    what: str,
    note: str,
    trained: Callable[[str, str], str],
    beside: Callable[[str], str] = lambda dataset: "",
) -> Drawn:
    """Draw the paper's mechanisms; the figure's data include all mechanisms that were run.

    Args:
        what: The beginning of the caption, which names the figure, the scores and the panels.
        note: Sentences to put between the training and the remarks that all figures share.
        trained: Describes the training on a data set with so many records; the note begins with it.
        beside: The argument of `score_figure`.
    """
    shown = spread[spread["mechanism"].isin(OF_THE_PAPER)]
    run = rows[rows["mechanism"].isin(OF_THE_PAPER)]
    records = {
        dataset: f"{number_of(rows, study=study, dataset=dataset, metric='records'):,.0f}"
        for dataset in spread["dataset"].unique()
    }
    caption = (
        f"{what}. Adjacency local; mean and range over "
        f"{study_words(rows, study, spread)}. Stars: the paper."
    )
    note = (
        f"{note} TLDP's claim is false for a whole tensor (tldp-thm1). The "
        "classic Gaussian is stated for epsilon < 1 only. The figure shows the paper's "
        "mechanisms; its CSV file has all that were run."
    )
    drawn = score_figure(
        run,
        study,
        shown,
        panels._replace(stated=STATED[study]),
        caption,
        note,
        trained=lambda dataset: trained(dataset, records[dataset]),
        beside=beside,
    )
    return replace(drawn, data=spread)


@drawing("tldp2025_table5", kind="tables", needs=[IMAGES])
def table_5(results: Results) -> Drawn:
    """Tabulate the error of one released image: stated, in closed form and measured."""
    rows = required(
        select(results.rows, study=IMAGES, status=OK, calibration="published"),
        DrawingError(f"the results hold no published calibration of {IMAGES}; run it first"),
    )
    keys = ["dataset", "shape", "mechanism", "epsilon"]
    means = rows.pivot_table(index=keys, columns="metric", values="value", aggfunc="mean")
    table = means.reset_index().rename(columns={"expected_loss": "closed form"})
    table["stated error"] = [_stated_error(*at) for at in table[keys[1:]].itertuples(index=False)]
    table = table.dropna(subset="stated error")
    required(
        table, DrawingError("Table 5 needs one of laplace, gaussian, mvg, idn, tldp-l, tldp-g")
    )
    table["closed form"] **= 0.5
    table["measured"] = table["squared_error"] ** 0.5
    table["stated / measured"] = table["stated error"] / table["measured"]
    table["order"] = table["mechanism"].map(legend_order(table["mechanism"]).index)
    table = table.sort_values(["dataset", "order", "epsilon"], ignore_index=True)
    columns = ["dataset", "mechanism", "epsilon", "stated error", "closed form", "measured"]
    return Drawn(
        caption=(
            "tldp2025 Table 5 for one image with pixels in [0, 1] (Delta = 1), noise as published: "
            "the error that the paper states, sqrt(E||Z||^2) of the noise in closed form, and the "
            "root of the mean ||Z||^2 over all released images. Adjacency local."
        ),
        data=table[[*columns, "stated / measured"]],
        note=(
            "The paper states Gaussian, MVG and IDN without a delta; here they have delta "
            f"{rows['delta'].iloc[0]:g}, and MVG has the zeta of mgm2021."
        ),
    )


def _stated_error(shape: str, mechanism: str, epsilon: float) -> float | None:
    """Return a mechanism's entry in Table 5 for one image; None if it has none."""
    entries = stated_errors(axes_of(shape), epsilon, PIXELS[1] - PIXELS[0])
    return entries.get(STANDS_FOR.get(mechanism, mechanism))
