"""Draws from the density ~ exp(-c ||y||) on a box, which the exponential mechanism releases."""

import math

import numpy as np
import scipy

from mechanisms.noise.distribution import CHUNK
from mechanisms.privacy.numerics import peak_window

# log p is computed at _POINTS points; a spline divides each step between them into _REFINED parts.
# The search for the range of the table uses _SCAN_POINTS points.
_POINTS = 385
_REFINED = 128
_SPLINE_DEGREE = 7
_SCAN_POINTS = 33
# Replaces a rise of 0 in log p, by which `draw_tau` would divide.
_FLAT = 1e-300


class BoxedExponential:
    """The density exp(-c ||y||) on the box [-below, above] around 0, as a mixture of normals.

    exp(-c r) is the mean of exp(-t r^2) over t > 0 with the density
    g(t) = c / (2 sqrt(pi)) t^(-3/2) exp(-c^2 / (4 t)), whose Laplace transform is exp(-c sqrt(.)).
    So t has a density proportional to g(t) prod_i Z_i(t), where Z_i is the integral of exp(-t y^2)
    over the i-th side of the box. Given t, the coordinates are independent truncated normals, so it
    is exact to draw t and then the coordinates. Because 0 lies in the box, neither Z_i nor the
    inversion meets a far tail.

    The density p of tau = log t is unimodal. The slope of log p, times t, is
    c^2 / 4 - t / 2 - t^2 sum_i m_i, where m_i is the mean of y_i^2 given t. This falls with t,
    because t Var(y_i^2) <= 3/2 m_i (integration by parts with the density of y_i^2, which is
    w^(-1/2) e^(-t w) times a step function that falls).
    Because 0 <= m_i <= 1 / (2 t), the mode of t lies between c^2 / (2 (M + 1)) and c^2 / 2.

    The table of log p covers all tau at which p is above e^-45 of its peak. A spline fills its
    49153 points, and log p is linear between them. If p is above e^-20 of its peak, its relative
    error is below 1e-5 (see the tests), and so is the error of the answer's density.

    Args:
        below, above: Distances (M,) from the value to the lower and the upper wall, >= 0.
        rate: c > 0, per unit of the answer.
    """

    def __init__(self, below: np.ndarray, above: np.ndarray, rate: float):
        self.below, self.above, self.rate = below, above, rate
        mode = 2 * math.log(rate) - math.log(2)
        low, high = peak_window(
            self.log_density,
            np.array([mode - np.log(len(below) + 1.0) - 1.0]),
            np.array([mode + 1.0]),
            points=_SCAN_POINTS,
        )
        coarse = np.linspace(low[0], high[0], _POINTS)
        spline = scipy.interpolate.make_interp_spline(
            coarse, self.log_density(coarse), k=_SPLINE_DEGREE
        )
        self.tau = np.linspace(low[0], high[0], (_POINTS - 1) * _REFINED + 1)
        self.log_p = spline(self.tau)
        self.log_p -= self.log_p.max()

    def log_density(self, tau: np.ndarray) -> np.ndarray:
        """Return log p(tau) up to a constant, for tau of any shape, in bounded memory."""
        flat = tau.ravel()
        # log Z_i = log(erf + erf) - tau / 2, up to a constant.
        log_p = -0.5 * (len(self.below) + 1) * flat - 0.25 * np.exp(2 * math.log(self.rate) - flat)
        at_once = max(1, CHUNK // 8 // len(self.below))
        for start in range(0, len(flat), at_once):
            part = slice(start, start + at_once)
            root = np.exp(0.5 * flat[part, None])
            sides = scipy.special.erf(root * self.below) + scipy.special.erf(root * self.above)
            log_p[part] += np.log(sides).sum(axis=1)
        return log_p.reshape(tau.shape)

    def draw(self, centre: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Draw `trials` answers around `centre` (M,), float64 (trials, M)."""
        root = np.exp(0.5 * self.draw_tau(rng, trials))
        draws = np.empty((trials, len(centre)))
        at_once = max(1, CHUNK // 8 // len(centre))
        for start in range(0, trials, at_once):
            part = slice(start, start + at_once)
            draws[part] = self._truncated_normals(root[part, None], rng)
        draws += centre
        return np.clip(draws, centre - self.below, centre + self.above, out=draws)

    def draw_tau(self, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Draw tau by inversion, (trials,); log p is linear within each step of the table."""
        rise = np.diff(self.log_p)
        rise[rise == 0] = _FLAT
        masses = np.exp(self.log_p[:-1]) * scipy.special.exprel(rise)
        above = np.cumsum(masses)
        goal = rng.random(trials) * above[-1]
        step = np.minimum(np.searchsorted(above, goal, side="right"), len(masses) - 1)
        share = np.clip((goal - (above - masses)[step]) / masses[step], 0.0, 1.0)
        within = np.log1p(share * np.expm1(rise[step])) / rise[step]
        return self.tau[step] + within * (self.tau[1] - self.tau[0])

    def _truncated_normals(self, root: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw y (k, M) of density ~ exp(-(root y)^2) on [-below, above]; root (k, 1)."""
        below, above = scipy.special.erf(root * self.below), scipy.special.erf(root * self.above)
        uniform = rng.random((2, *below.shape))
        upwards = uniform[0] * (below + above) >= below
        side = np.where(upwards, self.above, self.below)
        # The tail at |y| is the tail at the wall plus a uniform share of the mass before the wall.
        tail = scipy.special.erfc(root * side) + uniform[1] * np.where(upwards, above, below)
        distance = np.minimum(scipy.special.erfcinv(tail) / root, side)
        return np.where(upwards, distance, -distance)
