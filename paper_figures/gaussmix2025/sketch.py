"""What Gaussian sketches add to the variance in every direction: GaussMix beside its predecessor.

`gaussmix2025_added` has the query and the delta of the study common_queries, and is computed in
closed form.
"""

import functools
from itertools import product

import pandas as pd

from claims.judged_rows import required
from mechanisms import Budget, get_mechanism
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import ok_rows
from paper_figures.style import PAGE, look
from runs.results import Results
from studies.common_queries import QUERIES, CommonQueries

ASKED = QUERIES["covariance"]
SKETCHES = ("jl", "gaussian-sketch")
ROWS = {20: ":", 100: "-", 1000: "--"}
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
SHOWN_ROWS = 100
LEAST = "least w of either"


@drawing("gaussmix2025_added", kind="figures", needs=[f"{CommonQueries.name}/covariance"])
def added(results: Results) -> Drawn:
    """Left: w^2 / B^2 over epsilon. Right: that of GaussMix over the least that is private."""
    required(
        ok_rows(results.rows, CommonQueries.name, "true_epsilon", "covariance"),
        DrawingError(f"the results hold no rows of {CommonQueries.name}; run it first"),
    )
    delta = ASKED.budget.delta
    table = pd.DataFrame(added_variances(delta))
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 2.7))
    for name, own in table[table["rows"] == SHOWN_ROWS].groupby("noise", sort=False):
        least = {"color": "black", "linestyle": "--", "label": LEAST}
        line = least if name == LEAST else look(name).line
        left.plot(own["epsilon"], own["added"], **line)
    left.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="added variance w^2 / B^2")
    left.set_title(f"r = {SHOWN_ROWS} rows")
    left.legend()
    style = look(SKETCHES[-1])
    for count, line in ROWS.items():
        own = table[(table["rows"] == count) & (table["noise"] == SKETCHES[-1])]
        kind = style.line | {"label": f"r = {count}", "linestyle": line}
        right.plot(own["epsilon"], own["over_least"], **kind)
    right.set(xscale="log", xlabel="epsilon", ylabel="w^2 over the least")
    right.set_ylim(bottom=1)
    right.set_title(style.title)
    right.legend()
    caption = (
        "Variance that a Gaussian sketch of records of norm at most B adds in every direction, "
        f"delta {delta:g}, one record added or removed, without data. Left: as published, and the "
        "smallest that the exact privacy profile allows, which is the same for both because their "
        "releases have the same distribution. Right: published over smallest."
    )
    return Drawn(caption, table.assign(delta=delta), figure, NOTE)


NOTE = (
    "The release is r draws of N(0, A + w^2 I), A = sum x x^T. The exact privacy profile is the "
    "normal distributions indistinguishability spectrum (NDIS, arXiv:2309.01243) of the worst two "
    "data sets. Its estimate of e^T A e has the "
    "standard error (e^T A e + w^2) sqrt(2 / r) in direction e: more rows average the draws, and "
    "need a larger w. The calibration of Johnson-Lindenstrauss is that of Blocki et al. 2012, and "
    "was not checked against the paper. The part of GaussMix that follows from the least "
    "eigenvalue of the data is left out; it lowers w where the data spread in every direction."
)


@functools.cache
def added_variances(delta: float) -> tuple[dict, ...]:
    """w^2 / B^2 of every sketch as published and of the least w, for every r and epsilon."""
    found = []
    for rows, epsilon in product(ROWS, EPSILONS):
        budget = Budget(epsilon=epsilon, delta=delta)
        least = _square(SKETCHES[-1], budget, "exact", rows)
        values = {key: _square(key, budget, "published", rows) for key in SKETCHES}
        for name, value in (values | {LEAST: least}).items():
            place = {"noise": name, "rows": rows, "epsilon": epsilon}
            found.append(place | {"added": value, "over_least": value / least})
    return tuple(found)


def _square(key: str, budget: Budget, calibration: str, rows: int) -> float:
    query = ASKED.query
    sketch = get_mechanism(key).calibrate(query, budget, calibration, rows=rows)
    return (sketch.parameters()["w"] / query.record_bound) ** 2
