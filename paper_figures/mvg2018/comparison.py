"""How mvg2018's studies compare MVG with other mechanisms: Tables 3 to 5 and verdicts on orders.

Next to other mechanisms MVG's error is that of its best share tau, chosen with the data, as in the
paper: this favours MVG. The paper does not state gamma; its largest value on the range of the data
is used. The exact calibration bounds every other choice: its noise is the least with which the
claimed guarantee holds.
"""

from __future__ import annotations

import pandas as pd

from experiments.contract.treatments import IID, PCA, SUBSPACE
from paper_figures.drawings import DrawingError, Drawn
from paper_figures.ledger import NOT_RUN, CannotJudge, Claim, Finding
from paper_figures.mvg2018.compared_study import (
    MVG,
    MVG_SQRT,
    WHOLE_QUERY,
    ComparedStudy,
    at_best_share,
    judged_treatment,
    mean_over_shares,
    right_treatment,
    select,
)
from paper_figures.results import Results
from paper_figures.selections import failed_mechanisms
from paper_figures.style import CALIBRATION_LINES, in_order
from paper_figures.verdict_rules import (
    Interval,
    listed,
    mean_interval,
    paired_difference,
    verdict_of_parts,
    verdict_on_order,
)
from papers.mvg2018 import STATED_ABOVE_MVG

SETTING = "Epsilon 1, delta 1/N, one record replaced; gamma, not stated, is the largest on [-1, 1]"
METHOD = "method of the paper"
# In all three studies; the second has its own Gaussian and exponential mechanisms.
SHARED_METHODS = {
    "non-private": "Non-private",
    "random-answer": "Random guess",
    MVG: "MVG",
    "jl": "JL transform",
    "laplace": "Laplace",
}
_METHOD_ORDER = (
    "Non-private",
    "Random guess",
    "MVG",
    "MVG-1",
    "MVG-2",
    "Gaussian",
    "JL transform",
    "Laplace",
    "Exponential",
    "",
)


def difference(larger: pd.DataFrame, smaller: pd.DataFrame) -> Interval:
    """The paired difference; rounding of predictions that are equal is removed."""
    found = paired_difference(larger, smaller)
    # Adding 0 turns -0 into 0.
    return Interval(*(round(end, 9) + 0.0 for end in found[:3]), found.trials)


def comparison_table(results: Results, study: ComparedStudy, *more: dict) -> Drawn:
    """The paper's table of a study; `more` are rows that belong to no mechanism."""
    rows, source = study.drawn_rows(results.rows)
    scores = study.scores(rows)
    if scores.empty:
        raise DrawingError(f"no mechanism has a result of {study.name}")
    records = []
    for calibration in CALIBRATION_LINES:
        own = select(scores, calibration=calibration)
        right = right_treatment(own)
        mvg = select(own, mechanism=MVG, treatment=right or WHOLE_QUERY)
        for mechanism in in_order(own["mechanism"]):
            shown = _shown(select(own, mechanism=mechanism), study, mechanism, right)
            for treatment, group in shown.groupby("treatment", sort=False):
                best = at_best_share(group)
                method = _method(study, mechanism, treatment, right)
                records.append(
                    {
                        "calibration": calibration,
                        METHOD: method,
                        "mechanism": mechanism,
                        "treatment": treatment,
                        "tau": best["share"].iloc[0],
                    }
                    | mean_columns(best)
                    | ({} if mvg.empty else _difference_columns(best, at_best_share(mvg)))
                    | {"stated above MVG": STATED_ABOVE_MVG[study.setting.name].get(method)}
                )
    records += more
    records.sort(key=lambda row: (row["calibration"] == "exact", _METHOD_ORDER.index(row[METHOD])))
    first = scores.iloc[0]
    caption = (
        f"mvg2018 Table {study.table} on {source}: {study.score_words}. Mean over "
        f"{scores['trial'].nunique()} trials with the half-width of its 95% interval. 'above MVG' "
        "is the paired difference to MVG with the right features. Query "
        f"{first['shape']}, epsilon {first['epsilon']:g}, delta 1/N = {first['delta']:.3g}, one "
        "record replaced; noise as published, then at equal true privacy (exact)."
    )
    note = (
        f"Query: {study.query_words}. {study.choices} The paper does not state gamma; its largest "
        "value for data in [-1, 1] is used. The treatment of MVG names the features that share tau "
        f"of its precision; '{IID}' is equal precision. tau is the best of "
        f"{scores['share'].nunique()} shares, chosen with the data, as in the paper. 'from' and "
        "'to' bound the 95% interval of the difference over shared trials. 'stated above MVG' is "
        "the number in the paper's text. Exact calibration: the noise is rescaled until its true "
        "delta at epsilon is the budget's."
        f"{failed_mechanisms(rows, study.name, first['dataset'])}"
    )
    return Drawn(caption, pd.DataFrame(records), note=note)


def _shown(
    scores: pd.DataFrame, study: ComparedStudy, mechanism: str, right: str | None
) -> pd.DataFrame:
    """All treatments of a mechanism that the paper compares, else those on the whole query.

    Of a variant of MVG, wrong features are left out.
    """
    if mechanism in study.methods:
        return scores
    return scores[scores["treatment"].isin((WHOLE_QUERY, IID, PCA, right))]


def _method(study: ComparedStudy, mechanism: str, treatment: str, right: str | None) -> str:
    """The row of the paper's table that this is, or ""."""
    if mechanism != MVG:
        return study.methods.get(mechanism, "") if treatment == WHOLE_QUERY else ""
    return {right: study.mvg_name, PCA: "MVG-2"}.get(treatment, "")


def mean_columns(scores: pd.DataFrame) -> dict[str, float]:
    """The mean over trials and the half-width of its interval, as columns of a table."""
    interval = mean_interval(scores["value"])
    return {"mean": interval.mean, "95% +-": interval.high - interval.mean}


def _difference_columns(scores: pd.DataFrame, mvg: pd.DataFrame) -> dict[str, float]:
    found = difference(scores, mvg)
    return {"above MVG": found.mean, "from": found.low, "to": found.high}


def finding_on_order(claim: Claim, results: Results, study: ComparedStudy) -> Finding:
    """Whether MVG's error is below the others'.

    Arguments of the claim: others, mechanisms; directions, MVG's treatment, by default the right
    features; subspace, true where the others see the right features alone; factor: the others'
    errors have to be above MVG's times this, less the tolerance.
    """
    scores = study.scores(study.judged_rows(results.rows))
    right = judged_treatment(scores, study)
    a = claim.arguments
    treatment = a.get("directions", right)
    of_others = SUBSPACE if a.get("subspace") else WHOLE_QUERY
    factor = a.get("factor", 1.0) * (1 - (claim.tolerance or 0.0))
    published = select(scores, calibration="published")
    ours = at_best_share(select(published, mechanism=MVG, treatment=treatment))
    if ours.empty:
        raise CannotJudge(f"The results have no rows of {MVG} with the directions {treatment}")
    scaled = ours.assign(value=factor * ours["value"])
    others = {key: select(published, mechanism=key, treatment=of_others) for key in a["others"]}
    absent = [key for key, frame in others.items() if frame.empty]
    above = {key: difference(frame, scaled) for key, frame in others.items() if len(frame)}
    parts = [verdict_on_order(*above.values())] * bool(above) + [NOT_RUN] * bool(absent)
    least = "MVG's" if factor == 1 else f"{factor:.3g} times MVG's"
    means = ", ".join(f"{key} {others[key]['value'].mean():.4g}" for key in above)
    return Finding(
        ours=f"above {least} by {_named(above)}{_missing(absent)}",
        verdict=verdict_of_parts(*parts),
        detail=(
            f"{SETTING}. MVG has its best share tau, {treatment} {ours['share'].iloc[0]:g}. The "
            "numbers are means of the difference over trials with 95% intervals. Mean errors: MVG "
            f"{ours['value'].mean():.4g}, {means}."
            f"{other_calibrations(scores, treatment, a['others'], of_others)}"
        ),
        calibration="both",
        trials=_least_trials(above),
    )


def finding_on_directions(claim: Claim, results: Results, study: ComparedStudy) -> Finding:
    """Whether MVG does better with the right features than with others (Figure 4).

    The error is the mean over all shares tau: choosing the best share of each would decide between
    equals. Arguments of the claim: others, names of sets, "iid" for equal precision.
    """
    scores = study.scores(study.judged_rows(results.rows))
    right, others = judged_treatment(scores, study), claim.arguments["others"]
    above = _above_right(select(scores, calibration="published"), right, others)
    exact = _above_right(select(scores, calibration="exact"), right, others)
    absent = [name for name in others if name not in above]
    parts = [verdict_on_order(*above.values())] * bool(above) + [NOT_RUN] * bool(absent)
    return Finding(
        ours=f"above {right} by {_named(above)}{_missing(absent)}",
        verdict=verdict_of_parts(*parts),
        detail=(
            f"{SETTING}. The error is the mean over all shares tau; {IID} is equal precision. The "
            "numbers are means of the difference over trials with 95% intervals. At the exact "
            f"calibration: {_named(exact) or 'no results'}."
        ),
        calibration="both",
        trials=_least_trials(above),
    )


def _above_right(scores: pd.DataFrame, right: str, others: list[str]) -> dict[str, Interval]:
    """By how much MVG's error with other features is above that with the right ones."""
    means = {
        name: mean_over_shares(select(scores, mechanism=MVG, treatment=name))
        for name in (right, *others)
    }
    return {
        name: difference(means[name], means[right])
        for name in others
        if len(means[name]) and len(means[right])
    }


def other_calibrations(
    scores: pd.DataFrame, treatment: str, others: list[str], of_others: str = WHOLE_QUERY
) -> str:
    """Sentences on the errors at the exact calibration, and of MVG with the square root of zeta."""
    exact = select(scores, calibration="exact")
    found = {"MVG": at_best_share(select(exact, mechanism=MVG, treatment=treatment))}
    found |= {key: select(exact, mechanism=key, treatment=of_others) for key in others}
    means = [f"{name} {frame['value'].mean():.4g}" for name, frame in found.items() if len(frame)]
    words = ""
    if means:
        words = (
            " At the exact calibration (each noise is rescaled until its true delta is the claimed "
            f"one; MVG's is then the least for any gamma): {', '.join(means)}."
        )
    root = select(scores, mechanism=MVG_SQRT, calibration="published", treatment=treatment)
    if len(root):
        mean = at_best_share(root)["value"].mean()
        words += f" MVG as published with the square root of zeta: {mean:.4g}."
    return words


def _named(differences: dict[str, Interval]) -> str:
    return ", ".join(f"{found} ({name})" for name, found in differences.items())


def _missing(absent: list[str]) -> str:
    return f"; not in this run: {listed(absent)}" if absent else ""


def _least_trials(differences: dict[str, Interval]) -> int | None:
    return min((found.trials for found in differences.values()), default=None)
