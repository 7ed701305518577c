"""Comparisons of accuracies that the judges of both federated studies of mgm2021 make.

Other verdicts on Figure 2 are in federated_horizontal.py, on Figure 3 in federated_vertical.py.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Literal

import pandas as pd
import scipy
from pandas.api.typing import SeriesGroupBy

from claims.comparisons import Signal, equal, order
from claims.intervals import SHOWN, Mean, words
from claims.judged_rows import LEVELS, gain, listed, ok_rows, pick, required, tally
from claims.judges import CannotJudge, Epsilon, judge
from claims.verdicts import Finding, Outcome, Part, Sizes
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from paper_figures.mgm2021.federated_accuracies import (
    final_accuracies,
    official_datasets,
    published_finals,
    study_size,
)
from paper_figures.mgm2021.same_noise import same_noise_on_elements
from paper_figures.mgm2021.upload_noise import noise_order_sentences
from paper_figures.selections import size_of
from paper_figures.style import mechanism_title
from runs.results import Results

# In the pairs of a claim: the paper's Gaussian mechanism, which a reading replaces.
BASELINE = "baseline"
CLOSE = "close to"
Pair = tuple[str, str]
# A mechanism, one whose noise is larger up to some epsilon, and one whose noise is smaller.
Explained = tuple[str, str, str]
# Pairs by data set, the better one first; `default` for data sets without an entry.
ByDataset = dict[str, list[Pair]]
# For every name in a pair the mechanisms with its noise; the first that the run has stands for it.
Reading = dict[str, list[str]]


@judge
def federated_order(
    results: Results,
    *,
    study: Literal["federated_horizontal", "federated_vertical"],
    datasets: list[str],
    epsilons: tuple[Epsilon, Epsilon] | None = None,
    above: ByDataset,
    close: ByDataset,
    flat: tuple[str, ...] = (),
    choice: str = "",
    readings: dict[str, Reading],
    explained: Explained | None = None,
    margin: float,
) -> Finding:
    """Which mechanisms are more accurate than others, and which are about as accurate.

    As published, by paired differences of final accuracies, averaged over the budgets at which one
    of the two learns, on every official data set that the run has: over all its budgets, where the
    paper shows its epsilons in a figure alone. The readings differ in the choice. Of flat
    mechanisms the paper says that their accuracy is the same at all epsilons. Reported and not
    judged are, of horizontal mechanisms that are `explained`, which has the smaller noise, and the
    difference of the first two at equal true privacy.

    Raises:
        CannotJudge: The run has none of the data sets, or no budget of the range.
    """
    rows = results.rows
    present = official_datasets(rows, study, datasets)
    finals = {name: published_finals(rows, study, name, epsilons) for name in present}
    outcomes = []
    for reading, stands_for in readings.items():
        parts = []
        for dataset, own in finals.items():
            resolved = _resolved(stands_for, set(own["mechanism"]))
            if resolved is not None:
                pairs = (kind.get(dataset, kind["default"]) for kind in (above, close))
                parts += _parts(dataset, own, resolved, *pairs, flat, above["default"], margin)
        if parts:
            outcomes.append(Outcome(choice=reading, parts=tuple(parts)))
    where = f" from {epsilons[0]:g} to {epsilons[1]:g}" if epsilons else " of the run"
    sentences = [
        "Paired differences of final test accuracies with intervals, means over those "
        f"budgets{where} at which one of the two is more than {margin:g} above a random answer "
        "and above the majority class, and its whole 95% interval is above them.",
        *(size_sentence(rows, study, dataset) for dataset in present),
        idn_noise_sentence(rows, study, epsilons[1]) if epsilons else "",
        *(_explaining_sentences(rows, study, present, explained, margin) if explained else ()),
        missing_sentence(datasets, present),
    ]
    return finding_of(
        outcomes,
        choice=choice,
        detail=" ".join(filter(None, sentences)),
        calibration="published",
        trials=shared_trials(finals),
        **sizes_by_dataset(rows, study, present, finals),
    )


def finding_of(outcomes: list[Outcome], *, choice: str, trials: int | None, **facts) -> Finding:
    """A finding under every reading, or under the only one that was run.

    Its reason counts the comparisons by verdict.

    Raises:
        CannotJudge: The run has none of the readings.
    """
    required(outcomes, CannotJudge("The results have no Gaussian mechanism under any reading"))
    parts = [part for outcome in outcomes for part in outcome.parts]
    facts |= {"because": tally(parts, trials)}
    if len(outcomes) == 1:
        return Finding(parts=outcomes[0].parts, **facts)
    return Finding(choice=choice, outcomes=tuple(outcomes), **facts)


def _resolved(stands_for: Reading, present: set[str]) -> dict[str, str] | None:
    """For every name of a reading the mechanism that stands for it; None where one is missing."""
    chosen = {
        name: next((each for each in candidates if each in present), None)
        for name, candidates in stands_for.items()
    }
    return None if None in chosen.values() else chosen


def _parts(
    dataset: str,
    rows: pd.DataFrame,
    resolved: Mapping[str, str],
    above: list[Pair],
    close: list[Pair],
    flat: tuple[str, ...],
    rising: list[Pair],
    margin: float,
) -> list[Part]:
    """The parts of `federated_order` on one data set."""
    title = dataset_title(dataset)
    # Two mechanisms that are both no better than a random answer have no order.
    signals, alike = {}, []

    def named(name: str) -> str:
        # One name under every reading, so that they are seen to differ.
        if name == BASELINE:
            return "Gaussian"
        title, stands_for = mechanism_title(name), resolved.get(name, name)
        return title if stands_for == name else f"{title} (as {mechanism_title(stands_for)})"

    def effects(pairs: list[Pair], word: str) -> dict[str, Mean]:
        compared = {}
        for pair in pairs:
            one, other = (resolved.get(name, name) for name in pair)
            name = f"{title}, {named(pair[0])} {word} {named(pair[1])}"
            if one == other and word == CLOSE:
                alike.append(same_noise_on_elements(name, rows["shape"].iloc[0]))
            elif one != other and {one, other} <= set(rows["mechanism"]):
                compared[name] = gain(where_one_learns(rows, [one, other], margin), one, other)
                signals[name] = signal_of(rows, [one, other], margin)
        return compared

    ahead, near = effects(above, "above"), effects(close, CLOSE)
    # A flat curve is one beside others that rise.
    among_all = {resolved.get(name, name) for pair in rising for name in pair}
    for mechanism in flat:
        name = f"{title}, {mechanism_title(mechanism)} flat"
        near[name], signals[name] = rise_of(rows, mechanism), signal_of(rows, among_all, margin)
    return [
        *order(ahead, margin=margin, signal=signals),
        *alike,
        *equal(near, margin=margin, signal=signals),
    ]


def floor_of(rows: pd.DataFrame) -> tuple[float | None, str]:
    """The best accuracy without private answers on one data set, and what has it.

    That of the commonest class, where the rows' data set has one in `MAJORITY`, or of random
    answers. The latter is larger where classes are many: networks also learn from the labels beside
    random answers. None where neither is known.
    """
    random = rows[rows["mechanism"] == "random-answer"]["value"]
    majority = MAJORITY.get(rows["dataset"].iloc[0])
    known = [] if random.empty else [(float(random.mean()), "the random answer")]
    known += [] if majority is None else [(majority, "the majority class")]
    return max(known, default=(None, ""))


def signal_of(rows: pd.DataFrame, mechanisms: Iterable[str], margin: float) -> Signal:
    """Whether mechanisms differ from the controls at any budget, by their means over trials."""
    floor, words = floor_of(rows)
    exact = rows[rows["mechanism"] == "non-private"]["value"]
    return Signal(
        means=tuple(_by_budget(rows, mechanisms).mean()),
        floor=floor,
        ceiling=None if exact.empty else float(exact.mean()),
        margin=margin,
        floor_words=words,
        better="larger",
    )


def where_one_learns(rows: pd.DataFrame, mechanisms: Iterable[str], margin: float) -> pd.DataFrame:
    """The rows at those budgets at which one of the mechanisms is above the floor by the margin.

    Its whole 95% interval must be above the floor too: a few models that are mostly noise may by
    chance be above it in the mean. At the other budgets accuracies differ without any mechanism
    having learned. All rows where there is no such budget, or no floor: then `signal_of` says what
    is missing. The budgets are chosen by the scores that are then compared, by the better of the
    two whichever it is: intervals do not count that choice.
    """
    floor, _ = floor_of(rows)
    if floor is None:
        return rows
    scores = _by_budget(rows, mechanisms)
    half = scipy.special.stdtrit(scores.count() - 1, (1 + SHOWN) / 2) * scores.sem()
    learns = (scores.mean() > floor + margin) & (scores.mean() - half > floor)
    kept = rows[rows["epsilon"].isin(learns[learns].index.get_level_values("epsilon"))]
    return rows if kept.empty else kept


def _by_budget(rows: pd.DataFrame, mechanisms: Iterable[str]) -> SeriesGroupBy:
    own = rows[rows["mechanism"].isin(list(mechanisms))]
    return own.groupby(["mechanism", "epsilon"], observed=True)["value"]


def rise_of(rows: pd.DataFrame, mechanism: str) -> Mean:
    """The mean of `rise_by_trial`."""
    return Mean(rise_by_trial(rows, mechanism).dropna().to_numpy(float))


def rise_by_trial(rows: pd.DataFrame, mechanism: str) -> pd.Series:
    """Accuracy at the largest less that at the smallest budget, by trial.

    Raises:
        CannotJudge: There is one budget only.
    """
    own = pick(rows, mechanism=mechanism)
    low, high = own["epsilon"].min(), own["epsilon"].max()
    if low == high:
        raise CannotJudge(f"One budget of {mechanism} shows no trend")
    ends = (own[own["epsilon"] == epsilon].set_index("trial")["value"] for epsilon in (high, low))
    return next(ends) - next(ends)


def shared_trials(finals: dict[str, pd.DataFrame]) -> int | None:
    """The number of trials, or None where data sets differ in it."""
    found = {int(own["trial"].nunique()) for own in finals.values()}
    return found.pop() if len(found) == 1 else None


def sizes_by_dataset(
    rows: pd.DataFrame, study: str, datasets: list[str], finals: dict[str, pd.DataFrame]
) -> dict[str, Sizes | list[Sizes]]:
    """What a verdict rests on, one line for each data set: the sizes of a finding."""
    first, *others = (_sizes_on(rows, study, name, finals[name]) for name in datasets)
    return {"sizes": first, "other_sizes": others}


def _sizes_on(rows: pd.DataFrame, study: str, dataset: str, finals: pd.DataFrame) -> Sizes:
    size = study_size(rows, study, dataset)
    private = finals[~finals["mechanism"].isin(LEVELS)]
    return Sizes(
        dataset=dataset,
        records=int(size.records),
        rounds=size.rounds,
        trials=int(private["trial"].nunique()),
        network=size.network,
        epsilons=", ".join(f"{e:g}" for e in sorted(set(private["epsilon"]))),
    )


def size_sentence(rows: pd.DataFrame, study: str, dataset: str) -> str:
    """Records, rounds, budgets and controls of a study on one official data set."""
    size = study_size(rows, study, dataset)
    finals = published_finals(rows, study, dataset)
    means = finals.groupby("mechanism")["value"].mean()
    known = [f"{mechanism_title(m)} {means[m]:.3g}" for m in LEVELS if m in means]
    if dataset in MAJORITY:
        known.append(f"the majority class {MAJORITY[dataset]:.3g}")
    controls = f", accuracy {listed(known)}" if known else ""
    epsilons = sorted(finals[~finals["mechanism"].isin(LEVELS)]["epsilon"].unique())
    return (
        f"{dataset_title(dataset)}: {size.records:.0f} training records, {size.rounds} rounds, "
        f"{size.releases:.0f} releases, epsilon {listed(f'{e:g}' for e in epsilons)}{controls}."
    )


def idn_noise_sentence(rows: pd.DataFrame, study: str, epsilon: float) -> str:
    """The norm of IDN's noise on the features of a batch, of both participants, over theirs.

    Features lie in (-1, 1), so that of an m x n matrix the norm is at most sqrt(mn). On every data
    set, at one budget; "" where it is not known.
    """
    norms = ok_rows(rows, study, "noise_norm")
    own = norms[
        (norms["mechanism"] == "idn")
        & (norms["calibration"] == "published")
        & (norms["epsilon"] == epsilon)
    ]
    if own.empty:
        return ""
    words = listed(
        f"{value / math.sqrt(2 * size_of(shape)):.3g} on {dataset_title(dataset)}"
        for dataset, shape, value in own[["dataset", "shape", "value"]].itertuples(index=False)
    )
    return (
        f"At epsilon {epsilon:g}, over the largest norm that the features of a batch can have, the "
        f"norm of {mechanism_title('idn')}'s noise is {words}."
    )


def beside_sentence(
    pairs: Iterable[Pair], words_before: str, finals: Mapping[str, pd.DataFrame]
) -> str:
    """Differences that are reported and not judged; "" where there are none."""
    shown = [
        f"{mechanism_title(one)} minus {mechanism_title(other)} on {dataset_title(dataset)} "
        f"{words(gain(rows, one, other))}"
        for one, other in pairs
        for dataset, rows in finals.items()
        if {one, other} <= set(rows["mechanism"])
    ]
    return f"{words_before} {listed(shown)}." if shown else ""


def _explaining_sentences(
    rows: pd.DataFrame, study: str, datasets: list[str], explained: Explained, margin: float
) -> list[str]:
    """Who has the smaller noise, and the difference of the first two at equal true privacy."""
    pair = explained[:2]
    finals = final_accuracies(rows, study)
    finals = finals[(finals["calibration"] == "exact") | finals["mechanism"].isin(LEVELS)]
    exact = {
        dataset: where_one_learns(finals[finals["dataset"] == dataset], pair, margin)
        for dataset in datasets
        if dataset in set(finals["dataset"])
    }
    return [
        *noise_order_sentences(rows, datasets, *explained),
        beside_sentence([pair], "Not judged, at equal true privacy:", exact),
    ]


def missing_sentence(wanted: list[str], found: list[str]) -> str:
    """The data sets that the run lacks; "" where it has all."""
    absent = [dataset_title(dataset) for dataset in wanted if dataset not in found]
    return f"Not in this run: {listed(absent)}." if absent else ""
