"""Comparisons of accuracies that the judges of both federated studies of mgm2021 make.

The verdicts on Figure 2 are in federated_horizontal.py, those on Figure 3 in federated_vertical.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from claims.intervals import Mean, paired, words
from claims.judged_rows import listed, pick, tally
from claims.ledger import CannotJudge, Claim
from claims.rules import Signal, equal, order
from claims.verdicts import Finding, Outcome, Part, Sizes
from paper_figures.mgm2021.federated_accuracies import (
    MAJORITY,
    official_datasets,
    published_finals,
    study_size,
)
from paper_figures.mgm2021.same_noise import same_noise_on_elements
from paper_figures.selections import LEVELS, ok_rows
from paper_figures.style import dataset_title, mechanism_title

# In the pairs of a claim: the paper's Gaussian mechanism, which a reading replaces.
BASELINE = "baseline"


def judge_order(claim: Claim, rows: pd.DataFrame, study: str) -> Finding:
    """Which mechanisms are more accurate than others, and which are about as accurate.

    As published, by paired differences of final accuracies, averaged over the budgets at which one
    of the two learns, on every official data set that the run has.

    Arguments:
        datasets: Those of the paper.
        range: The paper's epsilons [low, high], or null where they are only in a figure: then all
            budgets of the run count.
        above, close: Pairs [better, worse] and [one, other], by data set; `default` for those that
            have no entry. "baseline" is the paper's Gaussian mechanism.
        choice: What the readings differ in, where there are several.
        readings: From a reading in words to {name in a pair: mechanisms with its noise}, of which
            the first that the run has stands for it.
        flat: Mechanisms whose accuracy the paper calls the same at all epsilons.
        beside: Pairs whose difference is reported and not judged, with `beside_words` before it.

    Raises:
        CannotJudge: The run has none of the data sets, or no budget of the range.
    """
    a = claim.arguments
    datasets = official_datasets(rows, study, a["datasets"])
    finals = {name: published_finals(rows, study, name, a["range"]) for name in datasets}
    outcomes = []
    for reading, stands_for in a["readings"].items():
        parts = []
        for dataset, own in finals.items():
            resolved = _resolved(stands_for, set(own["mechanism"]))
            if resolved is not None:
                parts += _parts(claim, dataset, own, resolved)
        if parts:
            outcomes.append(Outcome(choice=reading, parts=tuple(parts)))
    detail = " ".join(
        filter(
            None,
            [
                "Paired differences of final test accuracies with 95% intervals, means over those "
                f"budgets{_range_words(a['range'])} at which one of the two is more than "
                f"{claim.margin:g} above a random answer and above the majority class.",
                *(size_sentence(rows, study, dataset) for dataset in datasets),
                noise_sentence(rows, study, "idn", a["range"][1]) if a["range"] else "",
                beside_sentence(a, finals),
                missing_sentence(a["datasets"], datasets),
            ],
        )
    )
    return finding_of(
        outcomes,
        choice=a.get("choice", ""),
        decided_by=a.get("decided_by", ""),
        detail=detail,
        calibration="published",
        trials=shared_trials(finals),
        sizes=sizes_of(rows, study, datasets, finals),
    )


def finding_of(
    outcomes: list[Outcome], *, choice: str, trials: int | None, sizes: Sizes, **facts
) -> Finding:
    """A finding under every reading, or under the only one that was run.

    Its reason counts the comparisons by verdict.

    Raises:
        CannotJudge: The run has none of the readings.
    """
    if not outcomes:
        raise CannotJudge("The results have no Gaussian mechanism under any reading")
    parts = [part for outcome in outcomes for part in outcome.parts]
    facts |= {"sizes": sizes, "because": tally(parts, trials)}
    if len(outcomes) == 1:
        return Finding(parts=outcomes[0].parts, **facts)
    return Finding(choice=choice, outcomes=tuple(outcomes), **facts)


def _resolved(stands_for: Mapping[str, list[str]], present: set[str]) -> dict[str, str] | None:
    """For every name of a reading the mechanism that stands for it; None where one is missing."""
    found = {
        name: next((each for each in candidates if each in present), None)
        for name, candidates in stands_for.items()
    }
    return None if None in found.values() else found


def _parts(
    claim: Claim, dataset: str, rows: pd.DataFrame, resolved: Mapping[str, str]
) -> list[Part]:
    """The parts of `judge_order` on one data set."""
    a, title = claim.arguments, dataset_title(dataset)
    # Two mechanisms that are both no better than a random answer have no order.
    signals, alike = {}, []

    def named(name: str) -> str:
        return mechanism_title(resolved[name] if name == BASELINE else name)

    def effects(kind: str, word: str) -> dict[str, Mean]:
        found = {}
        for pair in a[kind].get(dataset, a[kind]["default"]):
            one, other = (resolved.get(name, name) for name in pair)
            name = f"{title}, {named(pair[0])} {word} {named(pair[1])}"
            if one == other and kind == "close":
                alike.append(same_noise_on_elements(name, rows["shape"].iloc[0]))
            elif one != other and {one, other} <= set(rows["mechanism"]):
                found[name] = gain(where_one_learns(rows, [one, other], claim.margin), one, other)
                signals[name] = signal_of(rows, [one, other], claim.margin)
        return found

    above, close = effects("above", "above"), effects("close", "close to")
    # A flat curve is one beside others that rise.
    compared = {resolved.get(name, name) for pair in a["above"]["default"] for name in pair}
    among_all = signal_of(rows, compared, claim.margin)
    flat = {}
    for mechanism in a.get("flat", ()):
        name = f"{title}, {mechanism_title(mechanism)} flat"
        flat[name], signals[name] = rise_of(rows, mechanism), among_all
    return [
        *order(above, margin=claim.margin, signal=signals),
        *alike,
        *equal(close | flat, margin=claim.margin, signal=signals),
    ]


def floor_of(rows: pd.DataFrame) -> tuple[float | None, str]:
    """The best accuracy without any information on one data set, and what has it.

    That of a random answer or, where the rows' data set has one in `MAJORITY`, of the commoner
    class. None where neither is known.
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
        means=tuple(_means_by_budget(rows, mechanisms)),
        floor=floor,
        ceiling=None if exact.empty else float(exact.mean()),
        margin=margin,
        floor_words=words,
        better="larger",
    )


def where_one_learns(rows: pd.DataFrame, mechanisms: Iterable[str], margin: float) -> pd.DataFrame:
    """The rows at those budgets at which one of the mechanisms is above the floor by the margin.

    At the others accuracies differ without any of them having learned. All rows where there is no
    such budget, or no floor: then `signal_of` says what is missing.
    """
    floor, _ = floor_of(rows)
    if floor is None:
        return rows
    best = _means_by_budget(rows, mechanisms).groupby("epsilon").max()
    kept = rows[rows["epsilon"].isin(best.index[best > floor + margin])]
    return rows if kept.empty else kept


def _means_by_budget(rows: pd.DataFrame, mechanisms: Iterable[str]) -> pd.Series:
    own = rows[rows["mechanism"].isin(list(mechanisms))]
    return own.groupby(["mechanism", "epsilon"], observed=True)["value"].mean()


def gain(rows: pd.DataFrame, better: str, worse: str) -> Mean:
    """Paired difference of the mean accuracies over the budgets that both have.

    Raises:
        CannotJudge: They share no budget.
    """
    both = [pick(rows, mechanism=mechanism) for mechanism in (better, worse)]
    shared = set(both[0]["epsilon"]) & set(both[1]["epsilon"])
    if not shared:
        raise CannotJudge(f"{better} and {worse} share no budget")
    return paired(
        *(
            frame[frame["epsilon"].isin(shared)].groupby("trial")["value"].mean().reset_index()
            for frame in both
        )
    )


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


def sizes_of(
    rows: pd.DataFrame, study: str, datasets: list[str], finals: dict[str, pd.DataFrame]
) -> Sizes:
    """What a verdict rests on; of several data sets the one with the fewest records."""
    found = {dataset: study_size(rows, study, dataset) for dataset in datasets}
    least = min(found, key=lambda dataset: found[dataset].records)
    private = [own[~own["mechanism"].isin(LEVELS)] for own in finals.values()]
    return Sizes(
        dataset=least,
        records=int(found[least].records),
        rounds=found[least].rounds,
        trials=min(int(own["trial"].nunique()) for own in private),
        network=", ".join(NETWORKS[study].get(dataset, dataset) for dataset in datasets),
        epsilons="; ".join(
            f"{dataset_title(dataset)} {', '.join(f'{e:g}' for e in sorted(set(own['epsilon'])))}"
            for dataset, own in zip(datasets, private, strict=True)
        ),
    )


# The studies have one network for each data set, named as in the paper.
NETWORKS = {
    "federated_horizontal": {
        "mnist": "LeNet",
        "cifar10": "ResNet-18",
        "imdb": "LSTM",
        "adult": "MLP",
    },
    "federated_vertical": {
        "adult": "split MLP",
        "purchase100": "split FCN",
        "location30": "split NN",
        "texas100": "split NN",
    },
}


def _range_words(limits: list[float] | None) -> str:
    return " of the run" if limits is None else f" from {limits[0]:g} to {limits[1]:g}"


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
        f"epsilon {listed(f'{e:g}' for e in epsilons)}{controls}."
    )


def noise_sentence(rows: pd.DataFrame, study: str, mechanism: str, epsilon: float) -> str:
    """The norm of a round's noise at one budget, on every data set; "" where it is not known."""
    norms = ok_rows(rows, study, "noise_norm")
    own = norms[
        (norms["mechanism"] == mechanism)
        & (norms["calibration"] == "published")
        & (norms["epsilon"] == epsilon)
    ]
    if own.empty:
        return ""
    words = listed(
        f"{value:.2g} on {dataset_title(dataset)}"
        for dataset, value in own[["dataset", "value"]].itertuples(index=False)
    )
    return (
        f"At epsilon {epsilon:g} the noise of {mechanism_title(mechanism)} has a norm of {words}."
    )


def beside_sentence(arguments: Mapping, finals: Mapping[str, pd.DataFrame]) -> str:
    """Differences that are reported and not judged; see `judge_order`."""
    found = [
        f"{mechanism_title(one)} minus {mechanism_title(other)} on {dataset_title(dataset)} "
        f"{words(gain(rows, one, other))}"
        for one, other in arguments.get("beside", ())
        for dataset, rows in finals.items()
        if {one, other} <= set(rows["mechanism"])
    ]
    return f"{arguments['beside_words']} {listed(found)}." if found else ""


def missing_sentence(wanted: list[str], found: list[str]) -> str:
    """The data sets that the run lacks; "" where it has all."""
    absent = [dataset_title(dataset) for dataset in wanted if dataset not in found]
    return f"Not in this run: {listed(absent)}." if absent else ""
