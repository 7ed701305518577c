"""Gaussian noise of any covariance: its whole privacy profile is one number, mu.

For noise N(0, Sigma) and neighbouring answers that differ by D the privacy loss is
N(mu^2/2, mu^2) with mu = ||Sigma^(-1/2) vec D||, and the profile (Balle and Wang 2018, Theorem 8)

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)

increases with mu: the worst pair is the one with the largest mu over the sensitivity set.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from mechanisms.privacy.bounded_profile import enclosed
from mechanisms.privacy.numerics import (
    LOG_SQRT_2PI,
    ULP,
    log_mills,
    log_mills_difference,
)
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_delta,
    check_epsilon,
    check_positive,
)

# Beyond this epsilon / mu the square overflows; delta is below e^(-1e299) anyway.
_LARGEST_START = 1e150
_NEWTON_STEPS = 200


@dataclass(frozen=True, kw_only=True)
class GaussianProfile(PrivacyProfile):
    """Profile of Gaussian noise whose worst pair is at Mahalanobis distance mu.

    mu: finite, >= 0 (0: the answer does not depend on the data). Bounds are estimates of the
    rounding error, checked against 50-digit arithmetic from delta = 1e-300 to 1 in the tests;
    there is no other error.
    """

    mu: float

    def __post_init__(self) -> None:
        if self.mu != 0:
            check_positive("mu", self.mu)

    def compose(self, times: int) -> PrivacyProfile:
        """Multiply mu by sqrt(times), which is exact (Dong, Roth and Su 2022, Corollary 2)."""
        return GaussianProfile(mu=float(self.mu * np.sqrt(check_count("times", times))))

    def _scaled(self, factor: float) -> PrivacyProfile:
        return GaussianProfile(mu=self.mu / factor)

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """Divide mu by `mu_for`, because mu is inversely proportional to the noise."""
        return float(self.mu / mu_for(epsilon, delta))

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw mu^2/2 + mu z under P, -mu^2/2 + mu z under Q, with z standard normal."""
        mean = -0.5 * self.mu**2 if reverse else 0.5 * self.mu**2
        return mean + self.mu * rng.standard_normal(check_count("n", n))

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        if self.mu == 0:
            nothing = np.full(epsilon.shape, -np.inf)
            return Bounds(nothing, nothing, nothing)
        value, error = log_delta_and_error(epsilon, np.full(epsilon.shape, float(self.mu)))
        clipped = epsilon > _LARGEST_START * self.mu
        lower = np.where(clipped, -np.inf, value - error)
        return Bounds(lower, value, np.minimum(value + error, 0.0))

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        if self.mu == 0:
            return np.zeros(epsilon.shape)
        return scipy.special.ndtr(-_start(epsilon, np.full(epsilon.shape, float(self.mu))))

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        solvable = (delta > 0) & (delta < self.delta(0.0).value)
        result = np.where(delta == 0, np.inf if self.mu > 0 else 0.0, 0.0)
        error = np.zeros_like(result)
        result[solvable], error[solvable] = _epsilon_for(delta[solvable], float(self.mu))
        return Bounds(np.maximum(result - error, 0.0), result, result + error)


def gaussian_between(attained: float, most: float, slack: str) -> PrivacyProfile:
    """Return the profile of Gaussian noise whose largest mu is known exactly or between bounds.

    Args:
        attained: A mu that some neighbours have, or come arbitrarily close to.
        most: An upper bound on mu.
        slack: Why the largest mu is not known exactly.
    """
    return enclosed(GaussianProfile(mu=most), GaussianProfile(mu=attained), slack)


def mu_for(epsilon: ArrayLike, delta: ArrayLike) -> float | np.ndarray:
    """Return the mu at which delta(epsilon) = delta; the exact deviation is l2 sensitivity / mu.

    epsilon: finite, >= 0. delta: in (0, 1). Numbers or arrays that broadcast. At epsilon = 0, mu is
    2 PhiInv((1 + delta) / 2). The relative error is about 1e-14, at most 1e-12, for epsilon from 0
    to 1000 and delta from 1e-300 to 0.999. Raises TypeError or ValueError for bad arguments, and
    ArithmeticError if the iteration does not converge.

    Newton's method in (log mu, log delta) starts from a lower bound of mu. log delta is increasing
    and concave in log mu there, so the iterates rise to the root. d delta/d mu =
    phi(epsilon/mu - mu/2).
    """
    epsilon, delta = np.broadcast_arrays(check_epsilon(epsilon), check_delta(delta))
    if ((delta <= 0) | (delta >= 1)).any():
        bad = delta[(delta <= 0) | (delta >= 1)].flat[0]
        raise ValueError(
            f"delta must satisfy 0 < delta < 1, got {bad}: Gaussian noise has no pure guarantee, "
            "and delta = 1 needs no noise"
        )
    shape = epsilon.shape
    epsilon, delta = epsilon.ravel(), delta.ravel()
    mu = _lower_bound_of_mu(epsilon, delta)
    target = np.log(delta)
    active = np.arange(mu.size)
    for _ in range(_NEWTON_STEPS):
        if not active.size:
            return float(mu[0]) if shape == () else mu.reshape(shape)
        current, rate = mu[active], epsilon[active]
        value, _ = log_delta_and_error(rate, current)
        start = _start(rate, current)
        slope = np.exp(np.log(current) - 0.5 * start**2 - LOG_SQRT_2PI - value)
        step = (target[active] - value) / slope
        mu[active] = current * np.exp(step)
        active = active[np.abs(step) > 1e-14]
    raise ArithmeticError(
        f"no mu found for epsilon {epsilon[active[0]]}, delta {delta[active[0]]} "
        f"in {_NEWTON_STEPS} Newton steps; please report these numbers"
    )


def worst_case_mu(
    std: ArrayLike,
    *,
    l2_sensitivity: float,
    l1_sensitivity: float | None = None,
    linf_sensitivity: float | None = None,
) -> float:
    """Return sup sqrt(sum_i (D_i / std_i)^2) over the changes D that the sensitivities allow.

    std: array of any shape, the standard deviations of independent per-component Gaussian noise,
    finite and > 0. The sensitivities are finite, > 0, and bound ||D||_2 and, if given, ||D||_1 and
    all |D_i|. Greedy filling from the smallest std attains the supremum: each component takes as
    much as the box and what is left of both budgets allow. Proof: with 1 / std_i^2 falling in i,
    the objective is a sum over j of D_1^2 + ... + D_j^2 with weights >= 0. Greedy filling makes
    each of these as large as j components can (the box while it lasts, then l2^2, or all of l1 in
    as few components as the box allows).
    """
    std = np.asarray(std, dtype=float).ravel()
    if linf_sensitivity is None:
        return float(min(l2_sensitivity, l1_sensitivity or np.inf) / std.min())
    taken = np.arange(std.size)
    # In units of linf^2: component i takes what is left of the budget, at most 1.
    shares = np.clip((l2_sensitivity / linf_sensitivity) ** 2 - taken, 0.0, 1.0)
    if l1_sensitivity is not None:
        left = np.clip(l1_sensitivity / linf_sensitivity - taken, 0.0, 1.0)
        shares = np.minimum(shares, left**2)
    return float(linf_sensitivity * np.linalg.norm(np.sqrt(shares) / np.sort(std)))


def _start(epsilon: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Return a = epsilon/mu - mu/2: {loss > epsilon} is {z > a}, z standard normal under P."""
    with np.errstate(over="ignore"):
        return np.minimum(epsilon / mu, _LARGEST_START) - 0.5 * mu


def log_delta_and_error(epsilon: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log delta and an estimate of its absolute error, mu > 0; arrays of one shape.

    With a = epsilon/mu - mu/2 and the Mills ratio R, e^epsilon phi(a + mu) = phi(a), hence
    delta = phi(a) (R(a) - R(a + mu)) = Phi(-a) (1 - R(a + mu) / R(a)).
    """
    start = _start(epsilon, mu)
    flat_start, flat_mu = start.ravel(), mu.ravel()
    kept_share = log_mills_difference(flat_start, flat_mu).reshape(start.shape)
    value = scipy.special.log_ndtr(-start) + kept_share
    # A relative error of one ulp in epsilon/mu moves the start by |start| + mu ulps, and log delta
    # by phi(start) / Phi(-start) times as much: nothing where delta is 1 to all digits.
    moved = 4 * ULP * (np.abs(start) + mu)
    most = np.clip(start + moved, -_LARGEST_START, 0.0)
    steepness = (1 + np.maximum(start, 0)) * np.exp(-0.5 * most**2)
    return value, ULP * (64 + 4 * np.abs(value)) + steepness * moved


def _lower_bound_of_mu(epsilon: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Bound mu by delta(epsilon) <= Phi(-a), solved for mu, and by delta(epsilon) <= delta(0)."""
    quantile = -scipy.special.ndtri(delta)
    root = np.hypot(quantile, np.sqrt(2 * epsilon))
    with np.errstate(divide="ignore", invalid="ignore"):
        from_tail = np.where(quantile > 0, 2 * epsilon / (quantile + root), root - quantile)
    return np.maximum(from_tail, 2 * np.sqrt(2) * scipy.special.erfinv(delta))


def _epsilon_for(delta: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the epsilon with delta(epsilon) = delta, and its error.

    delta: flat array in (0, delta(0)). log delta is concave and decreasing in epsilon, because it
    is a convolution of log-concave functions. So Newton's method falls to the root from the upper
    bound at which Phi(-a) = delta. d delta / d epsilon = -phi(a) R(a + mu).
    """
    epsilon = np.maximum(mu * (-scipy.special.ndtri(delta) + 0.5 * mu), 0.0)
    target = np.log(delta)
    mus = np.full(delta.shape, mu)
    for _ in range(_NEWTON_STEPS):
        value, error = log_delta_and_error(epsilon, mus)
        start = _start(epsilon, mus)
        with np.errstate(over="ignore"):
            slope = np.exp(-0.5 * start**2 - LOG_SQRT_2PI + log_mills(start + mu) - value)
        step = (value - target) / slope
        epsilon = np.maximum(epsilon + step, 0.0)
        if (np.abs(step) <= 4 * error / slope).all():
            return epsilon, (4 * error) / slope + 4 * ULP * epsilon
    raise ArithmeticError(
        f"epsilon(delta) did not converge for mu {mu}; please report this number and delta {delta}"
    )
