"""Noise claimed to beat the Gaussian, and noise that does.

`suite_claimed` reads the rows of the study guarantee on its data set "grid". `suite_better` takes
its budget from them and computes the rest in closed form, at pure privacy as well.
"""

import functools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from claims.judged_rows import at_least, calibrated, listed, required
from claims.stated_noise import sensitivities
from mechanisms import Budget, Query, all_mechanisms
from mechanisms.catalogue.counts.k_norm import LARGEST_COUNTS
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.box_query import box_query
from mechanisms.query.words import rounded_up
from mechanisms.strategies.workload import Prefix
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import ok_rows
from paper_figures.style import PAGE, in_order, look, mechanism_title
from paper_figures.suite.headline import FALSE_COLOUR, QUERY, at_one_epsilon
from runs.results import Results

# The size whose row is drawn: the one nearest to it.
SIZE = 1024
SIZES = tuple(4**k for k in range(1, 9))
# The largest number of prefix sums whose strategy is computed.
LARGEST_PREFIX = 256
FALSE, TRUE = "false", "true"


@drawing("suite_claimed", kind="figures", needs=["guarantee/grid"])
def claimed(results: Results) -> Drawn:
    """Variance over the Gaussian's, as published and at equal true privacy, by mechanism."""
    grid, epsilon = at_one_epsilon(results.rows)
    delta = float(grid["delta"].iloc[0])
    sizes = required(
        ok_rows(grid, "guarantee", "expected_loss")["size"].unique(),
        DrawingError("the results hold no noise of a mechanism that is drawn"),
    )
    size = int(min(sizes, key=lambda each: abs(math.log(each / SIZE))))
    table = _claims_at(grid[grid["size"] == size], size, epsilon, delta)
    figure, axis = plt.subplots(figsize=(PAGE, 0.24 * len(table) + 1.1))
    axis.axvline(1, color="black", linewidth=0.8)
    for height, row in enumerate(table.itertuples()):
        style = look(row.mechanism)
        ends = [row.published, row.equal]
        axis.plot(ends, [height, height], color=style.colour, linewidth=1)
        kind = {"marker": style.marker, "color": style.colour, "linestyle": "none"}
        # An open marker on a filled one leaves its edge.
        axis.plot(row.published, height, **kind, markersize=7)
        axis.plot(row.equal, height, **kind, markerfacecolor="white", markersize=4.5)
        colour = FALSE_COLOUR if row.claim == FALSE else "black"
        words = f"delta {row.claimed:g} claimed, {_shown(row)} true"
        axis.text(
            1.02, height, words, transform=axis.get_yaxis_transform(), va="center", fontsize=6,
            color=colour,
        )  # fmt: skip
    axis.set_yticks(range(len(table)), [mechanism_title(name) for name in table["mechanism"]])
    axis.set(xscale="log", xlabel="variance over that of the analytic Gaussian")
    caption = (
        "Published noise compared with the analytic Gaussian. Shown: variance over the analytic "
        f"Gaussian's at ({epsilon:g}, {delta:g}), {size:,} elements, l2 sensitivity 1, without "
        "data. Filled: as published; left of the line the noise is smaller. Open: rescaled until "
        "the true delta is the claimed one. Right: claimed and true delta as published, orange "
        "where the claim is false."
    )
    wide = [mechanism_title(name) for name in table[table["equal"].isna()]["mechanism"]]
    note = ""
    if 0 < len(wide) < len(table):
        note = f" Without an open marker, as no rescaled noise is known: {listed(wide)}."
    table = table.assign(size=size, epsilon=epsilon, delta=delta)
    return Drawn(caption, table, figure, QUERY + note)


def _shown(row) -> str:
    """A true delta, or its bound; a positive one that rounds to zero in float64 is not zero."""
    if row.true == 0 and row.claimed > 0:
        return "under 1e-300"
    if row.lower < 0.9 * row.true:
        return f"at most {rounded_up(row.upper, 2)}"
    return at_least(row.true) if row.true > 0.99 else f"{row.true:.2g}"


def _claims_at(rows: pd.DataFrame, size: int, epsilon: float, delta: float) -> pd.DataFrame:
    """One row per mechanism, the least published noise last."""
    gaussian = size / float(mu_for(epsilon, delta)) ** 2
    loss, true, *ends = (
        ok_rows(rows, "guarantee", metric)
        for metric in ("expected_loss", "true_delta", "true_delta_lower", "true_delta_upper")
    )
    records = []
    for mechanism in in_order(loss["mechanism"]):
        own = loss[loss["mechanism"] == mechanism].groupby("calibration")["value"].first()
        reached, lower, upper = (
            each[(each["mechanism"] == mechanism) & (each["calibration"] == "published")]["value"]
            for each in (true, *ends)
        )
        if "published" not in own or reached.empty:
            continue
        known = all_mechanisms().get(mechanism)
        pure = known is not None and known.guarantee in ("pure", "local")
        stated, found = 0.0 if pure else delta, float(reached.iloc[0])
        proved = found if lower.empty else float(lower.max())
        records.append(
            {
                "mechanism": mechanism,
                "claimed": stated,
                "true": found,
                "lower": proved,
                "upper": upper.min(),
                # Rounding of the calibration, and of an exact zero.
                "claim": FALSE if proved > stated * (1 + 1e-6) + 1e-300 else TRUE,
                "published": own["published"] / gaussian,
                "equal": own.get("exact", math.nan) / gaussian,
            }
        )
    required(records, DrawingError("the results hold no true delta of a mechanism that adds noise"))
    return pd.DataFrame(records).sort_values(
        "published", ascending=False, ignore_index=True, kind="stable"
    )


@drawing("suite_better", kind="figures", needs=["guarantee/grid"])
def better(results: Results) -> Drawn:
    """Factors by which noise made for a query beats independent noise, over its size."""
    grid, epsilon = at_one_epsilon(results.rows)
    delta = float(grid["delta"].iloc[0])
    budget = Budget(epsilon=epsilon, delta=delta)
    columns = ["mechanism", "query", "size", "factor"]
    panels = {
        "gaussian-analytic": pd.DataFrame(_all_factors(epsilon, delta), columns=columns),
        "laplace": pd.DataFrame(_all_pure_factors(epsilon), columns=columns),
    }
    figure, axes = plt.subplots(1, 2, figsize=(PAGE, 4.3))
    for axis, (baseline, table) in zip(axes, panels.items(), strict=True):
        _draw_factors(axis, table)
        axis.set_ylabel(f"squared error of {BASELINES[baseline]} / this noise's")
    axes[0].set_title(f"At ({budget.epsilon:g}, {budget.delta:g})")
    axes[1].set_title(f"Pure privacy at epsilon {budget.epsilon:g}")
    caption = (
        "Noise that beats independent noise: expected squared error of independent Gaussian "
        "(left) and Laplace noise (right) of one variance over that of noise made for the query, "
        "at the same privacy, exactly calibrated, without data. The label of a curve names its "
        f"query. PrivUnitG satisfies pure {epsilon:g}-LDP."
    )
    data = pd.concat([table.assign(baseline=baseline) for baseline, table in panels.items()])
    data["delta"] = np.where(data["baseline"] == "laplace", 0.0, delta)
    return Drawn(caption, data.assign(epsilon=epsilon), figure, NOTE)


def _draw_factors(axis, table: pd.DataFrame) -> None:
    """One curve for each mechanism and query, named below the axis."""
    axis.axhline(1, color="black", linewidth=0.8)
    for (key, query), own in table.groupby(["mechanism", "query"], sort=False):
        style = look(key)
        second = {"linestyle": "--"} if query in SECOND else {}
        axis.plot(
            own["size"],
            own["factor"],
            **style.line | {"label": f"{style.title}: {query}"},
            **second,
        )
    axis.set(xscale="log", yscale="log", xlabel="number of elements M")
    axis.legend(loc="upper left", bbox_to_anchor=(-0.1, -0.2), fontsize=6.5)


BASELINES = {"gaussian-analytic": "Gaussian noise", "laplace": "Laplace noise"}
STEEP, VOTES = "sensitivities 1/i", "votes, the Borda points"
COUNTS, BOX = "counts", "elements that change either way"
SECOND = (STEEP, BOX)
NOTE = (
    "Counts: one record adds 1 to any of M counts. Votes: one record adds the points 0 to M - 1 in "
    "any order. Unequal sensitivities: element i changes by at most i^-1/2 or 1/i. Prefix sums: "
    "all prefix sums of a histogram to which one record adds 1; the error is the total of the "
    "answers, and the independent noise is on the cells; the matrix mechanism is computed up to M "
    f"= {LARGEST_PREFIX}. The square-root factorisation gives the same sums of a stream, each when "
    "its step is over: one record adds 1 to one step. PrivUnitG: one tensor with elements in "
    "[0, 1] that may become any other, against Gaussian noise for the whole tensor. Pure privacy: "
    "any number of the M elements changes by at most 1: counts in one direction, the others in "
    "either. The l2 mechanism and K-norm noise for either direction serve counts, too. The "
    "factors of pure noise do not depend on epsilon. Additive noise for an l2 ball alone gains "
    "nothing in high dimension: see suite_kappa."
)


@functools.cache
def _all_factors(epsilon: float, delta: float) -> tuple[tuple[str, str, int, float], ...]:
    """(mechanism, query, size, factor) of every point."""
    return tuple(_factors(epsilon, delta))


def _factors(epsilon: float, delta: float) -> Iterator[tuple[str, str, int, float]]:
    budget = Budget(epsilon=epsilon, delta=delta)
    mu = float(mu_for(epsilon, delta))
    for size in SIZES:
        counts = _query_of(size, "counts")
        yield "correlated-gaussian", COUNTS, size, _factor("correlated-gaussian", counts, budget)
        points = float(np.linalg.norm(np.arange(size)))
        votes = Query(
            shape=(size,), l2_sensitivity=points, linf_sensitivity=size - 1.0, structure="votes"
        )
        yield "elliptic-gaussian", VOTES, size, _factor("elliptic-gaussian", votes, budget)
        for power, name in ((0.5, "sensitivities i^-1/2"), (1.0, STEEP)):
            changes = sensitivities(size, power)
            query = Query(shape=(size,), l2_sensitivity=float(np.linalg.norm(changes)))
            factor = _factor("inid-gaussian", query, budget, sensitivities=changes)
            yield "inid-gaussian", name, size, factor
        if size <= LARGEST_PREFIX:
            yield "matrix-mechanism", "prefix sums", size, _prefix_factor(size, budget)
        yield "factorisation", "prefix sums of a stream", size, _stream_factor(size, budget)
        box = box_query((size,), 0.0, 1.0)
        local = calibrated("privunit-g", box, Budget(epsilon=epsilon))
        error = local.expected_error()
        yield "privunit-g", "a tensor in a box", size, size * size / mu**2 / error


@functools.cache
def _all_pure_factors(epsilon: float) -> tuple[tuple[str, str, int, float], ...]:
    """The same at pure privacy."""
    return tuple(_pure_factors(Budget(epsilon=epsilon)))


def _pure_factors(budget: Budget) -> Iterator[tuple[str, str, int, float]]:
    for size in SIZES:
        if size > LARGEST_COUNTS:
            return
        box = _query_of(size)
        laplace = calibrated("laplace", box, budget).expected_loss()
        for key, name, query in (
            ("k-norm", COUNTS, _query_of(size, "counts")),
            ("k-norm", BOX, box),
            ("l2", BOX, box),
        ):
            yield key, name, size, laplace / calibrated(key, query, budget).expected_loss()


def _query_of(size: int, structure: str | None = None) -> Query:
    """Elements that move by 1 at most, any number of them."""
    return Query(
        shape=(size,),
        l2_sensitivity=math.sqrt(size),
        l1_sensitivity=float(size),
        linf_sensitivity=1.0,
        structure=structure,
    )


def _factor(key: str, query: Query, budget: Budget, **options) -> float:
    """E||noise||^2 of independent Gaussian noise over that of a mechanism, both exact."""
    independent = calibrated("gaussian-analytic", query, budget)
    own = calibrated(key, query, budget, "exact", **options)
    return independent.expected_loss() / own.expected_loss()


def _prefix_factor(size: int, budget: Budget) -> float:
    histogram = Query(shape=(size,), l2_sensitivity=1.0, l1_sensitivity=1.0)
    workload = (Prefix(size),)
    independent = calibrated("gaussian-analytic", histogram, budget)
    own = calibrated("matrix-mechanism", histogram, budget, "exact", workload="prefix")
    return independent.noise.workload_variance(workload) / own.noise.workload_variance(workload)


def _stream_factor(size: int, budget: Budget) -> float:
    stream = Query(shape=(1, size), l2_sensitivity=1.0, structure="records", record_bound=1.0)
    independent, root = (
        calibrated("factorisation", stream, budget, factorisation=each)
        for each in ("identity", "square-root")
    )
    return independent.expected_error().mean / root.expected_error().mean
