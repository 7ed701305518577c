"""tldp2025 type II, a last layer trained on released features: Figure 2 and its claim.

The judge reads official data only.
"""

from __future__ import annotations

import pandas as pd

from paper_figures.drawings import Drawn, drawing
from paper_figures.ledger import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    CannotJudge,
    Claim,
    Finding,
    judge,
)
from paper_figures.results import Results
from paper_figures.selections import failed_mechanisms, size_of
from paper_figures.style import dataset_title
from paper_figures.tldp2025.private_data import CLASSIFIER_WORDS
from paper_figures.tldp2025.private_data import STUDY as IMAGES
from paper_figures.tldp2025.scores import (
    TLDP,
    OfficialScores,
    drawn_scores,
    official_datasets,
    official_scores,
    score_figure,
    shared_number,
    sources,
    trials_and_delta,
)
from paper_figures.verdict_rules import (
    listed,
    paired_difference,
    verdict_of_parts,
    verdict_on_numbers,
    verdict_on_order,
)
from papers.tldp2025 import FEATURES, STATED_DELTA

STUDY = "private_features"


@drawing("tldp2025_fig2", kind="figures", needs=[STUDY])
def figure_2(results: Results) -> Drawn:
    """F1 over epsilon, one row of panels per data set, one column per calibration."""
    rows, width = results.rows, FEATURES[1] - FEATURES[0]
    spread = drawn_scores(rows, STUDY)
    datasets = sorted(spread["dataset"].unique())
    extracted = "; ".join(
        f"{dataset_title(dataset)}: {_extractor(rows, dataset)}, "
        f"{shared_number(rows, STUDY, dataset, 'records'):,.0f} other records released as "
        f"{_features(rows, dataset):,} features"
        for dataset in datasets
    )
    caption = (
        "tldp2025 Figure 2 (type II): weighted F1 of a last fully connected layer that is trained "
        "on released features and tested on the features of clean images, "
        f"{trials_and_delta(spread)}. Data: {sources(rows, STUDY)}. Adjacency local. Left: noise "
        "as published. Right: noise rescaled until its true delta at epsilon is the budget's."
    )
    note = (
        f"{extracted}. The paper's extractor is MobileNetV2, pre-trained on ImageNet. Every "
        "feature vector is released through the mechanism; any vector may become any other, and "
        f"labels are public. Features lie in [-1, 1], a range of {width:g}; the paper's Table 3 "
        f"states Delta = {STATED_DELTA}, at which all noise would be {STATED_DELTA / width:g} "
        "times as large. The classic Gaussian is stated for epsilon < 1 only."
        f"{failed_mechanisms(rows, STUDY, *datasets)}"
    )
    return Drawn(caption, spread, score_figure(spread, "F1 on clean features of"), note)


def _features(rows: pd.DataFrame, dataset: str) -> int:
    """Number of features of one record."""
    own = rows[(rows["experiment"] == STUDY) & (rows["dataset"] == dataset)]
    return size_of(own["shape"].iloc[0])


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


@judge(experiments=(STUDY, IMAGES))
def feature_score(claim: Claim, results: Results) -> Finding:
    """The best F1 of TLDP on released features by data set, and that images give a higher one.

    Arguments: stated, F1 by data set. Images and features are compared at every epsilon that both
    studies have, mechanism by mechanism. A data set that the run lacks is a part that is not run.
    """
    rows, stated = results.rows, claim.arguments["stated"]
    present = official_datasets(rows, STUDY)
    if not set(present) & set(stated):
        raise CannotJudge(f"A claim about {listed(stated)}; this run has {listed(present)}")
    numbers, orders, best, words = {}, {}, {}, []
    for dataset, score in stated.items():
        if dataset not in present:
            numbers[dataset] = orders[dataset] = NOT_RUN
            continue
        scores = official_scores(rows, STUDY, dataset)
        best[dataset] = scores.best(TLDP)
        numbers[dataset] = verdict_on_numbers([(best[dataset], score)], claim.tolerance)
        orders[dataset], gaps = _against_images(rows, dataset, scores)
        exact = official_scores(rows, STUDY, dataset, "exact").best(TLDP)
        public = shared_number(rows, STUDY, dataset, "public_records")
        words.append(
            f"On {dataset_title(dataset)} "
            f"{shared_number(rows, STUDY, dataset, 'records'):,.0f} released records and an "
            f"extractor trained on {f'{public:,.0f} public records' if public else 'ImageNet'}; "
            f"without noise {scores.level('non-private'):.3g}, TLDP at equal true privacy at most "
            f"{exact:.3g}. F1 with images less F1 with features at equal epsilon: {gaps}."
        )
    parts = listed(
        f"{dataset_title(name)}: number {numbers[name]}, order {orders[name]}" for name in stated
    )
    return Finding(
        ours=listed(f"{value:.3g} ({name})" for name, value in best.items()),
        verdict=verdict_of_parts(*numbers.values(), *orders.values()),
        detail=(
            f"Best mean weighted F1 of TLDP on clean features, as published. {' '.join(words)} "
            f"Part by part: {parts}."
        ),
        calibration="both",
        trials=scores.trials,
    )


def _against_images(rows: pd.DataFrame, dataset: str, features: OfficialScores) -> tuple[str, str]:
    """The verdict on images scoring higher than features, and the differences as text."""
    try:
        images = official_scores(rows, IMAGES, dataset)
    except CannotJudge:
        return NOT_RUN, "no images were released"
    both = images.means.index.intersection(features.means.index)
    gaps = {
        (key, epsilon): paired_difference(images.of(key, epsilon), features.of(key, epsilon))
        for key in TLDP
        for epsilon in sorted(epsilon for mechanism, epsilon in both if mechanism == key)
    }
    if not gaps:
        return NOT_RUN, "no epsilon is in both studies"
    words = listed(f"{gap} ({key}, {epsilon:g})" for (key, epsilon), gap in gaps.items())
    # The paper's two studies share a network, ours do not: the opposite order contradicts nothing.
    ahead = verdict_on_order(*gaps.values()) == REPRODUCED
    classifier = CLASSIFIER_WORDS[images.rows["classifier"].iloc[0]]
    verdict = REPRODUCED if ahead else NOT_REPRODUCED
    return verdict, f"{words}, images being classified by {classifier}"
