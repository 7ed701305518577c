"""Staircase noise in the l1, l2 or linf norm: its exact privacy profile."""

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, Self

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP
from mechanisms.privacy.profile import (
    Bounds,
    NoScaleError,
    PrivacyProfile,
    check_count,
    check_positive,
    check_target,
)
from mechanisms.privacy.staircase_shells import (
    cut_edges_and_probabilities,
    edges_and_probabilities,
)

NORMS = ("l1", "l2", "linf")
# Relative error of the volumes: rounding, and the quadrature of two caps. Of a cut: rounding.
_ALLOWANCE, _CUT_ALLOWANCE = 1e-9, 3e-12
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


class _Noise(NamedTuple):
    """What the volumes depend on.

    `ratio` is the sensitivity over the width of a shell, exactly: what it exceeds a whole number by
    is the whole of a small delta.
    """

    norm: str
    dimension: int
    step: float
    theta: float
    ratio: Fraction
    end: float = math.inf

    @property
    def shells(self) -> tuple[np.ndarray, np.ndarray]:
        """Radii in widths, and how likely each is."""
        if math.isfinite(self.end):
            return cut_edges_and_probabilities(self.step, self.theta, self.end)
        return edges_and_probabilities(self.dimension, self.step, np.array(self.theta))


@dataclass(frozen=True, kw_only=True)
class StaircaseProfile(PrivacyProfile):
    """Profile of staircase noise in R^M on an answer that changes by at most s in the same norm.

    The density is constant between the radii (k + theta) w, k = 0, 1, ..., and falls by e^-step at
    each, so losses are multiples of the step. With K the unit ball and r_k = (k + theta) w the
    noise is uniform in r_k K with probability P_k. By layers, as for spherical noise,

        delta(m step) = sum_k P_k (1 - vol(r_k K and r_(k+m) K + D) / vol(r_k K)),

    and between these points delta is linear in e^epsilon. The volume of the intersection is an
    even function of D whose M-th root is concave where it is positive (Brunn and Minkowski), so
    that it is least at a vertex of s K, for every m at once: that pair is the worst one.

    For l1 and linf the intersection at a vertex has the volume of h K with
    h = min(r_k, (r_k + r_(k+m) - s) / 2). For l2 the volume is an integral over the distance: by
    moving away a ball loses the area of the disc where the spheres meet.

    The density of one number may end at the radius `end` w. Then r_(k+m) is at most that, and
    delta(m step) stays above 0. An interval around 0 has the least in common with another one if
    that is moved as far as possible: the worst change is s here too, at every epsilon.

    norm: one of NORMS; in one dimension they agree. dimension: M >= 1 (>= 2 for l2). step: at most
    500. theta: in (0, 1]. width: w > 0 and sensitivity: s > 0, in units of the answer. end: > 0, in
    widths, finite for M = 1 alone. Bounds: 1e-9 of delta for the volumes, which are exact to
    rounding but for a quadrature, plus rounding; 3e-12 of delta for a finite end.
    """

    norm: str
    dimension: int
    step: float
    theta: float
    width: float
    sensitivity: float
    end: float = math.inf

    floor = 1e-280

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise ValueError(f"norm must be one of {', '.join(NORMS)}, got {self.norm!r}")
        check_count("dimension", self.dimension, minimum=2 if self.norm == "l2" else 1)
        for name in ("step", "theta", "width", "sensitivity"):
            check_positive(name, getattr(self, name))
        if not self.end > 0 or (self._cut and self.dimension > 1):
            raise ValueError(f"end must be > 0, and inf for M > 1, got {self.end}")

    @property
    def largest_loss(self) -> float:
        """inf where the noise ends."""
        return math.inf if self._cut else self.largest_finite_loss

    @property
    def largest_finite_loss(self) -> float:
        """The step times the number of edges that a change can cross within the noise."""
        return self._crossed * self.step

    @property
    def infinite_mass(self) -> float:
        """Of the part of the noise that a change moves out of its support."""
        return _delta_at(self._noise, self._crossed) if self._cut else 0.0

    @property
    def _cut(self) -> bool:
        return math.isfinite(self.end)

    @property
    def _crossed(self) -> int:
        return math.ceil(self._noise.ratio)

    @property
    def _noise(self) -> _Noise:
        ratio = Fraction(self.sensitivity) / Fraction(self.width)
        return _Noise(self.norm, self.dimension, self.step, self.theta, ratio, self.end)

    def _scaled(self, factor: float) -> Self:
        return replace(self, width=self.width * factor)

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """As for every profile; for delta = 0 as many edges are crossed as epsilon allows."""
        check_target(epsilon, delta)
        if delta > 0:
            return super().scale_factor(epsilon, delta)
        if self._cut:
            raise NoScaleError("noise that ends has no pure guarantee; choose delta > 0")
        edges = math.floor(epsilon / self.step * (1 + 8 * ULP))
        if edges < 1:
            raise ValueError(f"every step of this noise has a loss of {self.step:g}")
        factor = self.sensitivity / self.width / edges
        while self.scaled(factor)._crossed > edges:
            factor = math.nextafter(factor, math.inf)
        return factor

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Losses from the norms of a draw and of the draw less the change."""
        check_count("n", n)
        edges, probabilities = self._noise.shells
        before, after = _norms(rng, self._noise, rng.choice(edges, n, p=probabilities))
        crossed = [np.maximum(np.floor(norm - self.theta) + 1, 0.0) for norm in (before, after)]
        crossed[1][after > self.end] = np.inf
        losses = self.step * (crossed[1] - crossed[0])
        return -losses if reverse else losses

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        value, survival = self._delta_and_survival(epsilon)
        allowance = _CUT_ALLOWANCE if self._cut else _ALLOWANCE
        error = allowance * value + 8 * ULP * (epsilon + self.step) * survival
        upper = np.where(epsilon < self.largest_loss, value + error, 0.0)
        with np.errstate(divide="ignore"):
            return Bounds(
                *(np.log(each) for each in (np.maximum(value - error, 0.0), value, upper))
            )

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        return self._delta_and_survival(epsilon)[1]

    def _delta_and_survival(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        below = np.floor(epsilon / self.step)
        below = np.where((below + 1) * self.step <= epsilon, below + 1, below)
        below = np.where(below * self.step > epsilon, below - 1, below)
        inside = epsilon < self.largest_loss
        places = (np.where(inside, below, np.inf), np.where(inside, below + 1, np.inf))
        low, high = (
            np.array([self._at(m) for m in at.ravel()]).reshape(epsilon.shape) for at in places
        )
        rest = np.clip(epsilon - below * self.step, 0.0, self.step)
        whole = -math.expm1(-self.step)
        share = np.exp(rest - self.step) * -np.expm1(-rest) / whole
        value = low * (-np.expm1(rest - self.step) / whole) + high * share
        survival = value + (low - high) * np.exp(rest - self.step) / whole
        return value, np.minimum(survival, 1.0)

    def _at(self, edges: float) -> float:
        """delta(edges step)."""
        if edges >= self._crossed and not self._cut:
            return 0.0
        return _delta_at(self._noise, int(min(edges, self._crossed)))


@functools.lru_cache(maxsize=4096)
def _delta_at(noise: _Noise, edges: int) -> float:
    """sum_k P_k times the share of the k-th ball outside of the (k + edges)-th, moved by D."""
    radii, probabilities = noise.shells
    outside = _outside_ball if noise.norm == "l2" else _outside_polytope
    return float(probabilities @ outside(noise, radii, edges))


def _outside_polytope(noise: _Noise, radii: np.ndarray, edges: int) -> np.ndarray:
    left = np.maximum(float(noise.ratio - edges), float(noise.ratio) - (noise.end - radii))
    lost = np.clip(left / (2 * radii), 0.0, 1.0)
    with np.errstate(divide="ignore"):
        return -np.expm1(noise.dimension * np.log1p(-lost))


def _outside_ball(noise: _Noise, radii: np.ndarray, edges: int) -> np.ndarray:
    """Share of a ball of radius r outside of one of radius r + edges at the distance `ratio`."""
    size, distance, left = noise.dimension, float(noise.ratio), float(noise.ratio - edges)
    apart = distance >= 2 * radii + edges
    if edges == 0:
        # Two equal balls share two caps.
        square = np.where(apart, 1.0, distance / (2 * radii)) ** 2
        return scipy.special.betainc(0.5, (size + 1) / 2, square)
    # Towards a tangent the disc's area is a power of the distance that is left: a square ends it.
    half = (_NODES + 1) / 2
    moved = left * half**2
    at = edges + moved
    r = radii[:, None]
    # The disc where spheres at the distance t meet has radius^2 (r - c) (r + c), c its place.
    near = moved * (2 * r + at + edges) / (2 * at)
    far = np.maximum((2 * r + edges - at) * (at + edges) / (2 * at), 0.0)
    with np.errstate(divide="ignore"):
        log_area = (size - 1) / 2 * (np.log(near / r) + np.log(far / r))
    slope = left * half * _WEIGHTS / r
    unit = scipy.special.gammaln(size / 2 + 1) - scipy.special.gammaln((size + 1) / 2)
    share = math.exp(unit) / math.sqrt(math.pi) * (np.exp(log_area) * slope).sum(axis=1)
    return np.where(apart, 1.0, np.minimum(share, 1.0))


def _norms(
    rng: np.random.Generator, noise: _Noise, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The norms of x, uniform in a ball of each radius, and of x - D, D a vertex."""
    size, ratio, n = noise.dimension, float(noise.ratio), len(radii)
    if noise.norm == "linf" or size == 1:
        # The largest and the least element, each uniform given the other.
        top = radii * (2 * rng.random(n) ** (1 / size) - 1)
        low = top if size == 1 else top - (top + radii) * rng.random(n) ** (1 / (size - 1))
        moved = np.maximum(ratio - low, top - ratio)
        return np.maximum(np.abs(top), np.abs(low)), moved
    before = radii * rng.random(n) ** (1 / size)
    if noise.norm == "l1":
        first = before * rng.beta(1.0, size - 1.0, n)
        signed = np.where(rng.random(n) < 0.5, first, -first)
        return before, np.abs(signed - ratio) + before - first
    half = (size - 1) / 2
    cosine = 2 * rng.beta(half, half, n) - 1
    square = before**2 + ratio * (ratio - 2 * before * cosine)
    return before, np.sqrt(np.maximum(square, 0.0))
