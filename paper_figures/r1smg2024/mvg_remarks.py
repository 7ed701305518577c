"""What r1smg2024 says of MVG, Section 7.2, Appendices B and C: verdicts in closed form."""

import math
from dataclasses import replace

import numpy as np

from claims.comparisons import number, statement, universal
from claims.judged_rows import calibrated, listed
from claims.judges import Count, Delta, Epsilon, Positive, judge
from claims.verdicts import Finding, Sizes
from mechanisms import Budget, Query
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.r1smg2024.numbers import PCA_FEATURES, PCA_RECORDS
from paper_figures.r1smg2024.numbers import setting as stated_setting

# The readings of zeta(delta) in MVG's theorem.
ZETAS = {"published": "zeta as printed", "sqrt": "zeta with a square root"}


def _least_noise(name: str):
    """The query of a setting at the smallest possible gamma, s/2, and its budget.

    MVG's noise grows with gamma, which the paper does not state.
    """
    at = stated_setting(name)
    return replace(at.query, frobenius_bound=at.query.l2_sensitivity / 2), at.budget


@judge
def decomposition_bound(*, setting: str, stated: float, tolerance: float) -> Finding:
    """r1smg2024 Section 7.2: the largest bound that MVG's Theorem 3 can give there.

    The bound falls with gamma, and gamma >= s/2 for every query.
    """
    query, budget = _least_noise(setting)
    largest = {zeta: precision_bound(query, budget, zeta) for zeta in ZETAS}
    m = PCA_FEATURES
    return Finding(
        parts=[
            number(f"largest for any gamma, {words}", largest[zeta], stated, tolerance)
            for zeta, words in ZETAS.items()
        ],
        detail=(
            f"{m} x {m}, s = {m} sqrt(2)/{PCA_RECORDS}, epsilon {budget.epsilon:g}, delta "
            f"{budget.delta:g}. The bound falls with gamma, and gamma >= s/2, where it has the "
            "values given."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{budget.epsilon:g}"),
    )


@judge
def epsilon_for_components(*, setting: str, needed: Epsilon) -> Finding:
    """Section 7.2: MVG's noise against the largest possible eigenvalue, below a stated epsilon.

    A covariance of d features in [-1, 1] has eigenvalues of at most d. Noise of standard deviation
    sigma in d x d independent elements, made symmetric as (N + N^T)/2 (footnote 4), has a spectral
    norm of about sqrt(2) sigma sqrt(d): off the diagonal its variance is sigma^2/2.
    """
    query, budget = _least_noise(setting)
    side = query.shape[0]

    def over(epsilon: float, zeta: str) -> float:
        noise = calibrated("mvg", query, replace(budget, epsilon=epsilon), zeta=zeta)
        return symmetric_norm(math.sqrt(noise.expected_loss() / query.size), side) / side

    return Finding(
        parts=[
            statement(
                f"noise hides every component below epsilon {needed:g}, {words}:",
                over(needed, zeta) > 1,
                f"noise is at least {rounded_down(over(needed, zeta), 2)} times the largest "
                "possible eigenvalue",
            )
            for zeta, words in ZETAS.items()
        ],
        detail=(
            "Spectral norm of MVG's noise with equal precision, made symmetric as in the paper's "
            f"footnote 4, {side} x {side}, delta "
            f"{budget.delta:g}, at the smallest possible gamma, s/2, and at epsilon "
            f"{needed:g} itself: below it there is more noise."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{needed:g}"),
    )


@judge
def more_noise(*, sides: list[int], epsilons: list[Epsilon], delta: Delta) -> Finding:
    """Appendix B: MVG's expected loss over the analytic Gaussian's, at every size and epsilon.

    MVG at the smallest possible gamma, s/2, and at either reading of zeta: the least noise that its
    theorem allows.
    """
    budgets = [Budget(epsilon=epsilon, delta=delta) for epsilon in epsilons]
    # Square answers of l2 sensitivity 1 with the smallest possible gamma.
    queries = [Query(shape=(m, m), l2_sensitivity=1.0, frobenius_bound=0.5) for m in sides]
    parts = []
    for zeta, words in ZETAS.items():
        ratios = [
            calibrated("mvg", query, budget, zeta=zeta).expected_loss()
            / calibrated("gaussian-analytic", query, budget).expected_loss()
            for query in queries
            for budget in budgets
        ]
        parts.append(
            universal(
                f"more noise than the analytic Gaussian, {words}:",
                [ratio > 1 for ratio in ratios],
                f"at least {rounded_down(min(ratios))} times",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            f"Expected losses at {listed(f'{side} x {side}' for side in sides)}, l2 "
            f"sensitivity 1, epsilon {listed(f'{e:g}' for e in epsilons)}, delta "
            f"{delta:g}; MVG with equal precision and gamma = s/2: a larger gamma or uneven "
            "precision means more noise. At equal true privacy the noise with equal precision is "
            "the analytic Gaussian's."
        ),
        calibration="published",
        sizes=Sizes(epsilons=listed(f"{e:g}" for e in epsilons)),
    )


def symmetric_norm(sigma: float, side: int) -> float:
    """About the spectral norm of (N + N^T)/2, N of side x side independent normal elements."""
    return sigma * math.sqrt(2 * side)


@judge
def gamma_removed(
    *, setting: str, side: int, draws: Count, gammas: tuple[Positive, Positive], tolerance: float
) -> Finding:
    """Appendix C: the identity behind MVG without gamma^2, and the exact privacy of its noise."""
    rng = np.random.default_rng(0)
    errors = [_identity_error(rng, side) for _ in range(draws)]
    at = stated_setting(setting)
    losses = [
        calibrated("mvg", replace(at.query, frobenius_bound=gamma), at.budget, "exact")
        for gamma in gammas
    ]
    ratio = losses[1].expected_loss() / losses[0].expected_loss()
    return Finding(
        parts=(
            statement(
                "the quadratic terms cancel,",
                max(errors) <= tolerance,
                f"relative error at most {rounded_up(max(errors), 1)}",
            ),
            number(
                f"noise at equal true privacy, gamma {gammas[1]:g} over {gammas[0]:g}",
                ratio,
                1.0,
                tolerance,
            ),
        ),
        detail=(
            f"Both sides of the identity on {draws} random sets of {side} x "
            f"{side} matrices. The true privacy of Gaussian noise depends on "
            "Sigma^(-1/2) (f(x) - f(x')) Psi^(-1/2) alone, so that no bound on the answer itself "
            "is needed."
        ),
        calibration="exact",
        sizes=Sizes(epsilons=f"{at.budget.epsilon:g}"),
    )


def _identity_error(rng: np.random.Generator, side: int) -> float:
    """Relative difference of eq. (20) and of its form without quadratic terms."""
    first, second, release, *roots = rng.standard_normal((5, side, side))
    row, column = (root @ root.T for root in roots)
    moved = first - second
    plain = column @ (
        release.T @ row @ moved
        + moved.T @ row @ release
        + second.T @ row @ second
        - first.T @ row @ first
    )
    without = column @ ((release - second).T @ row @ moved + moved.T @ row @ (release - first))
    return abs(np.trace(plain) - np.trace(without)) / np.linalg.norm(plain)
