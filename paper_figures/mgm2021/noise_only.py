"""Tabulate and judge Tables 4 and 5 of mgm2021: the growth of the expected error, and run times.

Our Table 4 computes the growth from the shapes of the run. The verdict computes it from closed
forms at larger shapes, where lower-order terms vanish.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from claims.comparisons import ratios, statement, timed_apart
from claims.intervals import bootstrapped
from claims.judged_rows import listed, ok_rows, required, select
from claims.judges import CannotJudge, Delta, Epsilon, judge
from claims.verdicts import INCONCLUSIVE, NOT_RUN, Finding, Outcome, Part, Sizes
from mechanisms import Budget
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.mgm2021.theorems import loss_on_box
from paper_figures.power_law import power
from paper_figures.selections import outcome_fields
from paper_figures.style import legend_order, mechanism_title
from papers.mgm2021 import STATED_GROWTH, STATED_SECONDS
from runs.result_table import OK
from runs.results import Results

# The paper does not distinguish its Gaussian, which is applied per element, from the textbook's.
TABLE_4 = STATED_GROWTH | {"gaussian": STATED_GROWTH["gaussian-per-element"]}
# The metric of the seconds of a draw whose directions come from an SVD of the answer.
SVD_SECONDS = "svd_draw_seconds"
# Mechanisms whose draws are equal work: one call for normal numbers, with one or more scales.
EQUAL_DRAWS = ("gaussian", "gaussian-analytic", "gaussian-per-element", "imgm")
# The mechanisms and options behind names of a config that are not keys of mechanisms.
VARIANTS = {"mvg-sqrt": ("mvg", {"zeta": "sqrt"})}


def growth(values: Sequence[float], sizes: Sequence[float], squared_log: bool) -> float:
    """Return the power of a size m with which values grow.

    Args:
        values, sizes: Two of each.
        squared_log: Whether to divide the values by ln^2(m+1) first.
    """
    if squared_log:
        values = [v / math.log(m + 1) ** 2 for v, m in zip(values, sizes, strict=True)]
    return power(values, sizes)


@drawing("mgm2021_table4", kind="tables", needs=["noise_only/growing-sensitivity"])
def table_4(results: Results) -> Drawn:
    """Tabulate the powers of m and n with which the expected error grows, measured and stated.

    Raises:
        DrawingError: The results lack the study, or shapes that differ in one axis only.
    """
    rows = required(
        ok_rows(results.rows, "noise_only", "expected_loss", "growing-sensitivity"),
        DrawingError("the results hold no growing-sensitivity of noise_only; run it first"),
    )
    axes = rows["shape"].str.split("x", expand=True).astype(int)
    rows = rows.assign(m=axes[0], n=axes[1])
    records = []
    for calibration in ("published", "exact"):
        for mechanism in legend_order(rows["mechanism"]):
            chosen = select(rows, mechanism=mechanism, calibration=calibration)
            # Slopes are comparable only if every shape has a value above zero.
            if set(chosen[chosen["value"] > 0]["shape"]) != set(rows["shape"]):
                continue
            # The paper states orders for its own calibrations only.
            stated = TABLE_4.get(mechanism) if calibration == "published" else None
            squared_log = bool(stated and stated.squared_log)
            records.append(
                {
                    "mechanism": mechanism_title(mechanism),
                    "calibration": calibration,
                    "power of m": _last_slope(chosen, "m", "n", squared_log),
                    "power of n": _last_slope(chosen, "n", "m", False),
                    "factor divided out": "ln^2(m+1)" if squared_log else "",
                    "stated power of m": stated.m if stated else None,
                    "stated power of n": stated.n if stated else None,
                }
            )
    table = pd.DataFrame(records).astype(
        {"stated power of m": "Int64", "stated power of n": "Int64"}
    )
    return Drawn(
        caption=(
            "mgm2021 Table 4: growth of E||Z||^2 with the shape m x n, m <= n, of an answer with "
            "elements in [-1, 1]; adjacency local, l2 sensitivity 2 sqrt(mn), epsilon "
            f"{rows['epsilon'].iloc[0]:g}, delta {rows['delta'].iloc[0]:g}. A power is the slope "
            "of log E||Z||^2 between the two largest shapes that differ in one axis only."
        ),
        data=table,
        note=(
            f"The shapes are {listed(rows['shape'].unique())}. The paper states the order of its "
            "Gaussian, which is applied to every element; the Gaussian on the whole answer is "
            "compared with the same order, because the paper does not distinguish the two. The "
            "paper's MVG has the square root of zeta."
        ),
    )


def _last_slope(rows: pd.DataFrame, axis: str, fixed: str, squared_log: bool) -> float:
    """Return the power of one axis between its two largest lengths, with the other axis fixed.

    Raises:
        DrawingError: No two shapes with m <= n differ in this axis alone.
    """
    wide = rows[rows["m"] <= rows["n"]].sort_values(["m", "n"])
    lines = required(
        [line.tail(2) for _, line in wide.groupby(fixed) if len(line) > 1],
        DrawingError(
            f"no two growth_shapes m x n with m <= n differ in {axis} alone; add one to the config"
        ),
    )
    line = max(lines, key=lambda found: found[axis].max())
    return growth(line["value"].tolist(), line[axis].tolist(), squared_log)


@judge
def error_orders(
    *,
    rows: tuple[int, int],
    columns: tuple[int, int],
    epsilon: Epsilon,
    delta: Delta,
    tolerance: float,
) -> Finding:
    """Judge the powers of m and n in Table 4, for elements in [-1, 1] that may all change."""
    budget = Budget(epsilon=epsilon, delta=delta)
    parts = []
    for name, stated in STATED_GROWTH.items():
        key, options = VARIANTS.get(name, (name, {}))
        corner, taller, wider = (
            loss_on_box(key, shape, budget, **options)
            for shape in ((rows[0], columns[0]), (rows[1], columns[0]), (rows[0], columns[1]))
        )
        of_m = growth((corner, taller), rows, stated.squared_log)
        of_n = power((corner, wider), columns)
        logarithm = " ln^2(m+1)" if stated.squared_log else ""
        parts.append(
            statement(
                mechanism_title(name),
                max(abs(of_m - stated.m), abs(of_n - stated.n)) <= tolerance,
                f"m^{of_m:.2f} n^{of_n:.2f}{logarithm} (stated m^{stated.m} n^{stated.n})",
            )
        )
    return Finding(
        parts=tuple(parts),
        detail=(
            f"Slopes of the closed-form E||Z||^2 between m = {rows[0]} and {rows[1]}, n "
            f"= {columns[0]} and {columns[1]}, at ({epsilon:g}, {delta:g}), l2 "
            "sensitivity 2 sqrt(mn). The paper's Gaussian is applied to every element, under basic "
            "composition; the textbook's Gaussian on the whole answer grows as m^2 n^2. MVG is "
            "isotropic and has mgm2021's own zeta: the least noise that mvg2018's Theorem 3 "
            "allows. A zeta without the square root adds another power of mn."
        ),
        calibration="published",
    )


def draws_as_published(timings: pd.DataFrame, metric: str = "draw_seconds") -> pd.DataFrame:
    """Return the timings at Table 2's gradient shapes: a row per shape, mechanism and trial."""
    return select(
        timings, dataset="gradient-shapes", calibration="published", metric=metric, status=OK
    )


def median_seconds(draws: pd.DataFrame) -> pd.Series:
    """Return the median seconds by shape and mechanism, in the order of the rows."""
    return draws.groupby(["shape", "mechanism"], sort=False)["value"].median()


@drawing(
    "mgm2021_table5", kind="tables", needs=["noise_only/gradient-shapes"], timings=["noise_only"]
)
def table_5(results: Results) -> Drawn:
    """Tabulate the seconds per draw, and their ratio to the Gaussian's, at the shapes of Table 2.

    Raises:
        DrawingError: The results lack the timed draws of the Gaussian on the whole answer.
    """
    draws = draws_as_published(results.timings)
    if "gaussian" not in set(draws["mechanism"]):
        raise DrawingError(
            "Table 5 compares with the timed draws of gaussian in noise_only; add it to the "
            "config, and run it first"
        )
    seconds = median_seconds(draws)
    with_svd = median_seconds(draws_as_published(results.timings, SVD_SECONDS))
    records = []
    for shape in select(draws, mechanism="gaussian")["shape"].unique():
        for mechanism in legend_order(seconds[shape].index):
            if mechanism == "non-private":
                continue
            stated = STATED_SECONDS.get(mechanism)
            gaussian, svd = seconds[shape, "gaussian"], with_svd.get((shape, mechanism))
            records.append(
                {
                    "shape": shape,
                    "mechanism": mechanism_title(mechanism),
                    "median seconds per draw": seconds[shape, mechanism],
                    "ratio to gaussian": seconds[shape, mechanism] / gaussian,
                    "ratio with an SVD per draw": None if svd is None else svd / gaussian,
                    "ratio in the paper": stated / STATED_SECONDS["gaussian"] if stated else None,
                }
            )
    table = pd.DataFrame(records).astype({"ratio with an SVD per draw": float})
    return Drawn(
        caption=(
            "mgm2021 Table 5: wall-clock seconds of one draw at the gradient shapes of Table 2, "
            f"median of up to {draws.groupby(['shape', 'mechanism']).size().max()} draws on one "
            "core. Seconds depend on the machine: compare ratios to the Gaussian on the whole "
            "answer. Ratios below 3 decide nothing."
        ),
        data=table,
        note=(
            "Directions are the identity, which costs no matrix product, or come from an SVD of "
            "the answer in every draw, as in the paper's MVG. The SVD is timed at the smaller "
            "shapes. The paper does not say which shape its single column of seconds belongs to. "
            "Other programs ran on the machine, so medians are shown."
        ),
    )


@judge(studies=("noise_only",), timings=("noise_only",))
def run_times(
    results: Results,
    *,
    shapes: list[str],
    little_more: list[str],
    far_more: list[str],
    little: tuple[float, float],
    far: tuple[float, float],
    least: bool = False,
    choice: str = "",
    counted: tuple[str, str] = ("", ""),
) -> Finding:
    """Judge Table 5 by the seconds of a draw over those of the Gaussian on the whole answer.

    Ratios of medians can be compared between machines. As the paper says, MVG takes its directions
    from an SVD of the answer in every draw.

    Args:
        little, far: The bounds on the ratio for the mechanisms `little_more` and `far_more`.
        least: Whether to judge also that the Gaussian takes the least time.
        choice: A description of what is counted, if the paper leaves that open.
        counted: The names of the two outcomes of that choice: draws alone, and draws together with
            the calibration of the mechanisms that take little more time.
    """
    given = draws_as_published(results.timings)
    with_svd = draws_as_published(results.timings, SVD_SECONDS)
    named = given["mechanism"].isin(["gaussian", *little_more, *far_more])
    used = required(
        given[given["shape"].isin(shapes) & named],
        CannotJudge(f"The run does not time the draws at {listed(shapes)}"),
    )
    cases = [
        *((given, name, little) for name in little_more),
        *((with_svd, name, far) for name in far_more),
    ]
    parts = [
        _ratio_part(draws, given, name, shape, bounds)
        for (draws, name, bounds), shape in itertools.product(cases, shapes)
    ]
    if least:
        parts += [
            _ratio_part(given, given, name, shape, (1, math.inf), " not faster")
            for name, shape in itertools.product(little_more, shapes)
        ]
    outcomes = [Outcome(choice=counted[0], parts=tuple(parts))]
    if choice:
        cold = _open_with_calibration(results.timings, far_more, little_more, shapes)
        outcomes.append(Outcome(choice=counted[1], parts=cold))
    return Finding(
        **outcome_fields(choice, outcomes),
        detail=(
            "Ratios of median seconds to those of the Gaussian on the whole answer, with bootstrap "
            "intervals over the draws. Our SVD is of the answer, and the seconds include the "
            "calibration to its directions; other calibrations, one for each budget, are counted "
            "only where the choice says so."
        ),
        calibration="published",
        sizes=Sizes(trials=int(used.groupby(["shape", "mechanism"]).size().min())),
    )


def _ratio_part(
    draws: pd.DataFrame,
    given: pd.DataFrame,
    mechanism: str,
    shape: str,
    bounds: tuple[float, float],
    ending: str = "",
) -> Part:
    """Judge whether the ratio of median seconds to the Gaussian's lies between two bounds.

    Args:
        draws, given: The timed draws of the mechanism, and all those with given directions.
        ending: The end of the name of a part that says which of the two is faster. Such a part
            stays open if equal work differs by as much.
    """
    title = f"{mechanism_title(mechanism)} at {shape}{ending}"
    ours, gaussian = (
        np.log(select(timed, shape=shape, mechanism=key)["value"].to_numpy())
        for timed, key in ((draws, mechanism), (given, "gaussian"))
    )
    if not len(ours) or not len(gaussian):
        return Part(title, NOT_RUN)
    ratio = bootstrapped(ours, gaussian, np.median)
    (part,) = ratios({title: ratio}, stated={title: bounds})
    return timed_apart(part, ratio, _timing_spread(given, shape)) if ending else part


def _open_with_calibration(
    timings: pd.DataFrame, slow: list[str], quick: list[str], shapes: list[str]
) -> tuple[Part, ...]:
    """Compare draws with an SVD with draws of quick mechanisms, calibrations included.

    The parts stay open, because the study times only one calibration at each shape.
    """
    seconds = pd.DataFrame(
        {
            metric: median_seconds(draws_as_published(timings, metric))
            for metric in ("draw_seconds", "calibrate_seconds", SVD_SECONDS)
        }
    )
    cold = seconds["draw_seconds"] + seconds["calibrate_seconds"]
    parts = []
    for mine, other, shape in itertools.product(quick, slow, shapes):
        name = f"{mechanism_title(other)} far slower than {mechanism_title(mine)} at {shape}"
        slower = seconds[SVD_SECONDS].get((shape, other), math.nan)
        ratio = slower / cold.get((shape, mine), math.nan)
        if math.isnan(ratio):
            parts.append(Part(name, NOT_RUN))
        else:
            parts.append(Part(name, INCONCLUSIVE, f"{ratio:.2g} times", "one timing"))
    return tuple(parts)


def _timing_spread(given: pd.DataFrame, shape: str) -> float:
    """Return the largest ratio of median seconds between mechanisms whose draws are equal work.

    Mechanisms are timed one after another while other programs run. So their medians differ by more
    than the draws of one mechanism do.
    """
    equal = given[given["mechanism"].isin(EQUAL_DRAWS)]
    medians = median_seconds(select(equal, shape=shape))
    return float(medians.max() / medians.min())
