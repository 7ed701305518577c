"""Losses whose delta is known in closed form, with samplers as the sampled audit needs them."""

import itertools
import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from mechanisms.privacy.numerics import unit_gauss_legendre


def gaussian_delta(mu, epsilon):
    """Balle and Wang 2018, Theorem 8."""
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def gaussian_sigma(epsilon, delta=1e-5):
    """The sigma that has this delta at epsilon, for l2 sensitivity 1."""
    return brentq(lambda sigma: gaussian_delta(1 / sigma, epsilon) - delta, 0.05, 100, xtol=1e-13)


def gaussian_losses(mu):
    """N(0, 1) against N(mu, 1): the loss is N(+-mu^2/2, mu^2)."""

    def draw(rng, n, reverse):
        return rng.normal(-(mu**2) / 2 if reverse else mu**2 / 2, mu, n)

    return draw


def randomised_response_losses(keep):
    """With probability `keep`, P and Q each show their own value; otherwise both show noise."""

    def draw(rng, n, reverse):
        return np.where(rng.random(n) < keep, -np.inf if reverse else np.inf, 0.0)

    return draw


def laplace_losses(epsilon):
    """Laplace noise of scale 1 around 0 (P) and around epsilon (Q)."""

    def draw(rng, n, reverse):
        x = rng.laplace(size=n) + (epsilon if reverse else 0.0)
        return np.clip(epsilon - 2 * x, -epsilon, epsilon)

    return draw


def laplace_delta(epsilon, shifts, nodes=24):
    """delta of Laplace noise of scale 1 on shifted components, by nested quadrature over losses."""
    first, *others = sorted((abs(t) for t in shifts if t), reverse=True) or [0.0]
    epsilon = np.asarray(epsilon, dtype=float)
    if not others:
        inside = -np.expm1(np.minimum(epsilon - first, 0) / 2)
        return np.where(epsilon <= -first, -np.expm1(np.minimum(epsilon, 0)), inside)
    # The kinks in delta of the others as a function of the loss of the first.
    sums = np.array([sum(signs) for signs in itertools.product(*((-t, t) for t in others))])
    ends = np.sort(np.clip(np.r_[-first, epsilon - sums, first], -first, first))
    unit, weights = unit_gauss_legendre(nodes)
    loss = (ends[:-1, None] + np.diff(ends)[:, None] * unit).ravel()
    mass = (np.diff(ends)[:, None] * weights).ravel() * np.exp((loss - first) / 2) / 4
    loss = np.r_[loss, first, -first]
    mass = np.r_[mass, 0.5, math.exp(-first) / 2]
    if len(others) == 1:
        return float(mass @ laplace_delta(epsilon - loss, others))
    return float(mass @ [laplace_delta(epsilon - each, others, nodes) for each in loss])
