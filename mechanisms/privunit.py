"""PrivUnitG: the local randomiser of unit vectors with the least error as the dimension grows."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy

from mechanisms.contract.mechanism import Mechanism
from mechanisms.contract.query import Query, Unsupported
from mechanisms.profiles.bounded_profile import enclosed
from mechanisms.profiles.cap_profile import CapProfile
from mechanisms.profiles.numerics import LOG_SQRT_2PI


@dataclass(frozen=True, kw_only=True)
class Cap:
    """How a Gaussian vector leans towards a unit vector v.

    Its part along v is normal, given that it is at least `threshold` with probability p, and given
    that it is below with probability 1 - p; a normal number is at least the threshold with
    probability q. Two densities of the output differ by at most the factor
    p (1 - q) / (q (1 - p)) = e^epsilon.

    Args:
        p: In (q, 1).
        q: In (0, 1/2], so that the threshold is not negative.
    """

    p: float
    q: float

    @classmethod
    def at(cls, epsilon: float, log_q: float) -> Self:
        """The cap with that q and the p that makes e^epsilon the factor."""
        q = math.exp(log_q)
        # p / (1 - p) = e^epsilon q / (1 - q)
        return cls(p=float(scipy.special.expit(epsilon + log_q - math.log1p(-q))), q=q)

    @property
    def threshold(self) -> float:
        return float(-scipy.special.ndtri(self.q))

    @property
    def mean(self) -> float:
        """The mean of the part along v: phi(threshold) (p / q - (1 - p) / (1 - q))."""
        peak = math.exp(-(self.threshold**2) / 2 - LOG_SQRT_2PI)
        return peak * (self.p / self.q - (1 - self.p) / (1 - self.q))

    @property
    def second_moment(self) -> float:
        """Of the part along v."""
        return 1 + self.threshold * self.mean

    def draw(self, rng: np.random.Generator) -> float:
        """The part along v."""
        uniform = 1 - rng.random()  # in (0, 1]
        if rng.random() < self.p:
            return -float(scipy.special.ndtri(uniform * self.q))
        return float(scipy.special.ndtri(uniform * (1 - self.q)))


@functools.lru_cache(maxsize=256)
def best_cap(epsilon: float) -> Cap:
    """The cap with the largest mean at epsilon: the least error in high dimension."""
    # q is near e^-epsilon / epsilon for large epsilon and 1/2 for small ones.
    found = scipy.optimize.minimize_scalar(
        lambda log_q: -math.log(Cap.at(epsilon, log_q).mean),
        bounds=(-epsilon - 20.0, math.log(0.5)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return Cap.at(epsilon, float(found.x))


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivUnitG(Mechanism):
    """An unbiased estimate of an answer in a ball, purely epsilon-LDP, by PrivUnitG.

    PrivUnitG takes a unit vector v of R^d to (a v + g) / m: g is standard normal orthogonal to v, a
    is drawn from a `Cap` and m is its mean. The answer x lies in a ball of radius B around c. It is
    lifted to the unit vector ((x - c) / B, sqrt(1 - ||x - c||^2 / B^2)) of R^(M + 1), and the last
    element of the release is dropped: a choice of this suite, which keeps privacy (post-processing)
    and the estimate unbiased.

    The ball is the one around the box of element_range, or has radius frobenius_bound around 0.

    The profile is exact. Every loss is 0 or +-epsilon, and for opposite v, as the threshold is not
    negative, the two caps are disjoint: no pair is worse. The exact calibration has the largest
    epsilon whose delta at the budget's epsilon is the budget's delta.

    Args:
        cap: The law of the part along v.
        centre, radius: c (one number for all elements) and B.
    """

    key = "privunit-g"
    title = "PrivUnitG"
    paper = "Asi et al. 2022"
    theorem = "arXiv:2205.02466, PrivUnitG"
    guarantee = "local"

    cap: Cap
    pure_epsilon: float
    centre: float
    radius: float

    @classmethod
    def build(cls, query, budget, calibration, settings):
        if query.adjacency != "local":
            raise Unsupported("is a local randomiser: it needs adjacency local")
        centre, radius = ball(query)
        published = cls(
            query=query,
            budget=budget,
            calibration="published",
            settings=settings,
            cap=best_cap(budget.epsilon),
            pure_epsilon=budget.epsilon,
            centre=centre,
            radius=radius,
        )
        if calibration == "published":
            return published
        epsilon = _largest_epsilon(budget.epsilon, budget.delta)
        return replace(published, calibration="exact", cap=best_cap(epsilon), pure_epsilon=epsilon)

    def release(self, value, rng):
        inside = (value.astype(float).ravel() - self.centre) / self.radius
        square = float(inside @ inside)
        # float32 answers in a corner of the box may exceed its norm by rounding.
        if square > 1 + 1e-4:
            raise ValueError(
                f"the value must lie within {self.radius:g} of {self.centre:g}, got the distance "
                f"{self.radius * math.sqrt(square):g}; clip it"
            )
        lifted = np.append(inside, math.sqrt(max(1 - square, 0.0)))
        lifted /= np.linalg.norm(lifted)
        draws = rng.standard_normal(lifted.size)
        draws += (self.cap.draw(rng) - draws @ lifted) * lifted
        estimate = self.centre + self.radius * draws[:-1] / self.cap.mean
        return estimate.reshape(self.query.shape).astype(value.dtype)

    def profile(self):
        profile = CapProfile(largest=self.pure_epsilon, mass=self.cap.p)
        return profile if self.slack() is None else enclosed(profile)

    def slack(self):
        if self.query.l2_sensitivity < 2 * self.radius * (1 - 1e-9):
            return "l2_sensitivity excludes answers on opposite sides of the ball"
        return None

    def expected_error(self, distance: float = 0.0) -> float:
        """E||estimate - x||^2 for an answer at that distance from the centre, at most `radius`.

        The covariance of the lifted estimate is (I - v v^T + Var(a) v v^T) (B / m)^2.
        """
        share = (distance / self.radius) ** 2
        along = self.cap.second_moment - self.cap.mean**2
        return (self.query.size - share + share * along) * (self.radius / self.cap.mean) ** 2


def ball(query: Query) -> tuple[float, float]:
    """(c, B) of a ball that holds every answer; Unsupported where the query states none."""
    if query.element_range is not None:
        low, high = query.element_range
        return (low + high) / 2, (high - low) / 2 * math.sqrt(query.size)
    if query.frobenius_bound is not None:
        return 0.0, query.frobenius_bound
    raise Unsupported("needs element_range or frobenius_bound: the answers must lie in a ball")


def _largest_epsilon(epsilon: float, delta: float) -> float:
    """The pure epsilon at which PrivUnitG is (epsilon, delta)-LDP and no less."""
    if delta == 0:
        return epsilon

    def excess(pure: float) -> float:
        return best_cap(pure).p * -math.expm1(epsilon - pure) - delta

    high = epsilon + 1.0
    while excess(high) < 0:
        high = 2 * high
    return float(scipy.optimize.brentq(excess, epsilon, high, xtol=1e-15, rtol=1e-15))
