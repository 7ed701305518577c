"""Draw and judge mgm2021's federated learning (Section 8): Figures 2 and 3, and noise of uploads.

The judges read official data only. The noise of an upload (Section 8.2) has a closed form. It is
proportional to the clip value C, and otherwise depends only on the layers, rounds and budget.
"""

import itertools
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
import scipy

from claims.comparisons import equal, every, order, statement
from claims.intervals import Mean, paired
from claims.judged_rows import calibrated, listed, number_of, ok_rows, required, select
from claims.judges import CannotJudge, Epsilon, judge
from claims.mechanism_titles import mechanism_title
from claims.scores import (
    Scores,
    absent_datasets,
    official_scores,
    select_datasets,
    sizes_in_lines,
)
from claims.verdicts import INCONCLUSIVE, NOT_RUN, Finding, Outcome, Part, Sizes
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from learning.federated import layerwise_release
from learning.networks.network import Network
from mechanisms import Budget
from mechanisms.privacy.sampling import kairouz
from paper_figures.drawings import Drawn, drawing
from paper_figures.mgm2021.theorems import same_noise_on_elements
from paper_figures.over_epsilon import (
    Panels,
    add_true_epsilon,
    score_figure,
    spread_over_trials,
    study_words,
)
from paper_figures.selections import axes_of, outcome_fields
from papers.mgm2021 import DELTA, HORIZONTAL_RECORDS, HORIZONTAL_ROUNDS, VERTICAL_EPSILONS
from runs.results import Results
from studies.federated_horizontal import NETWORKS, SMALL

HORIZONTAL, VERTICAL = "federated_horizontal", "federated_vertical"
# The horizontal study in which uploads are sums over steps.
SUMS = "federated_sums"
# The paper's names for its networks, by study and data set.
NETWORK_NAMES = {
    study: {"mnist": "LeNet", "cifar10": "ResNet-18", "imdb": "LSTM", "adult": "MLP"}
    for study in (HORIZONTAL, SUMS)
} | {
    VERTICAL: {
        "adult": "split MLP",
        "purchase100": "split FCN",
        "location30": "split NN",
        "texas100": "split NN",
    },
}
# Stands in a claim's pairs for the paper's Gaussian mechanism; a reading replaces it.
BASELINE = "baseline"
CLOSE = "close to"
Pair = tuple[str, str]
# Pairs by data set, the better mechanism first. `default` has the pairs of other data sets.
ByDataset = dict[str, list[Pair]]
NO_PAIRS: ByDataset = {"default": []}
EVERY_EPSILON = (0.0, math.inf)
# Maps a name in a pair to mechanisms with the same noise. The first that was run stands for it.
Reading = dict[str, list[str]]


def study_size(rows: pd.DataFrame, study: str, dataset: str) -> Sizes:
    """Return the records, rounds and network of a study on one data set."""
    study_rows = select(rows, study=study, dataset=dataset)
    parameters = set(ok_rows(study_rows, study, "parameters")["value"])
    small = dataset in SMALL and SMALL[dataset].size in parameters
    return Sizes(
        dataset=dataset,
        records=int(number_of(study_rows, metric="records")),
        rounds=int(ok_rows(study_rows, study, "test_accuracy")["round"].max()),
        network="small network" if small else NETWORK_NAMES[study].get(dataset, "network"),
    )


def noise_norm(mechanism: str, network: Network, rounds: int, epsilon: float) -> float:
    """Return the root mean square norm of the published noise on one upload, in units of C.

    Args:
        epsilon: The epsilon of the whole training.
    """
    queries = layerwise_release.layer_queries(network, 1.0)
    use = kairouz.share(Budget(epsilon=epsilon, delta=DELTA), rounds * len(queries))
    return math.sqrt(sum(calibrated(mechanism, query, use).expected_loss() for query in queries))


@drawing("mgm2021_fig2", kind="figures", needs=[HORIZONTAL])
def figure_2(results: Results) -> Drawn:
    """Draw accuracy over epsilon with private gradients of several participants."""
    return _draw(
        results.rows,
        HORIZONTAL,
        "mgm2021 Figure 2, horizontal federated learning",
        "Every participant clips its accumulated gradient to a box of half-width C (the paper's "
        "clip value) and uploads it layer by layer. Adjacency: all records of one participant may "
        "change, which moves a layer of m x n by 2 C sqrt(mn) in l2. As published, the composition "
        "theorem of Kairouz, Oh and Viswanath shares epsilon among rounds and layers; the Gaussian "
        "per element splits its share once more over the elements, as the paper's Table 4 does. "
        "(Read literally, its Section 8.2 gives every element the whole share, with far less noise "
        "than IDN's.) At equal true privacy the noise is rescaled until the true delta of the "
        "whole training at epsilon is delta. Training without privacy does not clip.",
        scope="the whole training",
        exact="At equal true privacy i.i.d. Gaussian noise differs only in how the budget is "
        "split among layers.",
    )


@drawing("mgm2021_fig3", kind="figures", needs=[VERTICAL])
def figure_3(results: Results) -> Drawn:
    """Draw accuracy over epsilon with private features of two participants."""
    uses = ok_rows(results.rows, VERTICAL, "use_epsilon")
    of_a_release = (uses["value"] >= uses["epsilon"]).all()
    scope = "every release" if of_a_release else "the whole training"
    return _draw(
        results.rows,
        VERTICAL,
        "mgm2021 Figure 3, vertical federated learning",
        "In every iteration both participants release their features of a batch; test features "
        "carry no noise. Adjacency: one record is replaced, and the paper's sensitivity lets all "
        f"features of its batch change. As published, epsilon is that of {scope}, "
        "amplified by the paper's Theorem 6. At equal true privacy the noise is rescaled until a "
        "bound on the true delta of the whole training at epsilon is delta. The bound composes all "
        "releases without amplification, because local models carry what they learned from a "
        "record into later batches.",
        scope=scope,
        random="training on random features",
        exact="At equal true privacy all i.i.d. Gaussian noise is the same, drawn as one curve.",
        marked=dict.fromkeys(VERTICAL_EPSILONS, "paper's range"),
    )


def _draw(
    rows: pd.DataFrame,
    study: str,
    title: str,
    note: str,
    *,
    scope: str,
    exact: str,
    random: str = "random answers",
    marked: Mapping[float, str] = {},
) -> Drawn:
    """Draw the mean final accuracy and its 95% interval over epsilon, on every data set of the run.

    The data file also has an upper bound on the true epsilon of the whole training for every
    accuracy, if one is known and finite.

    Args:
        title: The beginning of the caption, which names the figure and the study.
        note: Sentences on what is released and how the budget is spent.
        scope: The unit to which the published epsilon applies, such as "every release".
        exact: A sentence for the caption about the panel at equal true privacy.
        random: The name of the random answer's line.
        marked: The names of epsilons to mark in the panels as published, by epsilon.

    Raises:
        DrawingError: The results hold no accuracies of the study.
    """
    table = spread_over_trials(rows, study, statistics=("mean", "std", "count"))
    quantile = scipy.special.stdtrit((table["count"] - 1).clip(lower=1), 0.975)
    # The standard deviation of a single trial is missing, so it has no interval.
    table["half_interval"] = quantile * table["std"] / np.sqrt(table["count"])
    table = add_true_epsilon(table, rows, study)
    half = table["half_interval"].fillna(0)
    bars = table.assign(min=table["mean"] - half, max=table["mean"] + half)
    datasets = sorted(table["dataset"].unique())
    sizes = {dataset: study_size(rows, study, dataset) for dataset in datasets}
    caption = (
        f"{title}: final test accuracy, mean and 95% interval (Student's) over "
        f"{study_words(rows, study, table)}. Dotted: without privacy, and {random}"
        f"; dashed, if known: the majority class. {exact}"
    )
    guesses = [f"{MAJORITY[d]:.2f} on {dataset_title(d)}" for d in datasets if d in MAJORITY]
    scores = f" Always predicting the majority class scores {listed(guesses)}." if guesses else ""
    note = (
        f"{note} The paper states no accuracy in numbers, so there is no marker for it. "
        "Intervals are drawn within [0, 1]. The data file has an upper bound on the true epsilon "
        f"of the training beside every accuracy, where one is known and finite.{scores}"
    )
    panels = Panels(
        "test accuracy,",
        {
            "published": f"claimed epsilon of {scope}",
            "exact": "epsilon of the whole training (true: at most this)",
        },
        marked=marked,
    )

    def trained(dataset: str) -> str:
        size, dataset_rows = sizes[dataset], select(rows, study=study, dataset=dataset)
        return (
            f"{size.network}, {size.records:,} training records, {size.rounds} rounds, "
            f"{number_of(dataset_rows, metric='uses'):,.0f} releases of up to "
            f"{dataset_rows['shape'].iloc[0].replace('x', ' x ')}"
        )

    def beside(dataset: str) -> str:
        network = sizes[dataset].network
        papers = NETWORK_NAMES[study].get(dataset, network)
        return f",\n{network} (paper: {papers})" if network != papers else ""

    drawn = score_figure(rows, study, bars, panels, caption, note, trained=trained, beside=beside)
    return replace(drawn, data=table)


def _finals(
    rows: pd.DataFrame,
    study: str,
    datasets: list[str],
    epsilons: tuple[float, float] = EVERY_EPSILON,
) -> dict[str, Scores]:
    """Return the final accuracies as published, on those of some data sets that the run has."""
    found = select_datasets(official_scores(rows, study), datasets)
    return {name: scores.select_budgets(*epsilons) for name, scores in found.items()}


def _sizes(
    rows: pd.DataFrame, studies: Mapping[str, Mapping[str, Scores]]
) -> dict[str, Sizes | list[Sizes]]:
    """Return the fields of a finding for the sizes of studies, by their final accuracies."""
    return sizes_in_lines(
        replace(
            study_size(rows, study, scores.dataset),
            trials=scores.trials,
            epsilons=", ".join(f"{epsilon:g}" for epsilon in scores.epsilons),
        )
        for study, finals in studies.items()
        for scores in finals.values()
    )


@judge
def federated_order(
    results: Results,
    *,
    study: Literal["federated_horizontal", "federated_vertical"],
    datasets: list[str],
    beside: Mapping[Literal["federated_sums"], str] = {},
    epsilons: tuple[Epsilon, Epsilon] = EVERY_EPSILON,
    above: ByDataset,
    close: ByDataset = NO_PAIRS,
    flat: tuple[str, ...] = (),
    choice: str = "",
    readings: dict[str, Reading],
    margin: float,
) -> Finding:
    """Judge which mechanisms are more accurate than others, and which are about as accurate.

    The parts are paired differences of final accuracies as published, on official data. A part is
    not run if the run lacks its data set, its reading or a mechanism of its pair. Differences are
    averaged over the budgets at which one of the two mechanisms learns. These budgets are in the
    range `epsilons`, or any of the run if the paper shows its epsilons only in a figure.

    Args:
        beside: A description of another study by its name, such as uploads that are sums over steps
            instead of means (eq. 29). Its outcomes stand beside those of `study`, if it was run.
        above, close: The pairs to judge as ordered and as close, by data set.
        flat: The mechanisms whose accuracy the paper calls equal at all epsilons.
        choice: A description of what the paper leaves open: the readings and the other study.

    Raises:
        CannotJudge: The run has none of the data sets, or no budget in the range.
    """
    studies = {study: _finals(results.rows, study, datasets, epsilons)}
    for other in beside:
        with suppress(CannotJudge):
            studies[other] = _finals(results.rows, other, datasets, epsilons)

    def judge_reading(finals: dict[str, Scores], reading: Reading) -> tuple[Part, ...]:
        judged = (_parts(scores, reading, above, close, flat, margin) for scores in finals.values())
        return (*itertools.chain(*judged), *absent_datasets(finals, datasets))

    outcomes = [
        Outcome(
            choice="; ".join(filter(None, (words, beside.get(key)))),
            parts=judge_reading(finals, reading),
        )
        for key, finals in studies.items()
        for words, reading in readings.items()
    ]
    stated_range = f" from {epsilons[0]:g} to {epsilons[1]:g}"
    where = stated_range if epsilons != EVERY_EPSILON else " of the run"
    return Finding(
        detail=(
            f"Paired differences of final test accuracies, means over those budgets{where} at "
            f"which one of the two is more than {margin:g} above a random answer and the majority "
            "class, and its whole 95% interval is above them."
        ),
        calibration="published",
        **outcome_fields(choice, outcomes),
        **_sizes(results.rows, studies),
    )


def _parts(
    scores: Scores,
    reading: Reading,
    above: ByDataset,
    close: ByDataset,
    flat: tuple[str, ...],
    margin: float,
) -> list[Part]:
    """Judge the parts of `federated_order` on one data set under one reading."""
    run = set(scores.rows["mechanism"])
    resolved = {
        name: next((each for each in candidates if each in run), None)
        for name, candidates in reading.items()
    }
    pairs = [by.get(scores.dataset, by["default"]) for by in (above, close)]
    used = {resolved.get(name, name) for pair in itertools.chain(*pairs) for name in pair}
    if None in used:
        return [Part(scores.title, NOT_RUN, reason="no mechanism with this noise")]
    parts = _orders_and_ties(scores, resolved, *pairs, margin)
    return parts + _flat(scores, resolved, flat, above["default"], margin)


def _orders_and_ties(
    scores: Scores, resolved: Mapping[str, str], above: list[Pair], close: list[Pair], margin: float
) -> list[Part]:
    """Judge orders and near ties on one data set; parts on mechanisms that only guess stay open."""

    def named(name: str) -> str:
        # The baseline has the same name under every reading, so that readers can compare the parts.
        title, stands_for = mechanism_title(name), resolved.get(name, name)
        if name == BASELINE:
            return "Gaussian"
        return title if stands_for == name else f"{title} (as {mechanism_title(stands_for)})"

    effects, signals, others = {"above": {}, CLOSE: {}}, {}, []
    for word, pairs in (("above", above), (CLOSE, close)):
        for pair in pairs:
            both = [resolved.get(name, name) for name in pair]
            name = f"{scores.title}, {named(pair[0])} {word} {named(pair[1])}"
            if not set(both) <= set(scores.rows["mechanism"]):
                others.append(Part(name, NOT_RUN))
            elif both[0] == both[1]:
                shape = axes_of(scores.rows["shape"].iloc[0])
                others += [same_noise_on_elements(name, shape)] if word == CLOSE else []
            else:
                effects[word][name] = scores.keep_learned(both, margin).gap(*both)
                signals[name] = scores.signal(both, margin)
    ahead = order(effects["above"], margin=margin, signal=signals)
    return [*ahead, *others, *equal(effects[CLOSE], margin=margin, signal=signals)]


def _flat(
    scores: Scores,
    resolved: Mapping[str, str],
    mechanisms: tuple[str, ...],
    rising: list[Pair],
    margin: float,
) -> list[Part]:
    """Judge whether mechanisms are as accurate at the largest epsilon as at the smallest."""
    among_all = {resolved.get(name, name) for pair in rising for name in pair}
    effects = {
        f"{scores.title}, {mechanism_title(key)} flat": Mean(scores.rise(key).to_numpy(float))
        for key in mechanisms
    }
    return equal(effects, margin=margin, signal=scores.signal(among_all, margin))


@judge(studies=(HORIZONTAL,))
def horizontal_trend(
    results: Results,
    *,
    datasets: list[str],
    mechanisms: list[str],
    rising: dict[str, list[str]],
    close: float,
    margin: float,
) -> Finding:
    """Judge whether accuracy rises with epsilon, and mechanisms come close at large epsilon.

    Accuracies are as published. A mechanism's accuracy rises if it is higher at its largest budget
    than at its smallest, paired by trial. At the largest budget of all `mechanisms`, all
    but the farthest must be close. `rising` has further mechanisms that must rise, by data set.
    """
    finals, parts = _finals(results.rows, HORIZONTAL, datasets), []
    for dataset, scores in finals.items():
        for mechanism in (*mechanisms, *rising.get(dataset, ())):
            rise = Mean(scores.rise(mechanism).to_numpy(float))
            name = f"{scores.title}, {mechanism_title(mechanism)} rises"
            parts += order({name: rise}, margin=margin, signal=scores.signal([mechanism], margin))
        parts += equal(_gaps_of_most(scores.select(mechanisms)), margin=close)
    return Finding(
        parts=[*parts, *absent_datasets(finals, datasets)],
        detail="Gains of the final test accuracy with intervals.",
        calibration="published",
        **_sizes(results.rows, {HORIZONTAL: finals}),
    )


def _gaps_of_most(scores: Scores) -> dict[str, Mean]:
    """Return differences between mechanisms of adjacent mean accuracy.

    The budget is the largest that all of them have. The mechanism whose mean is farthest from the
    median mean is left out.

    Raises:
        CannotJudge: They share no budget.
    """
    shared = required(
        scores.means.unstack("mechanism").dropna(),
        CannotJudge("The mechanisms have no budget in common"),
    )
    last, means = shared.index[-1], shared.iloc[-1].sort_values(kind="stable")
    outlier = (means - means.iloc[len(means) // 2]).abs().idxmax()
    return {
        f"{scores.title}, {mechanism_title(high)} close to {mechanism_title(low)} at epsilon "
        f"{last:g}": scores.gap(high, low, last)
        for low, high in itertools.pairwise(means.drop(outlier).index)
    }


@judge(studies=(HORIZONTAL,))
def harder_tasks_need_more(
    results: Results, *, hard: list[str], easy: list[str], mechanism: str, margin: float
) -> Finding:
    """Judge whether hard tasks get more noise on uploads, and keep less of the noiseless gain.

    Accuracies are compared only on all of the paper's records: the server moves by the mean
    gradient times the steps of an epoch, so that more records bring more noise at one epsilon.
    """
    finals = _finals(results.rows, HORIZONTAL, [*hard, *easy])
    whole = {
        name: each
        for name, each in finals.items()
        if study_size(results.rows, HORIZONTAL, name).records == HORIZONTAL_RECORDS[name]
    }
    learnable = {
        name for name, each in whole.items() if each.level("non-private") - each.floor[0] > margin
    }
    parts = _noise_of_uploads(hard, easy, mechanism)
    for one, other in itertools.product(easy, hard):
        if {one, other} <= learnable:
            parts += _gains_compared(whole[one], whole[other], mechanism, margin)
    # If training without noise gains nothing, a mechanism can keep no share of the gain.
    reason = f"training without noise gains at most {margin:g}"
    parts += [
        Part(f"accuracy on {dataset_title(name)}", INCONCLUSIVE, reason=reason)
        for name in whole
        if name not in learnable
    ]
    return Finding(
        parts=[*parts, *absent_datasets(whole, (*hard, *easy), "accuracy on ")],
        detail=(
            f"Root mean square of {mechanism_title(mechanism)}'s noise on an element of an upload "
            "over the clip C, at a total epsilon of 1, delta 1e-5, with the paper's networks and "
            "rounds. It falls as 1/epsilon while the epsilon of a release is far below the number "
            "of its elements, so that there these ratios are those of the epsilons of equal noise. "
            "Accuracies, where the run has all of the paper's records: the share of training "
            "without noise's gain over random answers or the majority class, whichever scores "
            "more, at the smallest budget of both at which the easier task is learned."
        ),
        calibration="published",
        **_sizes(results.rows, {HORIZONTAL: finals}),
    )


def _noise_of_uploads(hard: list[str], easy: list[str], mechanism: str) -> list[Part]:
    """Judge whether hard tasks' uploads get more noise, in units of C, on the paper's networks."""
    deviations = {
        name: noise_norm(mechanism, NETWORKS[name], HORIZONTAL_ROUNDS[name], 1.0)
        / math.sqrt(NETWORKS[name].size)
        for name in (*hard, *easy)
    }
    return [
        statement(
            f"noise on {dataset_title(one)} above {dataset_title(other)},",
            deviations[one] > deviations[other],
            f"{deviations[one] / deviations[other]:.3g} times",
        )
        for one in hard
        for other in easy
    ]


def _gains_compared(one: Scores, other: Scores, mechanism: str, margin: float) -> list[Part]:
    """Judge whether a mechanism keeps more of the gain of training without noise on `one`.

    The budget is the smallest of both data sets at which the mechanism has learned on `one`, by
    `margin`. At large ones, it keeps all of the gain on both. If it never learns on `one`, the part
    is inconclusive.
    """
    learned = one.keep_learned([mechanism], margin).at(mechanism=mechanism).epsilons
    shared = set(other.at(mechanism=mechanism).epsilons).intersection(learned)
    words = f"{one.title} and {other.title} share no budget of {mechanism}"
    epsilon = min(required(shared, CannotJudge(words)))
    shares = []
    for scores in (one, other):
        floor, _ = scores.floor
        scored = scores.by_trial(mechanism, [epsilon])
        scored["value"] -= floor
        scored["value"] /= scores.level("non-private") - floor
        shares.append(scored)
    name = f"{one.title} learns more than {other.title} at {epsilon:g}"
    signal = one.signal([mechanism], margin)
    return order({name: paired(*shares)}, margin=margin, signal=signal)


@judge(studies=(VERTICAL,))
def vertical_lead(
    results: Results,
    *,
    datasets: list[str],
    epsilons: tuple[Epsilon, Epsilon],
    leader: str,
    others: dict[str, list[str]],
    margin: float,
) -> Finding:
    """Judge whether a mechanism's lead at the smallest epsilon exceeds that at the largest.

    The mechanism must be ahead at the smallest epsilon, because otherwise it has no lead.

    Raises:
        CannotJudge: There is no other mechanism to compare on any data set.
    """
    finals = _finals(results.rows, VERTICAL, datasets, epsilons)
    leads = (
        _growing_lead(scores, leader, other, margin)
        for scores in finals.values()
        for other in others.get(scores.dataset, others["default"])
    )
    parts = [*leads, *absent_datasets(finals, datasets)]
    required(parts, CannotJudge(f"The results have none of the mechanisms beside {leader}"))
    return Finding(
        parts=parts,
        detail=(
            f"The lead of {mechanism_title(leader)} at the smallest epsilon of {epsilons[0]:g} to "
            f"{epsilons[1]:g}, and that lead minus the one at the largest, paired by trial."
        ),
        calibration="published",
        **_sizes(results.rows, {VERTICAL: finals}),
    )


def _growing_lead(scores: Scores, leader: str, other: str, margin: float) -> Part:
    """Judge whether the leader is ahead at the smallest epsilon, by more than at the largest."""
    name = f"{scores.title}, lead over {mechanism_title(other)} grows"
    if not {leader, other} <= set(scores.rows["mechanism"]):
        return Part(name, NOT_RUN)
    growth = (scores.rise(other) - scores.rise(leader)).dropna()
    leads = {
        "ahead": scores.gap(leader, other, scores.at(mechanism=leader).epsilons[0]),
        "growth": Mean(growth.to_numpy(float)),
    }
    return every(name, order(leads, margin=margin, signal=scores.signal([leader, other], margin)))
