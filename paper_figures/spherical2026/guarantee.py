"""spherical2026: additive noise against the Gaussian over the dimension, on the grid."""

from __future__ import annotations

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


def ratios_to_gaussian(rows: pd.DataFrame) -> pd.DataFrame:
    """E||noise||^2 over the analytic Gaussian's at equal true privacy: size by mechanism.

    At the grid's most common budget. Raises CannotJudge where the results lack it.
    """
    chosen = pick(rows, dataset="grid", calibration="exact", metric="expected_loss")
    gaussian = chosen[chosen["mechanism"] == BASELINE]
    if gaussian.empty:
        raise CannotJudge("The results have no analytic Gaussian on the grid")
    epsilon = gaussian["epsilon"].iloc[0]
    chosen = chosen[chosen["epsilon"] == epsilon]
    chosen = chosen.assign(size=chosen["shape"].map(size_of))
    table = chosen.pivot_table(index="size", columns="mechanism", values="value")
    return table.div(table[BASELINE], axis=0)


@judge(experiments=("guarantee",))
def ceiling(claim: Claim, results: Results) -> Finding:
    """How far below the Gaussian's the noise of any mechanism is, at the ends of the grid.

    Arguments: high and low, whether the claim says that some noise is ahead, at the largest and at
    the smallest number of elements.
    """
    table = ratios_to_gaussian(results.rows)
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
                f"least {least:.6g} times ({title})",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            f"E||noise||^2 of {len(table.columns)} mechanisms over that of the analytic Gaussian, "
            "each rescaled until its true delta is the budget's; l2 sensitivity 1, elements in a "
            "range of 1/sqrt(M)."
        ),
        calibration="exact",
    )
