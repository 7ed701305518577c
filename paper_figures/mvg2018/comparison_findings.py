"""Verdicts on how MVG's error in mvg2018's studies compares with that of others.

A study that scores releases with several kernels has an outcome for each, since the paper states
none. Two mechanisms show no order where both are as good as an answer without any
information.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from claims.comparisons import Signal
from claims.intervals import Mean, paired
from claims.verdicts import Finding, Outcome, Part
from paper_figures.mvg2018.compared_study import (
    ComparedStudy,
    kernels_of,
    with_kernel,
)
from runs.results import Results

SETTING = (
    "Epsilon 1, delta 1/N, one record replaced; the paper does not state gamma, the largest "
    "Frobenius norm of the answer: it is that of data in [-1, 1]"
)
KERNEL_TITLES = {"linear": "linear kernel", "polynomial": "cubic kernel", "rbf": "Gaussian kernel"}
# The parts of a claim, and a sentence with the means.
Judged = tuple[Sequence[Part], str]


def difference(larger: pd.DataFrame, smaller: pd.DataFrame) -> Mean:
    """The paired difference; rounding of predictions that are equal is removed."""
    found = paired(larger, smaller)
    # Adding 0 turns -0 into 0.
    return replace(found, values=found.values.round(9) + 0.0)


def finding_per_kernel(
    results: Results,
    study: ComparedStudy,
    judged: Callable[[pd.DataFrame], Judged],
    detail: str,
    every_kernel: Sequence[Part] = (),
) -> Finding:
    """An outcome of a study for every kernel, or the parts of a study without kernels.

    Args:
        judged: From the scores with one kernel to what is judged of them.
        every_kernel: Parts that no kernel changes; they come first.
    """
    scores = study.scores(study.judged_rows(results.rows))
    outcomes, words = [], []
    for kernel in kernels_of(scores):
        of_kernel, means = judged(with_kernel(scores, kernel))
        title = KERNEL_TITLES.get(kernel, "")
        outcomes.append(Outcome(choice=title, parts=(*every_kernel, *of_kernel)))
        words.append(f"{title}: {means}" if title else means)
    several = len(outcomes) > 1
    return Finding(
        parts=() if several else outcomes[0].parts,
        choice="the kernel of the regression" if several else "",
        outcomes=outcomes if several else (),
        detail=f"{detail} Mean errors: {'; '.join(words)}.",
        calibration="both",
        sizes=study.sizes(scores),
    )


def signal_of(study: ComparedStudy, rows: pd.DataFrame, *compared: pd.DataFrame) -> Signal:
    """Whether one of these errors is below the one without any information."""
    blind = study.blind_error(rows)["value"]
    return Signal(
        means=tuple(float(frame["value"].mean()) for frame in compared),
        floor=_blind_level(study, blind),
        margin=blind_margin(study, blind),
        floor_words=study.floor_words,
        better="smaller",
    )


def _blind_level(study: ComparedStudy, blind: pd.Series) -> float | None:
    """The error without any information, or None where it was not run."""
    if study.exact_floor is not None:
        return study.exact_floor
    return float(blind.mean()) if len(blind) else None


def blind_margin(study: ComparedStudy, blind: pd.Series) -> float:
    """How far from the blind error another one has to be; see `ComparedStudy.blind_margin`."""
    if study.blind_margin is not None:
        return study.blind_margin
    return 2 * float(blind.sem()) if len(blind) > 1 else 0.0
