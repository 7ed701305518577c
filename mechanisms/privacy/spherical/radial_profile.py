"""The privacy profile of any spherically symmetric noise whose density falls with the radius.

The longest shift is the worst, for this reason. For a shift d let f_d be the shifted density and
g = e^epsilon f_d. The best event is {f > g}, and its gain is the integral of (f - g)_+. Cut it into
layers: at each point (f - g)_+ is the length of the interval of levels t with f > t >= g. So delta
is the integral over t of the volume of {f > t} outside {g > t}. Because f falls with the radius,
both sets are balls, the first around 0 and the second around d, and their radii do not depend on d.
The volume of one ball outside another never falls as their centres part. So delta never falls as
||d|| grows, for every epsilon, and the worst shift of an l2 ball has the length s of its radius.
This needs neither a log-concave density nor a monotone likelihood ratio, only an f that never
rises.

The first ball has radius B with the law of `_log_weight`, and the second has the radius B' >= B
with log f(B') = log f(B) - epsilon. `spherical_balls` has the share of the first ball outside the
second.

The generalised gamma laws keep `spherical_profile`, because this profile loses digits to the
rounding of log f and searches for B': each epsilon takes tens of milliseconds up to M = 1,000 and
about a second at M = 1e6.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP, unit_gauss_legendre
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count, check_positive
from mechanisms.privacy.spherical.spherical_balls import (
    Meeting,
    log_share,
    range_of,
)

# Relative error of delta beyond the estimate, and what each dimension adds through the rounding of
# log f. The tests compare with other methods.
_ALLOWANCE, _ROUNDING = 1e-8, 1e-12
_TARGET = 1e-10
# Radii are left out where their density is below e^-_DEPTH of its peak.
_DEPTH = 120.0
# Radii are searched from e^-_FURTHEST to e^_FURTHEST scales, and B' / B from 1 to e^_FURTHEST.
_FURTHEST = 300.0
# Rounding moves epsilon by this many ulps of the largest |log f| in the window.
_ULPS = 4
_PANELS, _LEVELS, _MOST_PANELS = 64, 40, 4000
_FEW, _MANY = (16, 20), (22, 26)
# Nodes of the spline of the radial law.
_PLACES = 1 << 14


class RadialDensity(ABC):
    """A density f(||x||) at scale 1, up to a constant factor. Radii: numbers > 0 or arrays."""

    @abstractmethod
    def log_density(self, radius: np.ndarray) -> np.ndarray:
        """Return log f, up to a constant, an array of the shape of `radius`."""

    @abstractmethod
    def steepness(self, radius: np.ndarray) -> np.ndarray:
        """Return -d log f / d log radius, >= 0, an array of the shape of `radius`."""

    @abstractmethod
    def sample_radius(self, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Draw radii, an array of shape (trials,); only `sample_losses` asks for them."""


class _Window(NamedTuple):
    """The window of log(B / scale) that is integrated over, and the unit of its integrals.

    peak: log of the weight at the mode of log ||x||. total: Integral of the weight over e^peak.
    rounding: The largest change of epsilon through the rounding of log f.
    """

    start: float
    end: float
    peak: float
    total: float
    rounding: float


@dataclass(frozen=True, kw_only=True)
class RadialProfile(PrivacyProfile):
    """Profile of noise of density f(||x|| / scale) in R^M on an answer of l2 sensitivity s.

    dimension: M >= 2. density: f at scale 1, which never rises. scale, sensitivity: > 0, in units
    of the answer. Raises TypeError or ValueError for other numbers. delta and epsilon raise
    ValueError if `steepness` is not -d log_density / d log radius, if f is found to rise, or if f
    cannot be integrated.

    Bounds are estimates. The relative error of delta is twice the difference between quadratures of
    different node counts, plus 1e-8, plus 1e-12 M, plus the effect of the rounding of log f, which
    counts as an error of epsilon. Below 1e-40 the lower bound of delta is 0. Whether the loss has a
    largest value is not known, so epsilon(0) lies between epsilon(1e-40) and infinity.
    """

    dimension: int
    density: RadialDensity
    scale: float
    sensitivity: float

    floor = 1e-40
    attains_largest_loss = False

    def __post_init__(self) -> None:
        check_count("dimension", self.dimension, minimum=2)
        check_positive("scale", self.scale)
        check_positive("sensitivity", self.sensitivity)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw losses from the radius and the cosine alone, whatever the dimension."""
        radius = self.density.sample_radius(rng, check_count("n", n))
        half = (self.dimension - 1) / 2
        cosine = 1 - 2 * rng.beta(half, half, size=n)
        shift = self.sensitivity / self.scale
        other = np.sqrt((radius - shift) ** 2 + 2 * radius * shift * (1 - cosine))
        losses = self.density.log_density(radius) - self.density.log_density(other)
        return -losses if reverse else losses

    def survival(self, radius: np.ndarray) -> np.ndarray:
        """Return P(||x|| > radius), an array of the shape of `radius`, within about 1e-9."""
        window = self._window()
        places = np.linspace(window.start, window.end, _PLACES)
        mass = scipy.interpolate.CubicSpline(
            places, np.exp(self._log_radius(places, window.peak)) / window.total
        ).antiderivative()
        with np.errstate(divide="ignore"):
            y = np.clip(np.log(radius / self.scale), window.start, window.end)
        return np.clip(mass(window.end) - mass(y), 0.0, 1.0)

    def log_mean_square(self) -> float:
        """Return log E||x||^2, a ratio of the integrals of f in M + 2 and in M dimensions.

        Raises:
            ValueError: E||x||^2 is infinite, or nearly.
        """
        whole = self._window()
        try:
            raised = replace(self, dimension=self.dimension + 2)._window()
        except ValueError as error:
            raise ValueError("E||x||^2 is infinite, or nearly: choose a lighter tail") from error
        found = raised.peak - whole.peak + math.log(raised.total / whole.total)
        return found + 2 * math.log(self.scale)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        window = self._window()
        parts = [self._integrals(each, window) for each in epsilon]
        delta, error, survival = np.array(parts).reshape(-1, 3).T
        seen = np.where(delta > 0, delta, 1.0)
        # -d log delta / d epsilon = P(L > epsilon) / delta - 1. At epsilon = 0, B' = B exactly.
        slope = np.where(epsilon > 0, np.maximum(survival / seen - 1, 0.0), 0.0)
        error = 2 * error / seen + _ALLOWANCE + _ROUNDING * self.dimension
        error += window.rounding * slope
        with np.errstate(divide="ignore"):
            value = np.minimum(np.log(delta / window.total), 0.0)
            lower = value + np.log(np.maximum(1 - error, 0.0))
        tiny = np.log(self.floor)
        lower = np.where(value < tiny, -np.inf, lower)
        upper = np.minimum(np.maximum(value + np.log1p(error), tiny), 0.0)
        return Bounds(lower, value, upper)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        bounds = super()._epsilon(delta)
        if np.all(delta > 0):
            return bounds
        resolved = super()._epsilon(np.array([self.floor]))
        return bounds._replace(lower=np.where(delta > 0, bounds.lower, resolved.lower))

    def _resolution(self, delta: float) -> float:
        return 1e-9

    def _window(self) -> _Window:
        grid = np.linspace(-_FURTHEST, _FURTHEST, 2001)
        with np.errstate(all="ignore"):
            slope = self.dimension - self.density.steepness(np.exp(grid))
        if np.any(slope > self.dimension):
            raise ValueError("the density rises with the radius: the worst pair is not known")
        if not slope[0] > 0 > slope[-1]:
            raise ValueError("the density cannot be normalised: check its steepness")
        last = np.nonzero(slope > 0)[0][-1]
        mode = scipy.optimize.brentq(
            lambda y: float(self.dimension - self.density.steepness(np.exp(y))),
            grid[last],
            grid[last + 1],
            xtol=1e-14,
        )
        peak = self._log_weight(np.array([mode]), 0.0)[0]
        ends = [self._end(mode, peak, side) for side in (-1.0, 1.0)]

        def weight(y: np.ndarray, _: int) -> np.ndarray:
            return np.exp(self._log_weight(y, peak))

        def radius_density(y: np.ndarray, _: int) -> np.ndarray:
            return np.exp(self._log_radius(y, peak))

        total = _integral(weight, *ends)[0]
        # Integration by parts: both laws have the same integral.
        if abs(_integral(radius_density, *ends)[0] / total - 1) > 1e-6:
            raise ValueError("steepness(radius) is not -d log_density / d log radius: correct it")
        largest = np.abs(self.density.log_density(np.exp(np.array([*ends, mode])))).max()
        return _Window(*ends, float(peak), total, float(_ULPS * ULP * largest))

    def _end(self, mode: float, peak: float, side: float) -> float:
        """Return where, on this side of the mode, the weight is below e^-_DEPTH of its value there.

        Raises ValueError if the search does not reach such a place, or f is flat there.
        """
        step = 1e-4
        while step < _FURTHEST:
            y = mode + side * step
            if self._log_weight(np.array([y]), peak)[0] < -_DEPTH:
                break
            step *= 1.2
        else:
            where = "at the origin" if side < 0 else "far from it"
            raise ValueError(f"the density holds too much {where} to be integrated: choose another")
        if self.density.steepness(np.exp(y)) == 0 and self._log_radius(y, peak) > -_DEPTH:
            raise ValueError(
                f"the density is flat at radius {np.exp(y):.4g}, where its steepness is 0: choose "
                "one that falls everywhere"
            )
        return mode + side * step

    def _log_radius(self, y: np.ndarray, peak: float) -> np.ndarray:
        """Return the log density of log(||x|| / scale), up to a constant, less `peak`."""
        return self.dimension * y + self.density.log_density(np.exp(y)) - peak

    def _log_weight(self, y: np.ndarray, peak: float) -> np.ndarray:
        """Act as `_log_radius`, for the radius B of the ball in which the noise is uniform."""
        steepness = self.density.steepness(np.exp(y))
        with np.errstate(divide="ignore"):
            return self._log_radius(y, peak) + np.log(steepness / self.dimension)

    def _integrals(self, epsilon: float, window: _Window) -> tuple[float, float, float]:
        """Return delta, its error and P(L > epsilon) (0 for epsilon = 0), times `window.total`."""
        half = (self.dimension - 1) / 2

        def gain(y: np.ndarray, nodes: int) -> np.ndarray:
            where = range_of(self.dimension, self._meeting(y, epsilon))
            return np.exp(
                log_share(self.dimension, where, nodes) + self._log_weight(y, window.peak)
            )

        def tail(y: np.ndarray, _: int) -> np.ndarray:
            # On a sphere of radius B the loss exceeds epsilon above the height of `Meeting`.
            above = (1 - np.clip(self._meeting(y, epsilon).height, -1.0, 1.0)) / 2
            share = scipy.special.betainc(half, half, above)
            return share * np.exp(self._log_radius(y, window.peak))

        with np.errstate(all="ignore"):
            survival = _integral(tail, window.start, window.end, target=1e-3)[0] if epsilon else 0.0
            return *_integral(gain, window.start, window.end), survival

    def _meeting(self, y: np.ndarray, epsilon: float) -> Meeting:
        u = self._log_ratio(y, epsilon)
        excess = np.expm1(u)
        distance = self.sensitivity / self.scale * np.exp(-y)
        reach = distance - excess
        return Meeting(u, excess, reach, 1 - 0.5 * reach * (1 + (excess + 2) / distance))

    def _log_ratio(self, y: np.ndarray, epsilon: float) -> np.ndarray:
        """Return u = log(B' / B), by bisection and, at the end, Newton's method."""
        if epsilon == 0:
            return np.zeros_like(y)
        here = self.density.log_density(np.exp(y)) - epsilon
        low, high = np.zeros_like(y), np.full_like(y, _FURTHEST)
        for _ in range(42):
            u = 0.5 * (low + high)
            above = self.density.log_density(np.exp(y + u)) > here
            low, high = np.where(above, u, low), np.where(above, high, u)
        for _ in range(2):
            radius = np.exp(y + u)
            step = (self.density.log_density(radius) - here) / self.density.steepness(radius)
            u = np.clip(u + np.where(np.isfinite(step), step, 0.0), low, high)
        return u


def _integral(integrand, start: float, end: float, target=_TARGET) -> tuple[float, float]:
    """Return an integral and its error; panels are halved until two Gauss-Legendre rules agree."""
    (few, few_weights), (many, weights) = (unit_gauss_legendre(each[0]) for each in (_FEW, _MANY))
    edges = np.linspace(start, end, _PANELS + 1)
    left, width = edges[:-1], np.diff(edges)
    total = error = 0.0
    for level in range(_LEVELS):
        fine = integrand(left[:, None] + width[:, None] * many, _MANY[1]) @ weights * width
        rough = integrand(left[:, None] + width[:, None] * few, _FEW[1]) @ few_weights * width
        differs = np.abs(fine - rough)
        split = differs > target / _PANELS * (total + fine.sum())
        if level == _LEVELS - 1 or np.count_nonzero(split) > _MOST_PANELS:
            split[:] = False
        total += fine[~split].sum()
        error += differs[~split].sum()
        if not split.any():
            break
        half = width[split] / 2
        left, width = np.concatenate([left[split], left[split] + half]), np.tile(half, 2)
    return float(total), float(error)
