"""Laplace against Gaussian noise for unequal sensitivities, over the number of elements.

`inid2025_dimension` has the budget of the study common_queries; the errors are in closed form.
"""

import functools

import numpy as np
import pandas as pd

from claims.judged_rows import calibrated, required
from claims.stated_noise import sensitivities
from mechanisms import Query
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import ok_rows
from paper_figures.style import PAGE, look
from runs.results import Results
from studies.common_queries import QUERIES, CommonQueries

ASKED = "histogram"
BUDGET = QUERIES[ASKED].budget
POWERS = (0.0, 1.0, 2.0, 4.0)
SIZES = tuple(4**k for k in range(9))
GAUSSIAN = "gaussian-analytic"
# Laplace noise as published: purely private, so with less error only where delta buys little.
NOISE = {
    "inid-gaussian": "exact",
    "inid-laplace": "published",
    "laplace": "published",
}


@drawing("inid2025_dimension", kind="figures", needs=[f"{CommonQueries.name}/{ASKED}"])
def dimension(results: Results) -> Drawn:
    """Expected squared error over that of analytic Gaussian noise, one panel per decay."""
    required(
        ok_rows(results.rows, CommonQueries.name, "rmse", ASKED),
        DrawingError(f"the results hold no rows of {CommonQueries.name}; run it first"),
    )
    epsilon, delta = BUDGET.epsilon, BUDGET.delta
    table = pd.DataFrame(_ratios())
    figure, axes = plt.subplots(1, len(POWERS), figsize=(PAGE, 2.5), sharey=True)
    for axis, (power, own) in zip(axes, table.groupby("power"), strict=True):
        axis.axhline(1, color="black", linewidth=0.8)
        for name in NOISE:
            line = own[own["mechanism"] == name]
            # Open, so that noise of the same error shows through.
            drawn = {"markerfacecolor": "white", "linestyle": "--"} if name == "laplace" else {}
            axis.plot(line["size"], line["ratio"], **look(name).line, **drawn)
        axis.set(xscale="log", yscale="log", xlabel="number of elements M")
        axis.set_title("equal sensitivities" if power == 0 else f"sensitivities i^-{power:g}")
    axes[0].set_ylabel("squared error over the Gaussian's")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    caption = (
        "Does Laplace noise beat the Gaussian in high dimension? Expected squared error, divided "
        f"by that of analytic Gaussian noise with equal variances at ({epsilon:g}, {delta:g}), "
        "without data. Element i changes by at most its sensitivity, and all may change at once. "
        "i.n.i.d. Gaussian: the same budget. Laplace noise of either kind: pure epsilon "
        f"{epsilon:g}."
    )
    return Drawn(caption, table.assign(epsilon=epsilon, delta=delta), figure, NOTE)


NOTE = (
    "Laplace noise pays for the sum of the sensitivities, Gaussian noise for the root of the sum "
    "of their squares. With equal sensitivities the squared error of Laplace noise grows as M^3, "
    "that of Gaussian noise as M^2, and both kinds of Laplace noise are the same. If the "
    "sensitivities fall as 1/i^2 or faster, both sums are finite, and the effective dimension is "
    "low: there Laplace noise beats Gaussian noise with equal variances. Which noise with unequal "
    "variances is ahead at 1/i^2 depends on delta; at 1/i^4 it is Laplace noise. The factors "
    "include the price of delta = 0: at equal true privacy independent Laplace noise costs about "
    "twice the Gaussian's variance (suite_kappa)."
)


@functools.cache
def _ratios() -> tuple[dict, ...]:
    rows = []
    for power in POWERS:
        for size in SIZES:
            changes = sensitivities(size, power)
            query = Query(
                shape=(size,),
                l2_sensitivity=float(np.linalg.norm(changes)),
                l1_sensitivity=float(changes.sum()),
                linf_sensitivity=1.0,
            )
            gaussian = calibrated(GAUSSIAN, query, BUDGET).expected_loss()
            for name, calibration in NOISE.items():
                options = {} if name == "laplace" else {"sensitivities": changes}
                own = calibrated(name, query, BUDGET, calibration, **options).expected_loss()
                place = {"power": power, "size": size, "mechanism": name}
                rows.append(place | {"calibration": calibration, "ratio": own / gaussian})
    return tuple(rows)
