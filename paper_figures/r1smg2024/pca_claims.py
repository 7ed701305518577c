"""r1smg2024 Section 7.2: principal components of Swarm Behaviour, judged on the official data."""

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
from paper_figures.verdict_rules import (
    Interval,
    listed,
    official_study,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_numbers,
    verdict_on_order,
)

SHAPE, DELTA = "2400x2400", 1e-7
# Whether more or less is better: R1SMG's lead over another mechanism is positive where it is ahead.
SIGNS = {"accuracy": 1.0, "leading_deviation": -1.0}


def official_components(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the paper's own query, the covariance of Swarm Behaviour; else CannotJudge."""
    return official_study(rows, "pca", about="Swarm Behaviour", shape=SHAPE, delta=DELTA)


@judge(experiments=("pca",))
def exact_components(claim: Claim, results: Results) -> Finding:
    """Accuracy on the non-private components. Arguments: stated."""
    rows = official_components(results.rows)
    chosen = pick(rows, metric="accuracy", mechanism="non-private")["value"]
    records, dropped = (
        float(pick(rows, metric=metric, mechanism="non-private")["value"].iloc[0])
        for metric in ("records", "records_dropped")
    )
    ours = float(chosen.iloc[0])
    return Finding(
        ours=f"{ours:.2%}",
        verdict=verdict_on_numbers([(ours, claim.arguments["stated"])], claim.tolerance),
        detail=(
            f"{records:.0f} records ({dropped:.0f} with an empty cell left out), features scaled "
            "by their extremes, covariance not centred, linear SVM with squared hinge loss and "
            "penalty 1, one random split."
        ),
        calibration="published",
    )


@judge(experiments=("pca",))
def component_order(claim: Claim, results: Results) -> Finding:
    """Figure 6: R1SMG against those it is close to and those far behind, at every epsilon.

    By accuracy and by the leading deviation (as a share of the leading variance), which PPCA has
    as well. Arguments: epsilons; ratio, of their epsilon to R1SMG's; close, mechanisms whose mean
    may differ from R1SMG's by at most `margin`; behind, mechanisms that must be worse.
    """
    rows = official_components(results.rows)
    a = claim.arguments
    present = set(rows["mechanism"])
    absent = [key for key in (*a["close"], *a["behind"]) if key not in present]
    ahead = {key: _advantages(rows, a, key) for key in a["behind"] if key in present}
    near = {key: _advantages(rows, a, key) for key in a["close"] if key in present}
    if not (ahead or near):
        raise CannotJudge("The results have no mechanism to compare R1SMG with")
    largest = {key: max((abs(d.mean) for d in found), default=0.0) for key, found in near.items()}
    behind = verdict_on_order(*(d for found in ahead.values() for d in found)) if ahead else NOT_RUN
    close = REPRODUCED if all(v <= a["margin"] for v in largest.values()) else NOT_REPRODUCED
    least = {key: min(found, key=lambda d: d.mean) for key, found in ahead.items()}
    return Finding(
        ours="least lead over "
        + ", ".join(f"{key} {lead}" for key, lead in least.items())
        + "; largest distance from "
        + ", ".join(f"{key} {value:.3g}" for key, value in largest.items()),
        verdict=verdict_of_parts(behind, close, *[NOT_RUN] * bool(absent)),
        detail=(
            f"Official data, epsilon {a['epsilons'][0]:g} to {a['epsilons'][-1]:g} (R1SMG's "
            f"{a['ratio']:g} times smaller), delta {DELTA:g}; over accuracy and the variance lost "
            "by the first components, as a share. Mean and 95% interval of the differences over "
            f"trials. Those far behind: {behind}; those close, within {a['margin']:g}: {close}."
            + (f" Not in this run: {listed(absent)}." if absent else "")
        ),
        calibration="published",
        trials=min(d.trials for found in (*ahead.values(), *near.values()) for d in found),
    )


def _advantages(rows: pd.DataFrame, arguments: dict, key: str) -> list[Interval]:
    """By how much R1SMG is better than `key`, for both metrics and every epsilon."""
    variance = pick(rows, metric="leading_variance")["value"].iloc[0]
    units = {"accuracy": 1.0, "leading_deviation": float(variance)}
    differences = []
    for metric, sign in SIGNS.items():
        for epsilon in arguments["epsilons"]:
            theirs, ours = (
                _at(rows, metric, mechanism, value)
                for mechanism, value in ((key, epsilon), ("r1smg", epsilon / arguments["ratio"]))
            )
            scaled = (
                frame.assign(value=sign * frame["value"] / units[metric])
                for frame in (ours, theirs)
            )
            differences.append(paired_difference(*scaled))
    return differences


def _at(rows: pd.DataFrame, metric: str, mechanism: str, epsilon: float) -> pd.DataFrame:
    """Published rows at one epsilon, which a quotient may miss by a rounding."""
    chosen = pick(rows, metric=metric, mechanism=mechanism, calibration="published")
    at = chosen[(chosen["epsilon"] / epsilon - 1).abs() < 1e-9]
    if at.empty:
        raise CannotJudge(f"The results have no {metric} of {mechanism} at epsilon {epsilon:g}")
    return at
