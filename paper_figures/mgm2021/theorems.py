"""Theorems of mgm2021, judged by closed forms and solvers: no study's rows are read.

Its claims of (epsilon, delta)-DP (Theorems 1 to 3) are judged in paper_figures/suite.
"""

from __future__ import annotations

import math

import numpy as np

from mechanisms import Budget
from mechanisms.mgm import frobenius_bound, optimal_variances
from mechanisms.mvg import harmonic, precision_bound
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import calibrated, close, listed, verdict_on_statement
from papers import mgm2021
from papers.box_query import box_query
from papers.paper_setting import PaperSetting
from papers.paper_settings import PAPER_SETTINGS


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
        query = box_query(tuple(shape), -1.0, 1.0)
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
    """Eq. (28) over eq. (27) and H_r^2, at the paper's Table 2 settings and at other papers'."""
    own, as_printed = (
        [_bound_ratio(setting, zeta) for setting in mgm2021.SETTINGS]
        for zeta in ("sqrt", "published")
    )
    elsewhere = [
        _bound_ratio(setting, "sqrt")
        for setting in PAPER_SETTINGS
        if setting not in mgm2021.SETTINGS and _fits_both(setting)
    ]
    agree = all(close(ratio, 1, claim.tolerance) for ratio in own)
    return Finding(
        ours=f"{min(own):.4g} to {max(own):.4g} times H_r^2",
        verdict=REPRODUCED if agree else NOT_REPRODUCED,
        detail=(
            "At the four shapes of Table 2, epsilon 1, delta 1e-5, gamma = s/2. With zeta as "
            "mvg2018 prints it (no square root) the ratio is "
            f"{min(as_printed):.3g} to {max(as_printed):.3g} times H_r^2; at the "
            "settings of the other papers, where gamma can be far larger than s, it is "
            f"{min(elsewhere):.3g} to {max(elsewhere):.3g} times H_r^2."
        ),
        calibration="published",
    )


def _fits_both(setting: PaperSetting) -> bool:
    """Whether both bounds are defined: a matrix of bounded norm, delta > 0."""
    query = setting.query
    bounded = len(query.shape) == 2 and query.frobenius_bound is not None
    return bounded and setting.budget.delta > 0


def _bound_ratio(setting: PaperSetting, zeta: str) -> float:
    """MGM's bound over MVG's, in units of H_r^2; both on the scale of the precision."""
    query, budget = setting.query, setting.budget
    scale = math.sqrt(query.size) * harmonic(min(query.shape)) ** 2
    return frobenius_bound(query, budget) / precision_bound(query, budget, zeta) / scale


@judge()
def singular_values(claim: Claim, results: Results) -> Finding:
    """Eq. (25) and (26) against a geometric program, for random weights P.

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
    return Finding(
        ours=f"objective differs from the solver's by {max(gaps):.1g} (relative)",
        verdict=verdict_on_statement(optimal),
        detail=(
            f"{len(gaps)} random weights for a {m}x{n} query, B = {bound:g}, against CVXPY's "
            f"geometric program; the condition is met with equality to {max(slacks):.1g}. Eq. (25) "
            "is printed with B under the root, which does not give eq. (26) and breaks the "
            "condition where B < 1: the reading that gives eq. (26) is judged."
        ),
    )


@judge()
def expected_norm(claim: Claim, results: Results) -> Finding:
    """Theorem 4 by the trace of the Kronecker product and by sampling.

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
    return Finding(
        ours=f"trace {trace:.6g}, sampled {losses.mean():.4g} +- {error:.2g}, stated {stated:.6g}",
        verdict=verdict_on_statement(exact and sampled),
        detail=f"One random pair U1, U2 for a {m}x{n} query; covariance formed in full.",
        trials=len(losses),
    )


@judge()
def beats_gaussian(claim: Claim, results: Results) -> Finding:
    """IDN against the paper's Gaussian per element and the textbook's Gaussian on the answer."""
    ratios = {"gaussian-per-element": [], "gaussian": []}
    exact, private = [], []
    for setting in mgm2021.SETTINGS:
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
    return Finding(
        ours=f"per-element Gaussian over IDN {min(own):.3g} to {max(own):.3g}; vector Gaussian "
        f"over IDN {min(vector):.2g} to {max(vector):.2g}",
        verdict=verdict_on_statement(min(own) > 1),
        detail=(
            "Ratios of E||Z||^2 at the four gradient shapes and clip values of Table 2, claimed "
            "budget (1, 1e-5), elements in [-C, C], l2 sensitivity 2 C sqrt(mn). The baseline "
            "is that of Section 8.2; the other choice reverses the order. The vector Gaussian's "
            "theorem is stated for epsilon < 1; by its exact profile, its claim is true at "
            f"{sum(private)} of the {len(private)} settings. "
            f"At the exact calibration both are the same noise (ratio {min(exact):.6g} to "
            f"{max(exact):.6g})."
        ),
        calibration="published",
    )
