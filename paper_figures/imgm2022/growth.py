"""How noise grows with the size of the answer: closed forms at large sizes."""

from __future__ import annotations

import math

from mechanisms import Budget, Query
from mechanisms.mvg import precision_bound
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import verdict_on_statement


def power(values: list[float], sizes: list[float]) -> float:
    """The exponent of a power law through two points."""
    return math.log(values[1] / values[0]) / math.log(sizes[1] / sizes[0])


@judge()
def mvg_limit(claim: Claim, results: Results) -> Finding:
    """imgm2022 eq. (16): the exponent of mn in MVG's bound, s and gamma fixed.

    Arguments: columns (r is fixed at this), rows [m1, m2]; exponent; epsilon, delta.
    """
    a = claim.arguments
    fixed = [(m, a["columns"]) for m in a["rows"]]
    # The same numbers of elements as squares, where r grows too.
    square = [(math.isqrt(m * n),) * 2 for m, n in fixed]
    exponents = []
    for shapes in (fixed, square):
        bounds = [
            precision_bound(
                Query(shape=shape, l2_sensitivity=1.0, frobenius_bound=1.0),
                Budget(epsilon=a["epsilon"], delta=a["delta"]),
                "published",
            )
            for shape in shapes
        ]
        exponents.append(power(bounds, [math.prod(shape) for shape in shapes]))
    return Finding(
        ours=f"exponent {exponents[0]:.4f} at fixed r, {exponents[1]:.3f} for square shapes",
        verdict=verdict_on_statement(abs(exponents[0] - a["exponent"]) <= claim.tolerance),
        detail=(
            f"mvg2018's right-hand side with its zeta, s = gamma = 1, ({a['epsilon']:g}, "
            f"{a['delta']:g}), between mn = {math.prod(fixed[0]):.1g} and "
            f"{math.prod(fixed[1]):.1g}; r = {a['columns']} for the first exponent. The paper does "
            "not say how r grows, and its Theta leaves H_r out."
        ),
        calibration="published",
    )
