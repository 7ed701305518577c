"""Does a calibrated mechanism agree with itself? Its releases against what it states of them.

Three statements are compared with draws of `release` itself: the moments of the noise; that it is
drawn afresh and independently of the value; and the privacy profile, which must not promise more
than a test that distinguishes the releases of two neighbouring values allows. The profile is also
compared with the losses that it draws and with the profile of the noise it comes from.

All bounds hold for every sample size and distribution: a mechanism that agrees with itself is
accused with probability `events.ERROR` at most.
"""

from dataclasses import dataclass

import numpy as np

from mechanisms.base.mechanism import Mechanism
from mechanisms.query.query import Inconsistent
from mechanisms.verification.contradictions import Contradictions
from mechanisms.verification.timed_releases import Effort

# By default: at most 2 s for an answer of 7921 elements.
THOROUGH = Effort(numbers=1 << 22, releases=1 << 14, seconds=1.0)
# In every study, once for each shape of a cell.
QUICK = Effort(numbers=1 << 19, releases=512, seconds=0.2)
# In every study, at every further budget.
GLIMPSE = Effort(numbers=1 << 17, releases=64, seconds=0.02)


@dataclass(frozen=True)
class Comparison:
    """How many releases agreed with what a mechanism states, or why none was compared with it."""

    releases: int
    missing: str = ""


def require_consistent(mechanism: Mechanism, *, seed: int, effort: Effort = THOROUGH) -> Comparison:
    """Raise Inconsistent, with a sentence, where a mechanism contradicts itself.

    Args:
        mechanism: Calibrated at either calibration.
        seed: Of the draws; the check takes nothing from any other generator.

    Raises:
        Inconsistent: See the head of this module.
        ReleaseError: A release breaks its contract.
    """
    check = Contradictions(mechanism, np.random.default_rng(seed), effort)
    for sentence in check.sentences():
        raise Inconsistent(sentence)
    if check.compared:
        return Comparison(check.source.drawn)
    return Comparison(0, check.missing or "nothing that it states can be compared with releases")


def require_stated_norms(mechanism: Mechanism, *, seed: int) -> None:
    """Raise Inconsistent where the norms of few releases contradict what the noise states.

    For mechanisms that `require_consistent` has compared at another budget. One that states nothing
    of its norm, takes too long or is not additive passes.

    Args, Raises: As for `require_consistent`.
    """
    check = Contradictions(mechanism, np.random.default_rng(seed), GLIMPSE)
    for sentence in check.sentences_on_norms():
        raise Inconsistent(sentence)
