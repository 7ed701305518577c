"""Certificates for noise with a uniform direction and a half-normal radius: R1SMG, product noise.

This module integrates P and Q over the radius; the checker integrates over the direction.
"""

import math

import mpmath
import numpy as np
import scipy

from claims.certificates.certificate_format import (
    Certificate,
    certificate,
    digits,
    exact,
    lower_bound,
    rounded,
    size,
)
from claims.judged_rows import calibrated
from mechanisms import Budget, Query
from mechanisms.catalogue.product_noise import log_k_for, log_stated_delta
from papers.r1smg2024 import GRADIENT

# The panels, nodes and range of the quadrature over log(radius / sigma).
_PANELS, _NODES, _LOG_RADIUS = 800, 16, (-36.0, 2.6)


def ball_probabilities(size: int, rho: float, tau: float) -> tuple[float, float]:
    """Return P and Q of {|y - x| <= sqrt(1 - tau^2) |y - x'|} for half-normal spherical noise.

    Args:
        size: The number of elements M, at least 3.
        rho: The distance |x - x'| / sigma, above 0; the radius is sigma |z|, z ~ N(0, 1).
        tau: The parameter of the event, in (0, 1).
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


def ball(
    query: Query, sigma: float, epsilon: float, rate: float = 1.0
) -> tuple[dict, dict, dict[str, str]]:
    """Return neighbours, event and bound for spherical noise with a half-normal radius.

    The privacy loss of an output that lies kappa times as far from x' as from x is
    (M - 1) ln kappa plus a small term from the radius.

    Args:
        rate: The probability in (0, 1] that the sample holds the record in which x and x' differ.
    """
    loss = math.log1p(math.expm1(epsilon) / rate)
    tau = float(f"{math.sqrt(-math.expm1(-2 * loss / (query.size - 1))):.12g}")
    p, q = ball_probabilities(query.size, query.reach / sigma, tau)
    distance = size(exact(query.reach**2), exact(query.l2_sensitivity**2))
    neighbours = {"m": query.size, "distance_squared": distance}
    return neighbours, {"tau": repr(tau)}, lower_bound(p, q, epsilon, rate)


def r1smg(setting: str, query: Query, budget: Budget) -> Certificate:
    """Return the certificate that refutes R1SMG as published."""
    sigma = calibrated("r1smg", query, budget).noise.scale / math.sqrt(2)
    neighbours, event, bound = ball(query, sigma, budget.epsilon)
    return certificate(setting, "r1smg", budget, neighbours, {"scale": digits(sigma)}, event, bound)


def r1smg_step(setting: str, step: Budget, total: Budget, rate: float) -> Certificate:
    """Return a certificate that refutes the total of DP-SGD with R1SMG by one sampled step."""
    sigma = calibrated("r1smg", GRADIENT, step).noise.scale / math.sqrt(2)
    neighbours, event, bound = ball(GRADIENT, sigma, total.epsilon, rate)
    own = {"epsilon": exact(step.epsilon), "delta": exact(step.delta), "rate": exact(rate)}
    noise = {"scale": digits(sigma)}
    return certificate(setting, "r1smg", total, neighbours, noise, event, bound, own)


def product_noise(
    setting: str, query: Query, budget: Budget, k: float | None = None
) -> Certificate:
    """Return the certificate that refutes product noise.

    Args:
        k: If given, the claim is the delta that is stated for k, rounded up.
    """
    if k is None:
        # The stated delta falls with k, so round k up to keep delta within the budget.
        log_k = log_k_for(query.size, budget.epsilon, budget.delta)
        text = digits(math.exp(log_k) * (1 + 1e-10))
    else:
        log_stated = log_stated_delta(query.size, budget.epsilon, math.log(k))
        with mpmath.workdps(40):
            stated = float(rounded(mpmath.exp(log_stated) * (1 + 1e-10), 12, up=True))
        budget, text = Budget(epsilon=budget.epsilon, delta=stated), str(k)
    pure = Budget(epsilon=budget.epsilon)
    noise = calibrated("product-noise", query, pure, k=float(text)).noise
    sigma = noise.scale / math.sqrt(2)
    neighbours, event, bound = ball(query, sigma, budget.epsilon)
    noise = {"k": text, "scale": digits(sigma)}
    return certificate(setting, "product_noise", budget, neighbours, noise, event, bound)
