"""The evidence for all checks of a mechanism: values of its query, and releases of them."""

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

# The epsilons at which a shown delta is compared with the claim; at larger ones counts show less.
EPSILONS = np.array([0.0, 1.0])
# The fewest releases of a sample of additive noise, unless the numbers of an effort allow fewer.
FEWEST = 4
# Fewer than LEAST releases of each of two values show only plain differences. Additive noise, whose
# moments are compared too, has LEAST_OF_NOISE, or fewer if they take long.
LEAST, LEAST_OF_NOISE = 64, 128
# The time of a release is measured on this many releases if a mechanism draws many at once.
LOOK = 16
# Multiples of the seconds of an effort. After PATIENCE times as long no further comparison begins.
# One that would take longer than MOST_PATIENCE times as long is not made.
PATIENCE, MOST_PATIENCE = 3, 10
# Other methods by which studies release; a mechanism may define its own.
OTHER_RELEASES = ("release_all", "release_with_diagnostics")
# The number of releases of a random value for each release of a constant.
RANDOM_PER_CONSTANT = 3
# Samples of `count` releases that checks of additive noise draw: two of a constant, one drawn at
# once, RANDOM_PER_CONSTANT of a random value, and three that look for a grid.
SAMPLES = 6 + RANDOM_PER_CONSTANT
# A relative change far above rounding, and far below the grid of any noise.
SMALL_CHANGE = 2.0**-40
# GRIDS are the steps of the finest grids of noise for counted records, in units of a record. Grids
# with a larger power of two or ten lie on them. Rounding may move numbers by ON_GRID steps.
GRIDS, ON_GRID = (2.0**-20, 1e-6), 1e-3
# An effort of N random numbers allows N / NUMBERS_PER_NORM norms with one degree of freedom.
NUMBERS_PER_NORM = 512
# The share of the norm that a mechanism's own `_release` may change, for example by rounding.
ROUNDED_SHARE = 0.005
# The least and the largest number of degrees of freedom that a norm is taken to have.
DEGREES = (0.5, 1e4)


@dataclass(frozen=True)
class Effort:
    """How much the checks of a mechanism may draw.

    Attributes:
        numbers, releases: A sample of additive noise has about min(numbers / M, releases) / 4
            releases of M elements, one of other answers about min(numbers / (8 M), releases).
            An answer of more than `numbers` elements is not released at all.
        seconds: CPU time for all releases. A slow mechanism is released less often, but as often as
            a comparison needs if that takes at most `MOST_PATIENCE` times as long.
    """

    numbers: int
    releases: int
    seconds: float


def other_releases(mechanism: Mechanism) -> list[str]:
    """Return the methods of `OTHER_RELEASES` that the mechanism's own classes define."""
    return [
        name
        for name in OTHER_RELEASES
        if getattr(type(mechanism), f"_{name}") is not getattr(Mechanism, f"_{name}")
    ]


def released_by(
    mechanism: Mechanism, name: str, value: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Return releases (count, *shape) of a value by the method with this name."""
    if name == "release_all":
        return mechanism.release_all(np.repeat(value[None], count, axis=0), rng)
    return np.array([getattr(mechanism, name)(value, rng)[0] for _ in range(count)])


@dataclass
class Evidence:
    """Values and releases of one mechanism. Every sample is drawn once, when a check asks for it.

    Samples are arrays (n, *query.shape) of float64. Samples of an additive mechanism are its noise:
    the release minus the value that the noise was added to.
    """

    mechanism: Mechanism
    rng: np.random.Generator
    effort: Effort
    # The number of comparisons made, and why none could be made.
    compared: int = 0
    missing: str = ""
    # The number of releases drawn, their CPU seconds, and the CPU seconds of one draw by `sample`.
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
        """Whether the mechanism adds noise of independent elements."""
        return self.is_additive and self.mechanism.noise.independent

    @cached_property
    def profile(self) -> PrivacyProfile | None:
        """The stated privacy profile of one release."""
        return self.mechanism.profile_of_release()

    @property
    def has_value(self) -> bool:
        return self.value is not None

    @cached_property
    def constant(self) -> np.ndarray | None:
        """A value with equal elements that the query allows, or None if none is known."""
        return constant_value(self.query)

    @cached_property
    def count(self) -> int:
        """The number of releases in a sample, even; 0 if `missing` says why there is none.

        What is drawn at once may begin to repeat itself in the middle.
        """
        if not self._is_releasable():
            return 0
        if self.is_additive:
            wanted = self.effort.numbers // self.query.size
            most = max(int(np.clip(wanted, FEWEST, self.effort.releases)) // 4, 1)
            count = self._in_time(SAMPLES + 1, LEAST_OF_NOISE, FEWEST, most)
        elif self.profile is not None:
            # Two samples of each value of a pair: one chooses the event, the other judges it.
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
        """Return how many releases each sample may have: from `least` to `most`.

        It is fewer if these take too long, and 0 if `fewest` do, which `missing` then says.
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
        """Draw releases (count, *shape) of `value`, by `release` or by the method `way`."""
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
        """Draw the noise of an additive mechanism, (count, *shape), in one call."""
        begun = time.process_time()
        drawn = self.mechanism.sample(self.rng, count)
        self.seconds_of_draw = max((time.process_time() - begun) / count, 1e-9)
        return drawn

    def _seconds_of_one(self, value: np.ndarray, way: str | None = None) -> float:
        """Measure the CPU seconds of a release, after one that may fill caches."""
        self.answers(value, 1, way)
        before, count = self.spent, LOOK if self.mechanism.draws_many() and way is None else 1
        self.answers(value, count, way)
        return max((self.spent - before) / count, 1e-7)

    def affordable(self, value: np.ndarray, count: int, way: str) -> int:
        """Return how many releases of each of two values the method `way` may draw: up to `count`.

        It is 0 if `LEAST` releases take too long: some methods draw several chains for one.
        """
        found = min(count, int(self.effort.seconds / (2 * self._seconds_of_one(value, way))))
        return found if found >= LEAST else 0

    def time_is_up(self) -> bool:
        """Whether no further comparison should begin."""
        return self.spent > PATIENCE * self.effort.seconds

    # Noise that is added to a value.

    def noise(self, value: np.ndarray, count: int, way: str | None = None) -> np.ndarray:
        """Draw releases of `value`, and return the noise (count, *shape) that they add to it."""
        start = self.mechanism.prepared(value).astype(float)
        return self.answers(value, count, way).astype(float) - start

    @cached_property
    def training(self) -> np.ndarray:
        """Noise of the constant, which chooses values and events."""
        return self.noise(self.constant, self.count)

    @cached_property
    def test(self) -> np.ndarray:
        """Noise of the constant, which judges what `training` has chosen."""
        return self.noise(self.constant, self.count)

    @cached_property
    def sampled(self) -> np.ndarray:
        """Noise drawn by `sample`, as studies draw it if a mechanism only adds noise."""
        return self._sample(self.count)

    @cached_property
    def other_ways(self) -> dict[str, np.ndarray]:
        """Noise of the constant by the mechanism's own methods of `OTHER_RELEASES`."""
        names = other_releases(self.mechanism)
        return {name: self.noise(self.constant, self.count, name) for name in names}

    def ways_at_once(self) -> tuple[np.ndarray, ...]:
        """Return noise of the constant by every method that draws many releases in one call."""
        return self.training, self.sampled, *self.other_ways.values()

    @cached_property
    def squared_norms(self) -> np.ndarray:
        """Norms (n,), the roots of the noise's own `squared_norms`, which some studies use."""
        count = min(self._draws_in_time, self.effort.releases)
        losses = self.mechanism.noise.squared_norms(self.rng, count)
        return np.sqrt(losses)

    @property
    def _draws_in_time(self) -> int:
        """The number of draws by `sample` that the effort allows for one sample."""
        _ = self.sampled  # Measures the time of a draw.
        in_time = int(self.effort.seconds / self.seconds_of_draw)
        return max(1, min(self.effort.numbers // self.query.size, in_time))

    @cached_property
    def many_sampled(self) -> np.ndarray:
        """Noise drawn by `sample`, as often as the effort allows."""
        return self._sample(self._draws_in_time)

    @cached_property
    def scale(self) -> float:
        """Ten times the root mean square of the noise, or the l2 sensitivity if that is 0."""
        scale = 10 * math.sqrt(self.mechanism.expected_loss() / self.query.size)
        return scale or self.query.l2_sensitivity

    @cached_property
    def value(self) -> np.ndarray | None:
        """A random value that the query allows, far from the constant; None if none is known."""
        return random_value(self.query, self.rng, self.scale)

    @cached_property
    def noise_of_random_value(self) -> np.ndarray:
        """Noise of the random value."""
        return self.noise(self.value, RANDOM_PER_CONSTANT * self.count)

    @cached_property
    def largest(self) -> float:
        """The largest absolute element of the constant and the random value."""
        values = [self.constant] if self.value is None else [self.constant, self.value]
        return max(float(np.abs(value).max()) for value in values)

    @cached_property
    def judging(self) -> np.ndarray:
        """All noise that judges an event: of the constant and of the random value."""
        if self.value is None:
            return self.test
        return np.concatenate([self.test, self.noise_of_random_value])

    def rounding(self, largest: float) -> float:
        """Return how far rounding may move the norm of noise, a release minus a value.

        Args:
            largest: The largest absolute element of the value.
        """
        found = float(np.finfo(float).eps) * math.sqrt(self.query.size) * largest
        if not self.mechanism.only_adds_noise:
            found += ROUNDED_SHARE * math.sqrt(self.mechanism.expected_loss())
        return found

    def sampled_norms(self) -> np.ndarray:
        """Return norms (n,) of draws by `sample`: more of them, the more the norm varies.

        The norm of R1SMG's noise is the size of one normal number, whatever the shape.
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
        """Return whether noise lies on a grid, and a record changes the answer by its steps.

        Such noise may repeat its numbers, as whole numbers on counts do.
        """
        query = self.query
        if query.structure != "histogram":
            return False
        steps = self.training[self.training != 0] / query.record_bound
        # Small noise of whole numbers may be 0 in all draws.
        if not steps.size:
            return True
        places = [steps / grid for grid in GRIDS]
        return any(np.mean(np.abs(each - np.rint(each)) < ON_GRID) >= 0.5 for each in places)

    def rounds_first(self) -> bool:
        """Return whether `prepared` loses the smallest changes of a value, as a grid does."""
        moved = self.mechanism.prepared(self.value * (1 - SMALL_CHANGE))
        unmoved = moved == self.mechanism.prepared(self.value)
        return bool(np.mean(unmoved[self.value != 0]) > 0.5)

    # Changes of a value that the claim covers.

    def changes(self, draws: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """Yield changes that the query allows with their names, chosen by draws of the noise."""
        return changes(self.query, draws, self.rng)

    @cached_property
    def moves(self) -> list[tuple[str, np.ndarray]]:
        """The changes that the noise of the constant hides least, with their names."""
        return list(self.changes(self.training))

    @cached_property
    def prepared_moves(self) -> list[tuple[str, np.ndarray]]:
        """For each of `moves`, the largest change of the prepared value."""
        return [
            (name, max(self._prepared(change), key=np.linalg.norm)) for name, change in self.moves
        ]

    def _prepared(self, change: np.ndarray) -> list[np.ndarray]:
        """Return changes of the prepared value for a change around the constant and far from it."""
        prepared, constant, value = self.mechanism.prepared, self.constant, self.value
        found = [prepared(constant + change / 2) - prepared(constant - change / 2)]
        if value is not None and not self.mechanism.only_adds_noise:
            ends = value - change, value + change
            found += [
                prepared(end) - prepared(value) for end in ends if is_allowed(end, self.query)
            ]
        return found

    def claims(self, multiple: float) -> np.ndarray:
        """Return the largest stated delta, at each of EPSILONS, for `multiple` times a change."""
        if multiple not in self._known_claims:
            scaled = self.profile if multiple == 1 else self.profile.scaled(1 / multiple)
            self._known_claims[multiple] = scaled.delta(EPSILONS).upper
        return self._known_claims[multiple]


def norms_of(draws: np.ndarray) -> np.ndarray:
    """Return the norms (n,) of draws (n, *shape)."""
    return np.linalg.norm(draws.reshape(len(draws), -1), axis=1)


def degrees_of_norm(noise) -> float:
    """Return the degrees of freedom of a scaled chi-squared number with the loss's two moments."""
    try:
        mean, variance, *_ = noise.loss().cumulants
    except Unsupported:
        return 1.0
    degrees = 2 * mean / variance * mean if variance else math.inf
    return float(np.clip(degrees, *DEGREES)) if degrees == degrees else 1.0


def projected(draws: np.ndarray, direction: np.ndarray) -> np.ndarray:
    return draws.reshape(len(draws), -1) @ direction.ravel()
