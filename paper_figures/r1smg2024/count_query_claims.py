"""r1smg2024 Section 7.1: the 89 x 89 count query, judged on the official Uber pickups only."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import stats

from paper_figures.ledger import NOT_REPRODUCED, NOT_RUN, REPRODUCED, Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import (
    Interval,
    bootstrap_difference,
    listed,
    mean_interval,
    official_study,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_numbers,
    verdict_on_order,
)

SHAPE, DELTA = "89x89", 1e-7


def official_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the paper's own query: Uber pickups, 89 x 89 cells, delta 1e-7; else CannotJudge."""
    return official_study(rows, "count_query", about="the Uber pickups", shape=SHAPE, delta=DELTA)


def compared(
    rows: pd.DataFrame, arguments: dict, metric: str, calibration: str = "published"
) -> dict[str, pd.DataFrame]:
    """A metric of R1SMG at its epsilon and of the others at theirs, a row per trial."""
    epsilons = {"r1smg": arguments["r1smg_epsilon"]}
    epsilons |= dict.fromkeys(arguments["others"], arguments["epsilon"])
    return {
        key: pick(rows, metric=metric, mechanism=key, epsilon=epsilon, calibration=calibration)
        for key, epsilon in epsilons.items()
    }


def budget_words(arguments: dict) -> str:
    """The budgets as a sentence part."""
    return (
        f"epsilon {arguments['epsilon']:g} (R1SMG {arguments['r1smg_epsilon']:g}), delta {DELTA:g}"
    )


def advantages(frames: dict[str, pd.DataFrame]) -> dict[str, Interval]:
    """Paired differences of the others and R1SMG: positive where R1SMG has less."""
    return {
        key: paired_difference(frame, frames["r1smg"])
        for key, frame in frames.items()
        if key != "r1smg"
    }


@judge(experiments=("count_query",))
def largest_counts(claim: Claim, results: Results) -> Finding:
    """Figure 4: the largest count, exact and released.

    Arguments: epsilon; stated, the exact one; above, bounds that the released ones are said to
    exceed.
    """
    rows = official_counts(results.rows)
    a = claim.arguments
    facts = {
        metric: float(pick(rows, metric=metric, mechanism="non-private")["value"].iloc[0])
        for metric in ("nonprivate_largest_count", "pickups", "valid_cells")
    }
    exact = facts["nonprivate_largest_count"]
    found = {}
    for key in a["above"]:
        chosen = {"mechanism": key, "epsilon": a["epsilon"], "calibration": "published"}
        trials = pick(rows, metric="largest_count", **chosen)["value"]
        found[key] = float(trials.mean())
    larger = all(found[key] > bound for key, bound in a["above"].items())
    shown = {"non-private": exact} | found
    return Finding(
        ours=", ".join(f"{key} {value:.4g}" for key, value in shown.items()),
        verdict=verdict_of_parts(
            verdict_on_numbers([(exact, a["stated"])], claim.tolerance),
            REPRODUCED if larger else NOT_REPRODUCED,
        ),
        detail=(
            "Official pickups of the stated window; mean over trials of the largest count after "
            f"post-processing, epsilon {a['epsilon']:g}, delta {DELTA:g}. The paper gives neither "
            "its bounding box nor its valid areas (ours: the five boroughs, and cells with a "
            f"pickup in the rest of the month): {facts['pickups']:.0f} pickups in "
            f"{facts['valid_cells']:.0f} valid cells, on average "
            f"{facts['pickups'] / facts['valid_cells']:.0f} per cell. MVG's noise depends on "
            "gamma, here the number of pickups."
        ),
        calibration="published",
        trials=len(trials),
    )


@judge(experiments=("count_query",))
def count_order(claim: Claim, results: Results) -> Finding:
    """Figure 4: R1SMG against other noise, by differences of L after post-processing.

    Arguments: epsilon, r1smg_epsilon, others; comparable, mechanisms to which R1SMG's error is
    said to be comparable, here: the whole interval of the ratio of mean L within `factor`; better,
    the one of these that is better.
    """
    rows = official_counts(results.rows)
    a = claim.arguments
    metric = "loss_postprocessed"
    published = compared(rows, a, metric)
    ours = advantages(published)
    exact = advantages(compared(rows, a, metric, "exact"))
    present = [key for key in a["comparable"] if (rows["mechanism"] == key).any()]
    absent = [key for key in a["comparable"] if key not in present]
    parts = [verdict_on_order(*ours.values())]
    told = []
    for key in present:
        chosen = {"mechanism": key, "epsilon": a["epsilon"], "calibration": "published"}
        pair = (pick(rows, metric=metric, **chosen), published["r1smg"])
        ratio = _ratio(*pair)
        similar = max(ratio.high, 1 / ratio.low) <= a["factor"]
        parts.append(REPRODUCED if similar else NOT_REPRODUCED)
        if key == a["better"]:
            parts[-1] = verdict_of_parts(
                parts[-1], verdict_on_order(paired_difference(*reversed(pair)))
            )
        told.append(f" Mean L of {key} over R1SMG's: {ratio}, {parts[-1]}.")
    parts += [NOT_RUN] * bool(absent)
    waits = f"; not in this run: {listed(absent)}" if absent else ""
    return Finding(
        ours="L over R1SMG's by "
        + ", ".join(f"{difference} ({key})" for key, difference in ours.items())
        + waits,
        verdict=verdict_of_parts(*parts),
        detail=(
            f"Official pickups, {budget_words(a)}; mean and 95% interval of the difference of L "
            "after post-processing over trials. The part about "
            f"{listed(ours)} alone: {parts[0]}.{''.join(told)} At the exact calibration (each noise "
            "rescaled until its true delta is the claimed one) the differences are "
            f"{', '.join(f'{d.mean:.2g} ({k})' for k, d in exact.items())}. Our bounding box and "
            "valid areas, which the paper does not give, scale every L alike."
        ),
        calibration="both",
        trials=next(iter(ours.values())).trials,
    )


def _ratio(over: pd.DataFrame, under: pd.DataFrame) -> Interval:
    """The ratio of two means with its bootstrap interval."""
    pair = (frame["value"].to_numpy(float) for frame in (over, under))
    mean, low, high, trials = bootstrap_difference(*pair, _log_mean)
    return Interval(math.exp(mean), math.exp(low), math.exp(high), trials)


def _log_mean(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    return np.log(np.mean(values, axis))


@judge(experiments=("count_query",))
def accuracy_loss(claim: Claim, results: Results) -> Finding:
    """Figure 5: mean L. Arguments: epsilon, r1smg_epsilon, others; stated, of r1smg and others."""
    rows = official_counts(results.rows)
    a = claim.arguments
    frames = compared(rows, a, "loss")
    found = {key: mean_interval(frame["value"]) for key, frame in frames.items()}
    expected = {
        key: float(frame["value"].iloc[0])
        for key, frame in compared(rows, a, "expected_loss").items()
    }
    pairs = ((found[k].mean, a["stated"]["r1smg" if k == "r1smg" else "others"]) for k in found)
    return Finding(
        ours=", ".join(f"{interval.mean:.3g} ({key})" for key, interval in found.items()),
        verdict=verdict_on_numbers(pairs, claim.tolerance),
        detail=(
            f"L = ||noise||^2 before post-processing, {budget_words(a)}, s^2 = 2; in closed form "
            f"{', '.join(f'{value:.4g} ({key})' for key, value in expected.items())}. L does not "
            "depend on the data, except for MVG through gamma, which the paper does not state "
            "(ours: the number of pickups). That R1SMG's mean is the smallest: "
            f"{verdict_on_order(*advantages(frames).values())}."
        ),
        calibration="published",
        trials=found["r1smg"].trials,
    )


@judge(experiments=("count_query",))
def loss_shape(claim: Claim, results: Results) -> Finding:
    """Figure 5: skewness and kurtosis of L. Arguments: epsilon, r1smg_epsilon, others."""
    rows = official_counts(results.rows)
    a = claim.arguments
    values = {key: f["value"].to_numpy(float) for key, f in compared(rows, a, "loss").items()}
    differences = [
        bootstrap_difference(values["r1smg"], values[key], statistic)
        for key in a["others"]
        for statistic in (stats.skew, stats.kurtosis)
    ]
    least = min(float(stats.normaltest(values[key]).pvalue) for key in a["others"])
    bell = REPRODUCED if least > 0.001 else NOT_REPRODUCED
    shapes = {key: (stats.skew(v), 3 + stats.kurtosis(v)) for key, v in values.items()}
    return Finding(
        ours="skewness and kurtosis "
        + ", ".join(f"{s:.2g} and {k:.3g} ({key})" for key, (s, k) in shapes.items()),
        verdict=verdict_of_parts(verdict_on_order(*differences), bell),
        detail=(
            f"Moments about the mean over trials, {budget_words(a)}; 95% bootstrap intervals of "
            "the differences to R1SMG's, and a normality test of the others, whose smallest "
            f"p-value is {least:.2g}. The shape of L depends neither on the data nor on the scale "
            "of the noise."
        ),
        calibration="published",
        trials=len(values["r1smg"]),
    )
