"""The evidence for all checks of a mechanism: values of its query, releases drawn when needed."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism, Mechanism
from mechanisms.check.neighbours import changes, constant_value, is_allowed, random_value
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.query import Query, Unsupported

# The epsilons at which a delta is compared with the claimed one; counts show less at larger ones.
EPSILONS = np.array([0.0, 1.0])
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
# Releases of a random value for every one of a constant.
RANDOM_PER_CONSTANT = 3
# Samples of `count` releases that the checks of additive noise draw: two of a constant, one drawn
# at once, those of a random value, and three that look for a grid.
SAMPLES = 6 + RANDOM_PER_CONSTANT
# A relative change far above rounding, and far below the grid of any noise.
SMALL_CHANGE = 2.0**-40
# GRIDS are the steps of the finest grids of noise for counted records, in units of a record. Grids
# with a larger power of two or ten lie on them. Rounding may move numbers by ON_GRID steps.
GRIDS, ON_GRID = (2.0**-20, 1e-6), 1e-3
# An effort allows one norm with one degree of freedom for every this many random numbers.
NUMBERS_PER_NORM = 512
# The share of the norm that a `_release` of its own may change, for example by rounding the answer.
ROUNDED_SHARE = 0.005
# The degrees of freedom that are taken of a norm.
DEGREES = (0.5, 1e4)


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


@dataclass
class Evidence:
    """Values and releases of one mechanism. Every sample is drawn once, when a check asks for it.

    Samples are arrays (n, *query.shape) of float64; those of an additive mechanism are its noise,
    the release less the value that the noise was added to.
    """

    mechanism: Mechanism
    rng: np.random.Generator
    effort: Effort
    # How many comparisons were made, and why none could be.
    compared: int = 0
    missing: str = ""
    # Releases that were drawn, and their CPU seconds; and those of one draw of noise by `sample`.
    drawn: int = 0
    spent: float = 0.0
    seconds_of_draw: float = 0.0
    _known_claims: dict[float, np.ndarray] = field(default_factory=dict)

    @property
    def query(self) -> Query:
        return self.mechanism.query

    @property
    def is_additive(self) -> bool:
        return isinstance(self.mechanism, AdditiveMechanism)

    @property
    def is_independent(self) -> bool:
        """Whether it is noise of independent elements that is added."""
        return self.is_additive and self.mechanism.noise.independent

    @cached_property
    def profile(self) -> PrivacyProfile | None:
        """The stated profile of one release."""
        return self.mechanism.profile_of_release()

    @property
    def has_value(self) -> bool:
        return self.value is not None

    @cached_property
    def constant(self) -> np.ndarray | None:
        """A constant value that the query allows, or None if none is known."""
        return constant_value(self.query)

    @cached_property
    def count(self) -> int:
        """Releases of a sample of noise, an even number; 0 where `missing` says why there is none.

        An even number has one middle, where what is drawn at once may begin to repeat itself.
        """
        if not self._is_releasable():
            return 0
        if self.is_additive:
            wanted = self.effort.numbers // self.query.size
            most = max(int(np.clip(wanted, FEWEST, self.effort.releases)) // 4, 1)
            count = self._in_time(SAMPLES + 1, LEAST_OF_NOISE, FEWEST, most)
        elif self.profile is not None:
            # Two samples of each value of a pair; what is chosen from is no larger than the rest.
            most = min(self.effort.numbers // (8 * self.query.size), self.effort.releases)
            if most < LEAST:
                self.missing = f"an answer of {self.query.size:,} elements is too large"
                return 0
            count = self._in_time(4, LEAST, LEAST, most)
        else:
            # Nothing but the contract of a release is stated.
            count = self._in_time(2, 1, 1, 1)
            self.missing = self.missing or "it states neither its noise nor a profile"
        return count + count % 2

    def _is_releasable(self) -> bool:
        if self.query.size > self.effort.numbers:
            self.missing = f"an answer of {self.query.size:,} elements is too large"
        elif self.constant is None:
            self.missing = "no value that the query allows is known"
        return not self.missing

    def _in_time(self, samples: int, least: int, fewest: int, most: int) -> int:
        """Releases in each of some samples: as many as there is time for, `least` to `most`.

        Fewer where these take too long; 0 where `fewest` do, which `missing` then says.
        """
        seconds = self._seconds_of_one(self.constant)
        in_time = self.effort.seconds / (samples * seconds)
        count = min(most, max(int(in_time), least), int(MOST_PATIENCE * in_time))
        if count >= min(fewest, most):
            return count
        self.missing = f"a release takes {seconds:.2g} s"
        return 0

    # Releases, and the time that they take.

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

    def _sample(self, count: int) -> np.ndarray:
        """Draws of the noise of an additive mechanism, (count, *shape), all at once."""
        begun = time.process_time()
        drawn = self.mechanism.sample(self.rng, count)
        self.seconds_of_draw = max((time.process_time() - begun) / count, 1e-9)
        return drawn

    def _seconds_of_one(self, value: np.ndarray, way: str | None = None) -> float:
        """CPU seconds of a release; the first of all may load and compute what later ones use."""
        self.answers(value, 1, way)
        before, count = self.spent, LOOK if self.mechanism.draws_many() and way is None else 1
        self.answers(value, count, way)
        return max((self.spent - before) / count, 1e-7)

    def affordable(self, value: np.ndarray, count: int, way: str) -> int:
        """How many releases of each of two values another method may make: `count`, or fewer.

        0 where `LEAST` take longer than the effort: some methods draw several chains for one.
        """
        found = min(count, int(self.effort.seconds / (2 * self._seconds_of_one(value, way))))
        return found if found >= LEAST else 0

    def time_is_up(self) -> bool:
        """Whether no further comparison should begin."""
        return self.spent > PATIENCE * self.effort.seconds

    # Noise that is added to a value.

    def noise(self, value: np.ndarray, count: int, way: str | None = None) -> np.ndarray:
        """The noise that releases of `value` add to it."""
        start = self.mechanism.prepared(value).astype(float)
        return self.answers(value, count, way).astype(float) - start

    @cached_property
    def training(self) -> np.ndarray:
        """Noise of the constant, by which values and events are chosen."""
        return self.noise(self.constant, self.count)

    @cached_property
    def test(self) -> np.ndarray:
        """Noise of the constant, by which they are judged."""
        return self.noise(self.constant, self.count)

    @cached_property
    def sampled(self) -> np.ndarray:
        """Noise drawn by `sample`, as studies do where noise is only added."""
        return self._sample(self.count)

    @cached_property
    def other_ways(self) -> dict[str, np.ndarray]:
        """Noise of the constant by the methods that studies release with, but for `release`."""
        names = other_releases(self.mechanism)
        return {name: self.noise(self.constant, self.count, name) for name in names}

    def ways_at_once(self) -> tuple[np.ndarray, ...]:
        """Noise of the constant, by every method that draws many releases in one call."""
        return self.training, self.sampled, *self.other_ways.values()

    @cached_property
    def squared_norms(self) -> np.ndarray:
        """The norms (n,) by the noise's own `squared_norms`, which studies of moments read."""
        count = min(self._draws_in_time, self.effort.releases)
        losses = self.mechanism.noise.squared_norms(self.rng, count)
        return np.sqrt(losses)

    @property
    def _draws_in_time(self) -> int:
        """How many draws of noise the effort allows of one sample."""
        _ = self.sampled  # It takes the time of a draw.
        in_time = int(self.effort.seconds / self.seconds_of_draw)
        return max(1, min(self.effort.numbers // self.query.size, in_time))

    @cached_property
    def many_sampled(self) -> np.ndarray:
        """As many draws by `sample` as the effort allows."""
        return self._sample(self._draws_in_time)

    @cached_property
    def scale(self) -> float:
        """The order of elements that are large against the noise."""
        scale = 10 * math.sqrt(self.mechanism.expected_loss() / self.query.size)
        return scale or self.query.l2_sensitivity

    @cached_property
    def value(self) -> np.ndarray | None:
        """A random value far from the constant, or None if none is known that the query allows."""
        return random_value(self.query, self.rng, self.scale)

    @cached_property
    def noise_of_random_value(self) -> np.ndarray:
        """Noise of the random value."""
        return self.noise(self.value, RANDOM_PER_CONSTANT * self.count)

    @cached_property
    def largest(self) -> float:
        """The largest absolute element of the values that `judging` has the noise of."""
        values = [self.constant] if self.value is None else [self.constant, self.value]
        return max(float(np.abs(value).max()) for value in values)

    @cached_property
    def judging(self) -> np.ndarray:
        """All noise by which an event is judged: of the constant and of the random value."""
        if self.value is None:
            return self.test
        return np.concatenate([self.test, self.noise_of_random_value])

    def rounding(self, largest: float) -> float:
        """How far rounding may move the norm of noise found as a difference from a value.

        Args:
            largest: The largest absolute element of the value.
        """
        found = float(np.finfo(float).eps) * math.sqrt(self.query.size) * largest
        if not self.mechanism.only_adds_noise:
            found += ROUNDED_SHARE * math.sqrt(self.mechanism.expected_loss())
        return found

    def sampled_norms(self) -> np.ndarray:
        """The norms (n,) of draws by `sample`, and of more where a norm varies much.

        That of R1SMG is the size of one normal number, however many elements an answer has.
        """
        noise = self.mechanism.noise
        found = [norms_of(self.sampled)]
        if noise.squared_norm_survival(np.ones(1)) is None:
            return found[0]
        wanted = int(self.effort.numbers / NUMBERS_PER_NORM / degrees_of_norm(noise))
        in_time = int(self.effort.seconds / 2 / self.seconds_of_draw)
        left = min(wanted, in_time) - len(self.sampled)
        at_most = max(1, self.effort.numbers // self.query.size)
        while left > 0:
            found.append(norms_of(self._sample(min(left, at_most))))
            left -= at_most
        return np.concatenate(found)

    def keeps_to_a_grid(self) -> bool:
        """Whether noise lies on a grid that the changes of one record keep to.

        Such noise may repeat its numbers, as whole numbers do when records are counted.
        """
        query = self.query
        if query.structure != "histogram":
            return False
        steps = self.training[self.training != 0] / query.record_bound
        # Small whole noise may be 0 in all draws.
        if not steps.size:
            return True
        places = [steps / grid for grid in GRIDS]
        return any(np.mean(np.abs(each - np.rint(each)) < ON_GRID) >= 0.5 for each in places)

    def rounds_first(self) -> bool:
        """Whether the smallest changes of a value are lost before noise is added, as on a grid."""
        moved = self.mechanism.prepared(self.value * (1 - SMALL_CHANGE))
        unmoved = moved == self.mechanism.prepared(self.value)
        return bool(np.mean(unmoved[self.value != 0]) > 0.5)

    # Changes that the claim covers.

    def changes(self, draws: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """Changes of the query with their names, chosen by draws of the noise."""
        return changes(self.query, draws, self.rng)

    @cached_property
    def moves(self) -> list[tuple[str, np.ndarray]]:
        """Those that the noise of the constant hides least."""
        return list(self.changes(self.training))

    @cached_property
    def prepared_moves(self) -> list[tuple[str, np.ndarray]]:
        """The largest change of the prepared value for each move."""
        return [
            (name, max(self._prepared(change), key=np.linalg.norm)) for name, change in self.moves
        ]

    def _prepared(self, change: np.ndarray) -> list[np.ndarray]:
        """Changes of the prepared value for a change about the constant, and far from it."""
        prepared, constant, value = self.mechanism.prepared, self.constant, self.value
        found = [prepared(constant + change / 2) - prepared(constant - change / 2)]
        if value is not None and not self.mechanism.only_adds_noise:
            ends = value - change, value + change
            found += [
                prepared(end) - prepared(value) for end in ends if is_allowed(end, self.query)
            ]
        return found

    def claims(self, multiple: float) -> np.ndarray:
        """The largest delta, at each of EPSILONS, that is stated of a change times `multiple`."""
        if multiple not in self._known_claims:
            scaled = self.profile if multiple == 1 else self.profile.scaled(1 / multiple)
            self._known_claims[multiple] = scaled.delta(EPSILONS).upper
        return self._known_claims[multiple]


def norms_of(draws: np.ndarray) -> np.ndarray:
    """The norms (n,) of draws (n, *shape)."""
    return np.linalg.norm(draws.reshape(len(draws), -1), axis=1)


def degrees_of_norm(noise) -> float:
    """The degrees of freedom of a multiple of a chi-squared number with the loss's moments."""
    try:
        mean, variance, *_ = noise.loss().cumulants
    except Unsupported:
        return 1.0
    degrees = 2 * mean / variance * mean if variance else math.inf
    return float(np.clip(degrees, *DEGREES)) if degrees == degrees else 1.0


def projected(draws: np.ndarray, direction: np.ndarray) -> np.ndarray:
    return draws.reshape(len(draws), -1) @ direction.ravel()
