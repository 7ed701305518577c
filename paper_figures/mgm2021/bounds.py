"""Noise bounds: how large the conditions of the papers are, by their own formulas."""

from __future__ import annotations

import math

from experiments.noise_only import family_query
from mechanisms import Budget
from mechanisms.mgm import frobenius_bound
from mechanisms.mvg import harmonic, precision_bound
from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import calibrated, close, listed, verdict_on_statement
from papers.settings import PAPER_SETTINGS


@judge()
def matrix_gain(claim: Claim, results: Results) -> Finding:
    """The ratio of two mechanisms' bounds, as the ratio of their isotropic expected losses.

    Arguments: larger and smaller, mechanisms; axis whose length is the stated ratio (0 for m, 1
    for n); shapes, epsilon, delta.
    """
    a = claim.arguments
    budget = Budget(epsilon=a["epsilon"], delta=a["delta"])
    errors, words = [], []
    for shape in a["shapes"]:
        query = family_query("growing-sensitivity", tuple(shape))
        losses = [calibrated(a[k], query, budget).expected_loss() for k in ("larger", "smaller")]
        ratio = losses[0] / losses[1]
        errors.append(abs(ratio / shape[a["axis"]] - 1))
        words.append(f"{ratio:.6g} at {shape[0]}x{shape[1]}")
    return Finding(
        ours=listed(words),
        verdict=verdict_on_statement(max(errors) <= claim.tolerance),
        detail=(
            f"Closed-form E||Z||^2 of {a['larger']} over {a['smaller']}, isotropic, at the same "
            "claimed budget and sensitivity; elements in [-1, 1]."
        ),
        calibration="published",
    )


@judge()
def mvg_right_hand_side(claim: Claim, results: Results) -> Finding:
    """mgm2021 eq. (28) over eq. (27) and H_r^2, at its Table 2 settings and elsewhere."""
    found = {"sqrt": [], "published": []}
    elsewhere = []
    for setting in PAPER_SETTINGS:
        query, budget = setting.query, setting.budget
        if len(query.shape) != 2 or query.frobenius_bound is None or budget.delta == 0:
            continue
        m, n = query.shape
        scale = math.sqrt(m * n) * harmonic(min(m, n)) ** 2
        if setting.name.startswith("mgm2021"):
            for zeta, ratios in found.items():
                bound = precision_bound(query, budget, zeta)
                ratios.append(frobenius_bound(query, budget) / bound / scale)
        else:
            bound = precision_bound(query, budget, "sqrt")
            elsewhere.append(frobenius_bound(query, budget) / bound / scale)
    own = found["sqrt"]
    agree = all(close(ratio, 1, claim.tolerance) for ratio in own)
    return Finding(
        ours=f"{min(own):.4g} to {max(own):.4g} times H_r^2",
        verdict=REPRODUCED if agree else NOT_REPRODUCED,
        detail=(
            "At the four shapes of Table 2, epsilon 1, delta 1e-5, gamma = s/2. With zeta as "
            "mvg2018 prints it (no square root) the ratio is "
            f"{min(found['published']):.3g} to {max(found['published']):.3g} times H_r^2; at the "
            "settings of the other papers, where gamma can be far larger than s, it is "
            f"{min(elsewhere):.3g} to {max(elsewhere):.3g} times H_r^2."
        ),
        calibration="published",
    )
