"""The F1 scores of tldp2025's three studies: Figures 1 to 3, Table 5, and the implied epsilons.

The judges of Figures 1 to 3 take the scores from here.
"""

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pandas as pd

from claims.comparisons import most, order
from claims.implied_epsilon import Implied, StatedNumber, implies, in_closed_form
from claims.intervals import TooFewTrials
from claims.judged_rows import LEVELS, listed, number_of, ok_rows, required, select
from claims.judges import CannotJudge
from claims.scores import ByDataset, Scores, official_scores
from claims.verdicts import CALIBRATION_TITLES, NOT_RUN, Outcome, Part
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
from paper_figures.style import legend_order, mechanism_title
from paper_figures.tldp2025.theorems import loss_of
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
    stated_delta,
    stated_errors,
)
from papers.tldp2025 import FEATURES as FEATURE_RANGE
from runs.result_table import OK
from runs.results import Results
from studies.private_parameters import PUBLIC_RECORDS

# The studies that reproduce the paper's types I to III.
IMAGES, FEATURES, PARAMETERS = "private_data", "private_features", "private_parameters"
CLASSIFIER_WORDS = {
    "logistic": "logistic regression",
    "network": "a small CNN trained from scratch",
    "mobilenet_v2": "MobileNetV2 fine-tuned from ImageNet weights",
}
TLDP = ("tldp-l", "tldp-g")
OTHERS = ("laplace", "gaussian", "mvg-sqrt", "idn")
# The resolution of a score: one of the 10,000 records of the smallest official test set.
STEP = 1 / 10_000
# The controls and the mechanisms that the paper compares, which its figures show and its claims are
# about. A run may have others, which appear only in the CSV files beside the figures.
OF_THE_PAPER = (
    *LEVELS,
    *OTHERS,
    "mvg",
    *TLDP,
    "tldp-l-w",
    "tldp-g-w",
    "llagp",
    "dphsgd",
)
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


def scores_of(
    rows: pd.DataFrame, study: str, calibration: str = "published", **at: str
) -> ByDataset:
    """Return `official_scores` of the paper's mechanisms."""
    return official_scores(rows, study, calibration, OF_THE_PAPER, STEP, **at)


def width_of(dataset: str, delta_range: str) -> float:
    """Return the Delta that a value of the column `range` means on a data set."""
    return stated_delta(dataset) if delta_range == "stated" else 2 * CLIP


# sigma_1^2 = I Delta^2 / (2 epsilon) is the classic variance 2 ln(1.25 / delta) I Delta^2 /
# epsilon'^2 at epsilon' = sqrt(4 ln(1.25 / delta) epsilon), whatever I and Delta are.
THEOREM_2 = (
    "The Gaussian of the paper's Theorem 2 has at epsilon the noise of the classic one of delta "
    "1e-5, which was run, at 6.85 sqrt(epsilon)."
)


def leads_by_side(found: Mapping[str, Scores], crossing: float, margin: float) -> list[Outcome]:
    """Judge whether TLDP-G is above TLDP-L at most budgets on each side of the crossing.

    The paper does not state the epsilons of its figures, so each side is an outcome. A budget at
    the crossing, where both have the same variance, is on neither side.

    Args:
        found: The scores by data set.
        crossing: The epsilon at which both have the same noise, whatever Delta is.
    """
    outcomes = []
    for side, less, inside in (
        ("below", "TLDP-G", operator.lt),
        ("above", "TLDP-L", operator.gt),
    ):
        gaps = {
            f"{scores.title} at {epsilon:g}": scores.gap("tldp-g", "tldp-l", epsilon)
            for scores in found.values()
            for epsilon in scores.select(["tldp-g"]).epsilons
            if inside(epsilon, crossing)
        }
        part = Part("no budgets there", NOT_RUN)
        if gaps:
            leads = order(gaps, margin=margin)
            part = most("TLDP-G above TLDP-L at most of them:", leads)
            shown = listed(f"{lead.name}: {lead.found}" for lead in leads)
            part = replace(part, found=f"{part.found}: {shown}")
        outcomes.append(
            Outcome(
                choice=f"budgets {side} epsilon {crossing:g}, where {less} has less noise",
                parts=(part,),
            )
        )
    return outcomes


# Table 5 is a formula, evaluated here for one MNIST image at epsilon 1 and Delta = 1.
IMAGE, EPSILON = (28, 28), 1.0
# The delta of MVG and IDN, which Section 5.3.1 states.
DELTA = 1e-5


@implies()
def errors(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Yield the numbers of Table 5: E||noise|| on one image."""
    width = PIXELS[1] - PIXELS[0]
    names = {"gaussian": "Gaussian (Theorem 2)", "mvg": mechanism_title("mvg-sqrt")}
    for key, stated in stated_errors(IMAGE, EPSILON, width).items():
        yield StatedNumber(
            claim="tldp-t5",
            where="Table 5",
            mechanism=names.get(key) or mechanism_title(key),
            number=f"error {stated:.3g}, {IMAGE[0]} x {IMAGE[1]} pixels, Delta = 1",
            epsilon=f"{EPSILON:g}",
            implied={
                "published": in_closed_form(
                    lambda epsilon, key=key: loss_of(key, IMAGE, epsilon, width, DELTA), stated**2
                )
            },
            source="closed form",
        )


@implies(IMAGES, FEATURES, PARAMETERS)
def scores(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Yield the numbers of Figures 1 to 3: F1 of models that learn from released data.

    No claim is about those on SVHN.
    """
    yield from _stated(
        rows,
        "Figure 1",
        IMAGES,
        STATED_F1_IMAGES,
        {"mnist": "tldp-f1-mnist", "cifar10": "tldp-f1-cifar"},
        epsilons={"mnist": "below 1", "svhn": "below 1"},
    )
    yield from _stated(
        rows,
        "Figure 2",
        FEATURES,
        STATED_F1_FEATURES,
        {"mnist": "tldp-f2", "cifar10": "tldp-f2"},
    )
    yield from _stated(
        rows,
        "Figure 3",
        PARAMETERS,
        {"imdb": STATED_F1_IMDB["tldp"]},
        {"imdb": "tldp-f3-imdb"},
        keys=(*TLDP, "llagp"),
        epsilons={"imdb": "above 100"},
        ranges={
            f", Delta = {2 * CLIP:g}": {"range": "clip"},
            f", Delta = {STATED_DELTA_IMDB:,}": {"range": "stated"},
        },
    )


def _stated(
    rows: pd.DataFrame,
    where: str,
    study: str,
    stated: Mapping[str, float],
    claims: Mapping[str, str],
    *,
    keys: tuple[str, ...] = TLDP,
    epsilons: Mapping[str, str] = {},
    ranges: Mapping[str, dict[str, str]] = {"": {}},
) -> Iterator[StatedNumber]:
    """Yield the F1 scores that the text states for a figure, if the run implies an epsilon.

    Args:
        stated: The scores by data set.
        claims: The claims that these scores decide, by data set.
        keys: The mechanisms that have these scores.
        epsilons: The text's words on their epsilon, by data set.
        ranges: The values of the column `range` to compute, by their labels.
    """
    for (dataset, score), (words, at), key in itertools.product(
        stated.items(), ranges.items(), keys
    ):
        found, trials = _implied(rows, study, dataset, key, score, at)
        if found:
            yield StatedNumber(
                claim=claims.get(dataset, ""),
                where=where,
                mechanism=mechanism_title(key),
                number=f"F1 {score:g}, {dataset_title(dataset)}{words}",
                epsilon=epsilons.get(dataset, "not stated"),
                implied=found,
                source=f"{study}, {trials} trials",
            )


def _implied(
    rows: pd.DataFrame, study: str, dataset: str, key: str, score: float, at: dict[str, str]
) -> tuple[dict[str, Implied], int]:
    """Return the implied epsilon at each calibration, and the number of trials."""
    found, trials = {}, 0
    for calibration in CALIBRATION_TITLES:
        try:
            scores = scores_of(rows, study, calibration, **at)[dataset]
            found[calibration], trials = scores.implied(key, score), scores.trials
        except (CannotJudge, TooFewTrials):
            continue
    return found, trials


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
        note: The sentences between the training and the remarks that all figures share.
        trained: Describes the training on a data set with so many records; the note begins with it.
        beside: The argument of `score_figure`.
    """
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
        rows[rows["mechanism"].isin(OF_THE_PAPER)],
        study,
        spread[spread["mechanism"].isin(OF_THE_PAPER)],
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
    # The entry of Table 5 for one image, or None if the table has no entry for the mechanism.
    table["stated error"] = [
        stated_errors(axes_of(shape), epsilon, PIXELS[1] - PIXELS[0]).get(
            STANDS_FOR.get(mechanism, mechanism)
        )
        for shape, mechanism, epsilon in table[keys[1:]].itertuples(index=False)
    ]
    table = required(
        table.dropna(subset="stated error"),
        DrawingError("Table 5 needs one of laplace, gaussian, mvg, idn, tldp-l, tldp-g"),
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
