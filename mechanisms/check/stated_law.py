"""Does noise follow its stated distribution, beyond its moments?"""

import dataclasses
import math
from collections.abc import Iterable, Iterator

import numpy as np
import scipy

from mechanisms.check.audit_statistics import clopper_pearson
from mechanisms.check.events import TAIL, projected
from mechanisms.query.query import Unsupported
from mechanisms.strategies.workload import Identity

# Relative error of a norm.
NORM_ROUNDING = 1e-9
# Normal scores are cut at this: beyond it they are rounding of a probability.
FAR = 8.0
# FARTHEST is the same cut as a probability. The scores of norms have DEGREES of freedom.
FARTHEST, DEGREES = 1e-15, (0.5, 1e4)
# Elements of a sorted sample at which its distribution is compared with the stated one.
PLACES = 1 << 12
# Noise is scaled by FACTOR, up to the relative error CLOSED_FORM, which noise on a grid needs. The
# variance of a workload is computed for axes of up to MOST_CELLS.
FACTOR, CLOSED_FORM, MOST_CELLS = 3.0, 1e-3, 1 << 10


def mean_directions(training: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Directions for `find_asymmetry`: all elements alike, and where draws (n, *shape) lean to.

    The second has each element in units of its own size.
    """
    mean, square = np.mean(training, axis=0), np.mean(training**2, axis=0)
    leaning = np.divide(mean, square, out=np.zeros(mean.shape), where=square > 0)
    return [("all elements alike", np.ones(mean.shape)), ("the mean of other releases", leaning)]


def find_asymmetry(
    noise, draws: np.ndarray, directions: Iterable[tuple[str, np.ndarray]], where: str
) -> Iterator[str]:
    """Sentences on draws (n, *shape) of noise that states symmetry and leans to one side.

    Along any fixed direction symmetric noise is as often positive as negative, however its elements
    depend on each other; draws orthogonal to it say nothing.

    Args:
        noise: A `mechanisms.noise.distribution.Noise`.
        directions: Names and directions, chosen without these draws.
        where: Which releases the draws are from, in words.
    """
    if not noise.symmetric:
        return
    for name, direction in directions:
        scores = projected(draws, direction)
        hits, trials = int(np.count_nonzero(scores > 0)), int(np.count_nonzero(scores))
        if not trials:
            continue
        lower, upper = clopper_pearson(hits, trials, TAIL)
        if not lower <= 0.5 <= upper:
            yield (
                f"the noise leans to one side: along {name}, {hits} of {trials} releases {where} "
                "are positive; the noise states that it is symmetric, which gives half"
            )


def norms_of(draws: np.ndarray) -> np.ndarray:
    """The norms (n,) of draws (n, *shape)."""
    return np.linalg.norm(draws.reshape(len(draws), -1), axis=1)


def find_wrong_norms(noise, norms: np.ndarray, rounding: float, where: str) -> Iterator[str]:
    """Sentences on norms (n,) of noise whose squares do not follow `squared_norm_survival`.

    By the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant, as in
    `other_values.find_dependence_on_value`. Norms that are a little too large show in fewer draws
    on the scale on which squared norms are chi-squared with k degrees of freedom: the sum of n such
    scores has n k. With k of the mean and variance of the loss this is the likelihood's test of the
    scale for Gaussian noise and R1SMG. Norms that spread a little too far show on the scale on
    which they are standard normal, where the sum of n squares is chi-squared.

    Args:
        rounding: How far rounding may have moved a norm.
        where: Which releases these are, in words.
    """
    norms = np.sort(norms)
    # Beside that of the releases, the rounding of the norm itself: a law may have atoms.
    rounding = rounding + NORM_ROUNDING * norms
    above = noise.squared_norm_survival((norms + rounding) ** 2)
    if above is None:
        return
    reached = noise.squared_norm_survival(np.maximum(norms - rounding, 0.0) ** 2)
    if not all(((stated >= 0) & (stated <= 1)).all() for stated in (above, reached)):
        yield "squared_norm_survival of the noise states numbers that are not probabilities"
        return
    what = f"the norm of the noise of {len(norms)} releases {where}"
    yield from _of_distance(reached, above, np.arange(len(norms)), len(norms), what)
    # A norm that rounding may have moved has a score between these two.
    what = f"the norms of the noise of {len(norms)} releases {where}"
    yield from _of_sizes(reached, above, degrees_of_norm(noise), what)
    low, high = (np.clip(-scipy.special.ndtri(each), -FAR, FAR) for each in (reached, above))
    yield from _of_spread(low, high, what)


def _of_distance(
    reached: np.ndarray, above: np.ndarray, places: np.ndarray, count: int, what: str
) -> Iterator[str]:
    """A sentence on numbers of a sorted sample whose stated survival is not that of their places.

    Args:
        reached, above: The survival a little below and a little above each number.
        places: Places of these numbers in a sample of `count`, from 0.
    """
    before, after = places / count, (places + 1) / count
    distance = float(np.maximum(after - (1 - above), (1 - reached) - before).max())
    reach = math.sqrt(math.log(2 / TAIL) / (2 * count))
    if distance > reach:
        yield (
            f"{what} has a distribution that differs by {distance:.2g} from the stated one, where "
            f"chance allows {reach:.2g}"
        )


def degrees_of_norm(noise) -> float:
    """The degrees of freedom of a multiple of a chi-squared number with the loss's moments."""
    try:
        mean, variance, *_ = noise.loss().cumulants
    except Unsupported:
        return 1.0
    degrees = 2 * mean / variance * mean if variance else math.inf
    return float(np.clip(degrees, *DEGREES)) if degrees == degrees else 1.0


def _of_sizes(reached: np.ndarray, above: np.ndarray, degrees: float, what: str) -> Iterator[str]:
    """Sentences on norms whose stated probability to be exceeded is between two numbers (n,)."""
    low, high = (
        scipy.special.chdtri(degrees, np.clip(each, FARTHEST, 1.0)) for each in (reached, above)
    )
    mean = len(low) * degrees
    lower, upper = scipy.special.chdtri(mean, (1 - TAIL, TAIL)) / mean
    least, most = low.sum() / mean, high.sum() / mean
    if least > upper or most < lower:
        size, found = ("large", least) if least > upper else ("small", most)
        yield (
            f"{what} are too {size}: on the scale where their squares are chi-squared with "
            f"{degrees:.3g} degrees of freedom, they have {found:.3g} times the stated mean, where "
            f"chance allows [{lower:.3g}, {upper:.3g}]"
        )


def _of_spread(low: np.ndarray, high: np.ndarray, what: str) -> Iterator[str]:
    """Sentences on scores between `low` and `high`, both (n,), that should be standard normal."""
    nearest = np.where(low * high > 0, np.minimum(low**2, high**2), 0.0).mean()
    farthest = np.maximum(low**2, high**2).mean()
    lower, upper = scipy.special.chdtri(len(low), (1 - TAIL, TAIL)) / len(low)
    if nearest > upper or farthest < lower:
        spread, found = ("far", nearest) if nearest > upper else ("little", farthest)
        yield (
            f"{what} spread too {spread}: on the scale where they are standard normal, their mean "
            f"square is {found:.3g}, where chance allows [{lower:.3g}, {upper:.3g}]"
        )


def find_wrong_elements(evidence) -> Iterator[str]:
    """Sentences on elements of noise that have another distribution than one element states.

    For noise whose elements are independent and alike: one element is noise of the shape (1,).
    """
    try:
        element = dataclasses.replace(evidence.mechanism.noise, shape=(1,))
    except (TypeError, ValueError):
        return
    sizes = np.sort(np.abs(evidence.many_sampled.ravel()))
    places = np.unique(np.linspace(0, len(sizes) - 1, PLACES).astype(int))
    found = sizes[places]
    rounding = NORM_ROUNDING * found
    above = element.squared_norm_survival((found + rounding) ** 2)
    if above is None:
        return
    reached = element.squared_norm_survival(np.maximum(found - rounding, 0.0) ** 2)
    what = f"the size of {len(sizes):,} elements of the noise"
    yield from _of_distance(reached, above, places, len(sizes), what)


def find_wrong_scaling(evidence) -> Iterator[str]:
    """Sentences on `scaled` and `workload_variance` that contradict the stated mean E ||n||^2."""
    noise = evidence.mechanism.noise
    try:
        mean, scaled = noise.loss().mean, noise.scaled(FACTOR).loss().mean
    except (Unsupported, NotImplementedError):
        return
    if not math.isclose(scaled, FACTOR**2 * mean, rel_tol=CLOSED_FORM):
        yield (
            f"noise scaled by {FACTOR:g} states a mean squared norm of {scaled:.6g}; "
            f"{FACTOR**2:g} times that of the noise is {FACTOR**2 * mean:.6g}"
        )
    if max(noise.shape) > MOST_CELLS:
        return
    every_element = tuple(Identity(cells) for cells in noise.shape)
    stated = noise.workload_variance(every_element)
    if stated is not None and not math.isclose(stated, mean, rel_tol=CLOSED_FORM):
        yield (
            f"workload_variance of all elements is {stated:.6g}, and the stated mean squared norm "
            f"of the noise is {mean:.6g}"
        )
