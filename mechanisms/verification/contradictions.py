"""How a calibrated mechanism contradicts itself, in sentences; see self_check.py."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism, Mechanism
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.query import Query
from mechanisms.verification.events import (
    EPSILONS,
    chosen_event,
    pooled,
    projected,
    telling_direction,
)
from mechanisms.verification.fresh_noise import (
    claimed_of_numbers,
    find_dependence_on_value,
    find_exact_answers,
    find_recurring_numbers,
    find_repeated_noise,
    find_seed_faults,
    find_shared_noise,
)
from mechanisms.verification.moment_test import find_wrong_moments, stated_moments
from mechanisms.verification.neighbours import (
    changes,
    is_allowed,
    pair_that_differs,
    random_value,
    resting_value,
)
from mechanisms.verification.stated_law import (
    degrees_of_norm,
    find_asymmetry,
    find_other_profile,
    find_wrong_curve,
    find_wrong_losses,
    find_wrong_norms,
    norms_of,
    where_it_leans,
)
from mechanisms.verification.timed_releases import (
    FEWEST,
    LEAST,
    LEAST_OF_NOISE,
    LOOK,
    Effort,
    TimedReleases,
    other_releases,
)
from mechanisms.verification.two_values import find_moving_grid, find_telling_pair

# A privacy loss is cheaper than a release, and costs as much as so many random numbers.
NUMBERS_PER_LOSS = 64
# An additive mechanism is audited at multiples of a change that are this many standard deviations
# of its noise: the profile of less noise is known, and such changes are seen in few releases.
SHIFTS = (1.0, 3.0)
# Where i.i.d. elements show most how large the change is that a profile covers: a relative error of
# it moves delta(0) of a Gaussian by 1.14 standard deviations of one draw. Scores by which an event
# is chosen.
THREE, MOST_TRAINED = 3.0, 1 << 15
# In units of a change: noise along it that is smaller is rounding.
CANCELLED = 1e-6
# The median of the absolute value of a standard normal number.
NORMAL_MEDIAN = 0.6745
# Samples of a random value, for one of a constant.
MORE = 3
# A relative change far above rounding, and far below the grid of any noise.
SMALLEST = 2.0**-40
# The finest grids of noise for counted records, in units of a record; coarser ones with steps of a
# power of two or ten are part of them. How far rounding may move a number on them.
GRIDS, ON_GRID = (2.0**-20, 1e-6), 1e-3
# An effort has one norm with one degree of freedom for so many numbers.
NUMBERS_PER_NORM = 512
# Part of the norm that a release of its own may change, as one that rounds the answer does.
ROUNDED_AWAY = 0.005


@dataclass
class Contradictions:
    """Sentences on how the releases of one mechanism contradict what it states."""

    mechanism: Mechanism
    rng: np.random.Generator
    effort: Effort
    # Comparisons that were made, and why none could be.
    compared: int = 0
    missing: str = ""

    @property
    def query(self) -> Query:
        return self.mechanism.query

    @cached_property
    def source(self) -> TimedReleases:
        return TimedReleases(self.mechanism, self.rng, self.effort)

    def count(self, rest: np.ndarray, samples: int, least: int, fewest: int, most: int) -> int:
        """As `TimedReleases.count`; where it is 0, `missing` says why."""
        seconds = self.source.seconds_of_one(rest)
        found = self.source.count(seconds, samples, least, fewest, most)
        if not found:
            self.missing = f"a release takes {seconds:.2g} s"
        return found

    def sentences(self) -> Iterator[str]:
        """The sentences, the strongest statement first."""
        profile = self.mechanism.profile_of_release()
        if profile is not None:
            yield from find_wrong_curve(profile, self.mechanism.budget.epsilon)
            count = self.effort.numbers // NUMBERS_PER_LOSS
            yield from find_wrong_losses(profile, self.rng, count, self.effort.seconds)
        if self.query.size > self.effort.numbers:
            self.missing = f"an answer of {self.query.size:,} elements is too large"
            return
        rest = resting_value(self.query)
        if rest is None:
            self.missing = "no value that the query allows is known"
            return
        if isinstance(self.mechanism, AdditiveMechanism):
            yield from self._of_additive_noise(rest, profile)
        elif profile is not None:
            yield from self._of_other_releases(rest, profile)
        else:
            # Nothing but the contract of a release is stated.
            if self.count(rest, 2, 1, 1, 1):
                yield from find_seed_faults(self.mechanism, rest)
            self.missing = "it states neither its noise nor a profile"

    def sentences_on_norms(self) -> Iterator[str]:
        """The sentences on the norm of noise that is added to a constant, at the least cost."""
        if not isinstance(self.mechanism, AdditiveMechanism):
            return
        if self.query.size > self.effort.numbers:
            return
        rest = resting_value(self.query)
        if rest is None:
            return
        in_time = int(self.effort.seconds / self.source.seconds_of_one(rest))
        if (count := min(self.source.most, in_time)) >= FEWEST:
            noise, where = self.noise(rest, count), "of a constant"
            yield from self._of_moments(noise, rest, where)
            rounding = self._rounding(float(np.abs(rest).max()))
            yield from find_wrong_norms(self.mechanism.noise, norms_of(noise), rounding, where)

    def _rounding(self, largest: float) -> float:
        """How far rounding may move the norm of noise found as a difference from a value.

        Args:
            largest: The largest absolute element of the value.
        """
        found = float(np.finfo(float).eps) * math.sqrt(self.query.size) * largest
        if not self.mechanism.only_adds_noise:
            found += ROUNDED_AWAY * math.sqrt(self.mechanism.expected_loss())
        return found

    def noise(self, value: np.ndarray, count: int) -> np.ndarray:
        """What releases of `value` add to it, (n, *shape) float64."""
        start = self.mechanism.prepared(value).astype(float)
        return self.source.answers(value, count).astype(float) - start

    def _changes(self, draws: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """Changes of the query, chosen by draws of the noise."""
        return changes(self.query, draws, self.rng)

    # Noise that is added to the value.

    def _of_additive_noise(self, rest: np.ndarray, profile) -> Iterator[str]:
        yield from find_other_profile(self.mechanism, profile)
        # Four samples of noise, those of a random value, and three of the grid.
        count = self.count(rest, 7 + MORE, LEAST_OF_NOISE, FEWEST, max(self.source.most // 4, 1))
        if not count:
            return
        # An even number has one middle, where what is drawn at once may begin to repeat itself.
        count += count % 2
        training = self.noise(rest, count)
        test = self.noise(rest, count)
        yield from self._of_moments(np.concatenate([training, test]), rest, "of a constant")
        # What studies draw where noise is only added.
        at_once = self.source.sample(count)
        yield from self._of_moments(at_once, rest, "of a constant, drawn at once,")
        yield from self._of_other_ways(rest, count)
        yield from find_shared_noise(training, test)
        yield from find_shared_noise(at_once, test)
        yield from find_seed_faults(self.mechanism, rest)
        where, largest = "of a constant", float(np.abs(rest).max())
        scale = 10 * math.sqrt(self.mechanism.expected_loss() / self.query.size)
        scale = scale or self.query.l2_sensitivity
        value = random_value(self.query, self.rng, scale)
        moves = list(self._changes(training))
        if value is not None:
            elsewhere = self.noise(value, MORE * count)
            where, largest = f"{where} and a random value", max(largest, np.abs(value).max())
            if profile is not None and not (
                self._keeps_to_a_grid(training) or self._rounds_first(value)
            ):
                rounding = 4 * np.finfo(float).eps * largest
                # Noise that is added to zeros is not rounded.
                share = 4 * rounding / self._change_of_one() if rest.any() else 0.0
                atom = claimed_of_numbers(profile, share)
                yield from find_recurring_numbers(training, elsewhere, rounding, atom)
                yield from find_exact_answers(elsewhere, atom)
                again = np.concatenate([training, test])
                yield from find_repeated_noise(again, elsewhere, rounding, atom)
            yield from self._of_moments(elsewhere, value, "of a random value")
            directions = [("the value", value), *moves]
            directions = [(name, each / (np.linalg.norm(each) or 1.0)) for name, each in directions]
            # Far above the rounding of a sum, far below the noise.
            grid = 1e-9 * (np.linalg.norm(value) + np.linalg.norm(test[0])) or 1.0
            yield from find_dependence_on_value(test, elsewhere, directions, grid)
            test = np.concatenate([test, elsewhere])
            if scale * math.sqrt(self.query.size) < 1e30 and np.abs(value).max() < 1e30:
                single = value.astype(np.float32)
                noise = self.noise(single, count)
                yield from self._of_moments(noise, single, "of a random value in float32")
        stated = self.mechanism.noise
        rounding = self._rounding(largest)
        yield from find_wrong_norms(stated, self._norms_at_once(at_once), 0.0, "drawn at once")
        norms = np.concatenate([norms_of(training), norms_of(test)])
        yield from find_wrong_norms(stated, norms, rounding, where)
        leaning = where_it_leans(training)
        yield from find_asymmetry(stated, at_once, leaning, "drawn at once")
        yield from find_asymmetry(stated, test, leaning, where)
        if value is not None:
            signs = [("the value", value), ("the signs of the value", np.sign(value))]
            yield from find_asymmetry(stated, elsewhere, signs, "of a random value")
        if profile is None:
            return
        found = [
            (name, max(self._prepared_changes(rest, value, change), key=np.linalg.norm))
            for name, change in moves
        ]
        for name, change in found:
            yield from self._of_shifts(training, test, name, change, profile)
        if stated.independent:
            yield from self._of_elements(at_once, [change for _, change in found], profile)
        yield from self._of_a_grid(rest, profile, count)

    def _norms_at_once(self, drawn: np.ndarray) -> np.ndarray:
        """The norms (n,) of some draws of noise, and of more where a norm varies much.

        That of R1SMG is the size of one normal number, however many elements an answer has.
        """
        noise = self.mechanism.noise
        if noise.squared_norm_survival(np.ones(1)) is None:
            return norms_of(drawn)
        wanted = int(self.effort.numbers / NUMBERS_PER_NORM / degrees_of_norm(noise))
        in_time = int(self.effort.seconds / 2 / self.source.seconds_of_draw)
        found, left = [norms_of(drawn)], min(wanted, in_time) - len(drawn)
        at_most = max(1, self.effort.numbers // self.query.size)
        while left > 0:
            found.append(norms_of(self.source.sample(min(left, at_most))))
            left -= at_most
        return np.concatenate(found)

    def _change_of_one(self) -> float:
        """How much one element may change about rest, at least; of a record it may be half."""
        query = self.query
        bounds = query.l1_sensitivity, query.l2_sensitivity, query.linf_sensitivity
        return min(bound for bound in bounds if bound is not None) / 2

    def _keeps_to_a_grid(self, draws: np.ndarray) -> bool:
        """Whether noise lies on a grid that the changes of one record keep to.

        Such noise may repeat its numbers, as whole numbers do when records are counted.
        """
        query = self.query
        if query.structure != "histogram":
            return False
        steps = draws[draws != 0] / query.record_bound
        # Small whole noise may be 0 in all draws.
        if not steps.size:
            return True
        places = [steps / grid for grid in GRIDS]
        return any(np.mean(np.abs(each - np.rint(each)) < ON_GRID) >= 0.5 for each in places)

    def _rounds_first(self, value: np.ndarray) -> bool:
        """Whether the smallest changes of a value are lost before noise is added, as on a grid."""
        moved = self.mechanism.prepared(value * (1 - SMALLEST))
        unmoved = moved == self.mechanism.prepared(value)
        return bool(np.mean(unmoved[value != 0]) > 0.5)

    def _of_moments(self, noise: np.ndarray, value: np.ndarray, where: str) -> Iterator[str]:
        stated = stated_moments(self.mechanism)
        if stated is None:
            return
        self.compared += 1
        yield from find_wrong_moments(noise, stated, value, where)

    def _of_other_ways(self, rest: np.ndarray, count: int) -> Iterator[str]:
        """Noise that studies draw by other methods."""
        for name in other_releases(self.mechanism):
            noise = self.source.answers(rest, count, name) - self.mechanism.prepared(rest)
            yield from self._of_moments(noise, rest, f"of a constant by {name}")
        losses = self.mechanism.noise.squared_norms(self.rng, count)
        yield from self._of_moments(np.sqrt(losses), rest, "drawn as squared norms")

    def _prepared_changes(
        self, rest: np.ndarray, value: np.ndarray | None, change: np.ndarray
    ) -> list[np.ndarray]:
        """What is left of a change in what the noise is added to: about rest, and far from it."""
        prepared = self.mechanism.prepared
        found = [prepared(rest + change / 2) - prepared(rest - change / 2)]
        if value is not None and not self.mechanism.only_adds_noise:
            ends = value - change, value + change
            found += [
                prepared(end) - prepared(value) for end in ends if is_allowed(end, self.query)
            ]
        return found

    def _of_shifts(
        self,
        training: np.ndarray,
        test: np.ndarray,
        name: str,
        change: np.ndarray,
        profile: PrivacyProfile,
    ) -> Iterator[str]:
        """Noise against the same noise moved by multiples of one change."""
        if not change.any():
            return
        direction = telling_direction(change, training)
        length = float(direction.ravel() @ change.ravel())
        trained, tested = (projected(draws, direction) for draws in (training, test))
        deviation_along = _deviation(trained)
        multiples = {1.0}
        # Where noise cancels, a change of its own size would be lost in rounding.
        if deviation_along > CANCELLED * length:
            # Powers of two, so that directions share them and the profile is computed once.
            multiples = {2.0 ** round(math.log2(s * deviation_along / length)) for s in SHIFTS}
        for multiple in sorted(multiples):
            claims = self._claims(profile, multiple)
            moved = multiple * length
            self.compared += 1
            event = chosen_event((trained, trained + moved), claims, paired=True)
            found = event.judged((tested, tested + moved))
            if found is not None:
                times = "" if multiple == 1 else f", multiplied by {multiple:g}"
                yield (
                    f"{len(test)} releases show a change of {name}{times}, with "
                    f"delta({found.epsilon:g}) of at least {found.lower:.4g}; the profile states "
                    f"at most {found.claim:.4g}"
                )

    def _of_elements(
        self, drawn: np.ndarray, changes: list[np.ndarray], profile: PrivacyProfile
    ) -> Iterator[str]:
        """Noise whose elements are i.i.d. against the same moved, all elements in one sample.

        Args:
            drawn: Draws (n, *shape), by which the events are chosen.
        """
        by_size = {np.count_nonzero(change): change for change in changes if change.any()}
        if min(by_size, default=self.query.size) > self.query.size // 2:
            return
        in_time = int(self.effort.seconds / self.source.seconds_of_draw)
        draws = self.source.sample(max(1, min(self.effort.numbers // self.query.size, in_time)))
        for size, change in by_size.items():
            if size > self.query.size // 2:
                continue
            length = float(np.linalg.norm(change))
            trained, tested = pooled(drawn, change)[:MOST_TRAINED], pooled(draws, change)
            larger = 2.0 ** round(math.log2(THREE * _deviation(trained) / length))
            for multiple in sorted({1.0, larger}):
                moved = multiple * length
                claims = self._claims(profile, multiple)
                self.compared += 1
                event = chosen_event((trained, trained + moved), claims, paired=True)
                found = event.judged((tested, tested + moved))
                if found is not None:
                    yield (
                        f"{len(tested):,} elements of the noise, which states that they are "
                        f"independent and alike, show a change of {size} multiplied by "
                        f"{multiple:g}, with delta({found.epsilon:g}) of at least "
                        f"{found.lower:.4g}; the profile states at most {found.claim:.4g}"
                    )

    @cached_property
    def _known_claims(self) -> dict[float, np.ndarray]:
        return {}

    def _claims(self, profile: PrivacyProfile, multiple: float) -> np.ndarray:
        """The largest delta, at each of EPSILONS, of a change times `multiple`."""
        if multiple not in self._known_claims:
            scaled = profile if multiple == 1 else profile.scaled(1 / multiple)
            self._known_claims[multiple] = scaled.delta(EPSILONS).upper
        return self._known_claims[multiple]

    # Any releases.

    def _of_other_releases(self, rest: np.ndarray, profile: PrivacyProfile) -> Iterator[str]:
        # Two samples of each value of a pair; what is chosen from is no larger than the rest.
        most = min(self.effort.numbers // (8 * self.query.size), self.effort.releases)
        if most < LEAST:
            self.missing = f"an answer of {self.query.size:,} elements is too large"
            return
        count = self.count(rest, 4, LEAST, LEAST, most)
        if not count:
            return
        yield from find_seed_faults(self.mechanism, rest)
        pairs = [
            (name, change, pair_that_differs(self.query, change, rest))
            for name, change in self._changes(self.source.answers(rest, LOOK))
        ]
        pairs = [(name, change, pair) for name, change, pair in pairs if pair is not None]
        if pairs:
            self.compared += 1
            yield from find_telling_pair(self.source, pairs, profile, count)
        yield from self._of_a_grid(rest, profile, max(LEAST, count // max(len(pairs), 1)))

    def _of_a_grid(self, rest: np.ndarray, profile: PrivacyProfile, count: int) -> Iterator[str]:
        if self.source.time_is_up():
            return
        claim = float(self._claims(profile, 1.0)[0])
        yield from find_moving_grid(
            self.source.answers, self.query, rest, self._changes, count, claim
        )


def _deviation(scores: np.ndarray) -> float:
    """The standard deviation of scores (n,) about 0, or that of normal ones with their median.

    The smaller one: heavy tails make the first large, and a few zeros leave the second as it is.
    """
    squares = scores**2
    middle = math.sqrt(float(np.median(squares)))
    spread = math.sqrt(float(np.mean(squares)))
    return min(spread, middle / NORMAL_MEDIAN) or spread
