"""Renyi accounting of Laplace noise of known random rates, over an l2 ball of changes.

The published code of PLRV-O (Yang et al. 2025, arXiv:2509.06264) accounts for its noise this way.
The rates are Gamma(k, theta); the moments of the loss of one element are sums of exponentials of
its change, so that their logarithms are convex in each |D_i| and rise with it. Their sum over the
elements is Schur-convex, and largest at a vector that majorises the ball.
"""

import functools
import math

import numpy as np
import scipy

# The orders that the published search for epsilon tries.
ORDERS = np.arange(1, 81)
# Elements that are summed one by one; the others by an integral, right to about 1e-8 of them.
_SUMMED, _NODES = 512, 48


def majorant(elements: int) -> tuple[np.ndarray, np.ndarray]:
    """g_i = sqrt(i) - sqrt(i - 1), i = 1..M, and how often each counts.

    Its partial sums are sqrt(i), which no sorted |D| of l2 norm 1 exceeds: C g majorises, weakly,
    every change of the l2 ball of radius C. Beyond 512 elements a Gauss-Legendre rule over log i
    stands for the sum (midpoint rule in reverse).
    """
    first = np.arange(1, min(elements, _SUMMED) + 1, dtype=float)
    if elements <= _SUMMED:
        return _steps(first), np.ones(first.size)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    low, high = math.log(_SUMMED + 0.5), math.log(elements + 0.5)
    i = np.exp((low + high) / 2 + (high - low) / 2 * nodes)
    return (
        np.concatenate([_steps(first), _steps(i)]),
        np.concatenate([np.ones(first.size), (high - low) / 2 * weights * i]),
    )


def _steps(i: np.ndarray) -> np.ndarray:
    return 1 / (np.sqrt(i) + np.sqrt(i - 1))


def stated_epsilon(elements: int, order: float, reach: float, delta: float) -> float:
    """The epsilon of one release that the published code states at theta C = `reach`, k = `order`.

    With n = lambda + 1, one release of everybody (rate 1, one step) has

        a(lambda) = sum_i log [ n / (2n - 1) (1 - lambda reach g_i)^-k
                                + (n - 1) / (2n - 1) (1 + n reach g_i)^-k ],

    the moment of the loss of independent Laplace noise whose rates are known, and

        epsilon = min a / lambda + log(lambda / n) - (log delta + log n) / lambda,  lambda = 1..80.

    inf where no moment is finite.
    """
    g, times = majorant(elements)
    orders = ORDERS[ORDERS * reach * g[0] < 1]
    if not orders.size:
        return math.inf
    n = orders[:, None] + 1.0
    grows = np.log(n / (2 * n - 1)) - order * np.log1p(-orders[:, None] * reach * g)
    falls = np.log((n - 1) / (2 * n - 1)) - order * np.log1p(n * reach * g)
    moment = np.logaddexp(grows, falls) @ times
    return float(np.min(moment / orders + _conversion(orders, delta)))


def _conversion(orders: np.ndarray, delta: float) -> np.ndarray:
    return np.log(orders / (orders + 1)) - (math.log(delta) + np.log(orders + 1)) / orders


def least_epsilon(delta: float) -> float:
    """The stated epsilon as the noise grows without bound; above 0, as the orders end at 80."""
    return float(_conversion(ORDERS, delta).min())


@functools.lru_cache(maxsize=256)
def largest_reach(elements: int, order: float, epsilon: float, delta: float) -> float:
    """The largest theta C whose stated epsilon is at most `epsilon`."""

    def excess(log_reach: float) -> float:
        # Beyond the first order's range epsilon is infinite.
        stated = stated_epsilon(elements, order, math.exp(log_reach), delta)
        return min(stated, 1e300) - epsilon

    low = high = math.log(epsilon / (order + 1))
    while excess(low) > 0:
        low -= 1.0
    while excess(high) < 0:
        high += 1.0
    return math.exp(float(scipy.optimize.brentq(excess, low, high, xtol=1e-13, maxiter=500)))
