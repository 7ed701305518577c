"""Spherically symmetric noise with a generalised gamma radius: its privacy profile.

The noise in R^M has density proportional to ||x||^(a - M) exp(-(||x|| / b)^p), 0 < a <= M, p > 0,
b > 0: a uniform direction times a radius R with (R / b)^p ~ Gamma(a / p). Members:

    a = M, p = 2, b = sigma sqrt 2    the Gaussian N(0, sigma^2 I)
    a = M, p = 1                      the l2 mechanism (Hardt and Talwar 2010; its delta: Joseph,
                                      Kulesza and Yu 2025)
    a = 1, p = 2, b = sqrt(2 sigma*)  R1SMG (Ji and Li 2024, Definition 8), sigma* a variance

and for every a and p the spherical generalised gamma family (Wei, Bienstock and Polychroniadou
2026, arXiv:2606.08681), in a parametrisation of our own: any radius with a generalised gamma law.

The density falls with the radius (a <= M), so that the pair at distance s is the worst one of an l2
ball of radius s, for every epsilon at once (`spherical_balls`). It dominates, and so do its
compositions (Zhu, Dong and Wang 2022, Theorem 10).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mechanisms.privacy.numerics import ULP, log_gamma_ratio, unit_gauss_legendre
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
)
from mechanisms.privacy.spherical.spherical_balls import (
    Range,
    SphericalLaw,
    log_share,
    meeting,
    range_of,
)
from mechanisms.privacy.spherical.spherical_panels import (
    LOG_LEFT_OUT,
    Panels,
    first_panels,
    log_ball_density,
    log_tail,
)

# Relative error of delta beyond the estimated one: what the comparison of two rules misses, what
# both leave out (`range_of` and `first_panels`), and rounding where the profile is not steep. Finer
# rules that leave out less find 1e-10 at most in random cases (test_spherical_profile.py), and
# 50-digit arithmetic 1e-11 (spherical_reference.csv).
_ALLOWANCE = 1e-9
# Nodes of the two rules that are compared: over the radius, and over the share of a ball.
_OUTER, _INNER = (16, 22), (20, 26)
# A panel is halved while its two outer rules differ by more than this share of delta.
_TARGET = 1e-9
_LEVELS = 30
_MOST_SPLITS = 80
# Epsilons at a time, so that the arrays over epsilon and radius stay in the cache.
_CHUNK = 64


@dataclass(frozen=True, kw_only=True)
class SphericalProfile(PrivacyProfile):
    """Profile of spherical noise in R^M on an answer of l2 sensitivity s.

    dimension: M >= 2 (in one dimension use LaplaceProfile or GaussianProfile).
    radial_shape: a, in (0, M]. power: p > 0. scale: b > 0, in units of the answer.
    sensitivity: s > 0. Raises TypeError or ValueError for anything else.

    Bounds are estimates. The relative error of delta is twice the difference between quadratures of
    different node counts, plus 1e-9, plus the effect of rounding where the profile is steep (the l2
    mechanism near its pure guarantee). Where delta is below e^-700 the lower bound is 0. The bounds
    are wider than rounding but not proven, so exact calibration targets the value itself.
    """

    dimension: int
    radial_shape: float
    power: float
    scale: float
    sensitivity: float

    floor = math.exp(LOG_LEFT_OUT)

    def __post_init__(self) -> None:
        check_count("dimension", self.dimension, minimum=2)
        for name in ("radial_shape", "power", "scale", "sensitivity"):
            check_positive(name, getattr(self, name))
        if self.radial_shape > self.dimension:
            raise ValueError(
                f"radial_shape must be at most the dimension {self.dimension}, got "
                f"{self.radial_shape}: beyond, the density rises with the radius and the worst "
                "pair is not known"
            )

    @property
    def largest_loss(self) -> float:
        """(s / b)^p for a = M and p <= 1, else inf."""
        if self.radial_shape == self.dimension and self.power <= 1:
            return (self.sensitivity / self.scale) ** self.power
        return np.inf

    @property
    def expected_square(self) -> float:
        """E||n||^2 = b^2 Gamma((a + 2) / p) / Gamma(a / p); inf above the largest float."""
        ratio = log_gamma_ratio(self.radial_shape / self.power, 2 / self.power)
        with np.errstate(over="ignore"):
            return float(np.exp(2 * np.log(self.scale) + ratio))

    @property
    def loss_power(self) -> float:
        """The power p."""
        return self.power

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw losses from the radius and the cosine alone, whatever the dimension."""
        check_count("n", n)
        noise = self._noise
        # Gamma(k) = Gamma(k + 1) U^(1/k) keeps the logarithm finite for small k.
        log_v = np.log(rng.gamma(noise.order + 1, size=n))
        log_v += np.log1p(-rng.random(n)) / noise.order
        half = (self.dimension - 1) / 2
        losses = _loss(noise, log_v, 1 - 2 * rng.beta(half, half, size=n))
        return -losses if reverse else losses

    @property
    def _noise(self) -> SphericalLaw:
        return SphericalLaw(
            int(self.dimension),
            float(self.radial_shape),
            float(self.power),
            float(self.sensitivity / self.scale),
        )

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        found = _estimate(self._noise, epsilon.tobytes())
        survival = np.exp(np.minimum(found.log_survival, 0.0))
        return np.where(epsilon < self.largest_loss, survival, 0.0)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        found = _estimate(self._noise, epsilon.tobytes())
        value = np.where(epsilon < self.largest_loss, found.log_delta, -np.inf)
        seen = np.isfinite(value)
        error = np.where(seen, found.relative_error, 0.0)
        # An ulp of epsilon counts -d log delta / d epsilon = P(L > epsilon) / delta - 1 times.
        slope = np.expm1(np.where(seen, found.log_survival, 0.0) - np.where(seen, value, 0.0))
        with np.errstate(divide="ignore", over="ignore"):
            # P(L > epsilon) is at least delta, but for rounding.
            error = 2 * error + _ALLOWANCE + 8 * ULP * epsilon * np.maximum(slope, 0.0)
            lower = value + np.log(np.maximum(1 - error, 0.0))
        upper = np.minimum(value + np.log1p(error), 0.0)
        upper[~seen & (epsilon < self.largest_loss)] = LOG_LEFT_OUT
        return Bounds(lower, np.minimum(value, upper), upper)


def _loss(noise: SphericalLaw, log_v: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return the loss at v = (r / b)^p and this height over r, away from the shift.

    The arrays broadcast. The loss is (M - a) u + v (e^(p u) - 1), where
    u = log(r' / r) = log(1 + x (x + 2 height)) / 2, x = s / r, and r' is the distance from the
    shifted centre.
    """
    log_x = np.log(noise.ratio) - log_v / noise.power
    # Above e^300 the logarithm of r' / r is that of s / r.
    x = np.exp(np.minimum(log_x, 300.0))
    # r' = 0, at a pole for r = s, has loss -inf or a finite one: the floor avoids 0 times inf.
    square = np.maximum(x * (x + 2 * height), np.nextafter(-1.0, 0.0))
    u = 0.5 * np.log1p(square) + np.maximum(log_x - 300.0, 0.0)
    return noise.gap * u + _growth(log_v, noise.power * u)


def _growth(log_v: np.ndarray, pu: np.ndarray) -> np.ndarray:
    """Return v (e^(pu) - 1), even if e^(pu) alone overflows; about e^700 at most."""
    near = np.exp(log_v) * np.expm1(np.minimum(pu, 1.0))
    far = np.exp(np.minimum(log_v + pu, 700.0)) - np.exp(np.minimum(log_v, 700.0))
    return np.where(pu <= 1.0, near, far)


class Estimate(NamedTuple):
    """Flat arrays, one entry per epsilon."""

    log_delta: np.ndarray
    relative_error: np.ndarray
    log_survival: np.ndarray  # log P(L > epsilon)


# A composition asks for delta and P(L > epsilon) at the same points, which take seconds. A search
# for epsilon comes back to the ends of its bracket, and to its root.
@lru_cache(maxsize=32)
def _estimate(noise: SphericalLaw, epsilon: bytes) -> Estimate:
    return estimate(noise, np.frombuffer(epsilon))


def estimate(noise: SphericalLaw, epsilon: np.ndarray) -> Estimate:
    """Return log delta, its relative quadrature error and log P(L > epsilon), for a flat array.

    The integral over the radius runs on Gauss-Legendre panels that are halved until two node counts
    agree. The error sums, over all panels, the differences from a rule with fewer nodes in the
    outer integral and from one with fewer in the inner. log delta is -inf if below LOG_LEFT_OUT.
    """
    starts = range(0, max(epsilon.size, 1), _CHUNK)
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        parts = [_estimate_of_chunk(noise, epsilon[i : i + _CHUNK]) for i in starts]
    return Estimate(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _estimate_of_chunk(noise: SphericalLaw, epsilon: np.ndarray) -> Estimate:
    panels, reference = first_panels(noise, epsilon)
    total, error, survival = np.zeros((3, epsilon.size))
    for level in range(_LEVELS):
        owner = panels.owner
        fine, outer_error, inner_error, tail = _panel_sums(noise, epsilon, panels, reference)
        scale = total + np.bincount(owner, fine, epsilon.size)
        split = (outer_error > _TARGET * scale[owner]) & (level < _LEVELS - 1)
        # A place that is not smooth asks for few halves on each level. If many are asked for, the
        # rules differ by rounding, which halving does not cure.
        split &= np.bincount(owner[split], minlength=epsilon.size)[owner] <= _MOST_SPLITS
        for sums, part in ((total, fine), (survival, tail), (error, outer_error + inner_error)):
            sums += np.bincount(owner[~split], part[~split], epsilon.size)
        if not split.any():
            break
        halves = np.repeat(np.nonzero(split)[0], 2)
        panels = panels.parts(halves, np.arange(halves.size) % 2, 2)
    log_total = reference + np.log(total)
    return Estimate(
        np.where(log_total < LOG_LEFT_OUT, -np.inf, log_total),
        error / np.where(total > 0, total, 1.0),
        reference + np.log(survival),
    )


def _panel_sums(
    noise: SphericalLaw, epsilon: np.ndarray, panels: Panels, reference: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Integrate delta and P(L > epsilon) over each panel, all times e^-reference.

    Returns the integral of delta, how much it differs with fewer nodes in the outer and in the
    inner integral, and the integral of P(L > epsilon).
    """
    (few, few_weights), (many, weights) = (unit_gauss_legendre(count) for count in _OUTER)
    first, last = slice(few.size), slice(few.size, None)
    sparse, dense = _INNER
    y, slope = panels.points(np.concatenate([few, many]))
    balls = meeting(noise, y, epsilon[panels.owner, None])
    where = range_of(noise.dimension, balls)
    scale = reference[panels.owner, None]
    log_density = log_ball_density(noise, y) - scale

    gain = np.exp(log_share(noise.dimension, where, dense) + log_density) * slope
    fine, coarse = gain[:, last] @ weights, gain[:, first] @ few_weights
    where = Range(*(each[:, first] for each in where))
    rough = (
        np.exp(log_share(noise.dimension, where, sparse) + log_density[:, first]) * slope[:, first]
    )
    tail = np.exp(log_tail(noise, y[:, last], balls.height[:, last]) - scale) * slope[:, last]
    inner_error = np.abs(coarse - rough @ few_weights)
    return fine, np.abs(fine - coarse), inner_error, tail @ weights
