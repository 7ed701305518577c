"""The noise of mixtures2026 on a grid, and bounds on its delta over all changes of the answer.

The noise is even. Left of 0 its density is a sum of weights of Gaussians of one variance sigma^2
around whole numbers up to 0; the sensitivity is 1. Then log f + x^2 / (2 sigma^2) is convex on the
left and falls towards 0, so that it is convex everywhere, and for a shift s between a and b = a + h

    f(x + s) <= e^kappa max(f(x + a), f(x + b)),   kappa = h^2 / (8 sigma^2),

and delta at s is at most e^kappa times the integral of (max(f(x + a), f(x + b)) -
e^(epsilon - kappa) f(x))_+.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy

# Of one unit: a shift by 1 moves the noise by so many cells.
STEPS = 3000
# Beyond the last centre, in sigma; the rest has probability below 1e-18.
_REACH = 9.0


@dataclass(frozen=True)
class EvenNoise:
    """Probabilities of the cells of width 1 / STEPS from -end to end, symmetric around 0."""

    masses: np.ndarray
    sigma: float

    def amplitude(self) -> float:
        """E|Z|, but for a share of about 1 / STEPS^2."""
        places = np.arange(self.masses.size) + 0.5 - self.masses.size / 2
        return float(np.abs(places) @ self.masses) / STEPS

    def deltas(self, epsilon: float, moves: Iterable[int]) -> np.ndarray:
        """A lower bound on delta at each shift, given in cells, by an event made of cells."""
        padded = np.append(self.masses, np.zeros(STEPS))
        near = math.exp(epsilon) * self.masses
        return np.array([_positive(padded[move:][: near.size] - near) for move in moves])

    def bounds(self, epsilon: float) -> tuple[float, float]:
        """Bounds on the largest delta over all shifts from 0 to 1, but for the width of cells.

        The lower one is delta at the shift where the upper one is largest.
        """
        kappa = 1 / (8 * STEPS**2 * self.sigma**2)
        padded = np.append(self.masses, np.zeros(STEPS))
        near = math.exp(epsilon - kappa) * self.masses
        larger = np.maximum(padded[:-1], padded[1:])
        most = [_positive(larger[move:][: near.size] - near) for move in range(STEPS)]
        worst = int(np.argmax(most))
        least = self.deltas(epsilon, [worst, worst + 1]).max()
        return float(least), math.exp(kappa) * most[worst]


def _positive(differences: np.ndarray) -> float:
    return float(np.sum(np.maximum(differences, 0)))


def even_noise(weights: Mapping[int, float], sigma: float) -> EvenNoise:
    """The noise whose density at x <= 0 has these weights, by centre, up to 0; normalised here."""
    if max(weights) > 0:
        raise ValueError(f"centres must not be above 0, got {max(weights)}")
    end = max(map(abs, weights)) + math.ceil(1 + _REACH * sigma)
    edges = np.arange(-end * STEPS, 1) / STEPS
    half = sum(
        weight * np.diff(scipy.special.ndtr((edges - centre) / sigma))
        for centre, weight in weights.items()
    )
    half /= 2 * half.sum()
    return EvenNoise(np.append(half, half[::-1]), sigma)


def quasi_gaussian(epsilon: float, sigma: float) -> EvenNoise:
    """e^epsilon exp(-x^2 / (2 sigma^2)) + exp(-(|x| - 1)^2 / (2 sigma^2))."""
    return even_noise({0: math.exp(epsilon), -1: 1.0}, sigma)
