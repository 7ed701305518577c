"""PrivUnitG: the local randomiser of unit vectors with the least error as the dimension grows."""

import functools
import math
from dataclasses import dataclass

import numpy as np
import scipy

from mechanisms.base.mechanism import Mechanism
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.finite_profile import CapProfile
from mechanisms.privacy.numerics import LOG_SQRT_2PI, mills_slope
from mechanisms.query.query import Query, Unsupported


@dataclass(frozen=True, kw_only=True)
class Cap:
    """The law of the output's component along a unit vector v, with the largest mean at epsilon.

    The component is standard normal, conditioned to be at least `threshold` = t with probability p
    and to be below t with probability 1 - p. A standard normal is at least t with probability q.
    Two densities of the output differ by at most the factor p (1 - q) / (q (1 - p)) = e^epsilon, so
    the mean of the component is

        m = (e^epsilon - 1) phi(t) / (1 + (e^epsilon - 1) q)

    with the normal density phi. Because d log m / dt = m - t, the mean is largest at m = t. There
    1 - p = (1 - q) (1 - t q / phi(t)), and the component has the variance 1 + t m - m^2 = 1.

    Args:
        threshold: t > 0, which is also the mean m of the component along v.
    """

    threshold: float

    @property
    def log_q(self) -> float:
        """log q, finite where q underflows; q < 1/2."""
        return float(scipy.special.log_ndtr(-self.threshold))

    @property
    def one_minus_p(self) -> float:
        """1 - p, in (0, 1/2)."""
        return float(scipy.special.ndtr(self.threshold) * mills_slope(np.array(self.threshold)))

    @property
    def p(self) -> float:
        """The probability of the cap, in (1/2, 1)."""
        return 1 - self.one_minus_p

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw the component along v, shape (count,)."""
        log_uniform = np.log1p(-rng.random(count))  # of numbers in (0, 1]
        above = rng.random(count) >= self.one_minus_p
        log_tail = np.where(above, self.log_q, scipy.special.log_ndtr(self.threshold))
        sizes = scipy.special.ndtri_exp(log_uniform + log_tail)
        return np.where(above, -sizes, sizes)


@functools.lru_cache(maxsize=256)
def best_cap(epsilon: float) -> Cap:
    """Return the cap with the largest mean at a finite epsilon > 0: the least error for large M.

    With R = q / phi(t), m = t means (e^epsilon - 1) phi(t) (1 - t R) = t. The left side falls with
    t, and the right side rises. Their logarithms are finite at every epsilon.
    """
    log_factor = epsilon + math.log(-math.expm1(-epsilon))

    def excess(log_threshold: float) -> float:
        t = math.exp(log_threshold)
        left = log_factor - t * t / 2 - LOG_SQRT_2PI + math.log(mills_slope(np.array(t)))
        return left - log_threshold

    # The root is below sqrt(2 epsilon), where the left side is below min(1, epsilon) / sqrt(2 pi).
    high = math.log(math.sqrt(2 * epsilon) + epsilon)
    low = high
    while excess(low) < 0:
        low -= 1.0
    return Cap(threshold=math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-15, rtol=1e-15)))


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivUnitG(Mechanism):
    """An unbiased estimate of an answer in a ball, purely epsilon-LDP, by PrivUnitG.

    PrivUnitG maps a unit vector v of R^d to (a v + g) / m: g is standard normal orthogonal to v, a
    is drawn from a `Cap` and m is its mean. The answer x lies in a ball of radius B around c. It is
    lifted to the unit vector ((x - c) / B, sqrt(1 - ||x - c||^2 / B^2)) of R^(M + 1), and the last
    element of the release is dropped. The lifting is a choice of this suite. It keeps the estimate
    private, because dropping an element is post-processing, and unbiased.

    The ball is the one around the box of element_range, or has radius frobenius_bound around 0.

    Every loss is 0 or +-epsilon. For opposite v the two caps are disjoint, because the threshold is
    not negative, so no pair is worse. The profile is exact, or an upper bound if the sensitivities
    exclude opposite v. The exact calibration has the pure epsilon whose delta at the budget's
    epsilon is the budget's delta.

    Args:
        cap: The law of the component along v.
        pure_epsilon: The epsilon of pure LDP; as published, that of the budget.
        centre, radius: c (one number for all elements) and B.
    """

    key = "privunit-g"
    title = "PrivUnitG"
    paper = "Asi et al. 2022"
    theorem = "arXiv:2205.02466, PrivUnitG"
    guarantee = "local"
    look = ("#2F4F4F", "*", 40)

    cap: Cap
    pure_epsilon: float
    centre: float
    radius: float

    @classmethod
    def build(cls, query, budget, calibration, settings):
        if query.adjacency != "local":
            raise Unsupported("is a local randomiser: it needs adjacency local")
        centre, radius = ball(query)
        epsilon = budget.epsilon
        if calibration == "exact":
            epsilon = _largest_epsilon(epsilon, budget.delta)
        return cls(
            query=query,
            budget=budget,
            calibration=calibration,
            settings=settings,
            cap=best_cap(epsilon),
            pure_epsilon=epsilon,
            centre=centre,
            radius=radius,
        )

    def _release(self, value, rng):
        return self._release_all(value[None], rng)[0]

    def _release_all(self, values, rng):
        count = len(values)
        inside = (values.reshape(count, -1).astype(float) - self.centre) / self.radius
        squares = np.vecdot(inside, inside)
        # Rounding may put float32 answers in a corner of the box outside the ball.
        if not np.all(squares <= 1 + 1e-4):
            raise ValueError(
                f"the value must lie within {self.radius:g} of {self.centre:g}, got the distance "
                f"{self.radius * math.sqrt(squares.max()):g}; clip it"
            )
        lifted = np.column_stack([inside, np.sqrt(np.maximum(1 - squares, 0.0))])
        lifted /= np.linalg.norm(lifted, axis=1, keepdims=True)
        draws = rng.standard_normal(lifted.shape)
        lifted *= (self.cap.draw(rng, count) - np.vecdot(draws, lifted))[:, None]
        draws += lifted
        estimates = self.centre + self.radius / self.cap.threshold * draws[:, :-1]
        return estimates.reshape(values.shape).astype(values.dtype)

    def profile(self):
        profile = CapProfile(largest=self.pure_epsilon, mass=self.cap.p)
        if self.query.reach >= 2 * self.radius * (1 - 1e-9):
            return profile
        return BoundedProfile(
            above=profile, slack="the sensitivities exclude answers on opposite sides of the ball"
        )


def ball(query: Query) -> tuple[float, float]:
    """Return (c, B) of a ball that holds every answer, or raise Unsupported if none is stated."""
    if query.element_range is not None:
        low, high = query.element_range
        return (low + high) / 2, (high - low) / 2 * math.sqrt(query.size)
    if query.frobenius_bound is not None:
        return 0.0, query.frobenius_bound
    raise Unsupported("needs element_range or frobenius_bound: the answers must lie in a ball")


def _largest_epsilon(epsilon: float, delta: float) -> float:
    """Return the largest pure epsilon at which PrivUnitG is (epsilon, delta)-LDP."""
    if delta == 0:
        return epsilon

    def excess(gap: float) -> float:
        # In logarithms, because the root finder multiplies two values: tiny ones would underflow.
        return math.log(best_cap(epsilon + gap).p) + math.log(-math.expm1(-gap)) - math.log(delta)

    # At `low` the excess is log p <= 0; as the gap grows, p and 1 - e^-gap tend to 1.
    low = high = -math.log1p(-delta)
    while excess(high) < 0:
        high *= 2
    return epsilon + float(scipy.optimize.brentq(excess, low, high, xtol=1e-15 * high, rtol=1e-14))
