"""Privacy theorems of Gaussian and spherical noise: exact profiles at the papers' settings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.contract.study import Point
from experiments.guarantee import setting_at
from mechanisms import Budget, Query, get_mechanism
from mechanisms.audit.verification import (
    HOLDS,
)
from paper_figures.ledger import (
    CannotJudge,
    Claim,
    Finding,
    judge,
)
from paper_figures.results import Results
from paper_figures.verdict_rules import calibrated, listed, pick, verdict_on_statement


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


@judge(experiments=("guarantee",))
def tight_guarantee(claim: Claim, results: Results) -> Finding:
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
    return Finding(
        ours=f"at {len(table)} settings delta differs by {excess:.1g}, the variance that is needed "
        f"by {wasted:.1g} (relative)",
        verdict=verdict_on_statement(bool(tight and (table["verdict"] == HOLDS).all())),
        detail=(
            f"Published against exact calibration; and for {len(errors)} random pairs of a 3x3 U1 and "
            "a 4x4 U2 the exact mu over the l2 ball against s over the product of the smallest "
            f"singular values (difference at most {max(errors):.1g}). Necessary speaks of the l2 "
            "ball only: where the answers also lie in a box, less directional noise can be enough."
        ),
        calibration="both",
    )


@judge()
def composition(claim: Claim, results: Results) -> Finding:
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
    return Finding(
        ours=f"delta differs by {max(exact):.1g}, a convolution's epsilon by {max(convolved):.1g}"
        " (relative)",
        verdict=verdict_on_statement(max(exact) <= 1e-9 and max(convolved) <= claim.tolerance),
        detail=(
            f"At ({a['epsilon']:g}, {a['delta']:g}) for T = {listed(map(str, a['times']))}: the "
            "exact profile of T releases, and dp_accounting's privacy loss distributions, which "
            "are pessimistic by their discretisation."
        ),
        calibration="both",
    )
