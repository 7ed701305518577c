"""Which noise is the least: closed-form optima, and orders at one claimed budget."""

from __future__ import annotations

import math

import numpy as np

from mechanisms import Budget, Query
from mechanisms.mgm import optimal_variances
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.profiles.gaussian_profile import mu_for
from paper_figures.drawings import Results
from paper_figures.judging import calibrated, judge_statement
from paper_figures.ledger import Claim, Measured, measurement
from papers.settings import PAPER_SETTINGS


@measurement()
def singular_values(claim: Claim, results: Results) -> Measured:
    """mgm2021 eq. (25)-(26) against a geometric program, for random weights P.

    Arguments: shape, bound (B), draws.
    """
    import cvxpy

    m, n = claim.arguments["shape"]
    bound = claim.arguments["bound"]
    rng = np.random.default_rng(0)
    gaps, slacks = [], []
    for _ in range(claim.arguments["draws"]):
        rows, columns = rng.gamma(2.0, size=m), rng.gamma(2.0, size=n)
        variances = np.outer(optimal_variances(rows, bound), optimal_variances(columns, 1.0))
        ours = float(np.sum(np.outer(rows, columns) * variances))
        slacks.append(abs(float(np.sum(1 / variances)) / bound - 1))
        x, y = cvxpy.Variable(m, pos=True), cvxpy.Variable(n, pos=True)
        problem = cvxpy.Problem(
            cvxpy.Minimize((rows @ x) * (columns @ y)),
            [cvxpy.sum(cvxpy.inv_pos(x)) * cvxpy.sum(cvxpy.inv_pos(y)) <= bound],
        )
        problem.solve(gp=True, solver="CLARABEL")
        gaps.append(abs(ours / float(problem.value) - 1))
    optimal = max(gaps) <= claim.tolerance and max(slacks) <= 1e-9
    return Measured(
        ours=f"objective differs from the solver's by {max(gaps):.1g} (relative)",
        verdict=judge_statement(optimal),
        detail=(
            f"{len(gaps)} random weights for a {m}x{n} query, B = {bound:g}, against CVXPY's "
            f"geometric program; the condition is met with equality to {max(slacks):.1g}. Eq. (25) "
            "is printed with B under the root, which does not give eq. (26) and breaks the "
            "condition where B < 1: the reading that gives eq. (26) is judged."
        ),
    )


@measurement()
def expected_norm(claim: Claim, results: Results) -> Measured:
    """mgm2021 Theorem 4 by the trace of the Kronecker product and by sampling.

    Arguments: shape, draws.
    """
    m, n = claim.arguments["shape"]
    rng = np.random.default_rng(0)
    noise = MatrixGaussian(
        row_std=rng.gamma(2.0, size=m),
        column_std=rng.gamma(2.0, size=n),
        row_directions=np.linalg.qr(rng.standard_normal((m, m)))[0],
        column_directions=np.linalg.qr(rng.standard_normal((n, n)))[0],
    )
    u1, u2 = noise.row_directions * noise.row_std, noise.column_directions * noise.column_std
    stated = float(np.sum(u1**2) * np.sum(u2**2))
    trace = float(np.trace(np.kron(u2 @ u2.T, u1 @ u1.T)))
    losses = noise.loss_samples(rng, claim.arguments["draws"])
    error = float(losses.std(ddof=1)) / math.sqrt(len(losses))
    exact = abs(trace / stated - 1) <= claim.tolerance
    sampled = abs(losses.mean() - stated) <= 4 * error
    return Measured(
        ours=f"trace {trace:.6g}, sampled {losses.mean():.4g} +- {error:.2g}, stated {stated:.6g}",
        verdict=judge_statement(exact and sampled),
        detail=f"One random pair U1, U2 for a {m}x{n} query; covariance formed in full.",
        trials=len(losses),
    )


@measurement()
def iid_least(claim: Claim, results: Results) -> Measured:
    """imgm2022 Section 3.1: no noise that meets Theorem 2 has a smaller E||Z||^2 than i.i.d.

    Arguments: shape, epsilon, delta, draws.
    """
    m, n = claim.arguments["shape"]
    epsilon, delta = claim.arguments["epsilon"], claim.arguments["delta"]
    query = Query(shape=(m, n), l2_sensitivity=1.0)
    least = calibrated("imgm", query, Budget(epsilon=epsilon, delta=delta)).expected_loss()
    floor = 1 / float(mu_for(epsilon, delta))
    rng = np.random.default_rng(0)
    # Singular values from nearly equal to widely spread, the smallest product at the condition.
    widths = np.geomspace(1e-3, 3, claim.arguments["draws"])[:, None]
    rows = np.exp(widths * rng.random((len(widths), m)))
    columns = np.exp(widths * rng.random((len(widths), n)))
    scale = floor / (rows.min(axis=1) * columns.min(axis=1))
    losses = np.sum(rows**2, axis=1) * np.sum(columns**2, axis=1) * scale**2
    ratio = losses / least
    return Measured(
        ours=f"random noise under the condition needs {ratio.min():.4g} to {ratio.max():.3g} times",
        verdict=judge_statement(bool(ratio.min() >= 1 - 1e-12)),
        detail=(
            f"{len(ratio)} random sets of singular values for a {m}x{n} query at ({epsilon:g}, "
            f"{delta:g}), scaled to meet Theorem 2 with equality. Every product of singular values "
            "is at least s/B, so E||Z||^2 >= mn (s/B)^2, which IMGM attains. Among Gaussian noise, "
            "and with the l2 sensitivity alone."
        ),
        calibration="both",
    )


@measurement()
def beats_gaussian(claim: Claim, results: Results) -> Measured:
    """mgm2021: IDN against its own per-element Gaussian and the textbook's vector Gaussian."""
    ratios = {"gaussian-per-element": [], "gaussian": []}
    exact, private = [], []
    for setting in PAPER_SETTINGS:
        if not setting.name.startswith("mgm2021"):
            continue
        classic = calibrated("gaussian", setting.query, setting.budget).profile()
        private.append(classic.delta(setting.budget.epsilon).upper <= setting.budget.delta)
        loss = calibrated("idn", setting.query, setting.budget).expected_loss()
        for key, values in ratios.items():
            values.append(calibrated(key, setting.query, setting.budget).expected_loss() / loss)
        pair = [
            calibrated(key, setting.query, setting.budget, "exact").expected_loss()
            for key in ("gaussian", "idn")
        ]
        exact.append(pair[0] / pair[1])
    own, vector = ratios["gaussian-per-element"], ratios["gaussian"]
    return Measured(
        ours=f"per-element Gaussian over IDN {min(own):.3g} to {max(own):.3g}; vector Gaussian "
        f"over IDN {min(vector):.2g} to {max(vector):.2g}",
        verdict=judge_statement(min(own) > 1),
        detail=(
            "Ratios of E||Z||^2 at the four gradient shapes and clip values of Table 2, claimed "
            "budget (1, 1e-5), elements in [-C, C], l2 sensitivity 2 C sqrt(mn). The baseline "
            "is that of Section 8.2; the other choice reverses the order. The vector Gaussian's "
            "theorem is stated for epsilon < 1; by its exact profile its claim is true at "
            f"{sum(private)} of the {len(private)} settings. "
            f"At the exact calibration both are the same noise (ratio {min(exact):.6g} to "
            f"{max(exact):.6g})."
        ),
        calibration="published",
    )
