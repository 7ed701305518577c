"""How noise grows with the size of the answer: closed forms at large sizes."""

from __future__ import annotations

import math

import numpy as np

from experiments.noise_only import query_for
from mechanisms import Budget, Query
from mechanisms.mvg import precision_bound
from paper_figures.ledger import Claim, Measured, measurement
from paper_figures.measurements.judging import calibrated, judge_statement, listed
from paper_figures.registry import Results


def power(values, sizes) -> float:
    """The exponent between the last two points of a power law."""
    return float(np.diff(np.log(values))[-1] / np.diff(np.log(sizes))[-1])


@measurement()
def error_orders(claim: Claim, results: Results) -> Measured:
    """mgm2021 Table 4: powers of m and n of E||Z||^2, with elements in [-1, 1] that all change.

    Arguments: entries, {name: {mechanism, options, powers [of m, of n], log: whether ln^2(m+1) is
    divided out}}; large and small, axes between which the powers are taken; epsilon, delta;
    vector, the mechanism that is told besides.
    """
    a = claim.arguments
    budget = Budget(epsilon=a["epsilon"], delta=a["delta"])
    right, wrong, told = [], [], []
    for name, entry in a["entries"].items():
        found = _powers(entry["mechanism"], budget, a, entry.get("log", False), **entry["options"])
        agree = np.abs(np.subtract(found, entry["powers"])).max() <= claim.tolerance
        (right if agree else wrong).append(name)
        told.append(f"{name} m^{found[0]:.2f} n^{found[1]:.2f}")
    vector = _powers(a["vector"], budget, a, False)
    return Measured(
        ours="; ".join(told),
        verdict=judge_statement(not wrong),
        finding=(
            f"The orders of {listed(right)} follow; {listed(wrong)} grows faster in n than stated."
            if wrong
            else "All orders follow."
        ),
        detail=(
            f"Slopes of the closed-form E||Z||^2 between {a['large'][0]} and {a['large'][1]} rows "
            f"(columns) at {a['small']} columns (rows), epsilon {a['epsilon']:g}, delta "
            f"{a['delta']:g}, l2 sensitivity 2 sqrt(mn). Gaussian is the paper's: per element, by "
            "basic composition; the textbook's vector Gaussian grows as "
            f"m^{vector[0]:.2f} n^{vector[1]:.2f}. MVG is Algorithm 1 of mvg2018 with mgm2021's "
            "zeta, for which Theorem 3 allows no less noise; H_r with r = min(m, n) stands for "
            "the logarithm, and ln^2 is divided out along the axis with r. With the published "
            "zeta it grows faster still."
        ),
        footing="published",
    )


def _powers(key: str, budget: Budget, a: dict, log: bool, **options) -> tuple[float, float]:
    """Powers of m and of n; where `log`, after ln^2(axis + 1), which grows along the short axis."""
    small, large = a["small"], a["large"]
    losses = {}
    for axis in (0, 1):
        shapes = [(size, small) if axis == 0 else (small, size) for size in large]
        losses[axis] = [
            calibrated(key, query_for("growing-sensitivity", shape), budget, **options)
            .expected_loss()
            for shape in shapes
        ]
        # r = min(m, n) = small stays, so no logarithm grows here.
    return power(losses[0], large), power(losses[1], large)
