"""Draw and judge accuracy over epsilon in imgm2022's two studies.

The studies are private features (Figure 1), and private gradients, which the paper only announces.
Verdicts use official data only. The budget (epsilon / q, delta / q) of a batch is judged in closed
form.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import pandas as pd

from claims.comparisons import Signal, equal, order, statement, universal
from claims.intervals import Mean, paired
from claims.judged_rows import listed, listed_numbers, number_of, ok_rows, required, select
from claims.judges import CannotJudge, Count, Delta, Epsilon, Shape, judge
from claims.mechanism_titles import mechanism_title
from claims.scores import (
    Scores,
    absent_datasets,
    official_scores,
    select_datasets,
    sizes_in_lines,
)
from claims.verdicts import CONTRADICTED, INCONCLUSIVE, Finding, Outcome, Part, Sizes
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from paper_figures.drawings import Drawn, drawing
from paper_figures.imgm2022.theorems import imgm_over_gaussian
from paper_figures.over_epsilon import (
    Panels,
    add_true_epsilon,
    score_figure,
    spread_over_trials,
    study_words,
    true_epsilons,
)
from runs.results import Results
from studies.features import network_name

FEATURES, GRADIENTS = "features", "gradients"


@drawing("imgm2022_fig1", kind="figures", needs=[FEATURES])
def figure_1(results: Results) -> Drawn:
    """Draw the accuracy over epsilon of a head that is trained on released features."""
    return _draw(
        results.rows,
        FEATURES,
        "imgm2022 Figure 1 (type II), private features: test accuracy of a head trained on "
        "features that are released once",
        {
            "records": "released records",
            "public_records": "public records",
            "epochs": "epochs of the head",
            "sampling_rate": "q",
        },
        more="IMGM and the analytic Gaussian have the same distribution; at equal true privacy all "
        "i.i.d. Gaussian noise has it. Dotted: without noise, and trained on random features",
        note="The network's body is trained on the public "
        "records, which the paper does not mention. It turns every private training record into "
        "features, which are released in batches; test features carry no noise. Adjacency: one "
        "record is replaced, which changes one row by at most 2 per feature; labels are public. "
        "As published, a batch gets (epsilon / q, delta / q), which the paper takes as the "
        "amplified budget of MVG, the analytic Gaussian and IMGM, and which all mechanisms get "
        "here. Every record is released, so sampling amplifies nothing. At equal true privacy the "
        "noise is rescaled until the true delta of the release at epsilon is delta. IMGM and the "
        "analytic Gaussian have the same distribution at either calibration; MVG has equal "
        "precision in all directions, so that at equal true privacy it has their noise. The "
        "classic Gaussian is proved for epsilon < 1 only, and epsilon / q is mostly larger. The "
        "paper states no accuracy in numbers, so there is no marker for it.",
        true="as published",
    )


@drawing("imgm2022_gradients", kind="figures", needs=[GRADIENTS])
def accuracy_with_private_gradients(results: Results) -> Drawn:
    """Draw the accuracy over epsilon after training with noisy gradients."""
    return _draw(
        results.rows,
        GRADIENTS,
        "imgm2022 type I, private gradients, announced without results: test accuracy after "
        "training",
        {"records": "training records", "sampling_rate": "q", "steps": "steps"},
        more="At equal true privacy all i.i.d. Gaussian noise is the same. Dotted: without "
        "privacy, and random answers",
        note="Gradient descent on Poisson samples: a step "
        "clips every gradient to an l2 norm, which is the sensitivity, and releases their sum as "
        "one vector. On one vector the matrix mechanism is the classic Gaussian and IMGM the "
        "analytic one. Adjacency: one record is added or removed. As published, a step has its "
        "share of the budget by Theorem 3.4 of Kairouz, Oh and Viswanath, over q; the moments "
        "accountant sets its noise from the total. At equal true privacy the noise is rescaled "
        "until the bound on the run's true delta at epsilon is delta. Training without privacy "
        "does not clip.",
        true="as published, at most",
    )


def _draw(
    rows: pd.DataFrame,
    study: str,
    title: str,
    facts: dict[str, str],
    *,
    more: str,
    note: str,
    true: str,
) -> Drawn:
    """Draw the mean and range of a study's accuracies over epsilon, on every data set.

    Args:
        title: The beginning of the caption.
        facts: The labels of metrics, by metric. The note begins with the values of these metrics.
        more: The end of the caption, without a full stop.
        note: The sentences of the note after these values.
        true: A qualification of IMGM's true epsilon, with which the note ends.

    Raises:
        DrawingError: The results hold no accuracies of the study.
    """
    spread = add_true_epsilon(spread_over_trials(rows, study), rows, study)
    worth = true_epsilons(spread, "imgm")
    note += f" True epsilon of IMGM's claims {true}: {worth}." if worth else ""

    def trained(dataset: str) -> str:
        values = (ok_rows(rows, study, metric, dataset)["value"].iloc[0] for metric in facts)
        return ", ".join(
            f"{label} {value:{'.4f' if value < 1 else ',.0f'}}"
            for label, value in zip(facts.values(), values, strict=True)
        )

    return score_figure(
        rows,
        study,
        spread,
        Panels("test accuracy,"),
        caption=(
            f"{title}, mean and range over {study_words(rows, study, spread)}. {more}"
            "; dashed, if known: the majority class."
        ),
        note=note,
        trained=trained,
    )


# Two studies are not compared if one has more than this many times the records of the other.
ALIKE = 2.0
# The networks of the study `gradients`, one for each data set.
GRADIENT_NETWORKS = {
    "mnist": "LeNet",
    "svhn": "AlexNet",
    "cifar10": "VGG-16",
    "adult": "MLP",
    "cora": "GCN",
}
# The networks of the study `features`, by the keys with which a config chooses them.
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
    """Judge whether IMGM's noise has a smaller variance than the analytic Gaussian's.

    The shapes are those of the features in Table 1. Both noises are i.i.d. Gaussian. If their
    variances are equal, accuracies differ only by chance.
    """
    parts = []
    for dataset, shape in shapes.items():
        ratios = [imgm_over_gaussian(shape, epsilon, delta) for epsilon in epsilons]
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
    """Judge whether IMGM is more accurate than MVG, and MVG as accurate as a constant answer."""
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
        **sizes_in_lines(_size(results.rows, FEATURES, each) for each in found.values()),
    )


def _size(rows: pd.DataFrame, study: str, scores: Scores) -> Sizes:
    """Return the sizes behind a verdict on one data set."""
    study_rows = select(rows, study=study, dataset=scores.dataset)
    if study == GRADIENTS:
        # This study has one network for each data set, and a row for every epoch.
        network, epochs = GRADIENT_NETWORKS[scores.dataset], study_rows["epoch"]
    else:
        network = CUT_NETWORKS[network_name(int(study_rows["shape"].iloc[0].split("x")[-1]))]
        epochs = ok_rows(study_rows, study, "epochs")["value"]
    return Sizes(
        dataset=scores.dataset,
        records=int(number_of(study_rows, metric="records")),
        epochs=float(epochs.max()),
        trials=scores.trials,
        network=network,
        epsilons=", ".join(f"{epsilon:g}" for epsilon in scores.epsilons),
    )


@judge(studies=(GRADIENTS, FEATURES))
def gradients_beside_features(
    results: Results, *, datasets: list[str], mechanism: str, margin: float
) -> Finding:
    """Judge whether accuracies with private gradients exceed those with private features.

    Nothing is contradicted, because public records train the network behind the features. The paper
    does not mention them, and training with gradients has none.
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
                reason = "public records trained the network behind the features only"
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
        **sizes_in_lines(_size(rows, GRADIENTS, each) for each in compared.values()),
    )


def _pairs(
    studies: Mapping[str, Mapping[str, Scores]], dataset: str, mechanism: str
) -> dict[float, list[pd.DataFrame]]:
    """Return a mechanism's trials in both studies, by the epsilons that the studies share."""
    both = [found.get(dataset) for found in studies.values()]
    if None in both or not all(mechanism in set(each.rows["mechanism"]) for each in both):
        return {}
    shared = set.intersection(*(set(each.select([mechanism]).epsilons) for each in both))
    return {at: [each.by_trial(mechanism, [at]) for each in both] for at in sorted(shared)}


def _record_mismatch(rows: pd.DataFrame, dataset: str) -> str:
    """Explain that one study has far more records than the other, or return ""."""
    records = select(rows, dataset=dataset, metric="records")
    counts = {name: select(records, study=name)["value"].max() for name in (FEATURES, GRADIENTS)}
    if max(counts.values()) <= ALIKE * min(counts.values()):
        return ""
    return " and ".join(f"{n:,.0f} records with private {study}" for study, n in counts.items())


@judge
def amplified_budget(
    *,
    batch: Count,
    records: dict[str, int],
    epsilons: list[Epsilon],
    delta: Delta,
    readings: dict[Literal["released", "sampled"], str],
    tolerance: float,
) -> Finding:
    """Judge whether noise for (epsilon / q, delta / q) on a batch is (epsilon, delta)-DP.

    IMGM's noise spends its budget exactly (imgm-thm2) and has the privacy profile of a Gaussian. If
    every record is released in some batch, the whole release has this profile. If a batch is a
    secret Poisson sample at rate q that may lack the record, then delta(epsilon) is exactly
    q delta'(ln(1 + (e^epsilon - 1) / q)), where delta' is the profile of the noise.
    """

    def true_delta(reading: str, epsilon: float, rate: float) -> float:
        profile = GaussianProfile(mu=float(mu_for(epsilon / rate, delta / rate)))
        if reading == "released":
            return profile.delta(epsilon).value
        return rate * profile.delta(math.log1p(math.expm1(epsilon) / rate)).value

    def part(reading: str, dataset: str, size: int) -> Part:
        spent = [true_delta(reading, epsilon, batch / size) for epsilon in epsilons]
        return universal(
            dataset_title(dataset),
            (true <= delta * (1 + tolerance) for true in spent),
            f"a claimed delta of {delta:g} is {listed(f'{d:.2g}' for d in spent)}",
        )

    outcomes = [
        Outcome(choice=words, parts=tuple(part(reading, *each) for each in records.items()))
        for reading, words in readings.items()
    ]
    return Finding(
        choice="whether a batch is a secret sample",
        outcomes=outcomes,
        detail=(
            f"IMGM at (epsilon / q, delta / q), q = {batch} / N, at the claimed epsilon "
            f"{listed_numbers(epsilons)}. Sampling at rate q turns epsilon' into "
            "ln(1 + q (e^epsilon' - 1)), which at epsilon' = epsilon / q is above epsilon for "
            "every q < 1."
        ),
        calibration="published",
    )
