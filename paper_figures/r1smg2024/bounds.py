"""Noise bounds: how large the conditions of the papers are, by their own formulas."""

from __future__ import annotations

from mechanisms import Budget, Query
from mechanisms.mvg import precision_bound
from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import calibrated, close, verdict_on_statement
from papers.r1smg2024 import stated_constant
from papers.settings import PAPER_SETTINGS


@judge()
def decomposition_bound(claim: Claim, results: Results) -> Finding:
    """r1smg2024 Section 7.2: the largest bound that MVG's Theorem 3 can give there.

    The bound falls with gamma, and gamma >= s/2 whatever the query is; gamma = 0 is beyond what
    any data could have.

    Arguments: side, sensitivity, epsilon, delta, stated.
    """
    a = claim.arguments
    budget = Budget(epsilon=a["epsilon"], delta=a["delta"])
    largest = {}
    for zeta in ("published", "sqrt"):
        query = Query(
            shape=(a["side"],) * 2,
            l2_sensitivity=a["sensitivity"],
            frobenius_bound=a["sensitivity"] / 2,
        )
        largest[zeta] = precision_bound(query, budget, zeta)
    reached = close(largest["published"], a["stated"], claim.tolerance)
    return Finding(
        ours=f"at most {largest['published']:.3g} for any gamma",
        verdict=REPRODUCED if reached else NOT_REPRODUCED,
        detail=(
            f"2400 x 2400, s = 2400 sqrt(2)/24016, epsilon {a['epsilon']:g}, delta {a['delta']:g}. "
            "gamma is not stated; the bound falls with gamma, and gamma >= s/2, where it has the "
            f"value given. With the square root in zeta it is at most {largest['sqrt']:.3g}: "
            "neither choice changes the verdict."
        ),
        calibration="published",
    )


@judge()
def loss_bound(claim: Claim, results: Results) -> Finding:
    """A lower bound C s^2 of r1smg2024 Theorem 4 against the expected loss in closed form.

    Arguments: mechanism; shown, the setting whose numbers are told.
    """
    key = claim.arguments["mechanism"]
    ratios, told = [], ""
    for setting in PAPER_SETTINGS:
        query, budget = setting.query, setting.budget
        if len(query.shape) != 2 or budget.delta == 0:
            continue
        if key == "mvg" and query.frobenius_bound is None:
            continue
        loss = calibrated(key, query, budget).expected_loss()
        _, constant = stated_constant(key, *query.shape, budget.epsilon, budget.delta)
        bound = constant * query.l2_sensitivity**2
        ratios.append(loss / bound)
        if setting.name == claim.arguments["shown"]:
            told = f"E L = {loss:.4g}, bound {bound:.4g} (count query)"
    return Finding(
        ours=told,
        verdict=verdict_on_statement(min(ratios) >= 1 - claim.tolerance),
        detail=(
            f"Loss over bound is {min(ratios):.4g} to {max(ratios):.4g} at {len(ratios)} settings "
            "of the papers with matrix-valued queries, in closed form."
        ),
        calibration="published",
    )
