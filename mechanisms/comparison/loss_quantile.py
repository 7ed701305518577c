"""Quantiles of the loss ||W n||^2 of additive noise n, W the queries that are asked of the answer.

There are three ways, the most exact first: the noise's survival function in closed form; its
cumulants, where they show that the loss is nearly normal; and draws. Where an answer is too large
to draw often enough there is no quantile.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy

from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.query.query import Unsupported
from mechanisms.strategies.workload import Explicit, Identity, Workload

CLOSED_FORM, CUMULANTS, SAMPLED = "closed form", "cumulants", "sampled"
# Skewness and excess kurtosis up to which the Cornish-Fisher expansion is used: at this limit it
# is within 2e-4 of the 99% quantile of a chi-squared variable.
NEARLY_NORMAL = 0.1
# Draws of the loss: at most, at least for a quantile, and at least for a mean.
MOST_DRAWS, LEAST_DRAWS, LEAST_FOR_MEAN = 10_000, 1_000, 30
# Floats drawn in all, and multiplications with dense Gram matrices: about a second each.
MOST_FLOATS, MOST_PRODUCTS = 1 << 25, 1 << 31
_AT_ONCE = 1 << 22
Seed = int | list[int]


class Quantile(NamedTuple):
    """A quantile of the loss and how it was computed; NaN and an empty text if it is unknown.

    error: Its relative standard error, 0 unless it is sampled.
    """

    value: float
    source: str
    error: float = 0.0


def loss_quantile(
    noise: Noise,
    factors: tuple[Workload, ...],
    probability: float,
    seed: Seed = 0,
    most: int = MOST_DRAWS,
) -> Quantile:
    """The `probability` quantile of ||W n||^2, W the Kronecker product of `factors`.

    probability: in (0.5, 1). seed, most: of the draws, if any; most is at least 1000.
    """
    if all(isinstance(factor, Identity) for factor in factors):
        closed = _inverted_survival(noise, probability)
        if closed is not None:
            return Quantile(closed, CLOSED_FORM)
        expanded = _cornish_fisher(noise, probability)
        if expanded is not None:
            return Quantile(expanded, CUMULANTS)
    losses = sampled_losses(noise, factors, least=LEAST_DRAWS, most=most, seed=seed)
    if losses is None:
        return Quantile(math.nan, "")
    # The rank of the quantile among the draws is binomial.
    spread = math.sqrt(probability * (1 - probability) / len(losses))
    low, value, high = np.quantile(
        losses, np.clip(probability + spread * np.array([-1, 0, 1]), 0, 1)
    )
    return Quantile(float(value), SAMPLED, float((high - low) / (2 * value)) if value else 0.0)


def sampled_losses(
    noise: Noise,
    factors: tuple[Workload, ...],
    *,
    least: int,
    most: int = MOST_DRAWS,
    seed: Seed = 0,
) -> np.ndarray | None:
    """At most `most` draws of ||W n||^2 = n^T V n; None where fewer than `least` are affordable."""
    count = math.prod(factor.cells for factor in factors)
    products = count * sum(map(_products, factors))
    trials = min(most, MOST_FLOATS // count, MOST_PRODUCTS // max(products, 1))
    if trials < least:
        return None
    rng = np.random.default_rng(seed)
    losses, at_once = np.empty(trials), max(1, _AT_ONCE // count)
    for start in range(0, trials, at_once):
        size = min(at_once, trials - start)
        losses[start : start + size] = weighted_squares(noise.sample(rng, size), factors)
    return losses


def weighted_squares(errors: np.ndarray, factors: tuple[Workload, ...]) -> np.ndarray:
    """||W n||^2 of each error n, (count, *shape)."""
    errors = errors.reshape(len(errors), *(factor.cells for factor in factors))
    weighted = errors
    for axis, factor in enumerate(factors, 1):
        moved = np.moveaxis(weighted, axis, -1)
        weighted = np.moveaxis(factor.gram_times(moved), -1, axis)
    return np.sum(errors * weighted, axis=tuple(range(1, errors.ndim)))


def _products(workload: Workload) -> int:
    """Multiplications of `gram_times` for each number that it is given; 0 without a matrix."""
    if isinstance(workload, Explicit):
        return workload.queries
    return workload.cells if type(workload).gram_times is Workload.gram_times else 0


def _inverted_survival(noise: Noise, probability: float) -> float | None:
    """Where the survival function of the loss is 1 - probability, if it has a closed form."""
    tail = 1 - probability
    mean = noise.loss().mean if noise.squared_norm_survival(np.ones(1)) is not None else math.inf
    if not 0 < mean < math.inf:
        return None

    def excess(threshold: float) -> float:
        return float(noise.squared_norm_survival(np.array([threshold]))[0]) - tail

    # Markov: P(L > E L / tail) <= tail.
    return float(scipy.optimize.brentq(excess, 0.0, mean / tail, xtol=1e-12 * mean, rtol=1e-12))


def _cornish_fisher(noise: Noise, probability: float) -> float | None:
    """The quantile from four cumulants (Cornish and Fisher 1938), if the loss is nearly normal."""
    try:
        moments: LossMoments = noise.loss()
    except Unsupported:
        return None
    skew, excess = moments.central_skewness, moments.central_kurtosis - 3
    if not (abs(skew) <= NEARLY_NORMAL and abs(excess) <= NEARLY_NORMAL):
        return None
    z = float(scipy.special.ndtri(probability))
    shift = (z**2 - 1) * skew / 6 + (z**3 - 3 * z) * excess / 24 - (2 * z**3 - 5 * z) * skew**2 / 36
    return moments.mean + math.sqrt(moments.variance) * (z + shift)
