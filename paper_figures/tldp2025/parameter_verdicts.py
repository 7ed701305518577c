"""Verdicts on averaged models of three users, tldp2025 type III: Figure 3.

The judges read official data only. The paper gives two values of Delta for the same noise: if a
claim depends on Delta, it has an outcome under each.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from claims.comparisons import (
    NO_DATA,
    Signal,
    confirm_or_leave_open,
    equal,
    every,
    levels,
    order,
    some,
    statement,
)
from claims.judged_rows import listed, number_of, ok_rows, pick, required
from claims.judges import CannotJudge, Epsilon, judge
from claims.mechanism_titles import mechanism_title
from claims.scores import Scores, label_of, sizes_in_lines
from claims.verdicts import INCONCLUSIVE, NOT_RUN, Finding, Outcome, Part, Sizes
from datasets.majority import MAJORITY
from paper_figures.selections import query_size
from paper_figures.tldp2025.scores import (
    OTHERS,
    PARAMETERS,
    TLDP,
    scores_of,
    width_of,
)
from paper_figures.tldp2025.theorems import loss_of
from papers.tldp2025 import (
    CLIP,
    STATED_DELTA,
    STATED_DELTA_IMDB,
)
from runs.results import Results
from studies.private_parameters import NETWORKS, USERS

WIDTH = 2 * CLIP
# An epsilon at which noise that falls with epsilon has vanished: the end of any axis.
END = 1e8
# The values of the column `range`, and the Delta that each means.
RANGES = {
    "clip": f"Delta = 2 C = {WIDTH:g}, implied by eq. (19)",
    "stated": f"Delta = {STATED_DELTA} (IMDB: {STATED_DELTA_IMDB:,}), of Table 4",
}
# Two mechanisms, the better one first.
Pair = tuple[str, str]
# The scores by range and data set.
ByRange = dict[str, dict[str, Scores]]
# Mechanisms rebuilt from the paper's few words on them, whose failure therefore decides nothing.
REBUILT = {
    "llagp": "LLAGP is rebuilt from two sentences",
    "dphsgd": "DPHSGD is rebuilt with thresholds of ours",
}


def _scores(rows: pd.DataFrame) -> ByRange:
    """Return the scores as published by range; a range that was not run has an empty mapping."""
    found = {name: scores_of(rows, PARAMETERS, range=name) for name in RANGES}
    return required(
        found if any(found.values()) else {},
        CannotJudge(f"The run has no official data for {PARAMETERS}"),
    )


def _finding(
    rows: pd.DataFrame,
    found: ByRange,
    parts_of: Callable[[Scores], list[Part]],
    detail: str,
    calibration: str = "published",
) -> Finding:
    """Make a finding with an outcome per Delta and with parts on every data set."""
    outcomes = [
        Outcome(
            choice=RANGES[name],
            parts=tuple(part for scores in by_dataset.values() for part in parts_of(scores))
            or (Part("its rows", NOT_RUN),),
        )
        for name, by_dataset in found.items()
    ]
    return Finding(
        outcomes=outcomes,
        choice="Delta, the range of a parameter: 2 C by eq. (19), another one in Table 4",
        calibration=calibration,
        detail=detail,
        **_sizes(rows, found),
    )


def _sizes(rows: pd.DataFrame, found: ByRange) -> dict[str, Sizes | list[Sizes]]:
    """Return the sizes of a finding, a line per data set, over all values of Delta."""
    lines = []
    for dataset in sorted({name for by_dataset in found.values() for name in by_dataset}):
        scores = {
            name: by_dataset[dataset] for name, by_dataset in found.items() if dataset in by_dataset
        }
        facts = {
            metric: int(number_of(rows, study=PARAMETERS, dataset=dataset, metric=metric))
            for metric in ("records", "rounds")
        }
        epsilons = listed(
            each.range_of_epsilons
            + (f" (Delta = {width_of(dataset, name):,.0f})" if name == "stated" else "")
            for name, each in scores.items()
        )
        lines.append(
            Sizes(
                dataset=dataset,
                **facts,
                trials=min(each.trials for each in scores.values()),
                network=f"{query_size(rows, PARAMETERS, dataset):,} parameters",
                epsilons=epsilons,
            )
        )
    return sizes_in_lines(lines)


def _guess(scores: Scores) -> float:
    """Return the F1 of random parameters or of a guess, whichever is larger."""
    return max(scores.level("random-answer"), MAJORITY.get(scores.dataset, 0.0))


def _signal(scores: Scores, means: Iterable[float], margin: float) -> Signal:
    """Return the signal that tells whether one of the models has learned more than a guess."""
    return Signal(
        means=tuple(means),
        margin=margin,
        floor=_guess(scores),
        floor_words="a guess",
    )


@judge(studies=(PARAMETERS,))
def comparable_range(results: Results, *, above: Epsilon, margin: float) -> Finding:
    """Judge whether no mechanism beats a guess up to an epsilon, and some do above it."""
    spent = ok_rows(results.rows, PARAMETERS, "true_epsilon_upper")
    return _finding(
        results.rows,
        _scores(results.rows),
        partial(_learning, spent=spent, above=above, margin=margin),
        "Shown: by how much the mean weighted F1 stays below that of random parameters, or of a "
        f"guess where that is more, plus {margin:g} (no model learns), or exceeds it. What users "
        "send may be proven to be noise, by the true epsilon of all rounds: then no score is asked "
        "for. Epsilon is that of one release, as published.",
    )


def _learning(scores: Scores, *, spent: pd.DataFrame, above: float, margin: float) -> list[Part]:
    """Judge whether no model learns up to the budget and some model does above it."""
    floor = _guess(scores) + margin
    clean = scores.level("non-private") - floor
    if clean <= 0:
        reason = "not even without noise: no signal"
        return [Part(f"{scores.title}, some model learns", INCONCLUSIVE, f"{clean:.2g}", reason)]
    names = sorted(set(scores.private["mechanism"]))
    low, high = (
        list(itertools.product(names, (e for e in scores.epsilons if (e > above) == side)))
        for side in (False, True)
    )
    if not low or not high:
        raise CannotJudge(f"The run has no budgets on both sides of {above}")
    noise = _noise_alone(
        pick(
            spent,
            calibration="published",
            dataset=scores.dataset,
            range=scores.rows["range"].iloc[0],
        )
    )
    run = set(scores.means.index)
    below = {
        label_of(*at): scores.score(*at).reversed.shifted(floor) for at in low if at in run - noise
    }
    # Only the leader is tested, because the claim is that some model learns.
    best = max((at for at in high if at in run), key=scores.means.get)
    leader = order({label_of(*best): scores.score(*best).shifted(-floor)}, margin=0.0)
    lower = [*order(below, margin=0.0), *_missing_results(low, run | noise)]
    lower += [statement(label_of(*at), True, "is noise") for at in low if at in noise]
    silent = every(f"{scores.title}, no model learns up to {above:g}", lower)
    if query_size(scores.rows, PARAMETERS, scores.dataset) < NETWORKS[scores.dataset]["paper"].size:
        silent = confirm_or_leave_open(silent, "the paper's network has more parameters like these")
    return [
        silent,
        some(f"{scores.title}, some model learns above", [*leader, *_missing_results(high, run)]),
    ]


def _noise_alone(spent: pd.DataFrame) -> set[tuple[str, float]]:
    """Return the mechanisms and epsilons at which the users' messages are proven to be noise.

    Any two inputs of an (epsilon, delta) release give outputs within the total variation
    (e^epsilon - 1 + 2 delta)/(e^epsilon + 1). The output for a fixed input is noise that does not
    depend on the data. The distances of all users add up.

    Args:
        spent: Upper bounds on the true epsilon of all rounds, with their delta.
    """
    growth = np.exp(np.minimum(spent["value"], 1.0))
    distance = USERS * (growth - 1 + 2 * spent["delta"]) / (growth + 1)
    proven = spent[distance <= NO_DATA]
    return set(zip(proven["mechanism"], proven["epsilon"], strict=True))


def _missing_results(
    wanted: Sequence[tuple[str, float]], run: set[tuple[str, float]]
) -> list[Part]:
    """Return an inconclusive part for every wanted mechanism and epsilon without a score."""
    return [
        Part(label_of(*at), INCONCLUSIVE, reason="without a result")
        for at in wanted
        if at not in run
    ]


class Group(NamedTuple):
    """Mechanisms with one stated F1."""

    f1: float
    mechanisms: list[str]


@judge(studies=(PARAMETERS,))
def two_groups(results: Results, *, dataset: str, stated: list[Group], tolerance: float) -> Finding:
    """Judge the F1 of two groups of mechanisms, for each Delta at the run's largest epsilon.

    The paper states no end of its axis and two values of Delta. One epsilon for both would compare
    different noise.
    """
    by_range = _scores(results.rows)
    scores = by_range["clip"][dataset]
    found = {name: {dataset: own[dataset]} for name, own in by_range.items() if dataset in own}
    clean = scores.level("non-private")

    def groups(scores: Scores) -> list[Part]:
        parts, epsilon = [], scores.epsilons[-1]
        for group in stated:
            means = {mechanism_title(key): scores.score(key, epsilon) for key in group.mechanisms}
            judged = levels(means, stated=group.f1, tolerance=tolerance, ceiling=clean)
            parts += map(_judge_rebuilt, group.mechanisms, judged)
        return parts

    exact = scores_of(results.rows, PARAMETERS, "exact", range="clip")[dataset].best(TLDP)
    return _finding(
        results.rows,
        found,
        groups,
        f"Mean weighted F1 at the largest epsilon per release; without noise {clean:.3g}, with "
        f"random parameters {scores.level('random-answer'):.3g}. At equal true privacy of all "
        f"rounds, TLDP reaches at most {exact:.3g}.",
        calibration="both",
    )


def _judge_rebuilt(mechanism: str, part: Part) -> Part:
    return confirm_or_leave_open(part, REBUILT[mechanism]) if mechanism in REBUILT else part


def _leave_open(mechanism: str, part: Part) -> Part:
    """Leave a part open because a rebuilt mechanism has learned nothing."""
    reason = f"{REBUILT[mechanism]}, and has learned nothing"
    return replace(part, verdict=INCONCLUSIVE, reason=reason)


@judge(studies=(PARAMETERS,))
def parameter_order(
    results: Results, *, exception: str, good_on: str, signal: float, margin: float
) -> Finding:
    """Judge whether both TLDPs are above the baselines, LLAGP mostly next, DPHSGD good on one set.

    Mechanisms are compared at the largest epsilon by paired differences of F1 over the trials,
    which share their initial parameters and batches. Scores within `signal` of a guess count as no
    better. A rebuilt mechanism that fails decides nothing, so it is compared only with the
    baselines and is not judged poor.
    """

    def places(scores: Scores) -> list[Part]:
        """Judge which mechanisms lead on a data set, and whether LLAGP is next and DPHSGD good."""
        run, last = set(scores.rows["mechanism"]), scores.epsilons[-1]
        ahead = partial(_lead_over_baselines, scores, signal=signal, margin=margin)
        parts = [ahead(key) for key in TLDP if key in run]
        if scores.dataset != exception and "llagp" in run:
            learned = scores.score("llagp", last).value > _guess(scores) + signal
            parts.append((_judge_rebuilt if learned else _leave_open)("llagp", ahead("llagp")))
        if scores.dataset == good_on and "dphsgd" in run:
            lead = scores.score("dphsgd", last).shifted(-_guess(scores) - signal)
            (good,) = order({f"{scores.title}, DPHSGD good": lead}, margin=margin)
            parts.append(_judge_rebuilt("dphsgd", good))
        return parts

    return _finding(
        results.rows,
        _scores(results.rows),
        places,
        "At the largest epsilon of each Delta, as published. The baselines are Laplace, "
        "Gaussian, MVG and IDN. LLAGP and DPHSGD follow the description in tldp2025, with our "
        "choices where it leaves something open.",
    )


def _lead_over_baselines(scores: Scores, larger: str, *, signal: float, margin: float) -> Part:
    """Judge whether a mechanism is above every baseline at the largest epsilon."""
    name = f"{scores.title}, {mechanism_title(larger)} above the baselines"
    smaller = [key for key in OTHERS if key in set(scores.rows["mechanism"])]
    if not smaller:
        return Part(name, NOT_RUN)
    last = scores.epsilons[-1]
    means = (scores.score(key, last).value for key in (larger, *smaller))
    gaps = {mechanism_title(key): scores.gap(larger, key, last) for key in smaller}
    return every(name, order(gaps, margin=margin, signal=_signal(scores, means, signal)))


@judge(studies=(PARAMETERS,))
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
    """Judge orders and near ties on one data set, with noise for the range 2 C.

    The orders of `start` are those at the smallest epsilon; all others are at the largest one. If
    no model is above a guess by more than `learned` at an epsilon, neither an order nor a tie there
    counts. Nothing counts for a rebuilt mechanism that has not learned: the rebuilding may be the
    reason.
    """
    scores = _scores(results.rows)["clip"][dataset]
    first, last = scores.epsilons[0], scores.epsilons[-1]

    def judge_pairs(
        pairs: Sequence[Pair], words: str, epsilon: float, rule: Callable
    ) -> list[Part]:
        gaps = {
            f"{' '.join((mechanism_title(x), words, mechanism_title(y)))} at {epsilon:g}": (
                scores.gap(x, y, epsilon)
            )
            for x, y in pairs
        }
        means = scores.at(epsilon=epsilon).private.groupby("mechanism")["value"].mean()
        signal = _signal(scores, means, learned)
        floor, parts = _guess(scores) + learned, []
        for pair, part in zip(pairs, rule(gaps, signal=signal), strict=True):
            failed = [k for k in pair if k in REBUILT and scores.score(k, epsilon).value <= floor]
            open_already = part.verdict == INCONCLUSIVE or not failed
            parts.append(part if open_already else _leave_open(failed[0], part))
        return parts

    parts = [
        *judge_pairs(ahead, "above", last, partial(order, margin=margin)),
        *judge_pairs(close, "about", last, partial(equal, margin=alike)),
        *judge_pairs(start, "above", first, partial(order, margin=margin)),
    ]
    return Finding(
        parts=parts,
        detail="Paired differences of weighted F1 as published, with noise for Delta = 2 C.",
        calibration="published",
        because=f"Decided at Delta = {WIDTH:g} with our own LLAGP and DPHSGD.",
        **_sizes(results.rows, {"clip": {dataset: scores}}),
    )


@judge(studies=(PARAMETERS,))
def crossover(results: Results, *, negligible: float, margin: float) -> Finding:
    """Judge whether TLDP-L is above TLDP-G at some epsilon, and both end without noise."""
    found = required(
        _scores(results.rows)["clip"],
        CannotJudge(f"The run has no scores with noise for Delta = {WIDTH:g}"),
    )
    ahead = {
        f"{scores.title} at {epsilon:g}": scores.gap("tldp-l", "tldp-g", epsilon)
        for scores in found.values()
        for epsilon in scores.epsilons
    }
    sizes = [query_size(results.rows, PARAMETERS, dataset) for dataset in found]
    # The root mean square of the noise at END on one of the elements, for elements of range 1.
    ends = {
        key: max(
            math.sqrt(loss_of(key, (1, size), END, width=1.0, delta=0.0) / size) for size in sizes
        )
        for key in TLDP
    }
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
