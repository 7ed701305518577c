"""The exact privacy of any two normal distributions: their indistinguishability spectrum.

Lu, Magdon-Ismail, Wei and Zikas (arXiv:2309.01243) call delta(epsilon) of two normal distributions
the NDIS. It is a difference of two tails of a generalised chi-squared variable. Here it is an
integral of the moment generating function of the loss L = log dP/dQ under P,

    delta(epsilon) = 1 / (2 pi i) int e^(K(t) - t epsilon) / (t (t + 1)) dt,

K(t) = log E_P e^(t L), over any path from below to above that crosses the real axis right of 0,
where K is finite: the transform of (1 - e^(-x))_+ is 1 / (t (t + 1)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP
from mechanisms.privacy.profile import Bounds, check_count, check_epsilon

# The path is a branch of a hyperbola, t = c + s ((cosh u - 1) cos + i sinh u sin) of an angle. Two
# of them have one integral, which tells their numerical error.
_ANGLES = (math.radians(70), math.radians(80))
_STEP, _LARGEST_U = 0.02, 36.0


class _Saddle(NamedTuple):
    """Where a path crosses the real axis, the width of the integrand there, and its log size."""

    crossing: float
    scale: float
    height: float

    @property
    def estimate(self) -> float:
        """The size of the integral as if the integrand were normal."""
        return math.exp(min(self.height, 700.0)) * self.scale / math.sqrt(2 * math.pi)


@dataclass(frozen=True, kw_only=True, eq=False)
class NormalPair:
    """P = N(shifts, diag(ratios)) against Q = N(0, I), `times` independent draws of each.

    Every pair of normal distributions of one support is such a pair in other coordinates: `of`.

    Args:
        ratios: Positive (n,), the variances of P where those of Q are 1.
        shifts: (n,), the differences of the means.
        times: At least 1.
    """

    ratios: np.ndarray
    shifts: np.ndarray
    times: int = 1

    @classmethod
    def of(cls, mean_p, covariance_p, mean_q, covariance_q) -> Self:
        """Two normal distributions on R^n: means (n,), positive definite covariances (n, n).

        Raises:
            numpy.linalg.LinAlgError: A covariance is not positive definite.
        """
        np.linalg.cholesky(covariance_p)
        # Columns v with v^T covariance_q v = 1 that are orthogonal in both covariances.
        ratios, directions = scipy.linalg.eigh(covariance_p, covariance_q)
        return cls(ratios=ratios, shifts=directions.T @ np.subtract(mean_p, mean_q))

    def reversed(self) -> Self:
        """Q against P."""
        return replace(self, ratios=1 / self.ratios, shifts=-self.shifts / np.sqrt(self.ratios))

    def compose(self, times: int) -> Self:
        """`times` independent draws of what is drawn here."""
        return replace(self, times=self.times * check_count("times", times))

    def delta(self, epsilon: float) -> Bounds:
        """sup_S P(S) - e^epsilon Q(S) for one epsilon >= 0; the bounds are estimates of rounding.

        A delta below about 1e-300 is reported as 0.
        """
        epsilon = float(check_epsilon(epsilon))
        if not self.shifts.any() and np.all(self.ratios == 1):
            return Bounds(0.0, 0.0, 0.0)
        if epsilon >= self.largest_loss:
            return Bounds(0.0, 0.0, 0.0)
        right, left = (self._saddle(epsilon, *ends) for ends in ((0.0, self._end), (-1.0, 0.0)))
        # Left of 0 the integral is that of delta less the residue 1 there, without cancellation
        # where delta is near 1.
        near_one = left.estimate < 0.5
        saddle = left if near_one else right
        found = [self._integral(epsilon, saddle, angle) for angle in _ANGLES]
        # Rounding of the exponent, which sums terms of the size of its parts.
        error = 2 * abs(found[1] - found[0]) + 64 * ULP * (1 + abs(saddle.height)) * abs(found[0])
        factor, base = math.exp(min(saddle.height, 700.0)), float(near_one)
        value, error = base + factor * found[0], factor * error + base * ULP
        return Bounds(*(min(max(each, 0.0), 1.0) for each in (value - error, value, value + error)))

    @property
    def largest_loss(self) -> float:
        """The essential supremum of the loss: finite where every variance of P is the smaller."""
        if (self.ratios > 1).any() or (self.shifts[self.ratios == 1] != 0).any():
            return math.inf
        tight = self.ratios < 1
        ratios, shifts = self.ratios[tight], self.shifts[tight]
        own = -np.log(ratios) + shifts**2 / (1 - ratios)
        return self.times * float(own.sum()) / 2

    def sample_losses(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """n losses log dP/dQ under P, (n,)."""
        losses = np.zeros(check_count("n", n))
        for _ in range(self.times):
            drawn = rng.standard_normal((n, len(self.ratios)))
            seen = self.shifts + np.sqrt(self.ratios) * drawn
            losses += np.sum(seen**2 - drawn**2 - np.log(self.ratios), axis=1) / 2
        return losses

    @property
    def _end(self) -> float:
        """K is finite from 0 up to here."""
        wide = float(self.ratios.max())
        return 1 / (wide - 1) if wide > 1 else math.inf

    def _log_integrand(self, t: np.ndarray, epsilon: float) -> np.ndarray:
        """K(t) - t epsilon - log t (t + 1) at complex t (k,)."""
        columns = t[:, None]
        left = 1 + columns * (1 - self.ratios)
        own = columns * (1 + columns) * self.shifts**2 / left - np.log(left)
        own -= columns * np.log(self.ratios)
        return self.times * own.sum(axis=1) / 2 - t * epsilon - np.log(t) - np.log1p(t)

    def _saddle(self, epsilon: float, low: float, high: float) -> _Saddle:
        """Where the integrand is least in size between two ends on the real axis."""

        def place(log: float) -> float:
            if high == math.inf:
                return math.exp(log)
            return low + (high - low) * float(scipy.special.expit(log))

        def height(log: float) -> float:
            found = self._log_integrand(np.array([place(log) + 0j]), epsilon).real[0]
            return float(found) if math.isfinite(found) else 1e300

        best = scipy.optimize.minimize_scalar(height, bounds=(-34.0, 34.0), method="bounded")
        crossing = place(float(best.x))
        # The second derivative: of K, and of both logarithms.
        left = 1 + crossing * (1 - self.ratios)
        bend = ((1 - self.ratios) / left) ** 2 / 2 + self.shifts**2 * self.ratios / left**3
        curvature = self.times * float(np.sum(bend)) + crossing**-2 + (1 + crossing) ** -2
        return _Saddle(crossing, 1 / math.sqrt(curvature), height(float(best.x)))

    def _integral(self, epsilon: float, saddle: _Saddle, angle: float) -> float:
        """The integral over e^height along a path to that side on which the integrand falls."""
        side = 1.0 if self._rate(epsilon) >= 0 else -1.0
        u = np.arange(0.0, _LARGEST_U, _STEP)
        path = side * (np.cosh(u) - 1) * math.cos(angle) + 1j * np.sinh(u) * math.sin(angle)
        speed = side * np.sinh(u) * math.cos(angle) + 1j * np.cosh(u) * math.sin(angle)
        with np.errstate(over="ignore", invalid="ignore"):
            exponent = self._log_integrand(saddle.crossing + saddle.scale * path, epsilon)
            terms = np.exp(exponent - saddle.height) * saddle.scale * speed
        terms = np.where(np.isfinite(terms), terms, 0.0)
        terms[0] /= 2
        # The lower half is the conjugate of the upper one.
        return float(np.sum(terms).imag) * _STEP / math.pi

    def _rate(self, epsilon: float) -> float:
        """At which the integrand falls to the right, far away; it falls to the left where < 0."""
        turned = self.ratios != 1
        ratios, shifts = self.ratios[turned], self.shifts[turned]
        own = np.log(ratios) + shifts**2 / (ratios - 1)
        return epsilon + self.times * float(own.sum()) / 2
