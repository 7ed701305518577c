"""jacobian2026: the loss of records that the published code does not clip.

Element i of a record in the space of the Jacobian gets Laplace noise of scale beta_i / epsilon,
beta_i = lambda_i^(1/3) sum_j lambda_j^(2/3), with lambda_i twice the 90th percentile of its size
among public records; or Gaussian noise of standard deviation sigma sqrt(lambda_i sum_j lambda_j),
with sigma that of the analytic Gaussian mechanism at an l2 sensitivity of 1.
"""

import numpy as np

from claims.comparisons import universal
from claims.judges import Count, Delta, Epsilon, Positive, judge
from claims.stated_noise import sensitivities
from claims.verdicts import Finding
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for

# Losses add up to epsilon but for rounding.
_ROUNDING = 1e-12


@judge
def unclipped_record(
    *, elements: Count, power: Positive, times: list[Positive], epsilons: list[Epsilon]
) -> Finding:
    """The loss of two opposite records, every element of which is `times` its percentile.

    All noises lie beyond their record at once with a positive probability: the loss is attained.
    """
    percentiles = sensitivities(elements, power)
    found = {
        (each, epsilon): epsilon_of(each * percentiles, -each * percentiles, percentiles, epsilon)
        for each in times
        for epsilon in epsilons
    }
    cases = [loss <= (1 + _ROUNDING) * epsilon for (_, epsilon), loss in found.items()]
    shown = "; ".join(
        f"{each:g} times, epsilon {epsilon:g}: loss {loss:.4g}"
        for (each, epsilon), loss in found.items()
    )
    return Finding(
        parts=[universal("", cases, shown)],
        detail=(
            f"Two records of {elements} elements in the space of the Jacobian, at plus and minus "
            f"so many 90th percentiles in each (i^-{power:g}; the loss does not depend on them). "
            "The loss is that many epsilon."
        ),
        calibration="published",
    )


def epsilon_of(
    one: np.ndarray, other: np.ndarray, percentiles: np.ndarray, epsilon: float
) -> float:
    """The largest loss between two records, with the noise of the published code."""
    width = 2 * percentiles
    scales = np.cbrt(width) * np.sum(width ** (2 / 3)) / epsilon
    return float(np.sum(np.abs(one - other) / scales))


@judge
def unclipped_gaussian_record(
    *,
    elements: Count,
    power: Positive,
    times: list[Positive],
    epsilons: list[Epsilon],
    delta: Delta,
) -> Finding:
    """delta of two opposite records, every element of which is `times` its percentile."""
    percentiles = sensitivities(elements, power)
    cases, shown = [], []
    for each in times:
        distance = distance_of(each * percentiles, -each * percentiles, percentiles)
        for epsilon in epsilons:
            found = GaussianProfile(mu=distance * mu_for(epsilon, delta)).delta(epsilon)
            cases.append(found.value <= (1 + _ROUNDING) * delta)
            shown.append(f"{each:g} times, epsilon {epsilon:g}: delta {found.value:.4g}")
    return Finding(
        parts=[universal("", cases, "; ".join(shown))],
        detail=(
            f"By the exact profile of Gaussian noise, for two records of {elements} elements in "
            "the space of the Jacobian, at plus and minus so many 90th percentiles in each "
            f"(i^-{power:g}; delta does not depend on them); the claimed delta is {delta:g}."
        ),
        calibration="published",
    )


def distance_of(one: np.ndarray, other: np.ndarray, percentiles: np.ndarray) -> float:
    """Between two records in standard deviations of their noise, times sigma."""
    width = 2 * percentiles
    return float(np.linalg.norm((one - other) / np.sqrt(width * np.sum(width))))
