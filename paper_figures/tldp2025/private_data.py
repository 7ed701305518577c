"""tldp2025 type I, classifiers trained on released images: Figure 1, Table 5, and their claims.

Judges read official data only.
"""

import math
from dataclasses import replace

import pandas as pd

from claims.comparisons import equal, every, levels, order, statement
from claims.intervals import paired
from claims.judged_rows import calibrated, listed, required
from claims.judges import CannotJudge, Epsilon, judge
from claims.verdicts import INCONCLUSIVE, NOT_RUN, Finding, Outcome, Part, Sizes
from datasets.titles import dataset_title
from mechanisms import Budget
from mechanisms.query.box_query import box_query
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.panel_sizes import differing_words, missing_words, size_words
from paper_figures.selections import failed_mechanisms, published_only
from paper_figures.style import in_order, mechanism_title
from paper_figures.tldp2025.numbers import PIXELS, STATED_F1_IMAGES, stated_errors
from paper_figures.tldp2025.scores import (
    FALSE_CLAIM,
    PAPER_ALONE,
    STEP,
    TLDP,
    OfficialScores,
    Stated,
    at_equal_privacy,
    drawn_scores,
    either_side,
    hidden_curves,
    implied_words,
    label_of,
    official_datasets,
    official_scores,
    score_figure,
    shared_number,
    sources,
    theorem_2_words,
    trials_and_delta,
)
from runs.result_table import OK
from runs.results import Results

STUDY = "private_data"
CLASSIFIER_WORDS = {
    "logistic": "logistic regression",
    "network": "a small CNN trained from scratch",
    "mobilenet_v2": "MobileNetV2 fine-tuned from ImageNet weights",
}
# A score within this of that without noise shows the classifier's end, and nothing of the noise.
NO_NOISE = 0.01
PAPERS_CLASSIFIER = "mobilenet_v2"
# Variants of a config that stand for an entry of Table 5.
STANDS_FOR = {"mvg-sqrt": "mvg"}
# Scores that the paper's text states for Figure 1.
STATED = {
    "MNIST": {"TLDP below epsilon 1": Stated(STATED_F1_IMAGES["mnist"], 1.0)},
    "SVHN": {"TLDP below epsilon 1": Stated(STATED_F1_IMAGES["svhn"], 1.0)},
    "CIFAR-10": {"TLDP in the end": Stated(STATED_F1_IMAGES["cifar10"])},
}


@drawing("tldp2025_fig1", kind="figures", needs=[STUDY])
def figure_1(results: Results) -> Drawn:
    """F1 over epsilon, one row of panels per data set, one column per calibration."""
    rows = results.rows
    spread = drawn_scores(rows, STUDY, "classifier")
    classifiers = spread.groupby("dataset")["classifier"].first()
    beside = {
        dataset_title(dataset): f"{size_words(rows, STUDY, dataset)}\n{classifier_words}"
        for dataset, classifier_words in classifiers.map(CLASSIFIER_WORDS).items()
    }
    trained = "; ".join(
        f"{dataset_title(dataset)}: {shared_number(rows, STUDY, dataset, 'records'):,.0f} training "
        f"images, {CLASSIFIER_WORDS[classifier]}"
        for dataset, classifier in classifiers.items()
    )
    caption = (
        "tldp2025 Figure 1 (type I): weighted F1 of classifiers that are trained on released "
        f"images and tested on clean ones, {trials_and_delta(spread)}. "
        f"Data: {sources(rows, STUDY)}. Adjacency local. Left: noise as published. Right: noise "
        "rescaled until its true delta at epsilon is the budget's"
        f"{at_equal_privacy(spread)}. Stars: the paper."
    )
    note = (
        f"{trained}. The paper trains MobileNetV2, pre-trained on ImageNet, on all images. Any "
        "image may become any other, all pixels lie in [0, 1], and labels are public. TLDP claims "
        f"pure epsilon-LDP and Laplace noise satisfies it. {FALSE_CLAIM} The others "
        "have delta, and the classic Gaussian is stated for epsilon < 1 only. TLDP with and "
        f"without weights coincide where hardly any value is kept. {_oddities(spread)}"
        f"{_two_budgets(spread)}{PAPER_ALONE}"
        f"{hidden_curves(spread)}{published_only(rows, STUDY, *classifiers.index)}"
        f"{missing_words(rows, STUDY)}"
        f"{differing_words(rows, STUDY)}"
        f"{failed_mechanisms(rows, STUDY, *classifiers.index)}"
    )
    figure = score_figure(spread, "F1 on clean images of", STATED, beside)
    return Drawn(caption, spread, figure, note)


def _two_budgets(spread: pd.DataFrame) -> str:
    """A sentence for each data set whose curves are a line between two points, or nothing."""
    own = spread[spread["mechanism"].isin(TLDP) & (spread["calibration"] == "published")]
    budgets = own.groupby("dataset")["epsilon"].agg(lambda values: sorted(set(values)))
    return "".join(
        f"On {dataset_title(dataset)} TLDP was run at epsilon {ends[0]:g} and {ends[1]:g} alone: "
        "nothing is measured between them. "
        for dataset, ends in budgets.items()
        if len(ends) == 2
    )


def _oddities(spread: pd.DataFrame) -> str:
    """Why points may lie above the line without noise, or below that of random answers."""
    means = spread[spread["calibration"] == "published"]
    levels_of = means.pivot_table(index="dataset", columns="mechanism", values="mean")
    others = means[~means["mechanism"].isin(("non-private", "random-answer"))]
    words = ""
    if "random-answer" in levels_of:
        chance = others["dataset"].map(levels_of["random-answer"])
        if (others["mean"] < chance).any():
            words += (
                "Points below the line of random images are no worse than guessing: under large "
                "noise a classifier ends up predicting one class, which has an F1 of 0.018 for ten "
                "equally frequent classes. One trained on random images guesses among all of them. "
            )
    if "non-private" in levels_of:
        clean = others["dataset"].map(levels_of["non-private"])
        above = others[others["mean"] > clean]
        if not above.empty:
            names = listed(dataset_title(name) for name in sorted(above["dataset"].unique()))
            words += (
                f"Points above the line without noise, on {names}, do not mean that privacy helps: "
                "small noise keeps a classifier from overfitting. "
            )
    return words


@drawing("tldp2025_table5", kind="tables", needs=[STUDY])
def table_5(results: Results) -> Drawn:
    """Error of one released image: stated, in closed form, and as measured."""
    rows = results.rows
    rows = rows[(rows["study"] == STUDY) & (rows["status"] == OK)]
    rows = required(
        rows[rows["calibration"] == "published"],
        DrawingError(f"the results hold no published calibration of {STUDY}; run it first"),
    )
    keys = ["dataset", "shape", "mechanism", "epsilon"]
    means = rows.pivot_table(index=keys, columns="metric", values="value", aggfunc="mean")
    records = []
    for (dataset, shape, mechanism, epsilon), row in means.iterrows():
        axes = tuple(int(n) for n in shape.split("x"))
        entries = stated_errors(axes, epsilon, PIXELS[1] - PIXELS[0])
        stated = entries.get(STANDS_FOR.get(mechanism, mechanism))
        if stated is None:
            continue
        measured = math.sqrt(row["squared_error"])
        records.append(
            {
                "dataset": dataset,
                "mechanism": mechanism,
                "epsilon": epsilon,
                "stated error": stated,
                "closed form": math.sqrt(row["expected_loss"]),
                "measured": measured,
                "stated / measured": stated / measured,
            }
        )
    required(
        records, DrawingError("Table 5 needs one of laplace, gaussian, mvg, idn, tldp-l, tldp-g")
    )
    table = pd.DataFrame(records)
    order = table["mechanism"].map(in_order(table["mechanism"]).index)
    table = table.assign(order=order).sort_values(["dataset", "order", "epsilon"])
    caption = (
        "tldp2025 Table 5 for one image with pixels in [0, 1] (Delta = 1), noise as published: the "
        "error that the paper states, sqrt(E||Z||^2) of the noise in closed form, and the root of "
        "the mean ||Z||^2 over all released images. Adjacency local."
    )
    note = (
        "The paper states Gaussian, MVG and IDN without a delta; here they have delta "
        f"{rows['delta'].iloc[0]:g}, and MVG has the zeta of mgm2021."
    )
    return Drawn(caption, table.drop(columns="order").reset_index(drop=True), note=note)


def _conditions(rows: pd.DataFrame, scores: OfficialScores, dataset: str) -> str:
    """Which classifier was trained on how many images."""
    return (
        f"Weighted F1 on the clean test images by {_classifier(scores)}, trained on "
        f"{shared_number(rows, STUDY, dataset, 'records'):,.0f} released images (the paper: "
        "MobileNetV2, pre-trained on ImageNet, on all)"
    )


def _classifier(scores: OfficialScores) -> str:
    return CLASSIFIER_WORDS[scores.rows["classifier"].iloc[0]]


def _sizes(rows: pd.DataFrame, scores: OfficialScores, dataset: str, epsilons: str) -> Sizes:
    return Sizes(
        dataset=dataset,
        records=int(shared_number(rows, STUDY, dataset, "records")),
        trials=scores.trials,
        network=_classifier(scores),
        epsilons=epsilons,
    )


@judge(studies=(STUDY,))
def trained_score(
    results: Results,
    *,
    dataset: str,
    below: float = math.inf,
    stated: float,
    others: list[str] | None = None,
    slower_than: str | None = None,
    tolerance: float,
    margin: float | None = None,
) -> Finding:
    """The best F1 of TLDP below an epsilon, and that no other mechanism comes near it.

    Or, with `slower_than`, that it grows more slowly than on that data set, and to a lower level.
    """
    scores = official_scores(results.rows, STUDY, dataset)
    counted = scores.within(below=below)
    epsilons = required(
        sorted(counted.rows[counted.rows["mechanism"].isin(TLDP)]["epsilon"].unique()),
        CannotJudge(f"The results have no TLDP below epsilon {below}"),
    )
    peak = counted.peak(TLDP)
    clean, chance = scores.level("non-private"), scores.level("random-answer")
    parts = levels(
        {label_of(*peak): scores.score(*peak)},
        stated=stated,
        tolerance=tolerance,
        ceiling=clean,
    )
    stands_in = scores.rows["classifier"].iloc[0] != PAPERS_CLASSIFIER
    if slower_than and stands_in and scores.score(*peak).value >= clean - NO_NOISE:
        reason = "as high as without noise: another classifier has another end"
        parts = [replace(part, verdict=INCONCLUSIVE, reason=reason) for part in parts]
    if others:
        low = OfficialScores(
            pd.concat([counted.rows, scores.rows[scores.rows["mechanism"] == "random-answer"]])
        )
        parts.append(low.near_chance("others near random answers", others, margin))
    other_sizes = []
    if slower_than:
        title = dataset_title(slower_than)
        try:
            quick = official_scores(results.rows, STUDY, slower_than)
        except CannotJudge:
            parts.append(Part(f"slower and lower than on {title}", NOT_RUN))
        else:
            parts += _slower_and_lower(scores, quick, title, margin)
            other_sizes.append(_sizes(results.rows, quick, slower_than, quick.range_of_epsilons))
    rescaled = official_scores(results.rows, STUDY, dataset, "exact")
    exact = rescaled.at(epsilons[-1])
    return Finding(
        parts=parts,
        detail=(
            f"{_conditions(results.rows, scores, dataset)}; without noise it reaches "
            f"{clean:.3g}, on random images {chance:.3g}. At equal true privacy at epsilon "
            f"{epsilons[-1]:g} (noise rescaled until its true delta is the budget's) TLDP has "
            f"{listed(f'{exact.best([key]):.3g} ({key})' for key in TLDP)}. "
            f"{implied_words(scores, rescaled, stated)} "
            f"{theorem_2_words(scores) if others else ''}"
        ),
        because=_because(clean, stated, tolerance, stands_in),
        calibration="both",
        sizes=_sizes(results.rows, scores, dataset, f"{epsilons[0]:g} to {epsilons[-1]:g}"),
        other_sizes=other_sizes,
    )


@judge(studies=(STUDY,))
def others_low(
    results: Results,
    *,
    datasets: list[str],
    others: list[str],
    ends: list[Epsilon],
    margin: float,
) -> Finding:
    """All other mechanisms near random answers, each at its best epsilon up to an end of the axis.

    The paper states no end: each of `ends` is an outcome.
    """
    parts, found, words = {end: [] for end in ends}, [], []
    for dataset in datasets:
        try:
            scores = official_scores(results.rows, STUDY, dataset)
        except CannotJudge:
            for own in parts.values():
                own.append(Part(dataset_title(dataset), NOT_RUN))
            continue
        budgets = scores.of_any(others).range_of_epsilons
        found.append(_sizes(results.rows, scores, dataset, budgets))
        words.append(f"{dataset_title(dataset)}: {theorem_2_words(scores)}")
        for end, own in parts.items():
            own += [scores.low(key, margin, end) for key in others]
    required(found, CannotJudge(f"The run has none of {listed(map(dataset_title, datasets))}"))
    return Finding(
        choice="the largest epsilon of Figure 1",
        outcomes=[
            Outcome(choice=f"epsilon up to {end:g}", parts=tuple(own)) for end, own in parts.items()
        ],
        detail=(
            f"Each at its best epsilon, less the F1 of random answers. {' '.join(words)} The "
            "classic Gaussian is stated for epsilon < 1 only."
        ),
        calibration="published",
        sizes=found[0],
        other_sizes=found[1:],
    )


def _slower_and_lower(
    slow: OfficialScores, quick: OfficialScores, title: str, margin: float
) -> list[Part]:
    """Whether both TLDP methods end lower, and lack more of their end at an epsilon below 1.

    The end is the largest epsilon that both data sets have; below 1, where the paper has the quick
    one at its end, it is the largest that both have, too. Trials of two data sets are independent,
    so that any pairing of them serves.
    """
    shared = sorted(set.intersection(*(set(each.of_any(TLDP).epsilons) for each in (slow, quick))))
    early = [epsilon for epsilon in shared if epsilon < 1]
    if not early or early[-1] == shared[-1]:
        raise CannotJudge(f"Growth needs an epsilon below 1 and a larger one, as on {title}")
    first, last = early[-1], shared[-1]
    lower, slower = {}, {}
    for key in TLDP:
        name = mechanism_title(key)
        lower[name] = paired(quick.of(key, last), slow.of(key, last), resolution=STEP)
        slower[name] = paired(*(_lacking(scores, key, first, last) for scores in (slow, quick)))
    return [
        every(f"F1 lower than on {title} at epsilon {last:g}", order(lower, margin=margin)),
        every(
            f"larger share of that F1 missing at epsilon {first:g} than on {title}",
            order(slower, margin=margin),
        ),
    ]


def _lacking(scores: OfficialScores, key: str, first: float, last: float) -> pd.DataFrame:
    """1 - F1 at one epsilon over that at another, trial by trial."""
    start, end = (scores.of(key, epsilon).set_index("trial")["value"] for epsilon in (first, last))
    return (1 - start / end).reset_index()


def _because(clean: float, stated: float, tolerance: float, stands_in: bool) -> str:
    if clean < (1 - tolerance) * stated:
        return (
            f"Our classifier reaches {clean:.2g} without noise, so {stated:g} cannot appear. Some "
            "noise may raise its score a little: it keeps a classifier from overfitting."
        )
    return "The classifier is not the paper's." if stands_in else ""


@judge(studies=(STUDY,))
def variant_order(
    results: Results,
    *,
    epsilons: list[Epsilon],
    crossing: float,
    slight: float,
    alike: float,
    negligible: float,
    margin: float,
) -> Finding:
    """TLDP-G slightly above TLDP-L, TLDP-L-w about TLDP-L, TLDP-G-w slightly below TLDP-G.

    Where the weights cannot change an image, exact numbers decide on them, else the scores. Whether
    TLDP-G is above TLDP-L is judged on every data set, on both sides of the epsilon at which they
    have the same noise; how far above, and the weighted ones, on MNIST at the given epsilons.
    """
    scores = official_scores(results.rows, STUDY, "mnist")
    by_dataset = {
        name: official_scores(results.rows, STUDY, name)
        for name in official_datasets(results.rows, STUDY)
    }
    ahead = {f"at {e:g}": scores.gap("tldp-g", "tldp-l", e) for e in epsilons}
    close = equal(ahead, margin=slight)
    slightly = every("and only slightly", close)
    if len({part.verdict for part in close}) > 1:
        # Which of these epsilons are the paper's is only in a figure.
        reason = f"{slightly.found}, and less at the others; the paper's epsilons are not stated"
        slightly = replace(slightly, verdict=INCONCLUSIVE, found="", reason=reason)
    slightly = replace(slightly, name="and only slightly, on MNIST")
    shape = tuple(int(axis) for axis in scores.rows["shape"].iloc[0].split("x"))
    kept = max(_log_kept(key, shape, epsilons) for key in TLDP)
    if kept < math.log(negligible):
        found = f"an image keeps a value with probability e^{kept:.0f} at most"
        parts = [
            statement("TLDP-L-w about TLDP-L", True, found),
            statement("TLDP-G-w below TLDP-G", False, found, "both are alike in distribution"),
        ]
    else:
        parts = _weights_by_scores(scores, epsilons, alike, margin)
    below, above = either_side(by_dataset, crossing, margin)
    sizes, *others = (
        _sizes(results.rows, own, name, own.of_any(TLDP).range_of_epsilons)
        for name, own in by_dataset.items()
    )
    return Finding(
        choice="the epsilons of Figure 1",
        outcomes=[replace(below, parts=(*below.parts, slightly)), above],
        beside=parts,
        detail=(
            f"{_conditions(results.rows, scores, 'mnist')}; mean differences over the trials. How "
            "far TLDP-G is above TLDP-L, and the weighted variants, on MNIST at epsilon "
            f"{listed(f'{e:g}' for e in epsilons)}. Weights change only how often a value is kept."
        ),
        calibration="published",
        sizes=sizes,
        other_sizes=others,
    )


def _log_kept(key: str, shape: tuple[int, ...], epsilons: list[float]) -> float:
    """Log of the largest probability that an image keeps any value."""
    query = box_query(shape, *PIXELS)
    budgets = [Budget(epsilon=epsilon) for epsilon in epsilons]
    return max(calibrated(key, query, budget).profile().log_atom_mass for budget in budgets)


def _weights_by_scores(
    scores: OfficialScores, epsilons: list[float], alike: float, margin: float
) -> list[Part]:
    same = {f"at {e:g}": scores.gap("tldp-l-w", "tldp-l", e) for e in epsilons}
    below = {f"at {e:g}": scores.gap("tldp-g", "tldp-g-w", e) for e in epsilons}
    return [
        every("TLDP-L-w about TLDP-L", equal(same, margin=alike)),
        every("TLDP-G-w below TLDP-G", order(below, margin=margin)),
    ]
