"""Privacy theorems of Gaussian and spherical noise: exact profiles at the papers' settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
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
from paper_figures.drawings import Results
from paper_figures.judging import (
    calibrated,
    judge_statement,
    listed,
    pick,
)
from paper_figures.ledger import (
    CONTRADICTED,
    NOT_REPRODUCED,
    REPRODUCED,
    CannotJudge,
    Claim,
    Measured,
    measurement,
)


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
            verdict = next(m for m in metrics if m.startswith("verdict_")).removeprefix("verdict_")
            records.append(metrics | {"verdict": verdict, "setting": setting})
    if not records:
        raise CannotJudge(f"No setting lies within the range of the theorem of {mechanism}")
    return pd.DataFrame(records)


@measurement(experiments=("guarantee",))
def guarantee(claim: Claim, results: Results) -> Measured:
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
        return Measured(
            ours=f"true delta {shown['true_delta']:.4g} at {at}, "
            f"{shown['true_delta'] / budget.delta:.3g} times the claim; false at {refuted.sum()} "
            f"of {len(table)} settings",
            verdict=CONTRADICTED,
            detail=f"{detail} Sampled lower bound at the setting told: {_sampled(shown)}.",
            calibration="published",
        )
    wasted = table["wasted_variance"]
    return Measured(
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


def _mgm_largest_mu(query: Query, budget: Budget) -> float:
    return query.l2_sensitivity * math.sqrt(frobenius_bound(query, budget))


def _idn_largest_mu(query: Query, budget: Budget) -> float:
    z = zeta(query.size, budget.delta)
    return 2 * budget.epsilon / (z + math.sqrt(z**2 + 2 * budget.epsilon))


def _mvg_largest_mu(query: Query, budget: Budget) -> float:
    # gamma >= s/2 whatever the query is, and the square root makes zeta smaller: the most noise
    # that any reading of Theorem 3 lets go.
    least_bound = replace(query, frobenius_bound=query.l2_sensitivity / 2)
    return query.l2_sensitivity * math.sqrt(precision_bound(least_bound, budget, "sqrt"))


# sup of mu over all noise that meets the condition of a theorem: the spectral norm of U^-1 is at
# most its Frobenius norm, and tends to it where one direction takes all.
LARGEST_MU: dict[str, Callable[[Query, Budget], float]] = {
    "mvg": _mvg_largest_mu,
    "mgm": _mgm_largest_mu,
    "udn": _mgm_largest_mu,
    "idn": _idn_largest_mu,
}


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


@measurement(experiments=("guarantee",))
def tight_guarantee(claim: Claim, results: Results) -> Measured:
    """imgm2022 Theorem 2: the condition on the smallest singular values is necessary and enough.

    At every setting whose stated sensitivity is attained the published noise must have exactly the
    claimed delta; and for random U1 and U2 the exact mu over the l2 ball, from the Kronecker
    product, must be s over the product of the smallest singular values.

    Arguments: mechanism; draws, random pairs.
    """
    table = verified(results.rows, claim.arguments["mechanism"])
    queries = [setting.query for setting in table["setting"]]
    table = table[[query.reach >= query.l2_sensitivity * (1 - 1e-12) for query in queries]]
    excess = float((table["true_delta"] / table["claimed_delta"] - 1).abs().max())
    wasted = float((table["wasted_variance"] - 1).abs().max())
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(claim.arguments["draws"]):
        u1, u2 = rng.standard_normal((3, 3)), rng.standard_normal((4, 4))
        largest_mu = np.linalg.norm(np.linalg.inv(np.kron(u2, u1)), 2)
        errors.append(abs(largest_mu * np.linalg.norm(u1, -2) * np.linalg.norm(u2, -2) - 1))
    tight = max(excess, wasted, *errors) <= claim.tolerance
    return Measured(
        ours=f"at {len(table)} settings delta differs by {excess:.1g}, the variance that is needed "
        f"by {wasted:.1g} (relative)",
        verdict=judge_statement(bool(tight and (table["verdict"] == HOLDS).all())),
        detail=(
            f"Published against exact calibration; and for {len(errors)} random pairs of a 3x3 U1 and "
            "a 4x4 U2 the exact mu over the l2 ball against s over the product of the smallest "
            f"singular values (difference at most {max(errors):.1g}). Necessary speaks of the l2 "
            "ball only: where the answers also lie in a box, less directional noise can be enough."
        ),
        calibration="both",
    )


@measurement()
def directions_free(claim: Claim, results: Results) -> Measured:
    """The true guarantee of MVG at a fixed precision allocation, for random directions.

    Arguments: shape, sensitivity, bound (gamma), epsilon, delta, precision, draws.
    """
    a = claim.arguments
    query = Query(
        shape=tuple(a["shape"]), l2_sensitivity=a["sensitivity"], frobenius_bound=a["bound"]
    )
    budget = Budget(epsilon=a["epsilon"], delta=a["delta"])
    rng = np.random.default_rng(0)
    mus = []
    for _ in range(a["draws"]):
        directions = np.linalg.qr(rng.standard_normal((query.shape[0],) * 2))[0]
        options = {"directions": directions, "precision": a["precision"]}
        noise = calibrated("mvg", query, budget, **options).noise
        # Psi = I: the smallest singular value of U1 decides.
        u1 = noise.row_directions * noise.row_std
        mus.append(query.l2_sensitivity / np.linalg.norm(u1, -2))
    difference = float(np.ptp(mus) / np.mean(mus))
    return Measured(
        ours=f"mu differs by {difference:.1g} (relative) over {len(mus)} random directions",
        verdict=judge_statement(difference <= claim.tolerance),
        detail=(
            f"Algorithm 1 on the {a['shape'][0]}x{a['shape'][1]} query of Experiment I with "
            f"precision {a['precision']}; mu over the l2 ball, from the singular values of the "
            "covariance itself. Where the answers lie in a box as well, the true mu can depend on "
            "the directions, below the one given here."
        ),
        calibration="published",
    )


@measurement()
def composition(claim: Claim, results: Results) -> Measured:
    """imgm2022 Theorem 4 for several T, beside a numerical convolution of T privacy losses.

    Arguments: epsilon, delta, times. The tolerance is that of the convolution.
    """
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    a = claim.arguments
    query = Query(shape=(2, 2), l2_sensitivity=1.0)
    budget = Budget(epsilon=a["epsilon"], delta=a["delta"])
    exact, convolved = [], []
    for times in a["times"]:
        mechanism = calibrated("imgm", query, budget, compositions=times)
        exact.append(abs(mechanism.profile().delta(a["epsilon"]).value / a["delta"] - 1))
        losses = from_gaussian_mechanism(mechanism.noise.sigma).self_compose(times)
        convolved.append(abs(losses.get_epsilon_for_delta(a["delta"]) / a["epsilon"] - 1))
    return Measured(
        ours=f"delta differs by {max(exact):.1g}, a convolution's epsilon by {max(convolved):.1g}"
        " (relative)",
        verdict=judge_statement(max(exact) <= 1e-9 and max(convolved) <= claim.tolerance),
        detail=(
            f"At ({a['epsilon']:g}, {a['delta']:g}) for T = {listed(map(str, a['times']))}: the "
            "exact profile of T releases, and dp_accounting's privacy loss distributions, which "
            "are pessimistic by their discretisation."
        ),
        calibration="both",
    )
