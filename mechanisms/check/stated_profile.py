"""Does a privacy profile agree with itself, with its losses, and with the noise it comes from?"""

import time
from collections.abc import Iterator

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.check.audit_statistics import LOSS_ROUNDING, hockey_stick
from mechanisms.check.events import EPSILONS, ROUNDING, event_bounds
from mechanisms.check.timed_releases import LEAST, LOOK
from mechanisms.privacy.profile import PrivacyProfile


def find_wrong_curve(profile: PrivacyProfile, epsilon: float) -> Iterator[str]:
    """Sentences on a stated delta that is not a probability, or grows with epsilon.

    Args:
        epsilon: The claimed epsilon, looked at beside `EPSILONS`.
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


def find_other_profile(mechanism: AdditiveMechanism, profile: PrivacyProfile) -> Iterator[str]:
    """Sentences where a profile excludes that of the noise, which is only added.

    Both contain the delta of the worst pair, however wide their bounds are.
    """
    if not mechanism.only_adds_noise:
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
