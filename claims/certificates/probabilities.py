"""P and Q of the events of certificates in floating point, to choose events and to round bounds.

The methods are others than those of `check_certificate.py`, wherever there are others: spherical
noise is integrated over its radius, not over its direction.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import scipy

# Nodes of the quadrature over the logarithm of the radius, in units of sigma.
_PANELS, _NODES, _LOG_RADIUS = 800, 16, (-36.0, 2.6)


def ball_probabilities(size: int, rho: float, tau: float) -> tuple[float, float]:
    """P and Q of {|y - x| <= sqrt(1 - tau^2) |y - x'|} for half-normal spherical noise.

    Args:
        size: M, at least 3.
        rho: |x - x'| / sigma.
        tau: In (0, 1).
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.linspace(*_LOG_RADIUS, _PANELS + 1)
    half = np.diff(edges)[:, None] / 2
    z = np.exp((edges[:-1, None] + half) + half * nodes).ravel()
    mass = (half * weights).ravel() * z * 2 * scipy.stats.norm.pdf(z)
    r = z / rho
    excess = tau**2 / (1 - tau**2)
    inside = scipy.special.betainc(0.5, (size - 1) / 2, _square((1 - excess * r**2) / (2 * r)))
    inside = 0.5 * (1 + np.sign(1 - excess * r**2) * inside)
    outside = scipy.special.betaincc(0.5, (size - 1) / 2, _square((tau**2 * r**2 + 1) / (2 * r)))
    return float(mass @ inside), float(mass @ outside / 2)


def _square(cosine: np.ndarray) -> np.ndarray:
    return np.minimum(cosine**2, 1.0)


def half_space_probabilities(z: float, mu: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    """P and Q of {<y - x, x' - x> <= z sigma |x' - x|} for Gaussian noise, |x - x'| = mu sigma."""
    return mpmath.ncdf(z), mpmath.ncdf(mpmath.mpf(z) - mu)


def score_laws(loss: float, cells: int, changed: int) -> np.ndarray:
    """The law of the sum of the scores for x, under Laplace noise; for x' it is its mirror image.

    Args:
        loss: Change of a component over the scale of the noise.
        cells: Parts of the line between x_i and x'_i; a score is how many middles y_i passes.
        changed: Components that differ.
    """
    middles = (2 * np.arange(cells) + 1) / (2 * cells)
    tails = np.concatenate([[1.0], np.exp(-loss * middles) / 2, [0.0]])
    one = -np.diff(tails)[::-1]
    law = np.ones(1)
    for _ in range(changed):
        law = np.convolve(law, one)
    return law


def with_kept(
    pair: tuple[mpmath.mpf, mpmath.mpf], log_keep: float, changed: int
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """P and Q of: some y_i = x_i, or the event with no y_i = x'_i; log_keep is that of p."""
    noisy = mpmath.exp(changed * mpmath.log1p(-mpmath.exp(log_keep)))
    return 1 - noisy * (1 - pair[0]), noisy * pair[1]


def best_score(law: np.ndarray, epsilon: float) -> tuple[int, float, float]:
    """The score from which on P - e^epsilon Q is largest, with P and Q."""
    above = np.cumsum(law[::-1])[::-1]
    below = np.cumsum(law)[::-1]
    gains = above - math.exp(min(epsilon, 700.0)) * below
    score = int(np.argmax(gains[1:])) + 1
    return score, float(above[score]), float(below[score])
