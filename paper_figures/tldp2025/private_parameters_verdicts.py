"""tldp2025 type III, averaged models of three users: the verdicts on the claims about Figure 3.

Judges read official data only. The paper gives two values of Delta for the same noise: where the
claim depends on it, the outcomes under both stand side by side.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from claims.comparisons import (
    NO_DATA,
    Signal,
    equal,
    every,
    levels,
    of_reconstruction,
    order,
    some,
    statement,
)
from claims.judged_rows import LEVELS, calibrated, listed, ok_rows, pick, required
from claims.judges import CannotJudge, Epsilon, judge
from claims.verdicts import INCONCLUSIVE, NOT_RUN, Finding, Outcome, Part, Sizes
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from mechanisms import Budget
from mechanisms.query.box_query import box_query
from paper_figures.selections import query_size
from paper_figures.style import mechanism_title
from paper_figures.tldp2025.numbers import CLIP, STATED_DELTA, STATED_DELTA_IMDB
from paper_figures.tldp2025.private_parameters import STUDY, width_of
from paper_figures.tldp2025.scores import (
    OF_THE_PAPER,
    OTHERS,
    TLDP,
    OfficialScores,
    label_of,
    official_datasets,
    official_scores,
    shared_number,
)
from runs.results import Results
from studies.private_parameters import NETWORKS, USERS

# An epsilon of the end of the axis, where a noise that falls with epsilon has vanished.
END = 1e8
# The values of the column `range`, and what the noise is then for.
RANGES = {
    "clip": f"Delta = 2 C = {2 * CLIP:g}, implied by eq. (19)",
    "stated": f"Delta = {STATED_DELTA} (IMDB: {STATED_DELTA_IMDB:,}), of Table 4",
}
CHOICE = "Delta, the range of a parameter: 2 C by eq. (19), another one in Table 4"
# The better one first.
Pair = tuple[str, str]
# Mechanisms that follow the paper's few words on them: why their failure decides nothing.
REBUILT = {
    "llagp": "LLAGP is rebuilt from two sentences",
    "dphsgd": "DPHSGD is rebuilt with thresholds of ours",
}


def _by_range(rows: pd.DataFrame) -> dict[str, dict[str, OfficialScores]]:
    """The scores as published by range and data set; an empty mapping for a range not run."""
    found: dict[str, dict[str, OfficialScores]] = {name: {} for name in RANGES}
    for dataset in official_datasets(rows, STUDY):
        own = pick(ok_rows(rows, STUDY, "f1"), dataset=dataset, data_source="official")
        for name in set(own["range"]) & set(RANGES):
            found[name][dataset] = official_scores(rows, STUDY, dataset, range=name)
    return found


def _sizes(
    rows: pd.DataFrame, found: Mapping[str, Mapping[str, OfficialScores]]
) -> dict[str, Sizes | list[Sizes]]:
    """What a verdict rests on, one line for each data set, over all values of Delta."""
    lines = []
    for dataset in sorted({name for own in found.values() for name in own}):
        scores = {name: own[dataset] for name, own in found.items() if dataset in own}
        lines.append(
            Sizes(
                dataset=dataset,
                records=int(shared_number(rows, STUDY, dataset, "records")),
                rounds=int(shared_number(rows, STUDY, dataset, "rounds")),
                trials=min(each.trials for each in scores.values()),
                network=f"{query_size(rows, STUDY, dataset):,} parameters",
                epsilons=listed(
                    own.range_of_epsilons
                    + (f" (Delta = {width_of(dataset, name):,.0f})" if name == "stated" else "")
                    for name, own in scores.items()
                ),
            )
        )
    return {"sizes": lines[0], "other_sizes": lines[1:]}


def _outcomes(
    found: dict[str, dict[str, OfficialScores]],
    parts_of: Callable[[str, OfficialScores], list[Part]],
) -> tuple[Outcome, ...]:
    """The parts on every data set under every Delta."""
    return tuple(
        Outcome(
            choice=RANGES[name],
            parts=tuple(part for item in own.items() for part in parts_of(*item))
            or (Part("no rows of it", NOT_RUN),),
        )
        for name, own in found.items()
    )


@judge(studies=(STUDY,))
def comparable_range(results: Results, *, above: Epsilon, margin: float) -> Finding:
    """No mechanism of the paper does better than a guess up to an epsilon, and one above it."""
    found = _by_range(results.rows)
    rows = ok_rows(results.rows, STUDY, "true_epsilon_upper")
    learning = partial(_learning, spent=rows, above=above, margin=margin)
    outcomes = _outcomes(found, learning)
    return Finding(
        choice=CHOICE,
        outcomes=outcomes,
        detail=(
            "The lead is the mean weighted F1 minus that of random parameters, or of a guess where "
            f"that is more ({_guesses(found)}); a model with a lead of {margin:g} has learned. "
            "Shown: how far leads stay below it (no model learns) or lie above it (some model "
            "learns). Where the true epsilon of all rounds proves what users send to be noise, no "
            "score is asked for. Epsilon is that of one release, as published."
        ),
        calibration="published",
        **_sizes(results.rows, found),
    )


def _learning(
    dataset: str, scores: OfficialScores, *, spent: pd.DataFrame, above: float, margin: float
) -> list[Part]:
    """No model learns below the budget, and some model does above it."""
    title, floor = dataset_title(dataset), _guess(dataset, scores) + margin
    clean = scores.level("non-private") - floor
    if clean <= 0:
        reason = "not even without noise: no signal"
        return [Part(f"{title}, some model learns", INCONCLUSIVE, f"{clean:.2g}", reason)]
    own = set(scores.rows["mechanism"]) & set(OF_THE_PAPER)
    names = sorted(own - set(LEVELS))
    low = [epsilon for epsilon in scores.epsilons if epsilon <= above]
    high = [epsilon for epsilon in scores.epsilons if epsilon > above]
    if not low or not high:
        raise CannotJudge(f"The run has no budgets on both sides of {above}")
    run = set(scores.means.index)
    own = pick(spent, dataset=dataset, calibration="published", range=scores.rows["range"].iloc[0])
    noise = [at for at in itertools.product(names, low) if at in _noise_alone(own)]
    below = {
        label_of(*at): scores.score(*at).reversed.shifted(floor)
        for at in itertools.product(names, low)
        if at in run and at not in noise
    }
    ahead = {
        label_of(*at): scores.score(*at).shifted(-floor)
        for at in itertools.product(names, high)
        if at in run
    }
    best = max(ahead, key=lambda name: ahead[name].value)
    # The leader alone: the claim is that there is one.
    leader = order({best: ahead[best]}, margin=0.0)
    lower = [*order(below, margin=0.0), *_without_result(names, low, run | set(noise))]
    lower += [statement(label_of(*at), True, "is noise") for at in noise]
    return [
        every(f"{title}, no model learns up to {above:g}", lower),
        some(f"{title}, some model learns above", [*leader, *_without_result(names, high, run)]),
    ]


def _noise_alone(spent: pd.DataFrame) -> set[tuple[str, float]]:
    """The mechanisms and epsilons at which what all users send is noise, whatever they trained.

    Two inputs of an (epsilon, delta) release are within total variation
    (e^epsilon - 1 + 2 delta)/(e^epsilon + 1), and one of them may be fixed.
    """
    growth = np.exp(np.minimum(spent["value"], 1.0))
    distance = USERS * (growth - 1 + 2 * spent["delta"]) / (growth + 1)
    proven = spent[distance <= NO_DATA]
    return set(zip(proven["mechanism"], proven["epsilon"], strict=True))


def _guess(dataset: str, scores: OfficialScores) -> float:
    """The F1 of random parameters, or of a guess where that is more."""
    return max(scores.level("random-answer"), MAJORITY.get(dataset, 0.0))


def _guesses(found: Mapping[str, Mapping[str, OfficialScores]]) -> str:
    known = sorted({name for own in found.values() for name in own} & set(MAJORITY))
    return listed(f"{MAJORITY[name]:.3g} on {dataset_title(name)}" for name in known)


def _without_result(
    names: Sequence[str], epsilons: Sequence[float], run: set[tuple[str, float]]
) -> list[Part]:
    """An open part for every mechanism of the paper and epsilon without a score."""
    absent = [at for at in itertools.product(names, epsilons) if at not in run]
    return [Part(label_of(*at), INCONCLUSIVE, reason="without a result") for at in absent]


class Group(NamedTuple):
    """Mechanisms with one stated F1."""

    f1: float
    mechanisms: list[str]


@judge(studies=(STUDY,))
def two_groups(results: Results, *, dataset: str, stated: list[Group], tolerance: float) -> Finding:
    """F1 of two groups of mechanisms, for each Delta at the largest epsilon of the run.

    The paper states no end of its axis, and two values of Delta: one epsilon for both would compare
    different noise.
    """
    rows = results.rows
    found = {
        name: {key: own for key, own in by_dataset.items() if key == dataset}
        for name, by_dataset in _by_range(rows).items()
    }
    required(found["clip"], CannotJudge(f"This run has no {dataset_title(dataset)}"))
    scores = found["clip"][dataset]
    clean, chance = scores.level("non-private"), scores.level("random-answer")

    def groups(_: str, scores: OfficialScores) -> list[Part]:
        parts, epsilon = [], scores.epsilons[-1]
        for group in stated:
            own = {mechanism_title(key): scores.score(key, epsilon) for key in group.mechanisms}
            judged = levels(own, stated=group.f1, tolerance=tolerance, ceiling=clean)
            parts += map(_of_rebuilt, group.mechanisms, judged)
        return parts

    outcomes = _outcomes(found, groups)
    exact = official_scores(rows, STUDY, dataset, "exact", range="clip").best(TLDP)
    return Finding(
        choice=CHOICE,
        outcomes=outcomes,
        detail=(
            "Mean weighted F1 at the largest epsilon per release, "
            f"{shared_number(rows, STUDY, dataset, 'rounds'):.0f} rounds; without noise "
            f"{clean:.3g}, with random parameters {chance:.3g}. One answer for all reviews has "
            f"0.333. At equal true privacy of all rounds, TLDP reaches at most {exact:.3g}. "
            "Parameters lie in [-1, 1]. "
            f"{' '.join(_towards_the_end(dataset, *item) for item in found.items() if item[1])}"
            f"{_no_epsilon_apart(dataset, query_size(rows, STUDY, dataset), scores)}"
        ),
        calibration="both",
        **_sizes(rows, found),
    )


def _towards_the_end(dataset: str, delta_range: str, own: dict[str, OfficialScores]) -> str:
    """TLDP's scores at the last two epsilons of a range, and how large its noise is there."""
    scores, width = own[dataset], width_of(dataset, delta_range)
    ends = (
        f"{listed(f'{scores.score(key, at).value:.3g} ({mechanism_title(key)})' for key in TLDP)} "
        f"at epsilon {at:g}, where the standard deviation of TLDP-L's noise is "
        f"{2**0.5 * width / at:,.4g}"
        for at in scores.epsilons[-2:]
    )
    return f"With Delta = {width:,.0f}: {'; '.join(ends)}."


def laplace_below_tldp_g(size: int) -> float:
    """The epsilon from which Laplace noise on a query of `size` elements is below TLDP-G's.

    Standard deviations sqrt(2) M Delta / epsilon and Delta / sqrt(2 epsilon), whatever Delta is.
    """
    return 4.0 * size**2


def _no_epsilon_apart(dataset: str, size: int, scores: OfficialScores) -> str:
    """Whether TLDP-G learns at an epsilon at which Laplace does not, with the Delta of Table 4.

    Where Laplace has more noise, TLDP-G has at least so much; at the range of a parameter its score
    with less noise is known. Nothing where it is with more.
    """
    meeting, width = laplace_below_tldp_g(size), width_of(dataset, "stated")
    first = scores.epsilons[0]
    least, known = (d / math.sqrt(2 * e) for d, e in ((width, meeting), (2 * CLIP, first)))
    if known > least:
        return ""
    papers = NETWORKS[dataset]["paper"].size
    return (
        f" Laplace noise is below TLDP-G's from epsilon 4 M^2 = {meeting:.3g}, whatever Delta is. "
        f"With Delta = {width:,}, TLDP-G's has a standard deviation above {least:.3g} until then; "
        f"with {known:.3g}, its score is {scores.score('tldp-g', first).value:.3g}. With the "
        f"paper's network, of about {papers / 1e6:.2g} million parameters, it would be "
        f"{least * size / papers:.2g}, so that there the two groups may exist."
    )


def _of_rebuilt(mechanism: str, part: Part) -> Part:
    return of_reconstruction(part, REBUILT[mechanism]) if mechanism in REBUILT else part


def _untaught(mechanism: str, part: Part) -> Part:
    """The part where a rebuilt mechanism has learned nothing: it is open."""
    reason = f"{REBUILT[mechanism]}, and has learned nothing"
    return replace(part, verdict=INCONCLUSIVE, reason=reason)


@judge(studies=(STUDY,))
def parameter_order(
    results: Results, *, exception: str, good_on: str, signal: float, margin: float
) -> Finding:
    """Both methods of TLDP above the baselines; LLAGP next mostly, DPHSGD good on one data set.

    Mechanisms are compared at the largest epsilon by paired differences of F1 over the trials,
    which share start and batches. Scores within the signal of a guess are as good as it. That a
    rebuilt mechanism fails decides nothing: so it is compared with the baselines alone, and is not
    judged poor.
    """
    found = _by_range(results.rows)
    outcomes = _outcomes(
        found,
        partial(_places, exception=exception, good_on=good_on, signal=signal, margin=margin),
    )
    return Finding(
        choice=CHOICE,
        outcomes=outcomes,
        detail=(
            "At the largest epsilon of each Delta, as published. The baselines are Laplace, "
            "Gaussian, MVG and IDN. LLAGP and DPHSGD follow the description in tldp2025, with our "
            "choices where it leaves something open."
        ),
        calibration="published",
        **_sizes(results.rows, found),
    )


def _places(
    dataset: str,
    scores: OfficialScores,
    *,
    exception: str,
    good_on: str,
    signal: float,
    margin: float,
) -> list[Part]:
    """Who is first on a data set, and who is next or good."""
    title, epsilon = dataset_title(dataset), scores.epsilons[-1]
    run = set(scores.means.index.get_level_values("mechanism"))
    floor = _guess(dataset, scores)

    def ahead(name: str, larger: str) -> Part:
        smaller = [key for key in OTHERS if key in run]
        if not smaller:
            return Part(name, NOT_RUN)
        means = tuple(scores.score(key, epsilon).value for key in (larger, *smaller))
        learned = Signal(
            means=means, floor=floor, margin=signal, floor_words="a guess", better="larger"
        )
        gaps = {mechanism_title(key): scores.gap(larger, key, epsilon) for key in smaller}
        return every(name, order(gaps, margin=margin, signal=learned))

    parts = [
        ahead(f"{title}, {mechanism_title(key)} above the baselines", key)
        for key in TLDP
        if key in run
    ]
    if dataset != exception and "llagp" in run:
        following = ahead(f"{title}, LLAGP above the baselines", "llagp")
        learned = scores.score("llagp", epsilon).value > floor + signal
        parts.append((_of_rebuilt if learned else _untaught)("llagp", following))
    if dataset == good_on and "dphsgd" in run:
        lead = scores.score("dphsgd", epsilon).shifted(-floor - signal)
        (good,) = order({f"{title}, DPHSGD good": lead}, margin=margin)
        parts.append(_of_rebuilt("dphsgd", good))
    return parts


@judge(studies=(STUDY,))
def parameter_pairs(
    results: Results,
    *,
    dataset: str,
    ahead: list[Pair],
    close: list[Pair],
    alike: float,
    start: tuple[Pair, ...] = (),
    learned: float,
    margin: float,
) -> Finding:
    """Orders and near ties on one data set at one epsilon, with noise for the range 2 C.

    Where no model is above a guess by more than `learned`, all are alike, whatever the
    mechanisms: then neither an order nor a tie is one. Nor is one of a rebuilt mechanism that has
    not learned: it may fail for that reason.
    """
    if dataset not in official_datasets(results.rows, STUDY):
        raise CannotJudge(f"This run has no {dataset_title(dataset)}")
    scores = official_scores(results.rows, STUDY, dataset, range="clip")
    last, first = scores.epsilons[-1], scores.epsilons[0]
    floor = _guess(dataset, scores)
    signal = Signal(
        means=tuple(scores.means.xs(last, level="epsilon").drop(list(LEVELS), errors="ignore")),
        floor=floor,
        margin=learned,
        floor_words="a guess",
        better="larger",
    )

    def untaught(pair: Pair, epsilon: float) -> str | None:
        """The rebuilt mechanism of a pair that has learned nothing."""
        rebuilt = [key for key in pair if key in REBUILT]
        failed = [k for k in rebuilt if scores.score(k, epsilon).value <= floor + learned]
        return next(iter(failed), None)

    def judged(pairs: Sequence[Pair], words: str, epsilon: float, rule: Callable) -> list[Part]:
        gaps = {
            f"{mechanism_title(x)} {words} {mechanism_title(y)} at {epsilon:g}": scores.gap(
                x, y, epsilon
            )
            for x, y in pairs
        }
        failed = [untaught(pair, epsilon) for pair in pairs]
        return [
            part if key is None or part.verdict == INCONCLUSIVE else _untaught(key, part)
            for key, part in zip(failed, rule(gaps), strict=True)
        ]

    parts = [
        *judged(ahead, "above", last, partial(order, margin=margin, signal=signal)),
        *judged(close, "about", last, partial(equal, margin=alike, signal=signal)),
        *judged(start, "above", first, partial(order, margin=margin)),
    ]
    return Finding(
        parts=parts,
        detail="Paired differences of weighted F1 as published, with noise for Delta = 2 C.",
        calibration="published",
        because=f"Decided at Delta = {2 * CLIP:g}; LLAGP and DPHSGD are rebuilt.",
        **_sizes(results.rows, {"clip": {dataset: scores}}),
    )


def _deviation_at_end(key: str, size: int) -> float:
    """Root mean square of the noise at END on one of `size` elements of range 1."""
    mechanism = calibrated(key, box_query((1, size), 0.0, 1.0), Budget(epsilon=END))
    return math.sqrt(mechanism.expected_loss() / size)


@judge(studies=(STUDY,))
def crossover(results: Results, *, negligible: float, margin: float) -> Finding:
    """TLDP-L above TLDP-G at some epsilon of some data set, and both without noise in the end."""
    found = required(
        _by_range(results.rows)["clip"],
        CannotJudge(f"The run has no scores with noise for Delta = {2 * CLIP:g}"),
    )
    ahead = {
        f"{dataset_title(dataset)} at {epsilon:g}": scores.gap("tldp-l", "tldp-g", epsilon)
        for dataset, scores in found.items()
        for epsilon in scores.epsilons
    }
    sizes = [query_size(results.rows, STUDY, dataset) for dataset in found]
    ends = {key: max(_deviation_at_end(key, size) for size in sizes) for key in TLDP}
    shown = " and ".join(f"{mechanism_title(key)} {value:.2g}" for key, value in ends.items())
    return Finding(
        parts=[
            some("TLDP-L above TLDP-G somewhere", order(ahead, margin=margin)),
            statement(
                "both converge, to scores without noise:",
                max(ends.values()) <= negligible,
                f"at epsilon {END:g} the noise of {shown} of the range",
            ),
        ],
        detail=(
            "The standard deviation of TLDP-L's noise is sqrt(2) Delta / epsilon, and that of "
            "TLDP-G's is Delta / sqrt(2 epsilon). So TLDP-L has less noise at every epsilon above "
            "4, whatever Delta is. Table 5 states less error for TLDP-G at every epsilon."
        ),
        calibration="published",
        **_sizes(results.rows, {"clip": found}),
    )
