"""Verdicts on how MVG's error in mvg2018's studies compares with that of others.

A study that scores releases with several kernels has one outcome per kernel, since the paper states
none. Two mechanisms show no order where both are as good as an answer without any information.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pandas as pd

from claims.intervals import Mean, paired
from claims.judged_rows import listed
from claims.ledger import CannotJudge, Claim
from claims.rules import Signal, order
from claims.verdicts import NOT_RUN, Finding, Outcome, Part
from paper_figures.mvg2018.compared_study import (
    MVG,
    MVG_SQRT,
    WHOLE_QUERY,
    ComparedStudy,
    at_best_share,
    judged_treatment,
    kernels_of,
    mean_over_shares,
    select,
    treatment_title,
    with_kernel,
)
from paper_figures.style import mechanism_title
from runs.results import Results
from studies.base.treatments import SUBSPACE

SETTING = (
    "Epsilon 1, delta 1/N, one record replaced; the paper does not state gamma, so it is the "
    "largest on [-1, 1]"
)
KERNEL_TITLES = {"linear": "linear kernel", "polynomial": "cubic kernel", "rbf": "Gaussian kernel"}
KERNEL_CHOICE = "the kernel of the regression"
Judged = Callable[[pd.DataFrame], tuple[tuple[Part, ...], str]]


def difference(larger: pd.DataFrame, smaller: pd.DataFrame) -> Mean:
    """The paired difference; rounding of predictions that are equal is removed."""
    found = paired(larger, smaller)
    # Adding 0 turns -0 into 0.
    return replace(found, values=found.values.round(9) + 0.0)


def finding_per_kernel(
    results: Results, study: ComparedStudy, judged: Judged, detail: str, decided_by: str = ""
) -> Finding:
    """One outcome per kernel, or the parts of a study without kernels.

    Args:
        judged: From the scores with one kernel to the parts and a sentence with the means.
    """
    scores = study.scores(study.judged_rows(results.rows))
    outcomes, words = [], []
    for kernel in kernels_of(scores):
        parts, means = judged(with_kernel(scores, kernel))
        title = KERNEL_TITLES.get(kernel, "")
        outcomes.append(Outcome(choice=title, parts=parts))
        words.append(f"{title}: {means}" if title else means)
    shared = {
        "detail": f"{detail} Mean errors: {'; '.join(words)}.",
        "calibration": "both",
        "sizes": study.sizes(scores),
        "decided_by": decided_by,
    }
    if len(outcomes) == 1:
        return Finding(parts=outcomes[0].parts, **shared)
    return Finding(choice=KERNEL_CHOICE, outcomes=outcomes, ours="; ".join(words), **shared)


def signal_of(study: ComparedStudy, rows: pd.DataFrame, *compared: pd.DataFrame) -> Signal:
    """Whether one of these errors is below the one without any information."""
    blind = study.blind_error(rows)["value"]
    return Signal(
        means=tuple(float(frame["value"].mean()) for frame in compared),
        floor=_blind_level(study, blind),
        margin=_blind_margin(study, blind),
        floor_words=study.floor_words,
        better="smaller",
    )


def _blind_level(study: ComparedStudy, blind: pd.Series) -> float | None:
    """The error without any information, or None where it was not run."""
    if study.exact_floor is not None:
        return study.exact_floor
    return float(blind.mean()) if len(blind) else None


def _blind_margin(study: ComparedStudy, blind: pd.Series) -> float:
    """How far from the blind error another one has to be; see `ComparedStudy.blind_margin`."""
    if study.blind_margin is not None:
        return study.blind_margin
    return 2 * float(blind.sem()) if len(blind) > 1 else 0.0


def finding_on_order(claim: Claim, results: Results, study: ComparedStudy) -> Finding:
    """Whether MVG's error is below the others'.

    Arguments of the claim: others, mechanisms; directions, MVG's treatment, by default the right
    features; subspace, true where the others see the right features alone; factor: the others'
    errors have to be above MVG's times this, less the tolerance.
    """
    a = claim.arguments
    factor = a.get("factor", 1.0) * (1 - (claim.tolerance or 0.0))
    of_others = SUBSPACE if a.get("subspace") else WHOLE_QUERY

    def judged(scores: pd.DataFrame) -> tuple[tuple[Part, ...], str]:
        treatment = a.get("directions", judged_treatment(scores, study))
        published = select(scores, calibration="published")
        ours = at_best_share(select(published, mechanism=MVG, treatment=treatment))
        if ours.empty:
            raise CannotJudge(f"The results have no rows of {MVG} with the directions {treatment}")
        others = {
            mechanism_title(key): select(published, mechanism=key, treatment=of_others)
            for key in a["others"]
        }
        parts = _ordered_pairs(claim, study, results.rows, ours, others, factor)
        means = _means({"MVG": ours} | others)
        return parts, means + _other_calibrations(scores, treatment, a["others"], of_others)

    least = "" if factor == 1 else f" times {factor:.3g}"
    detail = (
        f"{SETTING}. MVG has its best share tau. Parts are the others' errors minus MVG's{least}, "
        "with 95% intervals over shared trials."
    )
    return finding_per_kernel(results, study, judged, detail, claim.arguments.get("decided_by", ""))


def _ordered_pairs(
    claim: Claim,
    study: ComparedStudy,
    rows: pd.DataFrame,
    ours: pd.DataFrame,
    others: Mapping[str, pd.DataFrame],
    factor: float,
) -> tuple[Part, ...]:
    """One part per other mechanism; each pair needs a signal of its own."""
    scaled = ours.assign(value=factor * ours["value"])
    effects = {
        f"{title} above": difference(frame, scaled) for title, frame in others.items() if len(frame)
    }
    parts = {part.name: part for part in order(effects, margin=claim.margin)}
    for title, frame in others.items():
        name = f"{title} above"
        if frame.empty:
            parts[name] = Part(name, NOT_RUN)
            continue
        signal = signal_of(study, rows, ours, frame)
        if signal.missing:
            [parts[name]] = order({name: effects[name]}, margin=claim.margin, signal=signal)
    return tuple(parts.values())


def finding_on_directions(claim: Claim, results: Results, study: ComparedStudy) -> Finding:
    """Whether MVG does better with the right features than with others (Figure 4).

    The error is the mean over all shares tau: choosing the best share of each would decide between
    equals. Arguments of the claim: others, names of sets, "iid" for equal precision.
    """
    others = claim.arguments["others"]

    def judged(scores: pd.DataFrame) -> tuple[tuple[Part, ...], str]:
        right = judged_treatment(scores, study)
        means = _over_all_shares(select(scores, calibration="published"), (right, *others))
        exact = _over_all_shares(select(scores, calibration="exact"), (right, *others))
        present = [name for name in others if len(means[name])]
        effects = {
            f"{treatment_title(name)} above": difference(means[name], means[right])
            for name in present
        }
        signal = signal_of(study, results.rows, *(means[name] for name in (right, *present)))
        parts = order(effects, margin=claim.margin, signal=signal)
        parts += [
            Part(f"{treatment_title(name)} above", NOT_RUN)
            for name in others
            if name not in present
        ]
        words = _means(means)
        if len(exact[right]):
            words += f" (at the exact calibration {_means(exact)})"
        return tuple(parts), words

    detail = (
        f"{SETTING}. The error is the mean over all shares tau. Parts are the errors minus that "
        "with the right features, with 95% intervals over shared trials."
    )
    return finding_per_kernel(results, study, judged, detail, claim.arguments.get("decided_by", ""))


def _over_all_shares(scores: pd.DataFrame, names: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    return {name: mean_over_shares(select(scores, mechanism=MVG, treatment=name)) for name in names}


def finding_on_learning(claim: Claim, results: Results, study: ComparedStudy) -> Finding:
    """Whether MVG's error is below a random answer's, as a "reasonably small" one must be.

    A difference of two standard errors of the random answer's mean matters.
    """
    scores = study.scores(study.judged_rows(results.rows))
    published = select(scores, calibration="published")
    right = judged_treatment(scores, study)
    ours = at_best_share(select(published, mechanism=MVG, treatment=right))
    blind = study.blind_error(results.rows)
    if blind.empty:
        raise CannotJudge(f"The results of {study.name} have no rows of random-answer")
    margin = _blind_margin(study, blind["value"])
    if study.exact_floor is not None:
        blind = ours.assign(value=study.exact_floor)
    parts = order({f"{study.floor_words} above": difference(blind, ours)}, margin=margin)
    exact = at_best_share(
        select(select(scores, calibration="exact"), mechanism=MVG, treatment=right)
    )
    means = _means({"MVG": ours, study.floor_words: blind})
    at_exact = f" At the exact calibration MVG has {_means({'': exact})}." if len(exact) else ""
    return Finding(
        parts=parts,
        detail=(
            f"{SETTING}. MVG has its best share tau and the features that the paper calls "
            f"informative. Mean errors: {means}.{at_exact}"
        ),
        calibration="both",
        sizes=study.sizes(scores),
    )


def _means(frames: Mapping[str, pd.DataFrame]) -> str:
    known = {treatment_title(name): frame for name, frame in frames.items() if len(frame)}
    return ", ".join(f"{name} {frame['value'].mean():.4g}".strip() for name, frame in known.items())


def _other_calibrations(
    scores: pd.DataFrame, treatment: str, others: list[str], of_others: str
) -> str:
    """The errors at the exact calibration, and of MVG with the square root of zeta."""
    exact = select(scores, calibration="exact")
    frames = {"MVG": at_best_share(select(exact, mechanism=MVG, treatment=treatment))}
    frames |= {
        mechanism_title(key): select(exact, mechanism=key, treatment=of_others) for key in others
    }
    notes = [f"at the exact calibration {_means(frames)}"] if _means(frames) else []
    root = select(scores, mechanism=MVG_SQRT, calibration="published", treatment=treatment)
    if len(root):
        notes.append(f"MVG with the root of zeta {_means({'': at_best_share(root)})}")
    return f" ({listed(notes)})" if notes else ""
