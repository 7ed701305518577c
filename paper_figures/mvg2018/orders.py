"""Verdicts on all three studies of mvg2018: whose error is below whose (Tables 3 to 5, Figure 4).

MVG has the features that the paper calls informative, or other directions, at its best share tau.
Where its release is proven to be noise, the order of the errors is judged as it is, although it is
one of noise.
"""

from collections.abc import Mapping
from typing import Literal

import pandas as pd

from claims.comparisons import order
from claims.judged_rows import listed, required
from claims.judges import CannotJudge, Positive, judge
from claims.verdicts import NOT_RUN, Finding, Part
from paper_figures.mvg2018.compared_study import (
    MVG,
    MVG_SQRT,
    WHOLE_QUERY,
    at_best_share,
    judged_treatment,
    mean_over_shares,
    select,
    treatment_title,
)
from paper_figures.mvg2018.comparison_findings import (
    SETTING,
    Judged,
    difference,
    finding_per_kernel,
    signal_of,
)
from paper_figures.mvg2018.covariance import COVARIANCE
from paper_figures.mvg2018.first_component import FIRST_COMPONENT
from paper_figures.mvg2018.noise_alone import STUDIES as PROVEN
from paper_figures.mvg2018.regression import REGRESSION
from paper_figures.style import mechanism_title
from runs.results import Results
from studies.base.treatments import PCA

STUDIES = {study.name: study for study in (REGRESSION, FIRST_COMPONENT, COVARIANCE)}
Study = Literal["regression", "first_component", "covariance"]


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
    """Whether the others' errors are above MVG's times the factor, less the tolerance.

    MVG has the right features or other directions. The others have the treatment `of_others`, such
    as "subspace", which lets them see the right features alone, and their best share too.
    """
    compared, least = STUDIES[study], factor * (1 - tolerance)
    above = "above MVG" if least == 1 else f"above {least:.3g} times MVG"
    is_noise = study in PROVEN

    def judged(scores: pd.DataFrame) -> Judged:
        treatment = directions or judged_treatment(scores, compared)
        published = select(scores, calibration="published")
        ours = required(
            at_best_share(select(published, mechanism=MVG, treatment=treatment)),
            CannotJudge(f"The results have no rows of {MVG} with the directions {treatment}"),
        )
        frames = {
            mechanism_title(key) + (", private directions" if of_others == PCA else ""): (
                at_best_share(select(published, mechanism=key, treatment=of_others))
            )
            for key in others
        }
        scaled = ours.assign(value=least * ours["value"])
        present = {f"{title} {above}": frame for title, frame in frames.items() if len(frame)}
        signals = {
            name: signal_of(compared, results.rows, ours, frame) for name, frame in present.items()
        }
        parts = order(
            {name: difference(frame, scaled) for name, frame in present.items()},
            margin=margin,
            signal=None if is_noise else signals,
        )
        parts += _not_run(f"{title} {above}" for title, frame in frames.items() if frame.empty)
        words = _means({"MVG": ours} | frames)
        return parts, words + _other_calibrations(scores, treatment, others, of_others)

    detail = (
        f"{SETTING}. MVG has its best share tau. Parts are differences of errors, with intervals "
        "over shared trials."
    )
    return finding_per_kernel(results, compared, judged, detail)


@judge
def directions_above(
    results: Results, *, study: Study, others: list[str], margin: float
) -> Finding:
    """Whether MVG does better with the right features than with others (Figure 4).

    The error is the mean over all shares tau: choosing the best share of each would decide between
    equals. The others are names of sets, or "iid" for equal precision.
    """
    compared = STUDIES[study]

    def judged(scores: pd.DataFrame) -> Judged:
        right = judged_treatment(scores, compared)
        means, exact = (
            {
                name: mean_over_shares(
                    select(scores, calibration=calibration, mechanism=MVG, treatment=name)
                )
                for name in (right, *others)
            }
            for calibration in ("published", "exact")
        )
        ours = f"above {treatment_title(right)}"
        titles = {name: f"{treatment_title(name)} {ours}" for name in others}
        present = [name for name in others if len(means[name])]
        effects = {titles[name]: difference(means[name], means[right]) for name in present}
        # With the signal that the study has; where it is proven to have none, as it is.
        signal = signal_of(compared, results.rows, *(means[name] for name in (right, *present)))
        parts = order(effects, margin=margin, signal=None if study in PROVEN else signal)
        parts += _not_run(titles[name] for name in others if name not in present)
        words = _means(means)
        if len(exact[right]):
            words += f" (at the exact calibration {_means(exact)})"
        return parts, words

    detail = (
        f"{SETTING}. The error is the mean over all shares tau. Parts are differences of errors, "
        "with intervals over shared trials."
    )
    return finding_per_kernel(results, compared, judged, detail)


def _not_run(names) -> list[Part]:
    return [Part(name, NOT_RUN) for name in names]


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
