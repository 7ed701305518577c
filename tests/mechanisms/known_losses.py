"""Samplers, as the sampled audit needs them, of losses whose delta is known in closed form."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm


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


def spherical_losses(dimension, variance, shift):
    """R1SMG noise v sqrt(variance) z against the same noise moved by `shift`.

    The density is ~ r^(1-M) exp(-r^2 / (2 variance)), so radius and cosine to the shift suffice.
    """

    def log_density(square):
        return -(dimension - 1) / 2 * np.log(square) - square / (2 * variance)

    def draw(rng, n, reverse):
        radius = np.sqrt(variance) * np.abs(rng.standard_normal(n))
        cosine = rng.choice((-1, 1), n) * np.sqrt(rng.beta(0.5, (dimension - 1) / 2, n))
        square = radius**2
        moved_square = square + shift**2 - 2 * radius * shift * cosine
        losses = log_density(square) - log_density(moved_square)
        return -losses if reverse else losses

    return draw
