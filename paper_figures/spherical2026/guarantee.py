"""spherical2026: additive noise against the Gaussian over the dimension, on the grid."""

from __future__ import annotations

import math

import pandas as pd

from mechanisms import all_mechanisms
from paper_figures.judged_rows import pick
from paper_figures.ledger import CannotJudge, Claim, judge
from paper_figures.results import Results
from paper_figures.rules import statement
from paper_figures.selections import size_of
from paper_figures.style import mechanism_title
from paper_figures.verdicts import Finding

BASELINE = "gaussian-analytic"


def at_one_budget(rows: pd.DataFrame) -> pd.DataFrame:
    """Expected losses on the grid at equal true privacy, at the epsilon nearest to 1.

    Raises CannotJudge where the results lack the analytic Gaussian's.
    """
    chosen = pick(rows, dataset="grid", calibration="exact", metric="expected_loss")
    gaussian = chosen[chosen["mechanism"] == BASELINE]
    if gaussian.empty:
        raise CannotJudge("The results have no analytic Gaussian on the grid")
    epsilon = min(gaussian["epsilon"], key=lambda value: abs(math.log(value)))
    return chosen[chosen["epsilon"] == epsilon]


def ratios_to_gaussian(rows: pd.DataFrame) -> pd.DataFrame:
    """E||noise||^2 over the analytic Gaussian's: size by mechanism; rows of `at_one_budget`."""
    chosen = rows.assign(size=rows["shape"].map(size_of))
    table = chosen.pivot_table(index="size", columns="mechanism", values="value")
    return table.div(table[BASELINE], axis=0)


@judge(experiments=("guarantee",))
def ceiling(claim: Claim, results: Results) -> Finding:
    """How far below the Gaussian's the noise of any mechanism is, at the ends of the grid.

    Arguments: high and low, whether the claim says that some noise is ahead, at the largest and at
    the smallest number of elements; low_pairs, [ahead, behind], mechanisms at the smallest.
    """
    rows = at_one_budget(results.rows)
    table = ratios_to_gaussian(rows)
    parts = []
    for end, size in (("high", table.index.max()), ("low", table.index.min())):
        if end not in claim.arguments:
            continue
        least, key = table.loc[size].min(), table.loc[size].idxmin()
        title = mechanism_title(key) if key in all_mechanisms() else key
        ahead = bool(least < 1 - claim.tolerance)
        parts.append(
            statement(
                f"{'some noise' if claim.arguments[end] else 'none'} ahead at M = {size:,}",
                ahead == claim.arguments[end],
                f"least {least:.6g} times ({title}), of {table.loc[size].count() - 1} mechanisms",
            )
        )
    least = table.loc[table.index.min()]
    for one, other in claim.arguments.get("low_pairs", ()):
        ratio = least[one] / least[other]
        name = f"{mechanism_title(one)} ahead of {mechanism_title(other)} at M = {least.name:,}"
        parts.append(statement(name, bool(ratio < 1 - claim.tolerance), f"{ratio:.6g} times"))
    return Finding(
        parts=parts,
        detail=(
            "E||noise||^2 over that of the analytic Gaussian, each rescaled until its true delta "
            f"at epsilon {rows['epsilon'].iloc[0]:g} is {rows['delta'].iloc[0]:g}; l2 sensitivity "
            "1, elements in a range of 1/sqrt(M)."
        ),
        calibration="exact",
    )
