"""tldp2025 type II, a last layer trained on released features: Figure 2 and its claims.

Judges read official data only.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pandas as pd

from claims.comparisons import every, levels, order
from claims.intervals import Mean
from claims.judged_rows import listed, required
from claims.judges import CannotJudge, judge
from claims.verdicts import CONTRADICTED, NOT_RUN, Finding, Outcome, Part, Sizes
from datasets.titles import dataset_title
from paper_figures.drawings import Drawn, drawing
from paper_figures.panel_sizes import differing_words, missing_words, size_words
from paper_figures.selections import failed_mechanisms, query_size
from paper_figures.style import mechanism_title
from paper_figures.tldp2025.numbers import FEATURES, STATED_DELTA, STATED_F1_FEATURES
from paper_figures.tldp2025.private_data import CLASSIFIER_WORDS
from paper_figures.tldp2025.private_data import STUDY as IMAGES
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
from runs.results import Results

STUDY = "private_features"
IMAGENET = "MobileNetV2 with ImageNet weights"
# Delta of the study: the range of a feature.
WIDTH = FEATURES[1] - FEATURES[0]
# TLDP-L's noise at Delta = 2 is that at the stated Delta and an epsilon so many times as large.
FACTOR = STATED_DELTA / WIDTH
OWN = "trained on public images of the same kind"
# Scores that the paper's text states for Figure 2.
STATED = {
    "MNIST": {"TLDP at most": Stated(STATED_F1_FEATURES["mnist"])},
    "CIFAR-10": {"TLDP in the end": Stated(STATED_F1_FEATURES["cifar10"])},
    "SVHN": {"TLDP in the end": Stated(STATED_F1_FEATURES["svhn"])},
}


@drawing("tldp2025_fig2", kind="figures", needs=[STUDY])
def figure_2(results: Results) -> Drawn:
    """F1 over epsilon, one row of panels per data set, one column per calibration."""
    rows = results.rows
    spread = drawn_scores(rows, STUDY)
    datasets = sorted(spread["dataset"].unique())
    extracted = "; ".join(
        f"{dataset_title(dataset)}: {_extractor(rows, dataset)}, "
        f"{shared_number(rows, STUDY, dataset, 'records'):,.0f} other records released as "
        f"{query_size(rows, STUDY, dataset):,} features"
        for dataset in datasets
    )
    caption = (
        "tldp2025 Figure 2 (type II): weighted F1 of a last fully connected layer that is trained "
        "on released features and tested on the features of clean images, "
        f"{trials_and_delta(spread)}. Data: {sources(rows, STUDY)}. Adjacency local. Left: noise "
        "as published. Right: noise rescaled until its true delta at epsilon is the budget's"
        f"{at_equal_privacy(spread)}. Stars: the paper."
    )
    note = (
        f"{extracted}. The paper's extractor is MobileNetV2, pre-trained on ImageNet. Every "
        "feature vector is released through the mechanism; any vector may become any other, and "
        f"labels are public. Features lie in [-1, 1], a range of {WIDTH:g}; the paper's Table 3 "
        f"states Delta = {STATED_DELTA}, at which all noise would be {STATED_DELTA / WIDTH:g} "
        "times as large. The classic Gaussian is stated for epsilon < 1 only."
        f" {FALSE_CLAIM} {PAPER_ALONE}{hidden_curves(spread)}{missing_words(rows, STUDY)}"
        f"{differing_words(rows, STUDY)}"
        f"{failed_mechanisms(rows, STUDY, *datasets)}"
    )
    beside = {dataset_title(name): size_words(rows, STUDY, name) for name in datasets}
    figure = score_figure(spread, "F1 on clean features of", STATED, beside)
    return Drawn(caption, spread, figure, note)


def _extractor(rows: pd.DataFrame, dataset: str) -> str:
    """What computes the features, and its accuracy where the suite has trained it."""
    public = shared_number(rows, STUDY, dataset, "public_records")
    if public == 0:
        return "MobileNetV2 with ImageNet weights, with tanh in place of ReLU6"
    accuracy = shared_number(rows, STUDY, dataset, "extractor_accuracy")
    return (
        f"an extractor trained on {public:,.0f} public records (accuracy {accuracy:.2f} with its "
        "own last layer)"
    )


@judge(studies=(STUDY, IMAGES))
def feature_score(
    results: Results, *, stated: dict[str, float], tolerance: float, margin: float
) -> Finding:
    """The best F1 of TLDP on released features by data set, and that images give a higher one.

    The paper does not say whether its extractor saw images of the data set: the outcomes are those
    of the extractors in the run, and of the paper's. It states two values of Delta, and no end of
    its axis. TLDP-L at Delta = 256 is that at Delta = 2 and a smaller epsilon, so that its score at
    the run's smallest one is that of a figure with Delta = 256 that ends early. Of that figure the
    level alone is judged: images would have another end.
    """
    rows = results.rows
    present = required(
        [name for name in stated if name in official_datasets(rows, STUDY)],
        CannotJudge(f"The run has no features of {listed(map(dataset_title, stated))}"),
    )
    outcomes: dict[str, list[Part]] = {}
    words, found, ahead = [], {}, []
    for dataset in present:
        scores = found[dataset] = official_scores(rows, STUDY, dataset)
        title, kind = dataset_title(dataset), _extractor_kind(rows, dataset)
        peak, first = scores.peak(TLDP), scores.of_any(["tldp-l"]).epsilons[0]
        best = scores.score(*peak)
        about = partial(
            levels,
            stated=stated[dataset],
            tolerance=tolerance,
            ceiling=scores.level("non-private"),
        )
        below = _below_images(rows, dataset, best, margin)
        outcomes.setdefault(f"extractor {kind}, Delta = {WIDTH:g}", []).extend(
            [*about({f"{title}, {label_of(*peak)}": best}), below]
        )
        outcomes.setdefault(
            f"extractor {kind}, Delta = {STATED_DELTA}, an axis that ends early", []
        ).extend(
            about({f"{title}, {label_of('tldp-l', FACTOR * first)}": scores.score("tldp-l", first)})
        )
        if below.verdict == CONTRADICTED:
            ahead.append(dataset)
        exact = official_scores(rows, STUDY, dataset, "exact")
        words.append(
            f"On {dataset_title(dataset)} "
            f"{shared_number(rows, STUDY, dataset, 'records'):,.0f} released records; without "
            f"noise {scores.level('non-private'):.3g}, TLDP at equal true privacy at most "
            f"{exact.best(TLDP):.3g}. {implied_words(scores, exact, stated[dataset])} "
            f"{_at_the_stated_delta(scores)}"
        )
    papers = any(_extractor_kind(rows, dataset) == IMAGENET for dataset in present)
    if not papers:
        # The paper's extractor settles the claim; ours stands in for it.
        outcomes[f"extractor {IMAGENET}"] = [Part("no rows of it", NOT_RUN)]
    return Finding(
        choice="what the feature extractor was trained on, Delta, and the end of the axis",
        outcomes=[Outcome(choice=choice, parts=tuple(parts)) for choice, parts in outcomes.items()],
        because=f"Judged with {IMAGENET}." if papers else _because(ahead),
        detail=f"Best mean weighted F1 of TLDP on clean features, as published. {' '.join(words)}",
        calibration="both",
        **_sizes(rows, found),
    )


def _because(ahead: list[str]) -> str:
    """`ahead` are the data sets where features have higher scores than images."""
    higher = ""
    if ahead:
        names = listed(map(dataset_title, ahead))
        higher = (
            f"With it and Delta = {WIDTH:g}, TLDP scores higher on features of {names} than on "
            "images. "
        )
    return (
        "Our extractor was trained on public images of the same kind, which the paper's may not "
        f"have been. {higher}The paper's extractor was not run."
    )


def _at_the_stated_delta(scores: OfficialScores) -> str:
    """The scores of TLDP-L here, as those with more noise at a larger epsilon."""
    found = listed(
        f"{scores.score('tldp-l', epsilon).value:.3g} at {FACTOR * epsilon:g}"
        for epsilon in scores.epsilons
    )
    return (
        f"With Delta = {STATED_DELTA} TLDP-L has the noise that it has here at epsilon/{FACTOR:g}: "
        f"{found}."
    )


def _extractor_kind(rows: pd.DataFrame, dataset: str) -> str:
    return OWN if shared_number(rows, STUDY, dataset, "public_records") else IMAGENET


def _sizes(
    rows: pd.DataFrame, scores: Mapping[str, OfficialScores]
) -> dict[str, Sizes | list[Sizes]]:
    """What a verdict rests on, one line for each data set."""
    first, *others = (
        Sizes(
            dataset=dataset,
            records=int(shared_number(rows, STUDY, dataset, "records")),
            trials=own.trials,
            network=f"one layer; extractor {_extractor_kind(rows, dataset)}",
            epsilons=own.range_of_epsilons,
        )
        for dataset, own in scores.items()
    )
    return {"sizes": first, "other_sizes": others}


def _below_images(rows: pd.DataFrame, dataset: str, best: Mean, margin: float) -> Part:
    """Whether the best score with images is above the best one with features."""
    title = dataset_title(dataset)
    try:
        images = official_scores(rows, IMAGES, dataset)
    except CannotJudge:
        return Part(f"{title}, images above features", NOT_RUN)
    top = images.score(*images.peak(TLDP))
    common = min(top.trials, best.trials)
    gap = Mean(top.values[:common] - best.values[:common], STEP)
    classifier = CLASSIFIER_WORDS[images.rows["classifier"].iloc[0]]
    name = f"{title}, images ({classifier}) above features, each at its best"
    (part,) = order({name: gap}, margin=margin)
    return part


@judge(studies=(STUDY,))
def features_ahead(
    results: Results, *, datasets: list[str], others: list[str], low: float, margin: float
) -> Finding:
    """Figure 2: both TLDP methods above all others at every epsilon, and the others near random."""
    rows, parts, found, words = results.rows, [], {}, []
    for dataset in datasets:
        title = dataset_title(dataset)
        if dataset not in official_datasets(rows, STUDY):
            parts.append(Part(title, NOT_RUN))
            continue
        scores = found[dataset] = official_scores(rows, STUDY, dataset)
        for own in TLDP:
            gaps = {
                f"{mechanism_title(other)} at {epsilon:g}": scores.gap(own, other, epsilon)
                for other in others
                for epsilon in scores.epsilons
            }
            name = f"{title}, {mechanism_title(own)} above all at every epsilon"
            leads = order(gaps, margin=margin)
            least = min(leads, key=lambda lead: gaps[lead.name].value)
            shown = f"least lead, over {least.name}, {least.found}"
            parts.append(replace(every(name, leads), found=shown))
        parts += [scores.low(key, low) for key in others]
        words.append(f"{title}: {theorem_2_words(scores)}")
    required(
        found, CannotJudge(f"The run has no features of {listed(map(dataset_title, datasets))}")
    )
    return Finding(
        parts=parts,
        detail=(
            "Paired differences of F1 over trials; ineffective is within the margin of random "
            f"answers at the best epsilon. {' '.join(words)} The classic Gaussian is stated for "
            "epsilon < 1 only."
        ),
        calibration="published",
        **_sizes(rows, found),
    )


@judge(studies=(STUDY,))
def feature_variants(results: Results, *, crossing: float, margin: float) -> Finding:
    """TLDP-G above TLDP-L on released features, at most epsilons of the official data sets."""
    rows = results.rows
    found = {name: official_scores(rows, STUDY, name) for name in official_datasets(rows, STUDY)}
    return Finding(
        choice="the epsilons of Figure 2",
        outcomes=either_side(found, crossing, margin),
        detail=(
            "Mean weighted F1 of TLDP-G minus that of TLDP-L, as published. The standard deviation "
            "of the noise is Delta / sqrt(2 epsilon) for TLDP-G and sqrt(2) Delta / epsilon for "
            f"TLDP-L, which is smaller above epsilon {crossing:g}, whatever Delta is."
        ),
        calibration="published",
        **_sizes(rows, found),
    )
