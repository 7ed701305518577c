"""Judge the three studies of mvg2018: which errors are smaller, and which times are shorter.

MVG has the features that the paper calls informative, or other directions, at its best share tau. A
study that scores releases with several kernels has an outcome for each, because the paper names
no kernel. Two components have no order if neither of them beats a random component. In the other
two studies MVG's release is proven to be noise. Their orders are judged all the same.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from claims.comparisons import Signal, equal, every, number, order, timed_apart
from claims.intervals import Mean, bootstrapped, ratio_words
from claims.judged_rows import ok_rows, pick, required, select
from claims.judges import CannotJudge, Count, Positive, judge
from claims.mechanism_titles import mechanism_title
from claims.scores import sizes_in_lines
from claims.verdicts import CONTRADICTED, NOT_RUN, Finding, Outcome, Part
from paper_figures.mvg2018.compared_study import (
    FIRST_COMPONENT,
    KERNEL_TITLES,
    MVG,
    REGRESSION,
    SETTING,
    STUDIES,
    WHOLE_QUERY,
    ComparedStudy,
    difference,
    kernels_of,
    require_right_treatment,
    seconds_of,
    select_best_share,
    select_kernel,
    treatment_title,
)
from paper_figures.mvg2018.draws import (
    COMPONENT,
    RECORDS,
    SCALINGS,
    drawn_directions,
)
from paper_figures.mvg2018.theorems import noise_alone
from runs.results import Results
from studies.base.treatments import PCA

Study = Literal["regression", "first_component", "covariance"]
# The mechanisms or sets of features that MVG is compared with, by study.
Others = dict[str, list[str]]


def finding_per_kernel(
    results: Results,
    study: ComparedStudy,
    judge_kernel: Callable[[pd.DataFrame, str], Sequence[Part]],
    detail: str,
    every_kernel: Sequence[Part] = (),
) -> Finding:
    """Make a finding with an outcome for every kernel, or with parts for a study without kernels.

    Args:
        judge_kernel: A function that judges the published scores with one kernel, given MVG's
            treatment with the informative features.
        every_kernel: The parts that do not depend on the kernel; they come first.

    Raises:
        CannotJudge: The run has no rows at the paper's data, shape and budget, or none of MVG.
    """
    scores = study.scores(study.judged_rows(results.rows))
    published = select(scores, calibration="published")
    right = require_right_treatment(scores, study)
    kernels = kernels_of(scores)
    outcomes = [
        Outcome(
            choice=KERNEL_TITLES.get(kernel, ""),
            parts=(*every_kernel, *judge_kernel(select_kernel(published, kernel), right)),
        )
        for kernel in kernels
    ]
    has_kernels = kernels != [None]
    return Finding(
        parts=() if has_kernels else outcomes[0].parts,
        choice="the kernel of the regression" if has_kernels else "",
        outcomes=outcomes if has_kernels else (),
        detail=(
            f"{SETTING}. {detail} Table {study.table} and Figure 4 have the mean errors, and those "
            "at equal true privacy."
        ),
        calibration="both",
        sizes=study.sizes(scores),
    )


def _order(
    study: ComparedStudy,
    scores: pd.DataFrame,
    ours: pd.DataFrame,
    others: Mapping[str, pd.DataFrame],
    above: str,
    margin: float,
    least: float = 1.0,
) -> list[Part]:
    """Judge whether each of the other errors is above `least` times MVG's.

    Args:
        scores: All published scores of the study.
        above: The words after a title in the name of a part.
    """
    names = {f"{title} {above}": frame for title, frame in others.items()}
    run = {name: frame for name, frame in names.items() if len(frame)}
    scaled = ours.assign(value=least * ours["value"])
    # A component beats a random one by two standard errors of the mean over trials with the latter.
    random = select(scores, mechanism="random-answer")["value"]
    error = 2 * float(random.sem()) if len(random) > 1 else 0.0
    parts = order(
        {name: difference(frame, scaled) for name, frame in run.items()},
        margin=margin,
        signal={
            name: COMPONENT.signal(ours["value"], frame["value"], error)
            for name, frame in run.items()
        }
        if study is FIRST_COMPONENT
        else None,
    )
    return [*parts, *(Part(name, NOT_RUN) for name in names if name not in run)]


@judge
def error_above(
    results: Results,
    *,
    study: Study,
    others: list[str],
    directions: str | None = None,
    of_others: str = WHOLE_QUERY,
    factor: Positive = 1.0,
    tolerance: float = 0.0,
    margin: float,
) -> Finding:
    """Judge whether the others' errors are above MVG's times the factor times 1 - tolerance.

    MVG has the features that the paper calls informative, unless `directions` names another
    treatment. The other mechanisms have the treatment `of_others` at their best share; "subspace",
    for example, shows them only the informative features.
    """
    compared, least = STUDIES[study], factor * (1 - tolerance)
    above = "above MVG" if least == 1 else f"above {least:.3g} times MVG"
    titles = {
        key: mechanism_title(key) + (", private directions" if of_others == PCA else "")
        for key in others
    }

    def judge_kernel(scores: pd.DataFrame, right: str) -> Sequence[Part]:
        treatment = directions or right
        ours = required(
            select(scores, mechanism=MVG, treatment=treatment),
            CannotJudge(f"The results have no rows of {MVG} with the directions {treatment}"),
        )
        frames = {
            title: select_best_share(select(scores, mechanism=key, treatment=of_others))
            for key, title in titles.items()
        }
        return _order(compared, scores, select_best_share(ours), frames, above, margin, least)

    detail = "MVG has its best share tau. Parts are differences over shared trials."
    return finding_per_kernel(results, compared, judge_kernel, detail)


@judge(studies=("regression",))
def ahead_of_a_guess(results: Results, *, margin: float) -> Finding:
    """Judge whether MVG's release is better than a random answer, or than the best blind guess."""
    random = error_above(results, study="regression", others=["random-answer"], margin=margin)
    best = noise_alone(query="regression")
    kernels = [
        replace(outcome, choice=f"a random answer, {outcome.choice}") for outcome in random.outcomes
    ]
    return replace(
        random,
        choice="what the guess is, and the kernel of the regression",
        outcomes=(*kernels, Outcome(choice="the best answer without data", parts=best.parts)),
        detail=f"{random.detail} {best.detail}",
    )


@judge
def directions_above(
    results: Results, *, study: Study, others: list[str], margin: float
) -> Finding:
    """Judge whether MVG does better with the informative features than with others (Figure 4).

    The error is the mean over all shares tau, because picking the best share of each set would rank
    equal sets by chance. `others` has names of sets of features, or "iid" for equal precision.
    """
    compared = STUDIES[study]

    def judge_kernel(scores: pd.DataFrame, right: str) -> Sequence[Part]:
        ours, *theirs = (_mean_over_shares(scores, name) for name in (right, *others))
        means = dict(zip(map(treatment_title, others), theirs, strict=True))
        return _order(compared, scores, ours, means, f"above {treatment_title(right)}", margin)

    detail = "The error is the mean over all shares tau. Parts are differences over shared trials."
    return finding_per_kernel(results, compared, judge_kernel, detail)


def _mean_over_shares(scores: pd.DataFrame, treatment: str) -> pd.DataFrame:
    """Average MVG's score with a treatment over the shares tau, in every trial."""
    treated = select(scores, mechanism=MVG, treatment=treatment)
    return treated.groupby("trial", as_index=False)["value"].mean()


@judge(studies=("regression",))
def comparable_directions(
    results: Results, *, others: Others, margins: dict[str, float], draws: Count
) -> Finding:
    """Judge whether another set of features does about as well (Figure 4, left and middle)."""

    def judge_kernel(scores: pd.DataFrame, right: str) -> Sequence[Part]:
        ours = _mean_over_shares(scores, right)
        means = {name: _mean_over_shares(scores, name) for name in others[REGRESSION.name]}
        differences = required(
            {name: difference(frame, ours) for name, frame in means.items() if len(frame)},
            CannotJudge("The results of the regression have no other set of features"),
        )
        return _nearest(REGRESSION, differences, right, margins)

    # This raises an error for a run without the data, before the draws take their time.
    REGRESSION.judged_rows(results.rows)
    right = next(iter(COMPONENT.sets))
    ours = COMPONENT.best(draws)
    errors = {name: COMPONENT.best(draws, name) for name in others[FIRST_COMPONENT.name]}
    margin = margins[FIRST_COMPONENT.name]
    signals = {name: COMPONENT.signal(each, ours, margin) for name, each in errors.items()}
    drawn = {name: Mean(each - ours) for name, each in errors.items()}
    finding = finding_per_kernel(
        results,
        REGRESSION,
        judge_kernel,
        f"I has the mean over all shares tau. II is judged by {draws:,} draws of the noise at the "
        "best share of each.",
        _nearest(FIRST_COMPONENT, drawn, right, margins, signals),
    )
    return replace(
        finding,
        sizes=replace(finding.sizes, dataset=REGRESSION.dataset),
        other_sizes=[COMPONENT.sizes(draws)],
    )


def _nearest(
    study: ComparedStudy,
    differences: Mapping[str, Mean],
    right: str,
    margins: Mapping[str, float],
    signals: Mapping[str, Signal] | None = None,
) -> list[Part]:
    """Judge whether the nearest other set of features is within the margin of the right set."""
    name = min(differences, key=lambda each: abs(differences[each].value))
    words = f"{study.numeral}: {treatment_title(name)} above {treatment_title(right)}"
    signal = signals and signals[name]
    return equal({words: differences[name]}, margin=margins[study.name], signal=signal)


@judge(studies=("regression",))
def regression_without_noise(results: Results, *, stated: float, tolerance: float) -> Finding:
    """Judge the RMSE without noise in Table 3."""
    control = pick(REGRESSION.judged_rows(results.rows), mechanism="non-private")
    errors = ok_rows(control, REGRESSION.name, "rmse_without_noise")
    means = errors.pivot_table(index="scaling", columns="kernel", values="value")
    return Finding(
        choice="the scaling of the data into [-1, 1]",
        outcomes=[
            Outcome(
                choice=SCALINGS[scaling],
                parts=tuple(
                    number(KERNEL_TITLES[kernel], mean, stated, tolerance)
                    for kernel, mean in at_scaling.items()
                ),
            )
            for scaling, at_scaling in means.iterrows()
        ],
        detail=(
            "Means over random splits. The releases use the scaling by the largest value; Table 3 "
            "has the errors of predicting the mean of the training targets and zero there."
        ),
        sizes=REGRESSION.sizes(REGRESSION.scores(control)),
    )


@judge(studies=("regression",))
def regression_close(results: Results, *, stated: float, margin: float) -> Finding:
    """Judge how far MVG's error in Table 3 is above the non-private one."""

    def judge_kernel(scores: pd.DataFrame, right: str) -> Sequence[Part]:
        clean = select(scores, mechanism="non-private", treatment=WHOLE_QUERY)
        ours = select_best_share(select(scores, mechanism=MVG, treatment=right))
        above = {"MVG-1 above non-private": difference(ours, clean)}
        return equal(above, margin=margin, stated=stated)

    return finding_per_kernel(results, REGRESSION, judge_kernel, "MVG has its best share tau.")


@judge(studies=("covariance",))
def drawn_covariance_order(
    results: Results, *, others: list[str], margin: float, draws: Count
) -> Finding:
    """Judge the order in Table 5: the Gaussian by draws of the noise, the others by the study.

    The Gaussian is judged at each scaling of the records, which the paper does not state.
    """
    # This comes first: it raises an error if there are no official rows, and draws take seconds.
    rest = error_above(results, study="covariance", others=others, margin=margin)
    drawn = drawn_directions(
        numeral="III", above=[("gaussian", next(iter(RECORDS.sets)))], margin=margin, draws=draws
    )
    return replace(
        rest,
        choice=drawn.choice,
        outcomes=drawn.outcomes,
        detail=f"The Gaussian by {draws:,} draws; the others by the study: {rest.detail}",
        other_sizes=[drawn.sizes],
    )


@judge(studies=("first_component",))
def all_experiments(results: Results, *, others: list[str], margin: float) -> Finding:
    """Judge whether MVG is ahead of the others in Experiment II.

    One exception contradicts the claim. The order in Experiment I depends on the kernel of the
    regression, and that in III on the scaling of the records.
    """
    ahead = error_above(results, study="first_component", others=others, margin=margin)
    return replace(
        ahead,
        parts=[every("ahead in II", ahead.parts)],
        detail=f"{SETTING}. Errors minus MVG's at its best share tau.",
        calibration="published",
    )


@judge(studies=STUDIES, timings=STUDIES)
def study_times(
    results: Results,
    *,
    faster: Others,
    slower: Others,
    tolerance: float,
) -> Finding:
    """Judge Table 6: the order of the seconds of a published release.

    MVG's seconds include an SVD of both covariances. Cells run at different times, and the state of
    the machine may differ between them. So an order is decided only if the medians differ by more
    than the factor 1 + tolerance.
    """
    parts, sizes, factor = [], [], 1 + tolerance
    for name, study in STUDIES.items():
        scores = study.scores(study.judged_rows(results.rows))
        seconds, svd = (
            seconds_of(results, study, metric) for metric in ("release_seconds", "svd_seconds")
        )
        svd = required(
            select(svd, mechanism=MVG),
            CannotJudge("This run did not time the SVDs of Section 6.3"),
        )
        mvg = _treatment_seconds(seconds, MVG, require_right_treatment(scores, study))
        mvg = mvg + svd["value"].median()
        for key in (*faster[name], *slower[name]):
            title = f"{study.numeral}: {mechanism_title(key)}"
            other = _treatment_seconds(seconds, key, WHOLE_QUERY)
            if key in faster[name]:
                parts.append(_cost_part(f"{title} faster than MVG", mvg, other, factor))
                continue
            part = _cost_part(f"{title} slower than MVG", other, mvg, factor)
            # Our JL, exponential mechanism and PPCA are not the paper's programs. If one of them is
            # faster than MVG, that says nothing about the paper's program.
            if part.verdict == CONTRADICTED:
                part = replace(part, verdict=NOT_RUN, reason="the paper's program was not run")
            parts.append(part)
        sizes.append(replace(study.sizes(scores), dataset=study.dataset))
    return Finding(
        parts=parts,
        detail=(
            "Medians of a release on one core, for MVG along given directions and with an SVD of "
            "both covariances. Parts are ratios of medians with bootstrapped intervals. Our JL "
            "applies its random matrix by a singular value decomposition of the records. Our "
            "exponential mechanism draws directly and PPCA from a short Markov chain, where the "
            "paper samples with emcee."
        ),
        calibration="published",
        **sizes_in_lines(sizes),
    )


def _treatment_seconds(seconds: pd.DataFrame, mechanism: str, treatment: str) -> np.ndarray:
    """Return the seconds of a mechanism's releases with one treatment, at its smallest share.

    The share does not change the work, and one release per trial keeps the samples independent.
    """
    releases = select(seconds, mechanism=mechanism, treatment=treatment)
    least = releases["share"].isna() | (releases["share"] == releases["share"].min())
    return releases[least]["value"].to_numpy(float)


def _cost_part(name: str, over: np.ndarray, under: np.ndarray, factor: float) -> Part:
    """Judge whether the median of `over` exceeds that of `under` by more than the factor."""
    if not len(over) or not len(under):
        return Part(name, NOT_RUN)
    ratio = bootstrapped(np.log(over), np.log(under), np.median)
    (part,) = order({name: ratio}, margin=math.log(factor), shown=ratio_words)
    return timed_apart(part, ratio, factor)
