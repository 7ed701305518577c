"""Staircase noise: a uniform point of one of the balls of a norm, whose radii are a lattice."""

import functools
import math
from dataclasses import dataclass, replace

import mpmath
import numpy as np

from mechanisms.noise.distribution import (
    Noise,
    attained_reach,
    checked_dtype,
    gram_slack,
)
from mechanisms.noise.k_norm_noise import raw_of_cube
from mechanisms.noise.loss_moments import LossMoments, raw_of_cumulants
from mechanisms.privacy.bounded_profile import enclosed
from mechanisms.privacy.staircase_profile import StaircaseProfile
from mechanisms.privacy.staircase_shells import (
    cut_edges_and_probabilities,
    edges_and_probabilities,
)
from mechanisms.query.query import Query, Shifts

# Digits of the moments about zero: their cumulants cancel like the third power of the size.
_DIGITS = 60
_POWERS = (1, 2, 3, 4)


@dataclass(frozen=True, kw_only=True)
class Staircase(Noise):
    """Noise (k + theta) width u, u uniform in the unit ball of `norm`.

    P(k) is proportional to e^(-step k) (k + theta)^M, k = 0, 1, ...: the density is constant
    between the radii (k + theta) width and falls by the factor e^-step at each. That of one number
    may end at the radius `end` width.

    Args:
        shape: Axes of the answer; M is their product.
        norm: "l1", "l2" or "linf"; in one dimension they are the same.
        step: The loss of one edge, positive.
        theta: In (0, 1].
        width: Positive, in units of the answer.
        end: Positive, in widths, finite for M = 1 alone.
    """

    shape: tuple[int, ...]
    norm: str
    step: float
    theta: float
    width: float
    end: float = math.inf

    uncorrelated = True

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        edges, probabilities = self._shells
        radius = self.width * rng.choice(edges, trials, p=probabilities)
        draws = _points(rng, self.norm, trials, self.size, dtype)
        draws *= radius[:, None].astype(dtype)
        return draws.reshape(trials, *self.shape)

    @property
    def _shells(self) -> tuple[np.ndarray, np.ndarray]:
        if math.isfinite(self.end):
            return cut_edges_and_probabilities(self.step, self.theta, self.end)
        return edges_and_probabilities(self.size, self.step, np.array(self.theta))

    def loss(self):
        with mpmath.workdps(_DIGITS):
            unit = mpmath.mpf(self.width) ** 2
            pairs = zip(
                _POWERS, self._raw_of_radius(), raw_of_body(self.norm, self.size), strict=True
            )
            return LossMoments.of_radius(
                tuple(k * mpmath.log(unit) + mpmath.log(r * u) for k, r, u in pairs)
            )

    def _raw_of_radius(self) -> list[mpmath.mpf]:
        """E R^(2 k) at width 1, from central moments, which floats have without cancellation."""
        edges, probabilities = self._shells
        mean = float(probabilities @ edges**2)
        excess = edges**2 / mean - 1
        central = [mpmath.mpf(float(probabilities @ excess**j)) for j in range(5)]
        return [
            mpmath.mpf(mean) ** k * sum(math.comb(k, j) * central[j] for j in range(k + 1))
            for k in _POWERS
        ]

    def _scaled(self, factor):
        return replace(self, width=self.width * factor)

    def parameters(self):
        ends = {"end": self.end} if math.isfinite(self.end) else {}
        return {"width": self.width, "theta": self.theta} | ends

    def profile(self, query):
        """That of a vertex of the norm's ball of changes: an upper bound where none is allowed."""
        largest = self._largest(query)
        above = StaircaseProfile(
            norm=self.norm,
            dimension=query.size,
            step=self.step,
            theta=self.theta,
            width=self.width,
            sensitivity=largest,
            end=self.end,
        )
        if self.slack(query) is None:
            return above
        attained = attained_reach(query) if self._round else None
        return enclosed(above, attained and replace(above, sensitivity=attained))

    def _largest(self, query: Query) -> float:
        """The largest norm of a change that the query states."""
        if self._round:
            return query.reach
        return query.l1_sensitivity if self.norm == "l1" else query.linf_sensitivity

    @property
    def _round(self) -> bool:
        return self.norm == "l2" or self.size == 1

    def slack(self, query):
        if self._round:
            return gram_slack(query)
        largest = self._largest(query)
        vertex = Shifts(1 if self.norm == "l1" else query.size, largest, 0.0)
        plain = query.structure in (None, "histogram", "counts")
        if plain and query.largest_shifts == vertex and query.reach >= vertex.norm * (1 - 1e-9):
            return None
        return f"the query excludes the worst change of the {self.norm} ball"


def _points(rng, norm: str, trials: int, size: int, dtype: np.dtype) -> np.ndarray:
    """Uniform points of the unit ball, (trials, size)."""
    if norm == "linf" or size == 1:
        return 2 * rng.random((trials, size), dtype) - dtype.type(1)
    if norm == "l2":
        points = rng.standard_normal((trials, size), dtype)
        stretch = rng.random(trials) ** (1 / size) / np.sqrt(np.vecdot(points, points))
    else:
        # Exponentials over their sum, of which one is left out, with random signs.
        points = rng.standard_exponential((trials, size), dtype)
        stretch = 1 / (points.sum(axis=1) + rng.standard_exponential(trials))
        points *= np.where(rng.random((trials, size), np.float32) < 0.5, -1, 1).astype(dtype)
    points *= stretch[:, None].astype(dtype)
    return points


@functools.lru_cache(maxsize=256)
def raw_of_body(norm: str, size: int) -> tuple[mpmath.mpf, ...]:
    """E ||u||_2^(2 k), k = 1..4, for u uniform in the unit ball of the norm."""
    with mpmath.workdps(_DIGITS):
        if norm == "l2":
            return tuple(mpmath.mpf(size) / (size + 2 * k) for k in _POWERS)
        if norm == "linf":
            return raw_of_cube(size)
        # Cumulants of the square of an exponential, whose k-th moment is (2 k)!.
        sums = raw_of_cumulants(*(size * each for each in (2, 20, 592, 33888)))
        return tuple(
            mpmath.mpf(total) / mpmath.rf(size + 1, 2 * k)
            for k, total in zip(_POWERS, sums, strict=True)
        )
