"""tldp2025 types II and III, protected features and parameters, judged on official data only."""

from __future__ import annotations

import pandas as pd

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
from paper_figures.tldp2025.private_data_claims import CLASSIFIERS, official_scores
from paper_figures.verdict_rules import (
    close,
    listed,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_numbers,
    verdict_on_order,
)

TLDP = ("tldp-l", "tldp-g")


def scores(rows: pd.DataFrame, experiment: str, dataset: str, calibration: str) -> pd.DataFrame:
    """F1 on one official data set, with a row per trial; CannotJudge where the run has none."""
    return pick(
        rows,
        experiment=experiment,
        dataset=dataset,
        data_source="official",
        metric="f1",
        calibration=calibration,
    )


def means(rows: pd.DataFrame) -> pd.Series:
    """Mean over the trials by (mechanism, epsilon)."""
    return rows.groupby(["mechanism", "epsilon"])["value"].mean()


def best(found: pd.Series, mechanisms) -> float:
    """The highest mean of these mechanisms; CannotJudge where there is none."""
    own = found[found.index.get_level_values("mechanism").isin(mechanisms)]
    if own.empty:
        raise CannotJudge(f"The results have no F1 of {listed(mechanisms)}")
    return float(own.max())


def level(rows: pd.DataFrame, mechanism: str) -> float:
    """Mean F1 of a control, which does not look at epsilon."""
    return float(pick(rows, mechanism=mechanism)["value"].mean())


def official_datasets(rows: pd.DataFrame, experiment: str) -> list[str]:
    """The official data sets that the run has; CannotJudge where there is none."""
    found = pick(rows, experiment=experiment)
    found = found[found["data_source"] == "official"]
    if found.empty:
        raise CannotJudge(f"The run has no official data for {experiment}")
    return sorted(found["dataset"].unique())


def fact(rows: pd.DataFrame, experiment: str, dataset: str, metric: str) -> int:
    """A whole number that all cells of a data set share."""
    own = pick(rows, experiment=experiment, dataset=dataset, metric=metric)
    return int(own["value"].iloc[0])


def extractor_words(public: int) -> str:
    """On what the network that gives the features was trained."""
    return f"{public:,} public records" if public else "ImageNet"


@judge(experiments=("private_features", "private_data"))
def feature_score(claim: Claim, results: Results) -> Finding:
    """The best F1 of TLDP on protected features by data set, and that images give more.

    Arguments: stated, F1 by data set. Images and features are compared at every epsilon that both
    studies have, mechanism by mechanism. What the run lacks is a part that is not run.
    """
    rows, stated = results.rows, claim.arguments["stated"]
    present = official_datasets(rows, "private_features")
    if not set(present) & set(stated):
        raise CannotJudge(f"A claim about {listed(stated)}; this run has {listed(present)}")
    numbers, orders, found, words = {}, {}, {}, []
    for dataset, score in stated.items():
        if dataset not in present:
            numbers[dataset] = orders[dataset] = NOT_RUN
            continue
        own = scores(rows, "private_features", dataset, "published")
        found[dataset] = best(means(own), TLDP)
        numbers[dataset] = verdict_on_numbers([(found[dataset], score)], claim.tolerance)
        orders[dataset], gaps = _against_images(rows, dataset, own)
        exact = best(means(scores(rows, "private_features", dataset, "exact")), TLDP)
        words.append(
            f"On {dataset} {fact(rows, 'private_features', dataset, 'records'):,} released records "
            "and an extractor trained on "
            f"{extractor_words(fact(rows, 'private_features', dataset, 'public_records'))}; "
            f"without noise {level(own, 'non-private'):.3g}, TLDP at equal true privacy at most "
            f"{exact:.3g}. F1 with images less F1 with features at equal epsilon: {gaps}."
        )
    told = listed(f"{name}: number {numbers[name]}, order {orders[name]}" for name in stated)
    return Finding(
        ours=listed(f"{value:.3g} ({name})" for name, value in found.items()),
        verdict=verdict_of_parts(*numbers.values(), *orders.values()),
        detail=(
            f"Best mean weighted F1 of TLDP on clean features, as published. {' '.join(words)} "
            f"Part by part: {told}."
        ),
        calibration="both",
        trials=int(own["trial"].nunique()),
    )


def _against_images(rows: pd.DataFrame, dataset: str, own: pd.DataFrame) -> tuple[str, str]:
    """The verdict on images scoring higher than features, and the differences as text."""
    try:
        images = pick(official_scores(rows, dataset), calibration="published")
    except CannotJudge:
        return NOT_RUN, "no images were released"
    pairs = {
        (key, epsilon): [frame[frame["epsilon"] == epsilon] for frame in frames]
        for key in TLDP
        for frames in [[each[each["mechanism"] == key] for each in (images, own)]]
        for epsilon in sorted(set(frames[0]["epsilon"]) & set(frames[1]["epsilon"]))
    }
    if not pairs:
        return NOT_RUN, "no epsilon is in both studies"
    gaps = {place: paired_difference(*frames) for place, frames in pairs.items()}
    words = listed(f"{gap} ({key}, {epsilon:g})" for (key, epsilon), gap in gaps.items())
    by = CLASSIFIERS[images["metric"].iloc[0]]
    # Not of the same network, unlike the paper's: the opposite order would contradict nothing.
    ahead = verdict_on_order(*gaps.values()) == REPRODUCED
    verdict = REPRODUCED if ahead else NOT_REPRODUCED
    return verdict, f"{words}, images being classified by {by}"


@judge(experiments=("private_parameters",))
def comparable_range(claim: Claim, results: Results) -> Finding:
    """No mechanism does better than random parameters up to an epsilon, and some does above.

    Arguments: above; margin, by which the F1 must exceed that of random parameters.
    """
    a, words, parts = claim.arguments, [], []
    for dataset in official_datasets(results.rows, "private_parameters"):
        rows = scores(results.rows, "private_parameters", dataset, "published")
        chance = level(rows, "random-answer")
        noisy = rows[~rows["mechanism"].isin(("non-private", "random-answer"))]
        highest = means(noisy).groupby("epsilon").max()
        low, high = (highest[highest.index <= a["above"]], highest[highest.index > a["above"]])
        if low.empty or high.empty:
            raise CannotJudge(f"The run has no budgets on both sides of {a['above']}")
        shown = {epsilon: value > chance + a["margin"] for epsilon, value in highest.items()}
        holds = not any(shown[e] for e in low.index) and any(shown[e] for e in high.index)
        parts.append(REPRODUCED if holds else NOT_REPRODUCED)
        values = listed(f"{value:.3g} at {epsilon:g}" for epsilon, value in highest.items())
        words.append(f"{dataset}: {values}, random parameters {chance:.3g}")
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(*parts),
        detail=(
            "The highest mean F1 of any mechanism at each epsilon of one release, as published. "
            "The claim is read as: nobody learns up to that epsilon, somebody does above it."
        ),
        calibration="published",
        trials=int(rows["trial"].nunique()),
    )


@judge(experiments=("private_parameters",))
def two_groups(claim: Claim, results: Results) -> Finding:
    """F1 of two groups of mechanisms at the largest epsilon.

    Arguments: dataset; stated, for each group its F1 and the mechanisms.
    """
    a = claim.arguments
    rows = scores(results.rows, "private_parameters", a["dataset"], "published")
    epsilon = float(rows["epsilon"].max())
    found = means(pick(rows, epsilon=epsilon))
    pairs, words, apart = [], [], []
    for group in a["stated"]:
        ours = {key: best(found, [key]) for key in group["mechanisms"]}
        pairs += [(value, group["f1"]) for value in ours.values()]
        apart += [k for k, value in ours.items() if not close(value, group["f1"], claim.tolerance)]
        words.append(listed(f"{value:.3g} ({key})" for key, value in ours.items()))
    clean, chance = level(rows, "non-private"), level(rows, "random-answer")
    exact = best(means(scores(results.rows, "private_parameters", a["dataset"], "exact")), TLDP)
    return Finding(
        ours="; ".join(words),
        verdict=verdict_on_numbers(pairs, claim.tolerance),
        detail=(
            f"Mean weighted F1 at epsilon {epsilon:g} a release, "
            f"{fact(results.rows, 'private_parameters', a['dataset'], 'rounds')} rounds, on "
            f"{fact(results.rows, 'private_parameters', a['dataset'], 'records'):,} records; "
            f"without noise {clean:.3g}, with random parameters {chance:.3g}. An answer of one "
            "class for all reviews has 0.333. At equal true privacy of all rounds TLDP reaches "
            f"{exact:.3g} at most. Outside the tolerance: {listed(apart) if apart else 'none'}."
        ),
        calibration="both",
        trials=int(rows["trial"].nunique()),
    )


@judge(experiments=("private_parameters",))
def parameter_order(claim: Claim, results: Results) -> Finding:
    """TLDP above LLAGP and LLAGP above all others, with one exception; DPHSGD low but on one set.

    Arguments: exception, the data set on which LLAGP is not second; good_on, that on which DPHSGD
    does well; others; margin, within which an F1 counts as that of random parameters. Compared at
    the largest epsilon, by differences of F1 over the trials, which share start and batches.
    """
    a = claim.arguments
    datasets = official_datasets(results.rows, "private_parameters")
    names = ("TLDP best", "LLAGP second", "DPHSGD low", "DPHSGD good")
    parts: dict[str, list[str]] = {name: [] for name in names}
    words = []
    for dataset in datasets:
        rows = scores(results.rows, "private_parameters", dataset, "published")
        epsilon = float(rows["epsilon"].max())
        at = pick(rows, epsilon=epsilon)
        found, chance = means(at).droplevel("epsilon"), level(rows, "random-answer")
        leader = max(TLDP, key=lambda key, found=found: found[key])

        def ahead(larger, smaller, at=at):
            return verdict_on_order(
                *(
                    paired_difference(pick(at, mechanism=larger), pick(at, mechanism=key))
                    for key in smaller
                )
            )

        parts["TLDP best"].append(ahead(leader, ("llagp", "dphsgd", *a["others"])))
        if dataset != a["exception"]:
            # Among models that have learned nothing any order is chance.
            learned = found["llagp"] > chance + a["margin"]
            order = ahead("llagp", ("dphsgd", *a["others"])) if learned else NOT_REPRODUCED
            parts["LLAGP second"].append(order)
        high = found["dphsgd"] > chance + a["margin"]
        name = "DPHSGD good" if dataset == a["good_on"] else "DPHSGD low"
        parts[name].append(REPRODUCED if high == (name == "DPHSGD good") else NOT_REPRODUCED)
        shown = listed(f"{found[k]:.3g} ({k})" for k in (leader, "llagp", "dphsgd", *a["others"]))
        words.append(f"{dataset} at epsilon {epsilon:g}: {shown}, random {chance:.3g}")
    verdicts = {name: verdict_of_parts(*own) if own else NOT_RUN for name, own in parts.items()}
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(*verdicts.values()),
        detail=(
            "Part by part: "
            f"{listed(f'{name} {verdict}' for name, verdict in verdicts.items())}. LLAGP and "
            "DPHSGD are what tldp2025 says of them, with our choices where it is silent."
        ),
        calibration="published",
        trials=int(rows["trial"].nunique()),
    )
