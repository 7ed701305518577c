"""The checks of a mechanism, in the order of causes: the first that fails says what is wrong.

`Check.require` runs one check, for an author's tests. All bounds hold for every sample size and
distribution: together the checks accuse a mechanism that does what it states with probability at
most `audit_statistics.ERROR`.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mechanisms.base.mechanism import Mechanism
from mechanisms.check.draws import (
    claimed_of_numbers,
    find_alike_elements,
    find_constant_noise,
    find_correlated_releases,
    find_exact_answers,
    find_recurring_numbers,
    find_repeated_noise,
    find_seed_faults,
    find_shared_noise,
    find_writes,
)
from mechanisms.check.evidence import LEAST, LOOK, Effort, Evidence, norms_of
from mechanisms.check.law import (
    find_asymmetry,
    find_dependence_on_value,
    find_dependent_elements,
    find_wrong_elements,
    find_wrong_moments,
    find_wrong_norms,
    find_wrong_scaling,
    mean_directions,
    other_values,
)
from mechanisms.check.neighbours import neighbouring_pairs
from mechanisms.check.stated_profile import (
    find_moving_grid,
    find_other_profile,
    find_shown_change,
    find_shown_elements,
    find_telling_pair,
    find_wrong_curve,
)
from mechanisms.query.query import Budget, Inconsistent, OutOfRangeWarning, Unsupported

# The default: at most 2 s for an answer of 7921 elements.
THOROUGH = Effort(numbers=1 << 22, releases=1 << 14, seconds=1.0)
# For a comparison of many mechanisms.
QUICK = Effort(numbers=1 << 19, releases=512, seconds=0.2)
# For studies: FIRST for the first mechanism of a cell, GLIMPSE for every other one.
FIRST = Effort(numbers=1 << 17, releases=256, seconds=0.05)
GLIMPSE = Effort(numbers=1 << 17, releases=64, seconds=0.02)
# Values are released in single precision only if they and their noise are below this.
LARGEST_SINGLE = 1e30


@dataclass(frozen=True)
class Check:
    """One property that a mechanism must have.

    Attributes:
        name: Name of the check.
        statement: A sentence that is true of a mechanism that passes.
        find: Yields a sentence for every way in which the evidence contradicts the statement.
        needs: Attributes of the evidence that must be true, or the check finds nothing.
        in_every_cell: Whether a study runs it for every mechanism of a cell.
        in_studies: Whether a study runs it for the first mechanism of a cell.
    """

    name: str
    statement: str
    find: Callable[[Evidence], Iterator[str]]
    needs: tuple[str, ...] = ("count",)
    in_every_cell: bool = False
    in_studies: bool = True

    def require(self, mechanism: Mechanism, *, seed: int = 0, effort: Effort = THOROUGH) -> None:
        """Raise Inconsistent if a mechanism fails; see `require_consistent`."""
        require_consistent(mechanism, seed=seed, effort=effort, checks=(self,))

    def failures(self, evidence: Evidence) -> Iterator[str]:
        """Yield sentences on how the evidence contradicts the statement."""
        if all(getattr(evidence, need) for need in self.needs):
            yield from self.find(evidence)


def fresh_draws(evidence: Evidence) -> Iterator[str]:
    training, test = evidence.training, evidence.test
    yield from find_constant_noise(training, test)
    for draws in evidence.ways_at_once():
        yield from find_shared_noise(draws, test)
    if evidence.is_independent:
        yield from find_alike_elements(training, test)


def atoms(evidence: Evidence) -> Iterator[str]:
    if evidence.keeps_to_a_grid() or evidence.rounds_first():
        return
    training, at_random = evidence.training, evidence.noise_of_random_value
    rounding = 4 * np.finfo(float).eps * evidence.largest
    # A sum of noise and zeros is not rounded, and that of noise and a random value only slightly,
    # unless the value is far larger.
    is_rounded = evidence.constant.any() or rounding > 1e-10 * evidence.scale
    # Around the constant, a record may change an element by only half as much.
    share = 8 * rounding / evidence.query.change_of_one if is_rounded else 0.0
    atom = claimed_of_numbers(evidence.profile, share)
    yield from find_recurring_numbers(training, at_random, rounding, atom)
    yield from find_exact_answers(at_random, atom)
    again = np.concatenate([training, evidence.test])
    yield from find_repeated_noise(again, at_random, rounding, atom)


def moments(evidence: Evidence) -> Iterator[str]:
    """Check the mean and the variance of the squared norm, however it is drawn."""
    constant = np.concatenate([evidence.training, evidence.test])
    samples = [("of a constant", constant), ("of a constant, drawn at once,", evidence.sampled)]
    samples += [(f"of a constant by {name}", noise) for name, noise in evidence.other_ways.items()]
    samples += [("drawn as squared norms", evidence.squared_norms)]
    for where, noise in samples:
        yield from find_wrong_moments(evidence, noise, evidence.constant, where)


def law(evidence: Evidence) -> Iterator[str]:
    """Check the distribution of the norm, and the symmetry of the noise."""
    stated, at_once, where = evidence.mechanism.noise, evidence.sampled, "of a constant"
    yield from find_wrong_norms(stated, evidence.sampled_norms(), 0.0, "drawn at once")
    yield from find_wrong_norms(stated, evidence.squared_norms, 0.0, "drawn as squared norms")
    norms = np.concatenate([norms_of(evidence.training), norms_of(evidence.test)])
    rounding = evidence.rounding(float(np.abs(evidence.constant).max()))
    yield from find_wrong_norms(stated, norms, rounding, where)
    leaning = mean_directions(evidence.training)
    yield from find_asymmetry(stated, at_once, leaning, "drawn at once")
    yield from find_asymmetry(stated, evidence.test, leaning, where)


def independent_releases(evidence: Evidence) -> Iterator[str]:
    for draws in evidence.ways_at_once():
        yield from find_correlated_releases(draws, evidence.test)


def random_value(evidence: Evidence) -> Iterator[str]:
    """Check the law of the noise of a random value, and whether it depends on the value."""
    stated, value, where = evidence.mechanism.noise, evidence.value, "of a random value"
    noise = evidence.noise_of_random_value
    yield from find_dependence_on_value(evidence.test, noise, value)
    yield from find_wrong_moments(evidence, noise, value, where)
    yield from find_wrong_norms(stated, norms_of(noise), evidence.rounding(evidence.largest), where)
    directions = [("the value", value), ("the signs of the value", np.sign(value))]
    directions += mean_directions(evidence.training)
    yield from find_asymmetry(stated, noise, directions, where)
    if max(evidence.scale * value.size**0.5, evidence.largest) < LARGEST_SINGLE:
        single = value.astype(np.float32)
        noise = evidence.noise(single, evidence.count)
        yield from find_wrong_moments(evidence, noise, single, f"{where} in float32")


def every_value(evidence: Evidence) -> Iterator[str]:
    """Check the norm of the noise at values of other kinds."""
    for name, value in other_values(
        evidence.query, evidence.constant, evidence.value, evidence.rng
    ):
        if evidence.time_is_up():
            return
        norms = norms_of(evidence.noise(value, evidence.count))
        rounding = evidence.rounding(float(np.abs(value).max()))
        yield from find_wrong_norms(evidence.mechanism.noise, norms, rounding, f"of {name}")


def stated_curve(evidence: Evidence) -> Iterator[str]:
    yield from find_wrong_curve(evidence)
    yield from find_other_profile(evidence)


def neighbours(evidence: Evidence) -> Iterator[str]:
    count = evidence.count
    if evidence.is_additive:
        for name, change in evidence.prepared_moves:
            yield from find_shown_change(evidence, name, change)
        if evidence.is_independent:
            yield from find_shown_elements(evidence)
    else:
        looks = evidence.answers(evidence.constant, LOOK)
        pairs = neighbouring_pairs(evidence.query, evidence.changes(looks), evidence.constant)
        if pairs:
            evidence.compared += 1
            yield from find_telling_pair(evidence, pairs)
        # As many as `find_telling_pair` draws of each value to choose a pair.
        count = max(LEAST, count // max(len(pairs), 1))
    if not evidence.time_is_up():
        yield from find_moving_grid(evidence, count)


def other_budget(evidence: Evidence) -> Iterator[str]:
    """Check the noise at twice the epsilon: a mechanism may keep its first calibration."""
    mechanism = evidence.mechanism
    with warnings.catch_warnings():
        # This check is about the noise, not about the range of the theorem.
        warnings.simplefilter("ignore", OutOfRangeWarning)
        try:
            budget = Budget(epsilon=2 * mechanism.budget.epsilon, delta=mechanism.budget.delta)
            other = type(mechanism).calibrate_only(
                mechanism.query, budget, mechanism.calibration, **mechanism.settings
            )
        except (Unsupported, ValueError):
            return
    evidence_of_other = Evidence(other, evidence.rng, GLIMPSE)
    for check in IN_EVERY_CELL:
        for sentence in check.failures(evidence_of_other):
            yield f"calibrated again, to epsilon {budget.epsilon:g}: {sentence}"


CHECKS = (
    Check(
        "seeds",
        "Equal generators give equal answers.",
        find_seed_faults,
        in_every_cell=True,
    ),
    Check(
        "inputs",
        "A release leaves the value that it is given as it was.",
        find_writes,
        in_every_cell=True,
    ),
    Check(
        "fresh draws",
        "No release repeats the noise of another, and no element that of another one.",
        fresh_draws,
        needs=("count", "is_additive"),
        in_every_cell=True,
    ),
    Check(
        "independent releases",
        "The noise of a release says nothing of that of another.",
        independent_releases,
        needs=("count", "is_additive"),
    ),
    Check(
        "atoms",
        "No number recurs in the noise more often than the profile allows.",
        atoms,
        needs=("count", "is_additive", "profile", "has_value"),
        in_every_cell=True,
    ),
    Check(
        "moments",
        "The squared norm of the noise has the stated mean and variance, however it is drawn.",
        moments,
        needs=("count", "is_additive"),
        in_every_cell=True,
    ),
    Check(
        "law",
        "The norm of the noise has the stated distribution, and the noise leans to no side.",
        law,
        needs=("count", "is_additive"),
        in_every_cell=True,
    ),
    Check(
        "random value",
        "The noise of a random value is that of a constant.",
        random_value,
        needs=("count", "is_additive", "has_value"),
        in_every_cell=True,
    ),
    Check(
        "scaling",
        "Scaled noise has scaled moments, and the error of a workload is that of the noise.",
        find_wrong_scaling,
        needs=("is_additive",),
        in_every_cell=True,
    ),
    Check(
        "every value",
        "The noise of large, whole and sparse values is the same.",
        every_value,
        needs=("count", "is_additive", "has_value"),
    ),
    Check(
        "independent elements",
        "Elements that are stated to be independent and alike have the stated distribution.",
        find_wrong_elements,
        needs=("count", "is_independent"),
    ),
    Check(
        "joint law",
        "Elements that are stated to be independent have the stated noise in every direction.",
        find_dependent_elements,
        needs=("count", "is_independent"),
    ),
    Check(
        "stated curve",
        "Delta is a probability, falls with epsilon, and is that of the noise.",
        stated_curve,
        needs=("profile",),
    ),
    Check(
        "neighbours",
        "Releases of two neighbouring values show no more than the profile states.",
        neighbours,
        needs=("count", "profile"),
    ),
    Check(
        "other budget",
        "A mechanism of another budget draws the noise of that budget.",
        other_budget,
        in_studies=False,
    ),
)
IN_STUDIES = tuple(check for check in CHECKS if check.in_studies)
IN_EVERY_CELL = tuple(check for check in CHECKS if check.in_every_cell)


@dataclass(frozen=True)
class Comparison:
    """How many releases agreed with what a mechanism states, or why none was compared."""

    releases: int
    missing: str = ""


def require_consistent(
    mechanism: Mechanism,
    *,
    seed: int,
    effort: Effort = THOROUGH,
    checks: tuple[Check, ...] = CHECKS,
) -> Comparison:
    """Raise Inconsistent, with the first sentence found, if a mechanism fails a check.

    Args:
        mechanism: At either calibration.
        seed: Seed of the draws, >= 0.
        effort: How much the checks may draw.
        checks: The checks to run, in order.

    Raises:
        Inconsistent: The mechanism fails a check.
        ReleaseError: A release breaks its contract.
    """
    evidence = Evidence(mechanism, np.random.default_rng(seed), effort)
    for check in checks:
        for sentence in check.failures(evidence):
            raise Inconsistent(sentence)
    if evidence.compared:
        return Comparison(evidence.drawn)
    return Comparison(0, evidence.missing or "nothing that it states can be compared with releases")


def require_consistent_in_study(mechanism: Mechanism, *, seed: int, first: bool) -> None:
    """Run the checks of a study: more of them for the first mechanism of a cell.

    Args:
        first: Whether this is the first mechanism of the cell that is checked.

    Raises:
        Inconsistent, ReleaseError: As `require_consistent`.
    """
    effort, checks = (FIRST, IN_STUDIES) if first else (GLIMPSE, IN_EVERY_CELL)
    require_consistent(mechanism, seed=seed, effort=effort, checks=checks)
