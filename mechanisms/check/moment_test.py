"""Compares draws with a stated mean, without any assumption on the shape of their distribution."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.check.events import ROUNDING, TAIL
from mechanisms.query.query import Inconsistent, Unsupported

# Blocks of draws whose means vote. With more blocks smaller deviations would count, but each mean
# would be over fewer draws.
BLOCKS = 16


@dataclass(frozen=True)
class StatedMean:
    """The stated moments of one draw: its mean, its variance and, where known, E(X - mean)^4."""

    mean: float
    variance: float
    fourth: float | None = None

    def interval(self, size: int, share: float) -> tuple[float, float]:
        """An interval for the mean of `size` draws; an end fails with probability `share` at most.

        By the inequalities of Cantelli and, with the fourth moment, of Markov: E(mean of n - mu)^4
        = (mu_4 + 3 (n - 1) variance^2) / n^3.
        """
        reach = math.sqrt(self.variance / size * (1 / share - 1))
        if self.fourth is not None:
            spread = (self.fourth / size + 3 * (1 - 1 / size) * self.variance**2) / size**2
            reach = min(reach, (spread / share) ** 0.25)
        return self.mean - reach, self.mean + reach


@dataclass(frozen=True)
class Deviation:
    """A mean of draws, and the interval that it should lie in and does not."""

    found: float
    lower: float
    upper: float


def deviation(
    draws: np.ndarray, stated: StatedMean, tail: float, rounding: float = 0.0
) -> Deviation | None:
    """How independent draws, all of them >= 0, contradict their stated mean, or None.

    Two bounds, neither of which needs more than the stated moments:

    - Median of means: of K blocks of draws at least half must have a mean beyond the same end of
      the interval that one block's mean leaves with probability p, where
      P(Binomial(K, p) >= K / 2) is `tail`. A test that assumes normal draws would see deviations
      about a third as large.
    - From below also the mean of all n: P(mean <= mu - t) <= exp(-n t^2 / (2 E X^2)) for X >= 0
      (Maurer, A bound on the deviation probability for sums of non-negative random variables,
      2003).

    Each of the three sides errs with probability at most `tail`.

    Args:
        draws: (n,), n >= 1.
        rounding: Relative width of rounding errors, by which the intervals grow.
    """
    slack = rounding * abs(stated.mean)
    second = stated.variance + stated.mean**2
    least = stated.mean - math.sqrt(-2 * math.log(tail) * second / len(draws)) - slack
    if draws.mean() < least:
        return Deviation(float(draws.mean()), least, math.inf)
    blocks = min(len(draws), BLOCKS)
    size = len(draws) // blocks
    half = (blocks + 1) // 2
    share = float(scipy.special.betaincinv(half, blocks - half + 1, tail))
    lower, upper = stated.interval(size, share)
    lower, upper = lower - slack, upper + slack
    ordered = np.sort(draws[: blocks * size].reshape(blocks, size).mean(axis=1))
    for middle in (ordered[half - 1], ordered[blocks - half]):
        if not lower <= middle <= upper:
            return Deviation(float(middle), lower, upper)
    return None


def stated_moments(mechanism: AdditiveMechanism) -> tuple[float, float, float] | None:
    """Mean, variance and E(L - mean)^4 of the loss L = ||noise||^2, or None if not all known.

    Raises:
        Inconsistent: One of them is stated and is not a number.
    """
    try:
        mean, variance, _, fourth = mechanism.loss().cumulants
    except Unsupported:
        return None
    moments = mean, variance, fourth + 3 * variance * variance
    if any(map(math.isnan, (mean, variance, fourth))):
        raise Inconsistent("the moments stated for the squared norm of the noise are NaN")
    return moments if all(map(math.isfinite, moments)) else None


def find_wrong_moments(
    noise: np.ndarray, stated: tuple[float, float, float], value: np.ndarray, where: str
) -> Iterator[str]:
    """Sentences on noise (n, *shape) that contradicts what is stated of its squared norm.

    Args:
        stated: As `stated_moments` returns them.
        value: The released value; sums with it are rounded.
        where: Which releases these are, in words.
    """
    # In units of the mean, as powers of large losses are beyond the largest float.
    unit = stated[0] or 1.0
    mean, variance = stated[0] / unit, stated[1] / unit / unit
    fourth = stated[2] / unit / unit / unit / unit
    flat = noise.reshape(len(noise), -1) / math.sqrt(unit)
    losses = np.vecdot(flat, flat)
    # The largest change of a loss by rounding to the precision of the answers.
    single = value.dtype == np.float32
    error = float(np.finfo(value.dtype).eps) * math.sqrt(value.size) * float(np.abs(value).max())
    relative = error / math.sqrt(unit) if mean else 0.0
    rounding = 2 * relative + relative**2 + (1e-5 if single else 1e-9)
    found = deviation(losses, StatedMean(mean, variance, fourth), TAIL, rounding)
    if found is not None:
        yield (
            f"the noise of {len(losses)} releases {where} has a mean squared norm of "
            f"{found.found * unit:.4g}; the mechanism states {stated[0]:.4g}, for which chance "
            f"allows [{found.lower * unit:.4g}, {found.upper * unit:.4g}]"
        )
    squares = (losses - mean) ** 2
    spread = StatedMean(variance, fourth - variance**2)
    if single or rounding > 1e-3 * math.sqrt(variance) / (mean or 1.0):
        return
    found = deviation(squares, spread, TAIL, ROUNDING)
    if found is not None:
        yield (
            f"the squared norm of the noise of {len(losses)} releases {where} has a variance "
            f"of {found.found * unit * unit:.4g}; the mechanism states {stated[1]:.4g}, for which "
            f"chance allows [{found.lower * unit * unit:.4g}, {found.upper * unit * unit:.4g}]: "
            "elements or releases depend on each other, or the noise has other tails"
        )
