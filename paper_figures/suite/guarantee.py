"""Is the claim true? Verdicts on every mechanism at the papers' settings, and the judge of claims.

The tables `suite_verdicts` and `suite_summary` and the judge `guarantee` read the rows of the study
guarantee on its data set "papers". guarantee_grid.py draws its data set "grid".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from experiments.contract.study import Point
from experiments.guarantee import METRICS, setting_at
from mechanisms import Budget, Query, all_mechanisms, get_mechanism
from mechanisms.audit.verification import HOLDS, LOOSE, REFUTED, TOLERANCE, UNDECIDED
from mechanisms.mgm import frobenius_bound, zeta
from mechanisms.mvg import precision_bound
from mechanisms.profiles.gaussian_profile import GaussianProfile
from paper_figures.drawings import DrawingError, Drawn, drawing
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
from paper_figures.selections import LEVELS
from paper_figures.style import in_order
from paper_figures.verdict_rules import calibrated, listed, pick
from papers.paper_setting import PaperSetting
from runs.rows import OK

VERDICT_WORDS = (HOLDS, LOOSE, REFUTED, UNDECIDED)


@drawing("suite_verdicts", kind="tables", needs=["guarantee/papers"])
def verdicts(results: Results) -> Drawn:
    """One row per mechanism and paper's setting: claim, truth, verdict."""
    caption = (
        "Is the claim true? Every mechanism as published, at the settings of the papers: claimed "
        "and true delta at the claimed epsilon, true epsilon at the claimed delta, variance over "
        "the least variance at which the same noise keeps the claim, bounds of a sampled audit of "
        "the worst pair (family-wise confidence 99.9%), and the verdict."
    )
    note = (
        'The verdicts "holds", "loose" (more than 1% of the variance is wasted) and "refuted" rest '
        'on exact profiles. "In its range" says whether the theorem is stated for such a budget; '
        "the papers also use budgets beyond that range. The noise is calibrated to the sensitivity "
        "that a paper states, and the true values are for the change that neighbours can make, "
        "which is smaller in Experiment II of mvg2018."
    )
    return Drawn(caption, verdict_table(results.rows), note=note)


def verdict_table(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of suite_verdicts, in the order of legends.

    Raises:
        DrawingError: The results hold no verdict.
    """
    rows = rows[(rows["dataset"] == "papers") & (rows["status"] == OK)]
    rows = rows[(rows["calibration"] == "published") & ~rows["mechanism"].isin(LEVELS)]
    if rows.empty:
        raise DrawingError("the results hold no verdict at the papers' settings")
    known = all_mechanisms()
    records = []
    # The study leaves an infinite epsilon out.
    table = _by_setting(rows).fillna({"true_epsilon": np.inf})
    for (mechanism, shape, epsilon, delta), values in table.iterrows():
        setting = _setting_of(shape, epsilon, delta)
        theorem, limit = "", None
        if mechanism in known:
            theorem = known[mechanism].theorem
            limit = known[mechanism].limit(setting.query, setting.budget)
        records.append(
            {
                "mechanism": mechanism,
                "theorem": theorem,
                "setting": setting.name,
                "in its range": limit is None,
                "adjacency": setting.query.adjacency,
                "claimed epsilon": epsilon,
                "claimed delta": values["claimed_delta"],
                "true delta": values["true_delta"],
                "true epsilon": values["true_epsilon"],
                "variance over need": values["wasted_variance"],
                "sampled delta, at least": values["audit_delta_lower"],
                "sampled delta, at most": values["audit_delta_upper"],
                "verdict": values["verdict"],
            }
        )
    table = pd.DataFrame(records)
    order = table["mechanism"].map(in_order(table["mechanism"]).index)
    return table.assign(order=order).sort_values("order", kind="stable").drop(columns="order")


@drawing("suite_summary", kind="tables", needs=["guarantee/papers"])
def summary(results: Results) -> Drawn:
    """One row per mechanism: its verdicts over the papers' settings and the worst of them."""
    table = verdict_table(results.rows)
    records = []
    for mechanism, group in table.groupby("mechanism", sort=False):
        worst = group.loc[group["true epsilon"].div(group["claimed epsilon"]).idxmax()]
        records.append(
            {
                "mechanism": mechanism,
                "theorem": worst["theorem"],
                **{word: int((group["verdict"] == word).sum()) for word in VERDICT_WORDS},
                "refuted in its range": int(
                    ((group["verdict"] == REFUTED) & group["in its range"]).sum()
                ),
                "settings in its range": int(group["in its range"].sum()),
                "worst setting": worst["setting"],
                "claimed (epsilon, delta)": (
                    f"({worst['claimed epsilon']:g}, {worst['claimed delta']:.3g})"
                ),
                "true delta there": worst["true delta"],
                "true epsilon there": worst["true epsilon"],
                "least variance over need": group["variance over need"].min(),
                "largest variance over need": group["variance over need"].max(),
            }
        )
    caption = (
        f"Is the claim true? Every mechanism as published, at {table['setting'].nunique()} "
        "settings of the papers, by exact profiles: the number of settings by verdict, those "
        "within the range of the theorem, the setting where the true epsilon exceeds the claimed "
        "one most, and the variance over the least variance at which the same noise keeps the "
        "claim (below 1: too little noise)."
    )
    note = "The papers also use budgets beyond the range for which a theorem is stated."
    return Drawn(caption, pd.DataFrame(records), note=note)


def verified(rows: pd.DataFrame, mechanism: str) -> pd.DataFrame:
    """One row per paper's setting within the theorem's range.

    Its columns are the metrics of the study (NaN where not measured), `verdict` in words, and
    `setting` (a PaperSetting).

    Raises:
        CannotJudge: The results hold no such setting.
    """
    chosen = pick(rows, dataset="papers", mechanism=mechanism, calibration="published")
    records = []
    for (_, shape, epsilon, delta), values in _by_setting(chosen).iterrows():
        setting = _setting_of(shape, epsilon, delta)
        if get_mechanism(mechanism).limit(setting.query, setting.budget) is None:
            records.append(values.to_dict() | {"setting": setting})
    if not records:
        raise CannotJudge(f"No setting lies within the range of the theorem of {mechanism}")
    return pd.DataFrame(records)


def _setting_of(shape: str, epsilon: float, delta: float) -> PaperSetting:
    axes = tuple(int(axis) for axis in shape.split("x"))
    return setting_at(Point(shape=axes, epsilon=epsilon, delta=delta))


def _by_setting(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per mechanism and setting: all metrics, NaN where not measured, and the verdict."""
    keys = ["mechanism", "shape", "epsilon", "delta"]
    words = rows[rows["metric"] == "verdict"].set_index(keys)["verdict"]
    values = rows.pivot(index=keys, columns="metric", values="value")
    return values.reindex(index=words.index, columns=METRICS).assign(verdict=words)


@judge(experiments=("guarantee",))
def guarantee(claim: Claim, results: Results) -> Finding:
    """A claim of (epsilon, delta)-DP, at every paper's setting within the theorem's range.

    Arguments of the claim: `mechanism`; `shown`, the setting whose numbers the finding gives;
    `sizes`, optional: lengths M of vectors for which the claim is also checked at (0.9/M, 1e-5).
    """
    key = claim.arguments["mechanism"]
    table = verified(results.rows, key)
    refuted = table["verdict"] == REFUTED
    held = table["verdict"].isin((HOLDS, LOOSE))
    shown = _row_of(table, claim.arguments["shown"])
    query, budget = shown["setting"].query, shown["setting"].budget
    at = f"({budget.epsilon:.3g}, {budget.delta:.3g}), {'x'.join(map(str, query.shape))}"
    detail = (
        f"Exact profile of the worst pair at the {len(table)} settings of the papers within the "
        "range of the theorem."
    )
    if key in LARGEST_MU:
        excess = max(_excess_of_condition(key, setting) for setting in table["setting"])
        held &= excess <= 1 + TOLERANCE
        detail += (
            " That noise is isotropic; any other noise that meets the theorem's condition has at "
            f"most {max(excess, 1e-300):.3g} times the claimed delta at these settings."
        )
    if "sizes" in claim.arguments:
        detail += _by_size(key, claim.arguments["sizes"])
    if refuted.any():
        return Finding(
            ours=f"true delta {shown['true_delta']:.4g} at {at}, "
            f"{shown['true_delta'] / budget.delta:.3g} times the claim; false at {refuted.sum()} "
            f"of {len(table)} settings",
            verdict=CONTRADICTED,
            detail=f"{detail} Sampled lower bound at that setting: {_sampled(shown)}.",
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
    bound = row["audit_delta_lower"]
    return "none in this run" if pd.isna(bound) else f"{bound:.3g}"


def _excess_of_condition(key: str, setting: PaperSetting) -> float:
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
    parts = [
        f"{verb} for M = {listed(m)}" for verb, m in (("holds", held), ("fails", refuted)) if m
    ]
    return f" At (0.9/M, 1e-5) the claim {listed(parts)}."


def _mvg_largest_mu(query: Query, budget: Budget) -> float:
    # Every query has gamma >= s/2, and the square root makes zeta smaller: together they give the
    # least noise that any reading of Theorem 3 allows.
    least_bound = replace(query, frobenius_bound=query.l2_sensitivity / 2)
    return query.l2_sensitivity * math.sqrt(precision_bound(least_bound, budget, "sqrt"))


# sup of mu over all noise that meets the condition of a theorem: the spectral norm of U^-1 is at
# most its Frobenius norm, and tends to it as one direction takes all the precision.
def _mgm_largest_mu(query: Query, budget: Budget) -> float:
    return query.l2_sensitivity * math.sqrt(frobenius_bound(query, budget))


def _idn_largest_mu(query: Query, budget: Budget) -> float:
    z = zeta(query.size, budget.delta)
    return 2 * budget.epsilon / (z + math.sqrt(z**2 + 2 * budget.epsilon))


# By mechanism: the largest mu that its theorem's condition allows, at a query and budget.
LARGEST_MU: dict[str, Callable[[Query, Budget], float]] = {
    "mvg": _mvg_largest_mu,
    "mgm": _mgm_largest_mu,
    "udn": _mgm_largest_mu,
    "idn": _idn_largest_mu,
}
