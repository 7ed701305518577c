"""Noise of whole numbers against continuous Gaussian noise: its error, and the time of exact draws.

`integers2021_cost` takes its budget and the seconds from the study common_queries; the errors are
computed in closed form.
"""

import functools
import math

import numpy as np
import pandas as pd
import scipy

from claims.judged_rows import calibrated
from mechanisms import Budget, Query
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import ok_rows
from paper_figures.style import PAGE, look, mechanism_title
from runs.results import Results
from studies.common_queries import QUERIES, CommonQueries

STUDY = CommonQueries.name
COUNTS = "counts"
ASKED = QUERIES[COUNTS]
GAUSSIAN, LAWS = "gaussian-analytic", ("discrete-gaussian", "skellam")
ROUNDED = "Gaussian, rounded"
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
ONE_COUNT = Query(shape=(1,), l2_sensitivity=1.0, linf_sensitivity=1.0, structure="counts")


@drawing(
    "integers2021_cost",
    kind="figures",
    needs=[f"{STUDY}/{COUNTS}"],
    timings=[STUDY],
)
def whole_numbers(results: Results) -> Drawn:
    """Left: variance over the Gaussian's over epsilon. Right: seconds of a draw of one number."""
    seconds = _seconds(results.timings)
    delta = ASKED.budget.delta
    table = pd.DataFrame(_variances(delta))
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(PAGE, 2.7), gridspec_kw={"width_ratios": (3, 2)}
    )
    left.axhline(1, color="black", linewidth=0.8)
    for (name, calibration), own in table.groupby(["noise", "calibration"], sort=False):
        if name == ROUNDED:
            left.plot(own["epsilon"], own["ratio"], color="grey", linestyle=":", label=name)
            continue
        left.plot(own["epsilon"], own["ratio"], **look(name).at(calibration))
    left.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="variance over the Gaussian's")
    left.set_title("one count that changes by 1")
    names = (GAUSSIAN, *LAWS)
    for height, name in enumerate(names):
        style = look(name)
        for row in seconds[seconds["mechanism"] == name].itertuples():
            face = style.colour if row.calibration == "published" else "white"
            right.plot(row.seconds, height, style.marker, color=style.colour, markerfacecolor=face)
    right.set_yticks(range(len(names)), [mechanism_title(name) for name in names])
    right.set(xscale="log", ylim=(-0.5, len(names) - 0.5), xlabel="seconds per number")
    right.set_title(f"a draw, {ASKED.title}")
    figure.legend(
        *left.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=7
    )
    caption = (
        "The cost of integer-valued noise. Left: its variance over that of analytic Gaussian "
        f"noise for one count, delta {delta:g}, in closed form; filled as published, open at equal "
        "true privacy; dotted, Gaussian noise that is rounded after it is added. Right: wall-clock "
        f"seconds of one number in a draw for {ASKED.title} at epsilon "
        f"{ASKED.budget.epsilon:g}; integer-valued draws are exact."
    )
    data = pd.concat(
        [
            table.assign(panel="variance", delta=delta),
            seconds.rename(columns={"mechanism": "noise"}).assign(panel="seconds"),
        ]
    )
    return Drawn(caption, data, figure, NOTE)


NOTE = (
    "Gaussian noise in floating point can reveal the answer through its last bits; exact integer "
    "draws cannot. The exact samplers are written in Python, the Gaussian's in numpy; the time of "
    "an exact Skellam draw grows with the variance, by less between the two here than times differ "
    "from run to run. Each time is the least of a few, on a machine with other work. At equal true "
    "privacy the discrete Gaussian has the Gaussian's variance where the noise is large. With one "
    "count heavier tails help, which explains Skellam's lead; "
    "with 32 counts at epsilon 1 the three agree within 0.1% (suite_common_queries). As published, "
    "both are calibrated by bounds (concentrated DP, Renyi divergence), which require more noise "
    "than the exact profile does."
)


@functools.cache
def _variances(delta: float) -> tuple[dict, ...]:
    """Every noise at every epsilon: its variance over the analytic Gaussian's."""
    rows = []
    for epsilon in EPSILONS:
        budget = Budget(epsilon=epsilon, delta=delta)
        gaussian = calibrated(GAUSSIAN, ONE_COUNT, budget).expected_loss()
        for name in LAWS:
            for calibration in ("published", "exact"):
                own = calibrated(name, ONE_COUNT, budget, calibration).expected_loss()
                rows.append((name, calibration, epsilon, own / gaussian))
        rounded = rounded_variance(math.sqrt(gaussian)) / gaussian
        rows.append((ROUNDED, "exact", epsilon, rounded))
    columns = ("noise", "calibration", "epsilon", "ratio")
    rows.sort(key=lambda row: [*LAWS, ROUNDED].index(row[0]))
    return tuple(dict(zip(columns, row, strict=True)) for row in rows)


def rounded_variance(sigma: float) -> float:
    """E[round(sigma z)^2], z ~ N(0, 1): sum over k >= 1 of 2 (2k - 1) P(sigma z >= k - 1/2)."""
    numbers = np.arange(1, math.ceil(40 * sigma) + 2)
    return float(2 * (2 * numbers - 1) @ scipy.special.ndtr(-(numbers - 0.5) / sigma))


def _seconds(timings: pd.DataFrame) -> pd.DataFrame:
    """Seconds of one number of a draw, by mechanism and calibration.

    Raises:
        DrawingError: The run has no time of a draw of whole numbers.
    """
    own = ok_rows(timings, STUDY, "seconds_per_draw")
    own = own[(own["dataset"] == COUNTS) & own["mechanism"].isin((GAUSSIAN, *LAWS))]
    if not set(LAWS) & set(own["mechanism"]):
        raise DrawingError("the results hold no time of a draw of whole numbers")
    # Both calibrations of the Gaussian are one noise.
    own = own[(own["mechanism"] != GAUSSIAN) | (own["calibration"] == "published")]
    own = own.assign(seconds=own["value"] / ASKED.query.size)
    return own[["mechanism", "calibration", "epsilon", "delta", "seconds"]].reset_index(drop=True)
