"""Privacy theorems of Gaussian and spherical noise: exact profiles at the papers' settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from experiments.contract.study import Point
from experiments.guarantee import setting_at
from mechanisms import Budget, Query, get_mechanism
from mechanisms.audit.verification import (
    HOLDS,
    LOOSE,
    REFUTED,
    TOLERANCE,
)
from mechanisms.mgm import frobenius_bound, zeta
from mechanisms.mvg import precision_bound
from mechanisms.profiles.gaussian_profile import GaussianProfile
from paper_figures.ledger import (
    CONTRADICTED,
    NOT_REPRODUCED,
    REPRODUCED,
    CannotJudge,
    Claim,
    Finding,
    judge,
)
from paper_figures.results import Results
from paper_figures.verdict_rules import calibrated, listed, pick


def verified(rows: pd.DataFrame, mechanism: str) -> pd.DataFrame:
    """One row per paper's setting within the theorem's range: metrics, verdict and setting.

    Raises:
        CannotJudge: The results hold no such setting.
    """
    chosen = pick(rows, dataset="papers", mechanism=mechanism, calibration="published")
    records = []
    for (shape, epsilon, delta), group in chosen.groupby(["shape", "epsilon", "delta"], sort=False):
        axes = tuple(int(axis) for axis in shape.split("x"))
        setting = setting_at(Point(shape=axes, epsilon=epsilon, delta=delta))
        metrics = group.set_index("metric")["value"].to_dict()
        if get_mechanism(mechanism).limit(setting.query, setting.budget) is None:
            verdict = group["verdict"].dropna().iloc[0]
            records.append(metrics | {"verdict": verdict, "setting": setting})
    if not records:
        raise CannotJudge(f"No setting lies within the range of the theorem of {mechanism}")
    return pd.DataFrame(records)


@judge(experiments=("guarantee",))
def guarantee(claim: Claim, results: Results) -> Finding:
    """A claim of (epsilon, delta)-DP, at every paper's setting that fits the theorem.

    Arguments: mechanism; shown, the setting whose numbers are told; sizes, optional: lengths M of
    vectors at which it is checked besides, at (0.9/M, 1e-5).
    """
    key = claim.arguments["mechanism"]
    table = verified(results.rows, key)
    refuted = table["verdict"] == REFUTED
    held = table["verdict"].isin((HOLDS, LOOSE))
    shown = _row_of(table, claim.arguments["shown"])
    query, budget = shown["setting"].query, shown["setting"].budget
    at = f"({budget.epsilon:.3g}, {budget.delta:.3g}), {'x'.join(map(str, query.shape))}"
    detail = (
        f"Exact profile of the worst pair at the {len(table)} settings of the papers that fit the "
        "theorem."
    )
    if key in LARGEST_MU:
        excess = max(_excess_of_condition(key, setting) for setting in table["setting"])
        held &= excess <= 1 + TOLERANCE
        detail += (
            " This is isotropic noise; any other that meets the theorem's condition has at most "
            f"{max(excess, 1e-300):.3g} times the claimed delta there."
        )
    if "sizes" in claim.arguments:
        detail += _by_size(key, claim.arguments["sizes"])
    if refuted.any():
        return Finding(
            ours=f"true delta {shown['true_delta']:.4g} at {at}, "
            f"{shown['true_delta'] / budget.delta:.3g} times the claim; false at {refuted.sum()} "
            f"of {len(table)} settings",
            verdict=CONTRADICTED,
            detail=f"{detail} Sampled lower bound at the setting told: {_sampled(shown)}.",
            calibration="published",
        )
    wasted = table["wasted_variance"]
    return Finding(
        ours=f"true at {held.sum()} of {len(table)} settings, loose: {shown['wasted_variance']:.3g}"
        f" times the variance that is needed at {at}",
        verdict=REPRODUCED if held.all() else NOT_REPRODUCED,
        detail=f"{detail} Wasted variance {wasted.min():.3g} to {wasted.max():.3g} times.",
        calibration="published",
    )


def _row_of(table: pd.DataFrame, setting: str) -> pd.Series:
    named = table[[found.name == setting for found in table["setting"]]]
    if named.empty:
        raise CannotJudge(f"The results lack the setting {setting}")
    return named.iloc[0]


def _sampled(row: pd.Series) -> str:
    bound = row.get("audit_delta_lower", math.nan)
    return "none in this run" if pd.isna(bound) else f"{bound:.3g}"


def _excess_of_condition(key: str, setting) -> float:
    """True over claimed delta of the worst noise that meets the theorem's condition."""
    mu = LARGEST_MU[key](setting.query, setting.budget)
    return GaussianProfile(mu=mu).delta(setting.budget.epsilon).value / setting.budget.delta


def _by_size(key: str, sizes: list[int]) -> str:
    """One sentence about vectors of these lengths at (0.9/M, 1e-5), sensitivity 1."""
    held, refuted = [], []
    for size in sizes:
        budget = Budget(epsilon=0.9 / size, delta=1e-5)
        profile = calibrated(key, Query(shape=(size,), l2_sensitivity=1.0), budget).profile()
        holds = profile.delta(budget.epsilon).upper <= budget.delta
        (held if holds else refuted).append(str(size))
    told = [f"{verb} for M = {listed(m)}" for verb, m in (("holds", held), ("fails", refuted)) if m]
    return f" At (0.9/M, 1e-5) the claim {listed(told)}."


def _mvg_largest_mu(query: Query, budget: Budget) -> float:
    # gamma >= s/2 whatever the query is, and the square root makes zeta smaller: the most noise
    # that any reading of Theorem 3 lets go.
    least_bound = replace(query, frobenius_bound=query.l2_sensitivity / 2)
    return query.l2_sensitivity * math.sqrt(precision_bound(least_bound, budget, "sqrt"))


# sup of mu over all noise that meets the condition of a theorem: the spectral norm of U^-1 is at
# most its Frobenius norm, and tends to it where one direction takes all.
def _mgm_largest_mu(query: Query, budget: Budget) -> float:
    return query.l2_sensitivity * math.sqrt(frobenius_bound(query, budget))


def _idn_largest_mu(query: Query, budget: Budget) -> float:
    z = zeta(query.size, budget.delta)
    return 2 * budget.epsilon / (z + math.sqrt(z**2 + 2 * budget.epsilon))


LARGEST_MU: dict[str, Callable[[Query, Budget], float]] = {
    "mvg": _mvg_largest_mu,
    "mgm": _mgm_largest_mu,
    "udn": _mgm_largest_mu,
    "idn": _idn_largest_mu,
}
