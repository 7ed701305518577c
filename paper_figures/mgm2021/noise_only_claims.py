"""Run time: ratios of seconds, which can be compared between machines."""

from __future__ import annotations

import math

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
from paper_figures.verdict_rules import listed, verdict_of_parts
from runs.rows import OK


@judge(experiments=("noise_only",), timings=("noise_only",))
def run_times(claim: Claim, results: Results) -> Finding:
    """mgm2021 Table 5: median seconds of a draw over the vector Gaussian's.

    Arguments: shape, the one that is judged; stated, {mechanism: seconds}. A ratio within a factor
    of 1 + tolerance agrees.
    """
    a = claim.arguments
    rows = results.timings
    rows = rows[
        (rows["dataset"] == "gradient-shapes")
        & (rows["calibration"] == "published")
        & (rows["metric"] == "draw_seconds")
        & (rows["status"] == OK)
    ]
    seconds = rows.groupby(["shape", "mechanism"])["value"].median().unstack()
    if a["shape"] not in seconds.index:
        raise CannotJudge(f"The run times no draw of shape {a['shape']}")
    measured = seconds.div(seconds["gaussian"], axis=0)
    present = [k for k in a["stated"] if k in measured and k != "gaussian"]
    absent = [k for k in a["stated"] if k not in measured]
    stated = {k: a["stated"][k] / a["stated"]["gaussian"] for k in a["stated"]}
    agree = [k for k in present if _near(measured.loc[a["shape"], k], stated[k], claim.tolerance)]
    parts = [REPRODUCED if key in agree else NOT_REPRODUCED for key in present]
    parts += [NOT_RUN] * bool(absent)
    words = [f"{k} {measured.loc[a['shape'], k]:.2g} (stated {stated[k]:.3g})" for k in present]
    others = measured[present].drop(index=a["shape"])
    missing = f"; not in this run: {listed(absent)}" if absent else ""
    return Finding(
        ours=", ".join(words) + missing,
        verdict=verdict_of_parts(*parts),
        detail=(
            f"Median over draws on this machine at {a['shape']}; over the other shapes of Table 2 "
            f"the ratios range from {others.min().min():.2g} to {others.max().max():.2g}, and the "
            "paper does not say which shape its column belongs to. Within a factor of "
            f"{1 + claim.tolerance:g}: {listed(agree) if agree else 'none'}. Our MVG draws with "
            "identity directions; the paper's takes its directions from an SVD in every run, which "
            "it names as the cost."
        ),
        calibration="published",
        trials=int(rows.groupby(["shape", "mechanism"]).size().min()),
    )


def _near(ours: float, stated: float, tolerance: float) -> bool:
    return abs(math.log(ours / stated)) <= math.log(1 + tolerance)
