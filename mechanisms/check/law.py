"""Checks that noise has its stated law at every value: its moments, norm and symmetry."""

import dataclasses
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.check.audit_statistics import ROUNDING, TAIL, least_probability
from mechanisms.check.evidence import Evidence, degrees_of_norm, projected
from mechanisms.check.neighbours import DRAWS_PER_ELEMENT, is_allowed
from mechanisms.query.query import Inconsistent, Query, Unsupported
from mechanisms.strategies.workload import Identity

# Blocks of draws whose means vote. With more blocks smaller deviations would count, but each mean
# would be over fewer draws.
BLOCKS = 16
# The relative rounding error of a norm.
NORM_ROUNDING = 1e-9
# Normal scores are clipped to [-FAR, FAR]: beyond, they show the rounding of a probability.
FAR = 8.0
# Probabilities are clipped to at least this, which corresponds to FAR.
FARTHEST = 1e-15
# Places of a sorted sample at which its distribution is compared with the stated one.
PLACES = 1 << 12
# Noise is scaled by FACTOR, up to the relative error CLOSED_FORM, which noise on a grid needs. The
# variance of a workload is computed for axes of up to MOST_CELLS.
FACTOR, CLOSED_FORM, MOST_CELLS = 3.0, 1e-3, 1 << 10
# The covariance of vectors is computed for up to this many elements.
LONGEST_COLUMN = 256
# A large value is the random value times this.
LARGE = 1e4
# The share of the elements of a sparse value that differ from the constant.
SPARSE = 0.05


@dataclass(frozen=True)
class StatedMean:
    """The stated moments of a draw X: its mean, its variance and, if known, E(X - mean)^4."""

    mean: float
    variance: float
    fourth: float | None = None

    def interval(self, size: int, share: float) -> tuple[float, float]:
        """Return an interval for the mean of `size` draws.

        The mean is beyond either end with probability at most `share`, by Cantelli's inequality
        and, with the fourth moment, Markov's: E(mean of n - mu)^4 = (mu_4 + 3 (n - 1) variance^2)
        / n^3.
        """
        reach = math.sqrt(self.variance / size * (1 / share - 1))
        if self.fourth is not None:
            spread = (self.fourth / size + 3 * (1 - 1 / size) * self.variance**2) / size**2
            reach = min(reach, (spread / share) ** 0.25)
        return self.mean - reach, self.mean + reach


def deviation(
    draws: np.ndarray, stated: StatedMean, tail: float, rounding: float = 0.0
) -> tuple[float, float, float] | None:
    """Return a mean of draws and the interval that it lies outside of; None if it lies inside.

    Two bounds are used, which need only the stated moments:

    - Median of means. The mean of a block of draws is beyond one end of an interval with a
      probability of at most p, where P(Binomial(K, p) >= K / 2) is `tail`. Half of the K blocks or
      more must be beyond the same end. A test that assumes normal draws would see deviations about
      a third as large.
    - The mean of all n draws, from below only: P(mean <= mu - t) <= exp(-n t^2 / (2 E X^2)) for
      X >= 0 (Maurer, A bound on the deviation probability for sums of non-negative random
      variables, 2003).

    Each of the three sides errs with probability at most `tail`.

    Args:
        draws: (n,) independent draws >= 0, n >= 1.
        rounding: The relative size of rounding errors, by which the intervals grow.
    """
    slack = rounding * abs(stated.mean)
    second = stated.variance + stated.mean**2
    least = stated.mean - math.sqrt(-2 * math.log(tail) * second / len(draws)) - slack
    if draws.mean() < least:
        return float(draws.mean()), least, math.inf
    blocks = min(len(draws), BLOCKS)
    size = len(draws) // blocks
    half = (blocks + 1) // 2
    share = float(scipy.special.betaincinv(half, blocks - half + 1, tail))
    lower, upper = stated.interval(size, share)
    lower, upper = lower - slack, upper + slack
    ordered = np.sort(draws[: blocks * size].reshape(blocks, size).mean(axis=1))
    for middle in (ordered[half - 1], ordered[blocks - half]):
        if not lower <= middle <= upper:
            return float(middle), lower, upper
    return None


def stated_moments(mechanism: AdditiveMechanism) -> tuple[float, float, float] | None:
    """Return mean, variance and E(L - mean)^4 of the loss L = ||noise||^2, or None.

    It is None unless all three are known and finite.

    Raises:
        Inconsistent: A stated moment is NaN.
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
    evidence: Evidence, noise: np.ndarray, value: np.ndarray, where: str
) -> Iterator[str]:
    """Yield sentences if noise (n, *shape) contradicts the stated moments of its squared norm.

    Args:
        value: The released value; its sum with the noise is rounded.
        where: Which releases these are, in words.
    """
    stated = stated_moments(evidence.mechanism)
    if stated is None:
        return
    evidence.compared += 1
    # In units of the mean, because powers of large losses exceed the largest float.
    unit = stated[0] or 1.0
    mean, variance = stated[0] / unit, stated[1] / unit / unit
    fourth = stated[2] / unit / unit / unit / unit
    flat = noise.reshape(len(noise), -1) / math.sqrt(unit)
    losses = np.vecdot(flat, flat)
    # The largest relative change of a loss when answers are rounded to their precision.
    single = value.dtype == np.float32
    error = float(np.finfo(value.dtype).eps) * math.sqrt(value.size) * float(np.abs(value).max())
    relative = error / math.sqrt(unit) if mean else 0.0
    rounding = 2 * relative + relative**2 + (1e-5 if single else 1e-9)
    found = deviation(losses, StatedMean(mean, variance, fourth), TAIL, rounding)
    if found is not None:
        found, lower, upper = (each * unit for each in found)
        yield (
            f"the noise of {len(losses)} releases {where} has a mean squared norm of "
            f"{found:.4g}; the mechanism states {stated[0]:.4g}, for which chance "
            f"allows [{lower:.4g}, {upper:.4g}]"
        )
    if single or rounding > 1e-3 * math.sqrt(variance) / (mean or 1.0):
        return
    spread = StatedMean(variance, fourth - variance**2)
    found = deviation((losses - mean) ** 2, spread, TAIL, ROUNDING)
    if found is not None:
        found, lower, upper = (each * unit * unit for each in found)
        yield (
            f"the squared norm of the noise of {len(losses)} releases {where} has a variance "
            f"of {found:.4g}; the mechanism states {stated[1]:.4g}, for which "
            f"chance allows [{lower:.4g}, {upper:.4g}]: "
            "elements or releases depend on each other, or the noise has other tails"
        )


def mean_directions(training: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return directions for `find_asymmetry`: ones, and the draws' mean over their mean square."""
    mean, square = np.mean(training, axis=0), np.mean(training**2, axis=0)
    leaning = np.divide(mean, square, out=np.zeros(mean.shape), where=square > 0)
    return [("all elements alike", np.ones(mean.shape)), ("the mean of other releases", leaning)]


def find_asymmetry(
    noise, draws: np.ndarray, directions: Iterable[tuple[str, np.ndarray]], where: str
) -> Iterator[str]:
    """Yield sentences if draws (n, *shape) of noise that states symmetry lean to one side.

    Along any fixed direction symmetric noise is as often positive as negative, however its elements
    depend on each other. Draws that are orthogonal to the direction do not count.

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
        # The test has two sides, and each errs with probability TAIL.
        if least_probability(max(hits, trials - hits), trials, TAIL) > 0.5:
            yield (
                f"the noise leans to one side: along {name}, {hits} of {trials} releases {where} "
                "are positive; the noise states that it is symmetric, which gives half"
            )


def find_wrong_norms(noise, norms: np.ndarray, rounding: float, where: str) -> Iterator[str]:
    """Yield sentences if the squares of norms (n,) do not follow `squared_norm_survival`.

    Three tests are made:

    - The distance of the distributions, as in `find_dependence_on_value`.
    - The size, of which fewer draws show a small excess. On a scale on which the squares are
      chi-squared with k degrees of freedom, their sum has n k. With k of the mean and variance of
      the loss, this is the likelihood-ratio test of the scale for Gaussian noise and R1SMG.
    - The spread. On a scale on which the norms are standard normal, the sum of n squares is
      chi-squared.

    Args:
        rounding: How far rounding may have moved a norm.
        where: Which releases these are, in words.
    """
    norms = np.sort(norms)
    # The norm itself is rounded too, which matters if its law has atoms.
    survival = _survival(noise, norms, rounding + NORM_ROUNDING * norms)
    if survival is None:
        return
    reached, above = survival
    if not all(((stated >= 0) & (stated <= 1)).all() for stated in survival):
        yield "squared_norm_survival of the noise states numbers that are not probabilities"
        return
    what = f"the norm of the noise of {len(norms)} releases {where}"
    yield from _of_distance(reached, above, np.arange(len(norms)), len(norms), what)
    # The score of a norm that rounding may have moved lies between two numbers.
    what = f"the norms of the noise of {len(norms)} releases {where}"
    yield from _of_sizes(reached, above, degrees_of_norm(noise), what)
    low, high = (np.clip(-scipy.special.ndtri(each), -FAR, FAR) for each in (reached, above))
    yield from _of_spread(low, high, what)


def _survival(
    noise, norms: np.ndarray, rounding: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the stated survival at each norm minus and plus `rounding`; None if not stated."""
    above = noise.squared_norm_survival((norms + rounding) ** 2)
    if above is None:
        return None
    return noise.squared_norm_survival(np.maximum(norms - rounding, 0.0) ** 2), above


def _of_distance(
    reached: np.ndarray, above: np.ndarray, places: np.ndarray, count: int, what: str
) -> Iterator[str]:
    """Yield a sentence if the stated survival of sorted numbers does not fit their places.

    Args:
        reached, above: The stated survival a little below and a little above each number.
        places: The places of these numbers in a sample of `count`, from 0.
    """
    before, after = places / count, (places + 1) / count
    distance = float(np.maximum(after - (1 - above), (1 - reached) - before).max())
    reach = _reach(count)
    if distance > reach:
        yield (
            f"{what} has a distribution that differs by {distance:.2g} from the stated one, where "
            f"chance allows {reach:.2g}"
        )


def _reach(count: int) -> float:
    """Return how far the empirical distribution of `count` numbers may be from their law."""
    return math.sqrt(math.log(2 / TAIL) / (2 * count))


def _of_sizes(reached: np.ndarray, above: np.ndarray, degrees: float, what: str) -> Iterator[str]:
    """Yield a sentence if norms with survival from `above` to `reached` are too large or small."""
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
    """Yield a sentence if scores between `low` and `high`, both (n,), are not standard normal."""
    nearest = np.where(low * high > 0, np.minimum(low**2, high**2), 0.0).mean()
    farthest = np.maximum(low**2, high**2).mean()
    lower, upper = scipy.special.chdtri(len(low), (1 - TAIL, TAIL)) / len(low)
    if nearest > upper or farthest < lower:
        spread, found = ("far", nearest) if nearest > upper else ("little", farthest)
        yield (
            f"{what} spread too {spread}: on the scale where they are standard normal, their mean "
            f"square is {found:.3g}, where chance allows [{lower:.3g}, {upper:.3g}]"
        )


def find_wrong_elements(evidence: Evidence) -> Iterator[str]:
    """Yield a sentence if elements of noise have another distribution than one element states.

    The elements are independent and alike, so that one element is noise of shape (1,).
    """
    try:
        element = dataclasses.replace(evidence.mechanism.noise, shape=(1,))
    except (TypeError, ValueError):
        return
    sizes = np.sort(np.abs(evidence.many_sampled.ravel()))
    places = np.unique(np.linspace(0, len(sizes) - 1, PLACES).astype(int))
    found = sizes[places]
    survival = _survival(element, found, NORM_ROUNDING * found)
    if survival is not None:
        what = f"the size of {len(sizes):,} elements of the noise"
        yield from _of_distance(*survival, places, len(sizes), what)


def find_wrong_scaling(evidence: Evidence) -> Iterator[str]:
    """Yield sentences if `scaled` or `workload_variance` contradict the stated mean E ||n||^2."""
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


def vectors_of(draws: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield names and samples (k, size): the columns, the rows and the whole of draws (n, *shape).

    All columns are one sample, so that few draws suffice. A sample with too many elements for a
    covariance, or with too few draws, is left out.
    """
    samples = [("the answer", draws.reshape(len(draws), -1))]
    if draws.ndim == 3:
        samples = [
            ("a column", draws.transpose(0, 2, 1).reshape(-1, draws.shape[1])),
            ("a row", draws.reshape(-1, draws.shape[2])),
            *samples,
        ]
    for name, vectors in samples:
        count, size = vectors.shape
        if 1 < size <= LONGEST_COLUMN and count >= DRAWS_PER_ELEMENT * size:
            yield name, vectors


def find_dependent_elements(evidence: Evidence) -> Iterator[str]:
    """Yield a sentence for a direction in which the noise has another size than one element.

    Some draws choose the directions of the least and of the largest noise; others judge them. The
    fourth moment along u is 3 v^2 + (E x^4 - 3 v^2) sum u_i^4, with v = E x^2 for an element x.
    """
    noise = evidence.mechanism.noise
    try:
        mean, variance, *_ = noise.loss().cumulants
    except Unsupported:
        return
    square = mean / noise.size
    fourth = variance / noise.size + square**2
    samples = map(vectors_of, (evidence.training, evidence.test))
    for (name, chosen), (_, judged) in zip(*samples, strict=True):
        axes = np.linalg.eigh(chosen.T @ chosen)[1]
        for most, axis in (("least", axes[:, 0]), ("most", axes[:, -1])):
            along = 3 * square**2 + (fourth - 3 * square**2) * float(np.sum(axis**4))
            stated = StatedMean(square, along - square**2)
            found = deviation((judged @ axis) ** 2, stated, TAIL, rounding=1e-9)
            if found is not None:
                yield (
                    f"in the direction of {name} with the {most} noise, its mean square is "
                    f"{found[0]:.4g} in {len(judged):,} draws; the noise states independent "
                    f"elements of {square:.4g}, for which chance allows [{found[1]:.4g}, "
                    f"{found[2]:.4g}]"
                )


def other_values(
    query: Query, constant: np.ndarray, value: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield names and values of kinds that a mechanism may treat in a special way.

    Args:
        constant, value: A constant and a random value that the query allows.
    """
    for name, found in (
        ("a value of whole numbers", np.rint(value)),
        ("a large value", LARGE * value),
        ("a sparse value", np.where(rng.random(query.shape) < SPARSE, value, constant)),
        ("a value of one sign", np.abs(value)),
    ):
        if np.ptp(found) and not np.array_equal(found, value) and is_allowed(found, query):
            yield name, found


def find_dependence_on_value(
    first: np.ndarray, second: np.ndarray, value: np.ndarray
) -> Iterator[str]:
    """Yield a sentence if noise (n, *shape) of a constant and of a value differ along the value.

    By the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant, the distance of
    each empirical distribution from its law is at most sqrt(log(2 / tail) / (2 n)).
    """
    length = float(np.linalg.norm(value))
    # Differences below this do not count: far above rounding, and far below the noise.
    grid = 1e-9 * (length + np.linalg.norm(first[0])) or 1.0
    direction = value / (length or 1.0)
    one, other = (np.round(projected(draws, direction) / grid) for draws in (first, second))
    both = np.concatenate((one, other))
    # scipy.stats has this statistic too, but most of a small cell's time would be its import.
    below = [
        np.searchsorted(np.sort(each), both, side="right") / len(each) for each in (one, other)
    ]
    distance = float(np.abs(below[0] - below[1]).max())
    reach = _reach(len(one)) + _reach(len(other))
    if distance > reach:
        yield (
            f"the noise depends on the value: along the value its distribution differs by "
            f"{distance:.2g} between {len(one)} releases of a constant and {len(other)} of a "
            f"random value, where chance allows {reach:.2g}"
        )
