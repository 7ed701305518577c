"""Theorem 1 and Section 4.1 of imgm2022, by random matrices: what singular values decide."""

import numpy as np

from claims.comparisons import statement
from claims.judges import Count, Delta, Epsilon, Shape, judge
from claims.verdicts import Finding
from mechanisms import Budget
from mechanisms.privacy.gaussian_profile import mu_for


@judge
def largest_distance(*, shapes: list[Shape], draws: Count, tolerance: float) -> Finding:
    """Lemma 4 and Theorem 1: ||U1^-1 D U2^-T||_F over the bound from ordered singular values."""
    rng = np.random.default_rng(0)
    largest, aligned = [], []
    for m, n in shapes:
        for _ in range(draws):
            # Of any spread, from nearly orthogonal factors to nearly singular ones.
            first, second = (_random_factor(rng, size) for size in (m, n))
            change = rng.standard_normal((m, n)) * rng.gamma(0.5, size=n)
            largest.append(distance_over_bound(first, change, second))
            aligned.append(distance_over_bound(first, _aligned(first, change, second), second))
    apart = max(abs(ratio - 1) for ratio in aligned)
    return Finding(
        parts=(
            statement(
                "an upper bound",
                max(largest) <= 1 + tolerance,
                f"at most {max(largest):.6g} times the bound",
            ),
            statement(
                "attained",
                apart <= tolerance,
                f"by aligned directions, within {apart:.1g} of it (relative)",
            ),
        ),
        detail=(
            f"{len(largest)} random triples. Random matrices can only refute the bound; it follows "
            "from Horn's inequalities between the singular values of a product and of its factors."
        ),
    )


def distance_over_bound(first: np.ndarray, change: np.ndarray, second: np.ndarray) -> float:
    """||U1^-1 D U2^-T||_F over the root of the left side of eq. (8); factors are square."""
    distance = np.linalg.norm(np.linalg.solve(first, np.linalg.solve(second, change.T).T))
    inner = np.linalg.svd(change, compute_uv=False)
    # Ascending, as eq. (8) counts the factors' singular values from the smallest.
    rows, columns = (np.linalg.svd(u, compute_uv=False)[::-1] for u in (first, second))
    r = len(inner)
    return float(distance / np.linalg.norm(inner / (rows[:r] * columns[:r])))


def _random_factor(rng: np.random.Generator, size: int) -> np.ndarray:
    """A random invertible square matrix, its singular values spread over a factor of up to e^6."""
    left, right = (np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2))
    return left * np.exp(rng.uniform(0, 6) * rng.random(size)) @ right


def _aligned(first: np.ndarray, change: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A change with the same singular values along the factors' directions of least noise."""
    inner = np.linalg.svd(change, compute_uv=False)
    rows, columns = (np.linalg.svd(u)[0][:, ::-1] for u in (first, second))
    return rows[:, : len(inner)] * inner @ columns[:, : len(inner)].T


@judge
def least_noise_in_any_direction(
    *, shape: Shape, epsilon: Epsilon, delta: Delta, draws: Count, tolerance: float
) -> Finding:
    """Section 4.1: in no direction noise that meets Theorem 2 has less variance than i.i.d. noise.

    Then no utility that falls with the noise gains from directional noise: its covariance is at
    least that of i.i.d. noise, as matrices.
    """
    m, n = shape
    budget = Budget(epsilon=epsilon, delta=delta)
    independent = 1 / float(mu_for(budget.epsilon, budget.delta)) ** 2
    rng = np.random.default_rng(0)
    least, weighted = [], []
    for _ in range(draws):
        first, second = _random_factor(rng, m), _random_factor(rng, n)
        covariance = np.kron(second @ second.T, first @ first.T)
        # Scaled to meet Theorem 2 with equality, at sensitivity 1.
        floor = np.linalg.norm(first, -2) * np.linalg.norm(second, -2)
        covariance *= independent / floor**2
        least.append(np.linalg.eigvalsh(covariance)[0] / independent)
        weights = rng.standard_normal((3, m * n))
        loss = np.trace(weights @ covariance @ weights.T)
        weighted.append(loss / (independent * np.sum(weights**2)))
    return Finding(
        parts=(
            statement(
                "no direction has less noise",
                min(least) >= 1 - tolerance,
                f"at least {min(least):.9g} times the variance of i.i.d. noise",
            ),
            statement(
                "no weighted loss is smaller",
                min(weighted) >= 1 - tolerance,
                f"{min(weighted):.4g} to {max(weighted):.3g} times that of i.i.d. noise",
            ),
        ),
        detail=(
            f"{len(least)} random pairs U1, U2 for a {m}x{n} query at ({epsilon:g}, "
            f"{delta:g}), and random weights of three linear functions of the answer. The "
            "smallest eigenvalue of the covariance is the squared product of the smallest singular "
            "values, which Theorem 2 bounds from below by the variance of i.i.d. noise."
        ),
        calibration="both",
    )
