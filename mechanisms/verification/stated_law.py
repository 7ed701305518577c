"""Does noise follow its stated distribution, and does a privacy profile agree with its noise?

Of noise beyond its moments: its symmetry and its norm. Of a profile: its curve, the losses that it
draws, and the profile of the noise it comes from.
"""

import math
import time
from collections.abc import Iterable, Iterator

import numpy as np
import scipy

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.query import Unsupported
from mechanisms.verification.audit_statistics import clopper_pearson, hockey_stick
from mechanisms.verification.events import EPSILONS, ROUNDING, TAIL, event_bounds, projected
from mechanisms.verification.timed_releases import LEAST, LOOK

# A loss of exactly epsilon is not above it, and rounding must not put it there.
LOSS_ROUNDING = 1e-9
# Relative error of a norm.
NORM_ROUNDING = 1e-9
# Normal scores beyond this, which rounding of a probability decides, count as this.
FAR = 8.0
# Likewise, as a probability; and the degrees of freedom of the scores of norms.
FARTHEST, DEGREES = 1e-15, (0.5, 1e4)


def where_it_leans(training: np.ndarray) -> list[tuple[str, np.ndarray]]:
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
    `fresh_noise.find_dependence_on_value`. Norms that are a little too large show in fewer draws on
    the scale on which squared norms are chi-squared with k degrees of freedom: the sum of n such
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
    ranks = np.arange(len(norms) + 1) / len(norms)
    distance = float(np.maximum(ranks[1:] - (1 - above), (1 - reached) - ranks[:-1]).max())
    reach = math.sqrt(math.log(2 / TAIL) / (2 * len(norms)))
    if distance > reach:
        yield (
            f"the norm of the noise of {len(norms)} releases {where} has a distribution that "
            f"differs by {distance:.2g} from the stated one, where chance allows {reach:.2g}"
        )
    # A norm that rounding may have moved has a score between these two.
    what = f"the norms of the noise of {len(norms)} releases {where}"
    yield from _of_sizes(reached, above, degrees_of_norm(noise), what)
    low, high = (np.clip(-scipy.special.ndtri(each), -FAR, FAR) for each in (reached, above))
    yield from _of_spread(low, high, what)


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


def find_wrong_curve(profile: PrivacyProfile, epsilon: float) -> Iterator[str]:
    """Sentences on a stated delta that is not a probability, or grows with epsilon.

    Args:
        epsilon: Of the claim, looked at beside `EPSILONS`.
    """
    epsilons = np.unique(np.append(EPSILONS, epsilon))
    stated = profile.delta(epsilons)
    for name in ("lower", "value", "upper"):
        deltas = np.asarray(getattr(stated, name), dtype=float)
        wrong = ~((deltas >= 0) & (deltas <= 1 + ROUNDING))
        if wrong.any():
            place = int(np.argmax(wrong))
            yield (
                f"the profile states delta({epsilons[place]:g}) = {deltas[place]:.4g} ({name}), "
                "which is not a probability"
            )
    if (np.asarray(stated.lower)[1:] > np.asarray(stated.upper)[:-1] * (1 + ROUNDING)).any():
        yield (
            f"the profile states a delta that grows with epsilon: at least {stated.lower} at "
            f"{epsilons}"
        )


def find_wrong_losses(
    profile: PrivacyProfile, rng: np.random.Generator, count: int, seconds: float
) -> Iterator[str]:
    """Sentences on `count` privacy losses that a profile draws and the delta that it states.

    Fewer losses, but `LEAST`, where both sides would take more CPU time than `seconds`: one of
    thousands of composed releases is a sum of thousands. None where it cannot draw losses.
    """
    try:
        in_time = int(seconds / (2 * _seconds_of_one(profile)))
        count = min(count, max(LEAST, in_time))
        sides = [profile.sample_losses(rng, count, reverse=side) for side in (False, True)]
    except NotImplementedError:
        return
    claims = profile.delta(EPSILONS).upper
    lower, upper = event_bounds(sides, (0, 1), EPSILONS + LOSS_ROUNDING, above=True)
    for epsilon, claim, low, high in zip(EPSILONS, claims, lower, upper, strict=True):
        proved = float(hockey_stick(low, high, epsilon))
        if proved > claim * (1 + ROUNDING):
            yield (
                f"{count} privacy losses that the profile draws show delta({epsilon:g}) of at "
                f"least {proved:.4g}; the profile states at most {claim:.4g}"
            )


def _seconds_of_one(profile: PrivacyProfile) -> float:
    """CPU seconds of a privacy loss; the first of all may compute what later ones use."""
    rng = np.random.default_rng(0)
    profile.sample_losses(rng, 1)
    begun = time.process_time()
    profile.sample_losses(rng, LOOK)
    return max((time.process_time() - begun) / LOOK, 1e-9)


def find_other_profile(
    mechanism: AdditiveMechanism, profile: PrivacyProfile | None
) -> Iterator[str]:
    """Sentences where a profile excludes that of the noise, which is only added.

    Both contain the delta of the worst pair, however wide their bounds are.
    """
    if profile is None or not mechanism.only_adds_noise:
        return
    noise = mechanism.noise.profile(mechanism.query)
    if noise is None:
        return
    epsilons = np.array([0.0, mechanism.budget.epsilon])
    stated, true = profile.delta(epsilons), noise.delta(epsilons)
    for place, epsilon in enumerate(epsilons):
        if true.lower[place] > stated.upper[place] * (1 + ROUNDING):
            yield (
                f"the profile states delta({epsilon:g}) of at most {stated.upper[place]:.4g}, and "
                f"that of the noise has at least {true.lower[place]:.4g}"
            )
        if stated.lower[place] > true.upper[place] * (1 + ROUNDING):
            yield (
                f"the profile states delta({epsilon:g}) of at least {stated.lower[place]:.4g}, and "
                f"that of the noise has at most {true.upper[place]:.4g}; where the claim covers "
                "several releases, override profile_of_release, which is of one"
            )
