"""Releases for the comparison of a mechanism with itself, as many as an effort allows."""

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.base.mechanism import Mechanism

FEWEST = 4
# Fewer than LEAST releases of each of two values show only plain differences. Noise that is added
# has LEAST_OF_NOISE, or fewer if they take long: its moments are compared too.
LEAST, LEAST_OF_NOISE = 64, 128
# The time of a release is measured on this many, where a mechanism draws many at once.
LOOK = 16
# Multiples of the seconds of an effort: after PATIENCE times as long no further comparison begins,
# and one that would take longer than MOST_PATIENCE times as long is not made.
PATIENCE, MOST_PATIENCE = 3, 10
# Studies release by these too; a mechanism may have its own.
OTHER_RELEASES = ("release_all", "release_with_diagnostics")


@dataclass(frozen=True)
class Effort:
    """How much a check may draw.

    numbers, releases: A sample of noise is about min(numbers / M, releases) / 4 releases of M
    elements, one of other answers about min(numbers / (8 M), releases). An answer of more than
    `numbers` elements is not released at all, and nothing is compared.
    seconds: CPU time of all releases. A slow mechanism is released less often, but no less than a
    comparison needs where that takes at most `MOST_PATIENCE` times as long.
    """

    numbers: int
    releases: int
    seconds: float


@dataclass
class TimedReleases:
    """Draws releases, counts them, and says how many a comparison may have."""

    mechanism: Mechanism
    rng: np.random.Generator
    effort: Effort
    drawn: int = 0
    # CPU seconds of the releases, and of one draw of noise by `sample`.
    spent: float = 0.0
    seconds_of_draw: float = 0.0

    @cached_property
    def most(self) -> int:
        """How many releases the effort allows in all."""
        wanted = self.effort.numbers // self.mechanism.query.size
        return int(np.clip(wanted, FEWEST, self.effort.releases))

    def answers(self, value: np.ndarray, count: int, way: str | None = None) -> np.ndarray:
        """Releases of `value`, (count, *shape), by `release` or another method that releases."""
        begun = time.process_time()
        if way is not None:
            drawn = released_by(self.mechanism, way, value, count, self.rng)
        elif count > 1:
            drawn = self.mechanism.releases(value, self.rng, count)
        else:
            drawn = self.mechanism.release(value, self.rng)[None]
        self.spent += time.process_time() - begun
        self.drawn += count
        return drawn

    def sample(self, count: int) -> np.ndarray:
        """Draws of the noise of an additive mechanism, (count, *shape), all at once."""
        begun = time.process_time()
        drawn = self.mechanism.sample(self.rng, count)
        self.seconds_of_draw = max((time.process_time() - begun) / count, 1e-9)
        return drawn

    def seconds_of_one(self, value: np.ndarray, way: str | None = None) -> float:
        """CPU seconds of a release; the first of all may load and compute what later ones use."""
        self.answers(value, 1, way)
        before, count = self.spent, LOOK if self.mechanism.draws_many() and way is None else 1
        self.answers(value, count, way)
        return max((self.spent - before) / count, 1e-7)

    def affordable(self, value: np.ndarray, count: int, way: str) -> int:
        """How many releases of each of two values another method may make: `count`, or fewer.

        0 where `LEAST` take longer than the effort: some methods draw several chains for one.
        """
        found = min(count, int(self.effort.seconds / (2 * self.seconds_of_one(value, way))))
        return found if found >= LEAST else 0

    def count(self, seconds: float, samples: int, least: int, fewest: int, most: int) -> int:
        """Releases in each of some samples: as many as there is time for, `least` to `most`.

        Fewer where these take too long; 0 where `fewest` do.
        """
        in_time = self.effort.seconds / (samples * seconds)
        count = min(most, max(int(in_time), least), int(MOST_PATIENCE * in_time))
        return count if count >= min(fewest, most) else 0

    def time_is_up(self) -> bool:
        """Whether no further comparison should begin."""
        return self.spent > PATIENCE * self.effort.seconds


def other_releases(mechanism: Mechanism) -> list[str]:
    """The methods that release, but for `release`, which the mechanism's classes define."""
    return [
        name
        for name in OTHER_RELEASES
        if getattr(type(mechanism), f"_{name}") is not getattr(Mechanism, f"_{name}")
    ]


def released_by(
    mechanism: Mechanism, name: str, value: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Releases (count, *shape) of a value by the method of that name."""
    if name == "release_all":
        return mechanism.release_all(np.repeat(value[None], count, axis=0), rng)
    return np.array([getattr(mechanism, name)(value, rng)[0] for _ in range(count)])
