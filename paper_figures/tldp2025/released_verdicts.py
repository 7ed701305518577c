"""Verdicts on released images and features, tldp2025 types I and II: Figures 1 and 2.

The judges read official data only.
"""

import math
from collections import defaultdict
from dataclasses import replace
from functools import partial

import pandas as pd

from claims.comparisons import confirm_or_leave_open, equal, every, levels, order, statement
from claims.intervals import Mean, paired
from claims.judged_rows import calibrated, listed_numbers, number_of, required
from claims.judges import CannotJudge, Epsilon, judge
from claims.mechanism_titles import mechanism_title
from claims.scores import Scores, absent_datasets, label_of, select_datasets, sizes_in_lines
from claims.verdicts import INCONCLUSIVE, NOT_RUN, Finding, Outcome, Part, Sizes
from datasets.titles import dataset_title
from mechanisms import Budget
from mechanisms.query.box_query import box_query
from paper_figures.selections import axes_of
from paper_figures.tldp2025.scores import (
    CLASSIFIER_WORDS,
    FEATURES,
    IMAGES,
    STEP,
    THEOREM_2,
    TLDP,
    leads_by_side,
    scores_of,
)
from papers.tldp2025 import FEATURES as FEATURE_RANGE
from papers.tldp2025 import PIXELS, STATED_DELTA
from runs.results import Results

# Scores within this of each other count as equal. A score that equals the one without noise shows
# the classifier's limit, not the effect of noise.
EQUAL = 0.01
IMAGENET = "MobileNetV2 with ImageNet weights"
OWN = "trained on public images of the same kind"
# Delta of the features: the width of their range.
WIDTH = FEATURE_RANGE[1] - FEATURE_RANGE[0]
# TLDP-L's noise at Delta = 2 equals that at the stated Delta if epsilon grows by this factor.
FACTOR = STATED_DELTA / WIDTH


def _sizes(rows: pd.DataFrame, scores: Scores, epsilons: str = "") -> Sizes:
    first = scores.rows.iloc[0]
    if first["study"] == IMAGES:
        trained = CLASSIFIER_WORDS[first["classifier"]]
    else:
        trained = f"one layer; extractor {_extractor_kind(rows, scores.dataset)}"
    return Sizes(
        dataset=scores.dataset,
        records=int(
            number_of(rows, study=first["study"], dataset=scores.dataset, metric="records")
        ),
        trials=scores.trials,
        network=trained,
        epsilons=epsilons or scores.range_of_epsilons,
    )


@judge(studies=(IMAGES,))
def trained_score(
    results: Results,
    *,
    dataset: str,
    below: float = math.inf,
    stated: float,
    others: tuple[str, ...] = (),
    slower_than: str | None = None,
    tolerance: float,
    margin: float,
) -> Finding:
    """Judge the best F1 of TLDP below an epsilon, and whether the others stay near random answers.

    With `slower_than`, judge in place of the others whether F1 grows more slowly than on that data
    set, to a lower level, and stabilizes.
    """
    rows = results.rows
    found = scores_of(rows, IMAGES)
    scores = found[dataset]
    counted = scores.select_budgets(0.0, math.nextafter(below, 0.0))
    peak, budgets = counted.peak(TLDP), counted.select(TLDP)
    clean = scores.level("non-private")
    at_peak = {label_of(*peak): scores.score(*peak)}
    parts = levels(at_peak, stated=stated, tolerance=tolerance, ceiling=clean)
    stands_in = scores.rows["classifier"].iloc[0] != "mobilenet_v2"
    if slower_than and stands_in and scores.score(*peak).value >= clean - EQUAL:
        reason = "as high as without noise: another classifier has another end"
        parts = [replace(part, verdict=INCONCLUSIVE, reason=reason) for part in parts]
    if others:
        peaks = (counted.peak([other]) for other in others)
        gaps = {label_of(key, at): counted.gap(key, "random-answer", at) for key, at in peaks}
        parts.append(every("others near random answers", equal(gaps, margin=margin)))
    sizes = [_sizes(rows, scores, f"{budgets.epsilons[0]:g} to {budgets.epsilons[-1]:g}")]
    if slower_than:
        parts += _slower_and_lower(scores, found[slower_than], margin)
        parts.append(_stabilizes(scores))
        sizes.append(_sizes(rows, found[slower_than]))
    exact = scores_of(rows, IMAGES, "exact")[dataset].at(epsilon=budgets.epsilons[-1])
    return Finding(
        parts=parts,
        detail=(
            "Weighted F1 on the clean test images; without noise the classifier reaches "
            f"{clean:.3g}, on random images {scores.level('random-answer'):.3g}. At equal true "
            f"privacy at epsilon {budgets.epsilons[-1]:g} (noise rescaled until its true delta is "
            f"the budget's) TLDP has at most {exact.best(TLDP):.3g}. {THEOREM_2}"
        ),
        because="The classifier is not the paper's." if stands_in else "",
        calibration="both",
        **sizes_in_lines(sizes),
    )


def _slower_and_lower(slow: Scores, quick: Scores, margin: float) -> list[Part]:
    """Judge whether both TLDP methods rise more slowly on the data set `slow` and end lower there.

    The end is at the largest epsilon that both data sets share. At the largest shared epsilon below
    1, where the paper has `quick` at its end, `slow` must lack a larger share of its end. Trials of
    two data sets are independent, so any pairing of them serves.
    """
    shared = sorted(set(slow.select(TLDP).epsilons) & set(quick.select(TLDP).epsilons))
    early, last = [epsilon for epsilon in shared if epsilon < 1], shared[-1:]
    if not early or early[-1:] == last:
        raise CannotJudge(f"Growth needs an epsilon below 1 and a larger one, as on {quick.title}")
    lower, slower = {}, {}
    for key in TLDP:
        ends, starts = (
            [scores.by_trial(key, [at]) for scores in (slow, quick)] for at in (*last, early[-1])
        )
        lower[mechanism_title(key)] = paired(ends[1], ends[0], resolution=STEP)
        lacking = (
            end.assign(value=1 - start["value"] / end["value"])
            for start, end in zip(starts, ends, strict=True)
        )
        slower[mechanism_title(key)] = paired(*lacking)
    return [
        every(
            f"F1 lower than on {quick.title} at epsilon {last[0]:g}", order(lower, margin=margin)
        ),
        every(
            f"larger share of that F1 missing at epsilon {early[-1]:g} than on {quick.title}",
            order(slower, margin=margin),
        ),
    ]


def _stabilizes(scores: Scores) -> Part:
    """Judge whether F1 of both TLDP methods is equal at the two largest epsilons.

    The paper does not state where its axis ends, so a difference decides nothing.
    """
    *_, before, last = scores.select(TLDP).epsilons
    rises = {
        mechanism_title(key): Mean(
            scores.select_budgets(before, last).rise(key).to_numpy(float), STEP
        )
        for key in TLDP
    }
    return confirm_or_leave_open(
        every(
            f"eventually stabilizes, from epsilon {before:g} to {last:g}",
            equal(rises, margin=EQUAL),
        ),
        "the paper's axis may end at a larger epsilon",
    )


@judge(studies=(IMAGES,))
def others_low(
    results: Results,
    *,
    datasets: list[str],
    others: list[str],
    ends: list[Epsilon],
    margin: float,
) -> Finding:
    """Judge whether all other mechanisms stay near random answers, each at its best epsilon.

    Epsilon ends with the axis of the figure. The paper does not state where that is, so each of
    `ends` gives an outcome.
    """
    found = select_datasets(scores_of(results.rows, IMAGES), datasets)
    return Finding(
        choice="the largest epsilon of Figure 1",
        outcomes=[
            Outcome(
                choice=f"epsilon up to {end:g}",
                parts=(
                    *(scores.low(key, margin, end) for scores in found.values() for key in others),
                    *absent_datasets(found, datasets),
                ),
            )
            for end in ends
        ],
        detail=(
            "Each at its best epsilon, less the F1 of random answers. The data of Figure 1 hold "
            f"the F1 at every epsilon. {THEOREM_2} The classic Gaussian is stated for epsilon < 1 "
            "only."
        ),
        calibration="published",
        **sizes_in_lines(
            _sizes(results.rows, scores, scores.select(others).range_of_epsilons)
            for scores in found.values()
        ),
    )


@judge(studies=(IMAGES,))
def variant_order(
    results: Results,
    *,
    epsilons: list[Epsilon],
    crossing: float,
    slight: float,
    negligible: float,
    margin: float,
) -> Finding:
    """Judge whether TLDP-G is slightly above TLDP-L, and how the weighted variants compare.

    TLDP-L-w is said to be about as good as TLDP-L, and TLDP-G-w slightly below TLDP-G. Weights
    cannot change an image that keeps no value, so exact numbers decide both statements. Whether
    TLDP-G is above TLDP-L is judged on every data set, on both sides of the epsilon at which their
    noise is equal. "Slightly" and the weighted variants are judged on MNIST at the given epsilons.
    """
    found = scores_of(results.rows, IMAGES)
    scores = found["mnist"]
    gaps = {f"at {e:g}": scores.gap("tldp-g", "tldp-l", e) for e in epsilons}
    close = equal(gaps, margin=slight)
    slightly = every("and only slightly, on MNIST", close)
    if len({part.verdict for part in close}) > 1:
        # Only a figure of the paper shows which epsilons it means.
        reason = f"{slightly.found}, and less at the others; the paper's epsilons are not stated"
        slightly = replace(slightly, verdict=INCONCLUSIVE, found="", reason=reason)
    query = box_query(axes_of(scores.rows["shape"].iloc[0]), *PIXELS)
    # The log of the largest probability that an image keeps any value.
    kept = max(
        calibrated(key, query, Budget(epsilon=epsilon)).profile().log_atom_mass
        for key in TLDP
        for epsilon in epsilons
    )
    if kept >= math.log(negligible):
        raise CannotJudge("Weights may change an image, so that their effect has to be measured")
    words = f"an image keeps a value with probability e^{math.ceil(kept)} at most"
    below, above = leads_by_side(found, crossing, margin)
    return Finding(
        choice="the epsilons of Figure 1",
        outcomes=[replace(below, parts=(*below.parts, slightly)), above],
        parts=[
            statement("TLDP-L-w about TLDP-L", True, words),
            statement("TLDP-G-w below TLDP-G", False, words, "both are alike in distribution"),
        ],
        detail=(
            "Mean differences of F1 over the trials. How far TLDP-G is above TLDP-L, and the "
            f"weighted variants, on MNIST at epsilon {listed_numbers(epsilons)}. Weights "
            "change only how often a value is kept."
        ),
        calibration="published",
        **sizes_in_lines(
            _sizes(results.rows, each, each.select(TLDP).range_of_epsilons)
            for each in found.values()
        ),
    )


@judge(studies=(FEATURES, IMAGES))
def feature_score(
    results: Results, *, stated: dict[str, float], tolerance: float, margin: float
) -> Finding:
    """Judge the best F1 of TLDP on released features, and whether images give a higher one.

    The paper does not say whether its extractor saw images of the data set, so there are outcomes
    for the extractors in the run and for the paper's. It states two values of Delta and no end of
    its axis. TLDP-L at Delta = 256 equals TLDP-L at Delta = 2 and a smaller epsilon. Its score at
    the run's smallest epsilon is therefore that of a figure with Delta = 256 that ends early. In
    such a figure only the level is judged, because images would have another end.
    """
    rows = results.rows
    found, rescaled = (
        select_datasets(scores_of(rows, FEATURES), stated),
        scores_of(rows, FEATURES, "exact"),
    )
    outcomes = defaultdict(list)
    words = []
    for dataset, scores in found.items():
        kind, clean = _extractor_kind(rows, dataset), scores.level("non-private")
        peak, first = scores.peak(TLDP), ("tldp-l", scores.select(["tldp-l"]).epsilons[0])
        about = partial(levels, stated=stated[dataset], tolerance=tolerance, ceiling=clean)
        outcomes[f"extractor {kind}, Delta = {WIDTH:g}"] += [
            *about({f"{scores.title}, {label_of(*peak)}": scores.score(*peak)}),
            _lead_of_images(rows, dataset, scores.score(*peak), margin),
        ]
        early = f"{scores.title}, {label_of('tldp-l', FACTOR * first[1])}"
        outcomes[f"extractor {kind}, Delta = {STATED_DELTA}, an axis that ends early"] += about(
            {early: scores.score(*first)}
        )
        words.append(
            f"On {scores.title}, without noise {clean:.3g}; TLDP at equal true privacy at most "
            f"{rescaled[dataset].best(TLDP):.3g}."
        )
    papers = any(_extractor_kind(rows, dataset) == IMAGENET for dataset in found)
    if not papers:
        # The paper's extractor settles the claim; ours stands in for it.
        outcomes[f"extractor {IMAGENET}"] = [Part("its rows", NOT_RUN)]
    return Finding(
        choice="what the feature extractor was trained on, Delta, and the end of the axis",
        outcomes=[Outcome(choice=choice, parts=tuple(parts)) for choice, parts in outcomes.items()],
        because=(
            f"Judged with {IMAGENET}."
            if papers
            else "Our extractor was trained on public images of the same kind, which the paper's "
            "may not have been. The paper's extractor was not run."
        ),
        detail=f"Best mean weighted F1 of TLDP on clean features, as published. {' '.join(words)}",
        calibration="both",
        **sizes_in_lines(_sizes(rows, each) for each in found.values()),
    )


def _extractor_kind(rows: pd.DataFrame, dataset: str) -> str:
    public = number_of(rows, study=FEATURES, dataset=dataset, metric="public_records")
    return OWN if public else IMAGENET


def _lead_of_images(rows: pd.DataFrame, dataset: str, best: Mean, margin: float) -> Part:
    """Judge whether the best score with images is above the best one with features."""
    images = scores_of(rows, IMAGES).get(dataset)
    if images is None:
        return Part(f"{dataset_title(dataset)}, images above features", NOT_RUN)
    top = images.score(*images.peak(TLDP))
    common = min(top.trials, best.trials)
    gap = Mean(top.values[:common] - best.values[:common], STEP)
    classifier = CLASSIFIER_WORDS[images.rows["classifier"].iloc[0]]
    name = f"{images.title}, images ({classifier}) above features, each at its best"
    (part,) = order({name: gap}, margin=margin)
    return part


@judge(studies=(FEATURES,))
def features_ahead(
    results: Results, *, datasets: list[str], others: list[str], low: float, margin: float
) -> Finding:
    """Judge whether both TLDPs lead at every epsilon of Figure 2 and the others only guess."""
    found, parts = select_datasets(scores_of(results.rows, FEATURES), datasets), []
    for dataset, scores in found.items():
        parts += [_lead_over_all(scores, key, others, margin) for key in TLDP]
        lows = [scores.low(key, low) for key in others]
        if _extractor_kind(results.rows, dataset) == OWN:
            reason = "the 1,280 features of MobileNetV2 would get more noise"
            lows = [confirm_or_leave_open(part, reason) for part in lows]
        parts += lows
    return Finding(
        parts=[*parts, *absent_datasets(found, datasets)],
        detail=(
            "Paired differences of F1 over trials; ineffective is within the margin of random "
            "answers at the best epsilon. The data of Figure 2 hold the F1 at every epsilon. "
            f"{THEOREM_2} The classic Gaussian is stated for epsilon < 1 only."
        ),
        calibration="published",
        **sizes_in_lines(_sizes(results.rows, each) for each in found.values()),
    )


def _lead_over_all(scores: Scores, leader: str, others: list[str], margin: float) -> Part:
    """Judge whether a mechanism is above the others at every epsilon, and show its least lead."""
    gaps = {
        f"{mechanism_title(other)} at {epsilon:g}": scores.gap(leader, other, epsilon)
        for other in others
        for epsilon in scores.epsilons
    }
    leads = order(gaps, margin=margin)
    least = min(leads, key=lambda lead: gaps[lead.name].value)
    part = every(f"{scores.title}, {mechanism_title(leader)} above all at every epsilon", leads)
    return replace(part, found=f"least lead, over {least.name}, {least.found}")


@judge(studies=(FEATURES,))
def feature_variants(results: Results, *, crossing: float, margin: float) -> Finding:
    """Judge whether TLDP-G is above TLDP-L at most epsilons, on released features."""
    found = required(
        scores_of(results.rows, FEATURES),
        CannotJudge(f"The run has no official data for {FEATURES}"),
    )
    return Finding(
        choice="the epsilons of Figure 2",
        outcomes=leads_by_side(found, crossing, margin),
        detail=(
            "Mean weighted F1 of TLDP-G minus that of TLDP-L, as published. The standard deviation "
            "of the noise is Delta / sqrt(2 epsilon) for TLDP-G and sqrt(2) Delta / epsilon for "
            f"TLDP-L, which is smaller above epsilon {crossing:g}, whatever Delta is."
        ),
        calibration="published",
        **sizes_in_lines(_sizes(results.rows, each) for each in found.values()),
    )
