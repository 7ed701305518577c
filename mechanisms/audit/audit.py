"""Audits a mechanism by its outputs alone, by a plan that is fixed beforehand.

The first third of the outputs trains the scores. The second chooses two events {score > t} or
{score < t}: one for the bound on delta, one for that on epsilon. The last third is counted once.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechanisms.audit.audited_pairs import audited_pairs
from mechanisms.audit.outputs import (
    PAIR_NAMES,
    Release,
    ReleaseMany,
    Source,
    batch_of,
    check_pair,
    from_batches,
    from_file,
    one_by_one,
)
from mechanisms.audit.scores import Score, learners_of
from mechanisms.base.claim import claimed_delta
from mechanisms.base.mechanism import Mechanism
from mechanisms.check.audit_statistics import (
    DirectedAudit,
    familywise_confidence,
    hockey_stick,
    largest_probability,
    least_probability,
)
from mechanisms.check.draws import find_shared_noise
from mechanisms.query.query import DELTAS, Unsupported, checked_real
from mechanisms.verification.sampled_audit import checked_values, settings_of
from mechanisms.verification.verification import REFUTED, UNDECIDED

DEFAULT_SAMPLES, FEWEST_SAMPLES = 10_000, 16
# COMPARED rows of a batch are drawn twice. If at least DISTINCT of them differ, they come again by
# chance with a probability below 1e-12.
COMPARED, DISTINCT = 128, 8
# The parts of the plan, each drawn with its own seed.
TRAINED, CHOSEN, COUNTED = range(3)
# Thresholds that are tried for each score, sign and order of the values.
THRESHOLDS = 500


@dataclass(frozen=True)
class Event:
    """The event {sign * score > threshold}, more likely for value `order[0]` than `order[1]`."""

    name: str
    score: Score
    order: tuple[int, int]
    sign: int
    threshold: float

    def count(self, outputs: Sequence[np.ndarray], epsilon: float, tail: float) -> DirectedAudit:
        """Count the outputs (n, *shape) for each value in the event, and bound delta by them."""
        hits = []
        for side in self.order:
            scores = checked_values(self.score(outputs[side]), len(outputs[side]), "score")
            hits.append(int(np.count_nonzero(self.sign * scores > self.threshold)))
        return DirectedAudit.from_hits(
            epsilon=float(epsilon), event=str(self), trials=len(outputs[0]), hits=hits, tail=tail
        )

    def __str__(self) -> str:
        beyond = f"> {self.threshold:g}" if self.sign > 0 else f"< {-self.threshold:g}"
        return f"{self.name} {beyond}, more likely for the {PAIR_NAMES[self.order[0]]} value"


@dataclass(frozen=True, kw_only=True)
class OutputAudit:
    """The evidence of outputs for two values on a claim of (epsilon, delta)-differential privacy.

    Attributes:
        confidence: The probability with which both lower bounds hold.
        samples: Outputs for each value; a third, `counted.trials`, is counted.
        delta_lower: A lower bound on the pair's delta at `epsilon`, in [0, 1).
        epsilon_lower: A lower bound on the pair's epsilon at `claimed_delta`, >= 0.
        counted: The counts of the event that bounds delta best.
        pair: The name of the pair, if the audit chose it.
    """

    epsilon: float
    claimed_delta: float
    confidence: float
    seed: int
    samples: int
    delta_lower: float
    epsilon_lower: float
    counted: DirectedAudit
    pair: str | None = None

    @property
    def verdict(self) -> str:
        """Return `REFUTED` or `UNDECIDED`: samples cannot prove a claim."""
        return REFUTED if self.delta_lower > self.claimed_delta else UNDECIDED

    def to_dict(self) -> dict[str, Any]:
        """Return all findings of the audit as plain values, for JSON."""
        return dataclasses.asdict(self) | {"verdict": self.verdict}


def audit_samples(
    sources: Sequence[Source],
    epsilon: float,
    delta: float = 0.0,
    *,
    values: tuple[np.ndarray, np.ndarray] | None = None,
    score: Score | str | None = None,
    samples: int = DEFAULT_SAMPLES,
    seed: int = 0,
    confidence: float = 0.999,
) -> OutputAudit:
    """Test whether two sources of outputs contradict (epsilon, delta)-differential privacy.

    The claim can be refuted, never proven: another pair or another score may show more.

    Args:
        sources: The sources of outputs for the first and for the second value; see `outputs`.
        epsilon, delta: The claim: epsilon is finite and >= 0, and delta is in [0, 1).
        values: The two values, for the score `distance`.
        score: A function of outputs (n, *shape), larger for those that seem to come from the first
            value, such as a log-likelihood ratio; or a name of `scores.SCORES`. By default `mean`,
            `spread` and, with `values`, `distance` are tried, and the best one is used.
        samples: Outputs for each value, at least 16.
        seed: >= 0. The result depends on it, on `samples` and on the sources.
        confidence: The probability with which both bounds hold, in (0, 1).

    Raises:
        TypeError, ValueError: An argument is out of range, an audit cannot hold so many numbers, or
            a source or a score fails.
    """
    delta = checked_real("delta", delta, **DELTAS)
    settings = settings_of(epsilon, samples, seed, confidence, least_samples=FEWEST_SAMPLES)
    learners = learners_of(score, values)
    third, last = samples // 3, samples - 2 * (samples // 3)
    # Two events, each with a bound on its probability for either value.
    tail = (1 - confidence) / 4
    trained = _draw(sources, third, seed, TRAINED)
    scores = {name: learn(trained) for name, learn in learners.items()}
    del trained
    events = _chosen_events(scores, _draw(sources, third, seed, CHOSEN), epsilon, delta, tail)
    counted = _draw(sources, last, seed, COUNTED)
    found = [event.count(counted, epsilon, tail) for event in events]
    best = max(found, key=lambda each: each.delta.lower)
    return OutputAudit(
        **settings,
        claimed_delta=delta,
        delta_lower=best.delta.lower,
        epsilon_lower=max(each.epsilon_lower_bound(delta) for each in found),
        counted=best,
    )


def _draw(sources: Sequence[Source], n: int, seed: int, part: int) -> list[np.ndarray]:
    """Draw n outputs (n, *shape) from either source; raise ValueError if their shapes differ."""
    first, second = (
        source(np.random.default_rng((seed, side, part)), n) for side, source in enumerate(sources)
    )
    if first.shape != second.shape:
        raise ValueError(
            f"the outputs for both values must have one shape, got {first.shape[1:]} and "
            f"{second.shape[1:]}"
        )
    return [first, second]


def _chosen_events(
    scores: dict[str, Score], outputs: list[np.ndarray], epsilon: float, delta: float, tail: float
) -> tuple[Event, Event]:
    """Choose the events that bound delta at epsilon, and epsilon at delta, best here."""
    found = []
    for name, score in scores.items():
        sides = [checked_values(score(each), len(each), "score") for each in outputs]
        for sign, order in itertools.product((1, -1), ((0, 1), (1, 0))):
            a, b = (np.sort(sign * sides[side]) for side in order)
            pooled = np.sort(np.concatenate((a, b)))
            # Events that contain 1, 2, 3, ... and then, in geometric steps, nearly all outputs.
            ranks = np.geomspace(1, len(pooled) - 1, THRESHOLDS).astype(int)
            thresholds = np.unique(pooled[-1 - ranks])
            hits_a, hits_b = (
                len(each) - np.searchsorted(each, thresholds, side="right") for each in (a, b)
            )
            lower = least_probability(hits_a, len(a), tail)
            upper = largest_probability(hits_b, len(b), tail)
            deltas = hockey_stick(lower, upper, epsilon)
            ratios = (lower - delta) / upper
            for place in (int(np.argmax(deltas)), int(np.argmax(ratios))):
                event = Event(name, score, order, sign, float(thresholds[place]))
                found.append((float(deltas[place]), float(ratios[place]), event))
    return max(found, key=lambda each: each[:2])[2], max(found, key=lambda each: each[1])[2]


def audit_release(
    release: Release | ReleaseMany,
    first: np.ndarray,
    second: np.ndarray,
    epsilon: float,
    delta: float = 0.0,
    *,
    batch: bool = False,
    **settings,
) -> OutputAudit:
    """Test a claim of (epsilon, delta)-differential privacy for a function on a pair of values.

    Args:
        release: Called as release(value, rng) for one output: finite numbers of one shape, drawn
            with `rng` alone; `value` is read-only.
        first, second: The answers for two neighbouring data sets: different arrays of finite
            numbers, of one shape.
        epsilon, delta: The claim.
        batch: Whether to call release(value, rng, count) instead, which returns `count` independent
            outputs, one per row.
        settings: score, samples, seed and confidence of `audit_samples`.

    Raises:
        TypeError, ValueError: As `audit_samples`; or the two values are no such pair, an output is
            not finite or changes its shape, or the rows of a batch are not independent.
    """
    pair = np.array(first), np.array(second)
    check_pair(*pair)
    if batch:
        for value in pair:
            _check_rows(release, value)
    else:
        release = one_by_one(release)
    sources = [from_batches(release, value) for value in pair]
    return audit_samples(sources, epsilon, delta, values=pair, **settings)


def _check_rows(release: ReleaseMany, value: np.ndarray) -> None:
    """Raise ValueError if rows of a batch share noise that rows of different batches do not."""
    outputs, others = (
        batch_of(release, value, np.random.default_rng((0, call, COUNTED + 1)), COMPARED)
        for call in range(2)
    )
    if np.array_equal(outputs, others):
        # If most rows are equal, as for rare events, both batches may be equal by chance.
        if len(np.unique(outputs.reshape(COMPARED, -1), axis=0)) < DISTINCT:
            return
        raise ValueError(
            f"a batch must be drawn with rng: two generators give the same {COMPARED} outputs"
        )
    # Without the value, noise that is repeated with the other sign shows too.
    if outputs.shape[1:] == value.shape:
        outputs, others = outputs - value, others - value
    for sentence in find_shared_noise(outputs, others):
        raise ValueError(f"the rows of a batch must be independent: {sentence}")


def audit_mechanism(
    mechanism: Mechanism, epsilon: float, *, confidence: float = 0.999, **settings
) -> OutputAudit:
    """Audit a mechanism on several pairs, and return the audit of the pair that shows most.

    The claim has the delta that the mechanism claims.

    Args:
        mechanism: A calibrated mechanism.
        epsilon: The claimed epsilon.
        confidence: The probability with which the bounds for all pairs hold at once, in (0, 1).
        settings: score, samples and seed of `audit_samples`.

    Raises:
        TypeError, ValueError: As `audit_release`; or no pair is known that the query allows.
        Unsupported: The mechanism claims no privacy.
    """
    if mechanism.guarantee == "none":
        raise Unsupported("claims no privacy, so there is nothing to audit")
    delta = claimed_delta(mechanism)
    pairs = audited_pairs(mechanism.release, mechanism.query)
    if not pairs:
        raise ValueError("no two values that the query allows are known to be neighbours")
    each = familywise_confidence(confidence, len(pairs))
    found = [
        dataclasses.replace(
            audit_release(
                mechanism.releases, *pair, epsilon, delta, batch=True, confidence=each, **settings
            ),
            confidence=confidence,
            pair=name,
        )
        for name, pair in pairs
    ]
    return max(found, key=lambda audit: (audit.verdict == REFUTED, audit.epsilon_lower))


def audit_files(
    first: str | Path,
    second: str | Path,
    epsilon: float,
    delta: float = 0.0,
    *,
    samples: int | None = None,
    **settings,
) -> OutputAudit:
    """Test a claim on outputs in two .npy files, one independent output per row.

    The rows are used in their order.

    Args:
        samples: The number of rows to use of each file; None for all rows of the shorter file.

    Raises:
        TypeError, ValueError: As `audit_samples`; or a file cannot be read or has too few rows.
    """
    sources, rows = zip(from_file(first), from_file(second), strict=True)
    if samples is None:
        samples = min(rows)
    elif samples > min(rows):
        raise ValueError(
            f"{first} holds {rows[0]} outputs and {second} {rows[1]}, and {samples} of each are "
            "needed: ask for fewer samples"
        )
    return audit_samples(sources, epsilon, delta, samples=samples, **settings)
