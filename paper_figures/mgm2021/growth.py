"""How noise grows with the size of the answer: closed forms at large sizes."""

from __future__ import annotations

import math

import numpy as np

from experiments.noise_only import family_query
from mechanisms import Budget
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import calibrated, listed, verdict_on_statement


def power(values: list[float], sizes: list[float]) -> float:
    """The exponent of a power law through two points."""
    return math.log(values[1] / values[0]) / math.log(sizes[1] / sizes[0])


@judge()
def error_orders(claim: Claim, results: Results) -> Finding:
    """mgm2021 Table 4: powers of m and n of E||Z||^2, with elements in [-1, 1] that all change.

    Arguments: rows [m1, m2] and columns [n1, n2] with m2 <= n1, between which the powers are
    taken; entries, {name: {mechanism, options, powers of m and n, log: whether ln^2(m+1) goes
    with them}}; vector, the mechanism that is told besides; epsilon, delta.
    """
    a = claim.arguments
    right, wrong, told = [], [], []
    for name, entry in a["entries"].items():
        found = _powers(entry["mechanism"], a, **entry.get("options", {}))
        if entry.get("log"):
            found[0] -= power([math.log(m + 1) ** 2 for m in a["rows"]], a["rows"])
        agree = np.abs(np.subtract(found, entry["powers"])).max() <= claim.tolerance
        (right if agree else wrong).append(name)
        logarithm = " ln^2(m+1)" if entry.get("log") else ""
        told.append(f"{name} m^{found[0]:.2f} n^{found[1]:.2f}{logarithm}")
    vector = _powers(a["vector"], a)
    return Finding(
        ours="; ".join(told),
        verdict=verdict_on_statement(not wrong),
        detail=(
            f"Slopes of the closed-form E||Z||^2 between m = {a['rows'][0]} and {a['rows'][1]}, n "
            f"= {a['columns'][0]} and {a['columns'][1]}, at ({a['epsilon']:g}, {a['delta']:g}), l2 "
            "sensitivity 2 sqrt(mn). Gaussian is the paper's, per element under basic composition; "
            f"the textbook's vector Gaussian grows as m^{vector[0]:.2f} n^{vector[1]:.2f}. MVG is "
            "isotropic with mgm2021's own zeta: the least noise that mvg2018's Theorem 3 allows, "
            "and a zeta without the square root adds another power of mn. Within "
            f"{claim.tolerance:g} of the stated powers: {listed(right) if right else 'none'}."
        ),
        calibration="published",
    )


def _powers(key: str, a: dict, **options) -> list[float]:
    """The powers of m and of n."""
    budget = Budget(epsilon=a["epsilon"], delta=a["delta"])
    (m1, m2), (n1, n2) = a["rows"], a["columns"]
    corner, taller, wider = (
        calibrated(
            key, family_query("growing-sensitivity", shape), budget, **options
        ).expected_loss()
        for shape in ((m1, n1), (m2, n1), (m1, n2))
    )
    return [power([corner, taller], a["rows"]), power([corner, wider], a["columns"])]
