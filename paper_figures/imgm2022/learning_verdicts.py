"""Verdicts on imgm2022's private features (Figure 1) and private gradients.

The judges read official data only.
"""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from claims.comparisons import Signal, equal, order, statement
from claims.intervals import Mean, paired
from claims.judged_rows import (
    calibrated,
    listed,
    number_of,
    ok_rows,
    required,
    select,
)
from claims.judges import CannotJudge, Delta, Epsilon, Shape, judge
from claims.mechanism_titles import mechanism_title
from claims.scores import (
    Scores,
    absent_datasets,
    official_scores,
    select_datasets,
    sizes_in_lines,
)
from claims.verdicts import CONTRADICTED, INCONCLUSIVE, Finding, Sizes
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from mechanisms import Budget
from mechanisms.query.box_query import box_query
from paper_figures.imgm2022.accuracies import FEATURES, GRADIENTS
from runs.results import Results
from studies.features import network_name

# Two studies are not compared if one has more than this many times the records of the other.
ALIKE = 2.0
# The study `gradients` has one network for each data set.
GRADIENT_NETWORKS = {
    "mnist": "LeNet",
    "svhn": "AlexNet",
    "cifar10": "VGG-16",
    "adult": "MLP",
    "cora": "GCN",
}
# A config chooses the networks of the study `features` by these keys.
CUT_NETWORKS = {
    "lenet": "LeNet",
    "cnn": "small CNN",
    "vgg16": "VGG-16",
    "alexnet": "AlexNet",
    "bilstm": "BiLSTM",
}


@judge
def imgm_and_analytic(
    *,
    shapes: dict[str, Shape],
    epsilons: list[Epsilon],
    delta: Delta,
    tolerance: float,
) -> Finding:
    """Judge whether IMGM's noise has a smaller variance than that of the analytic Gaussian.

    The feature shapes are those of Table 1. Both noises are i.i.d. Gaussian: if their variances are
    equal, accuracies differ only by chance.
    """
    parts, budgets = [], [Budget(epsilon=epsilon, delta=delta) for epsilon in epsilons]
    for dataset, shape in shapes.items():
        query = box_query(shape, -1.0, 1.0)
        ratios = [
            calibrated("imgm", query, budget).expected_loss()
            / calibrated("gaussian-analytic", query, budget).expected_loss()
            for budget in budgets
        ]
        less = max(ratios) < 1 - tolerance
        shown = f"variances in the ratio {listed(sorted({f'{r:.9g}' for r in ratios}))}"
        parts.append(statement(f"{dataset_title(dataset)}, IMGM ahead", less, shown))
    return Finding(
        parts=parts,
        detail=(
            "Both draw i.i.d. Gaussian noise with the standard deviation s / B, where B solves one "
            "equation; equal sensitivities are assumed, as the paper flattens a matrix for the "
            "analytic Gaussian."
        ),
        calibration="published",
    )


@judge(studies=(FEATURES,))
def features_order(
    results: Results, *, datasets: list[str], random: float, margin: float
) -> Finding:
    """Judge whether IMGM is above MVG, and MVG near a constant answer, both as published."""
    parts, found = [], select_datasets(official_scores(results.rows, FEATURES), datasets)
    for dataset, scores in found.items():
        above = {f"{scores.title}, IMGM above MVG": scores.gap("imgm", "mvg")}
        parts += order(above, margin=margin, signal=scores.signal(["imgm", "mvg"], margin))
        # A constant answer is right as often as its class occurs.
        level = scores.by_trial("mvg", scores.epsilons)["value"] - MAJORITY[dataset]
        near = {f"{scores.title}, MVG almost random": Mean(level.to_numpy(float))}
        parts += equal(near, margin=random)
    return Finding(
        parts=[*parts, *absent_datasets(found, datasets)],
        calibration="both",
        detail=(
            "Differences of accuracies averaged over the epsilons of the run, with intervals "
            "over trials, all mechanisms at (epsilon / q, delta / q). Every record is released, so "
            "that sampling amplifies nothing. Figure 1 has the accuracies at equal true privacy."
        ),
        **_sizes(results.rows, FEATURES, found),
    )


def _sizes(
    rows: pd.DataFrame, study: str, found: Mapping[str, Scores]
) -> dict[str, Sizes | list[Sizes]]:
    """Return the fields of a finding for its sizes, with a line for each data set."""
    return sizes_in_lines(_size(rows, study, scores) for scores in found.values())


def _size(rows: pd.DataFrame, study: str, scores: Scores) -> Sizes:
    """Return the sizes behind a verdict on one data set."""
    own = select(rows, study=study, dataset=scores.dataset)
    if study == GRADIENTS:
        # This study has one network for each data set, and measures at every epoch.
        network, epochs = GRADIENT_NETWORKS[scores.dataset], own["epoch"]
    else:
        network = CUT_NETWORKS[network_name(int(own["shape"].iloc[0].split("x")[-1]))]
        epochs = ok_rows(own, study, "epochs")["value"]
    return Sizes(
        dataset=scores.dataset,
        records=int(number_of(own, metric="records")),
        epochs=float(epochs.max()),
        trials=scores.trials,
        network=network,
        epsilons=", ".join(f"{epsilon:g}" for epsilon in scores.epsilons),
    )


@judge(studies=(GRADIENTS, FEATURES))
def gradients_beside_features(
    results: Results, *, datasets: list[str], mechanism: str, epochs: dict[str, int], margin: float
) -> Finding:
    """Judge whether accuracies with private gradients exceed those with private features.

    If the gradients were trained for fewer epochs than in the paper, nothing is contradicted.
    """
    rows, parts, compared = results.rows, [], {}
    published = {study: official_scores(rows, study) for study in (FEATURES, GRADIENTS)}
    for dataset in datasets:
        for epsilon, pair in _pairs(published, dataset, mechanism).items():
            difference = paired(*pair[::-1])
            name = f"{dataset_title(dataset)}, epsilon {epsilon:g}, gradients above features"
            (part,) = order({name: difference}, margin=margin)
            floors = (scores[dataset].floor[0] for scores in published.values())
            means = tuple(frame["value"].mean() for frame in pair)
            signal = Signal(means=means, floor=max(floors), margin=margin)
            reason = _record_mismatch(rows, dataset) or signal.missing
            if not reason and part.verdict == CONTRADICTED:
                reason = _epoch_shortage(rows, dataset, epochs[dataset])
            parts.append(replace(part, verdict=INCONCLUSIVE, reason=reason) if reason else part)
            compared[dataset] = published[GRADIENTS][dataset]
    required(parts, CannotJudge("No official data set has both studies at a common epsilon"))
    return Finding(
        parts=parts,
        calibration="both",
        detail=(
            f"Gradients minus features with {mechanism_title(mechanism)}. The features' noise is "
            "that of (epsilon / q, delta / q), though every record is released. The figures of "
            "both studies have the accuracies at equal true privacy. The studies differ in "
            "networks, steps, records and adjacency: a record is replaced for features, and added "
            "or removed for gradients."
        ),
        **_sizes(rows, GRADIENTS, compared),
    )


def _pairs(
    studies: Mapping[str, Mapping[str, Scores]], dataset: str, mechanism: str
) -> dict[float, list[pd.DataFrame]]:
    """Return a mechanism's trials with features and with gradients at every shared budget."""
    both = [found.get(dataset) for found in studies.values()]
    if None in both or not all(mechanism in set(each.rows["mechanism"]) for each in both):
        return {}
    shared = set.intersection(*(set(each.select([mechanism]).epsilons) for each in both))
    return {at: [each.by_trial(mechanism, [at]) for each in both] for at in sorted(shared)}


def _epoch_shortage(rows: pd.DataFrame, dataset: str, papers: int) -> str:
    """Explain that training had fewer epochs than the paper's; "" if it had enough."""
    own = select(rows, study=GRADIENTS, dataset=dataset)
    descended = own["epoch"].fillna(0).max()
    return f"{descended:g} of the paper's {papers} epochs" if descended < papers else ""


def _record_mismatch(rows: pd.DataFrame, dataset: str) -> str:
    """Explain that one study has far more records than the other; "" if neither has."""
    kept = select(rows, dataset=dataset, metric="records")
    counts = {name: select(kept, study=name)["value"].max() for name in (FEATURES, GRADIENTS)}
    if max(counts.values()) <= ALIKE * min(counts.values()):
        return ""
    return " and ".join(f"{n:,.0f} records with private {study}" for study, n in counts.items())
