"""Audits anybody's mechanism by its outputs, and stops when the claim has fallen.

Outputs are drawn in epochs, each as long as all before it. Every epoch is tested by a score and by
events that were fixed before it, and trains the scores of the next. A bet on the most telling event
(`EventBet`) multiplies one wealth from the first test to the last; when it reaches its limit the
claim is refuted, however often one looked. The epoch is then finished, and the counts of each
epoch give bounds for its events. Nothing is said in favour of a claim: a mechanism may show its
fault with a probability that no number of samples meets, or with another pair.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanisms.audit.audit_statistics import DirectedAudit, clopper_pearson
from mechanisms.audit.betting import EventBet, growth
from mechanisms.audit.events import best_event
from mechanisms.audit.learned_scores import Learner, Score
from mechanisms.audit.output_sources import DrawOutputs
from mechanisms.audit.sampled_audit import checked_values, generator, settings_of
from mechanisms.audit.trade_off_band import TradeOffBand
from mechanisms.audit.verification import REFUTED, UNDECIDED
from mechanisms.contract.query import checked_real

# Draws of each side before the first test.
FIRST_EPOCH = 128
FEWEST_SAMPLES = 16
# Numbers that are held at once: 32 MB.
BLOCK_NUMBERS = 1 << 22
LARGEST_BLOCK = 1 << 16
# Outputs of each side that the events are chosen by, and the numbers that these may have.
CHOICE_OUTPUTS, CHOICE_NUMBERS = 1 << 17, 1 << 23
# Events are chosen as if their probabilities were this unlucky: bolder guesses lose wealth, and
# more timid ones bet late. Of 0.01 to 0.45 this one refuted soonest in four examples.
CAUTION = 0.15
# Thresholds that bets are tried at, and those of the trade-off curve.
BET_THRESHOLDS, THRESHOLDS = 150, 500
SIDES = (0, 1)


@dataclass(frozen=True, kw_only=True)
class SequentialAudit:
    """What samples of a pair say about a claim of (epsilon, delta)-differential privacy.

    With probability `confidence` all of it holds at once: a true claim does not lose its bet, the
    counts of all epochs hold, and so do the bands of all epochs. Each gets a third of the error.
    The verdict and the bounds of delta and epsilon follow from all three, so that they agree.

    verdict: "refuted" or "undecided"; never "holds".
    samples: outputs drawn of each side, training included.
    refuted_after: outputs of each side after which the claim had fallen, or None. The audit
        finishes the epoch that it is in.
    delta_lower: the pair's delta at epsilon is at least this; in [0, 1).
    epsilon_lower: the pair's epsilon at the claimed delta is at least this; >= 0. If the claim is
        refuted neither is below the claimed one.
    best: the counts that bound delta best, or None if nothing was tested.
    curve: the trade-off curve of the last epoch's score, or None if nothing was tested.
    score: name of the score that was used last.
    """

    epsilon: float
    claimed_delta: float
    confidence: float
    seed: int
    samples: int
    refuted_after: int | None
    delta_lower: float
    epsilon_lower: float
    best: DirectedAudit | None
    curve: TradeOffBand | None
    score: str | None

    @property
    def verdict(self) -> str:
        """Samples can refute a claim; they cannot prove one."""
        return REFUTED if self.refuted_after is not None else UNDECIDED

    def to_dict(self) -> dict[str, Any]:
        """Everything the audit found, ready for JSON."""
        found = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in ("best", "curve")
        }
        return found | {
            "verdict": self.verdict,
            "refuted": self.verdict == REFUTED,
            "best": dataclasses.asdict(self.best) if self.best else None,
            "curve": self.curve.to_dict() if self.curve else None,
        }


def audit_samples(
    draws: tuple[DrawOutputs, DrawOutputs],
    learners: dict[str, Learner],
    epsilon: float,
    delta: float,
    *,
    samples: int,
    seed: int = 0,
    confidence: float = 0.999,
    whole_budget: bool = False,
) -> SequentialAudit:
    """Test whether two sources of outputs contradict (epsilon, delta)-differential privacy.

    Memory does not grow with `samples`.

    Args:
        draws: Outputs for the first and for the second value, see `output_sources`.
        learners: Scores by name, see `learned_scores`; the one that tells most is used.
        epsilon, delta: The claim: finite >= 0, and in [0, 1).
        samples: The most outputs of each side, at least 16.
        seed: >= 0; the result depends on it, on `samples` and on the sources.
        confidence: In (0, 1), of all that is reported.
        whole_budget: Draw all samples, also where the claim falls earlier: the bounds are tighter.

    Raises:
        TypeError, ValueError: Arguments out of range; a source or score that fails.
    """
    delta = checked_real("delta", delta, low=-1e-300, high=1.0, allowed="0 <= delta < 1")
    settings = settings_of(epsilon, samples, seed, confidence, least_samples=FEWEST_SAMPLES)
    share = (1 - confidence) / 3
    ends = _ends(samples)
    state = _State(epsilon, delta, learners, share, share / max(1, len(ends) - 1))
    outputs = _Outputs(draws, seed)
    start = 0
    for end in ends:
        state.epoch(outputs, start, end, last=end == samples)
        start = end
        if state.refuted_after is not None and not whole_budget:
            break
    return SequentialAudit(
        **settings | {"samples": start},
        claimed_delta=delta,
        refuted_after=state.refuted_after,
        delta_lower=state.delta_lower,
        epsilon_lower=state.epsilon_lower,
        best=state.best,
        curve=state.curve,
        score=state.score,
    )


def _ends(samples: int) -> list[int]:
    """Numbers of outputs after which an epoch ends: doubled until `samples`."""
    ends = [min(FIRST_EPOCH, samples // 2)]
    while ends[-1] < samples:
        ends.append(min(2 * ends[-1], samples))
    # A short rest joins the epoch before it.
    if len(ends) > 2 and ends[-1] - ends[-2] < ends[-2] // 4:
        del ends[-2]
    return ends


class _Outputs:
    """The draws of both sides in slices that fit into memory; every slice has its own seed."""

    def __init__(self, draws: tuple[DrawOutputs, DrawOutputs], seed: int) -> None:
        self._draws, self._seed, self._slices = draws, seed, 0
        self._shape: tuple[int, ...] | None = None

    def slices(self, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """`count` outputs of each side, in slices."""
        while count:
            size = math.prod(self._shape) if self._shape is not None else BLOCK_NUMBERS // 16
            n = min(count, LARGEST_BLOCK, max(1, BLOCK_NUMBERS // max(size, 1)))
            yield tuple(self._draw(side, n) for side in SIDES)
            self._slices += 1
            count -= n

    def _draw(self, side: int, n: int) -> np.ndarray:
        outputs = self._draws[side](generator(self._seed, side, self._slices), n)
        if self._shape is None:
            self._shape = outputs.shape[1:]
        if outputs.shape != (n, *self._shape):
            raise ValueError(
                f"the outputs for both values must have one shape, got {self._shape} and "
                f"{outputs.shape[1:]}"
            )
        return outputs


@dataclass(frozen=True)
class _Event:
    """{sign * score > threshold}, seen from the side `order[0]` against `order[1]`."""

    order: tuple[int, int]
    sign: int
    threshold: float

    def holds(self, scores: np.ndarray) -> np.ndarray:
        return self.sign * scores > self.threshold

    def __str__(self) -> str:
        return f"> {self.threshold:g}" if self.sign > 0 else f"< {-self.threshold:g}"


@dataclass(frozen=True)
class _Plan:
    """All that is fixed before an epoch is drawn."""

    name: str
    score: Score
    gain: tuple[float, float]  # what it promises: growth of the wealth, then a bound of delta
    bet: EventBet
    event: _Event
    counted: tuple[_Event, ...]
    thresholds: np.ndarray


class _State:
    """What an audit has learned and proved so far."""

    def __init__(
        self,
        epsilon: float,
        delta: float,
        learners: dict[str, Learner],
        error: float,
        epoch_error: float,
    ) -> None:
        self._epsilon, self._delta, self._learners = epsilon, delta, learners
        self._limit, self._epoch_error = -math.log(error), epoch_error
        self._choice = ([], [])
        self._log_wealth = 0.0
        self.refuted_after: int | None = None
        self.best: DirectedAudit | None = None
        self.delta_lower = self.epsilon_lower = 0.0
        self.curve: TradeOffBand | None = None
        self.score: str | None = None

    def epoch(self, outputs: _Outputs, start: int, end: int, *, last: bool) -> None:
        """Test by what is known, then learn, unless nothing is tested any more."""
        plan = self._plan() if start else None
        hits = np.zeros((2, 2), dtype=int)
        below = np.zeros((2, THRESHOLDS), dtype=int)
        seen = start
        for pair in outputs.slices(end - start):
            if plan is not None:
                scores = [checked_values(plan.score(each), len(each), "score") for each in pair]
                self._settle(plan, scores, seen)
                for side in SIDES:
                    hits[:, side] += [event.holds(scores[side]).sum() for event in plan.counted]
                    ordered = np.sort(scores[side])
                    below[side] += np.searchsorted(ordered, plan.thresholds, side="right")
            seen += len(pair[0])
            if not last:
                self._learn(pair)
        if plan is not None:
            self._bound(plan, hits, below, end - start)
            if self.refuted_after is None and self.delta_lower > self._delta:
                self.refuted_after = end
            if self.refuted_after is not None:
                self._prove(float(self._delta), float(self._epsilon))

    def _learn(self, pair: tuple[np.ndarray, np.ndarray]) -> None:
        """Half of the outputs fit the scores, the other half chooses among them."""
        for side, outputs in enumerate(pair):
            room = min(CHOICE_OUTPUTS, max(64, CHOICE_NUMBERS // max(outputs[0].size, 1)))
            room -= sum(map(len, self._choice[side]))
            kept = outputs[1::2]
            if room > 0:
                # A copy: a view would keep the other half alive.
                self._choice[side].append(np.array(kept[:room]))
            for learner in self._learners.values():
                learner.add(side, outputs[::2])
                if len(kept) > max(room, 0):
                    learner.add(side, kept[max(room, 0) :])

    def _plan(self) -> _Plan:
        choice = [np.concatenate(outputs) for outputs in self._choice]
        self._choice = tuple([each] for each in choice)
        plans = (
            self._plan_of(name, learner.score(), choice) for name, learner in self._learners.items()
        )
        return max(plans, key=lambda plan: plan.gain)

    def _plan_of(self, name: str, score: Score, choice: list[np.ndarray]) -> _Plan:
        scores = [checked_values(score(each), len(each), "score") for each in choice]
        counted, bound = [], 0.0
        for a, b in ((0, 1), (1, 0)):
            promised, sign, threshold = best_event(scores[a], scores[b], self._epsilon, CAUTION)
            counted.append(_Event((a, b), sign, threshold))
            bound = max(bound, promised)
        rate, event, bet = self._best_bet(scores)
        ordered = np.sort(np.concatenate(scores))
        places = np.linspace(0, len(ordered) - 1, THRESHOLDS).astype(int)
        return _Plan(name, score, (rate, bound), bet, event, tuple(counted), ordered[places])

    def _best_bet(self, scores: list[np.ndarray]) -> tuple[float, _Event, EventBet]:
        """The event on which wealth should grow fastest, and the bet on it."""
        found = (0.0, _Event((0, 1), 1, math.inf), EventBet.on_guess(self._epsilon, 0.0, 0.1, 0.5))
        for sign in (1, -1):
            sides = [np.sort(sign * each) for each in scores]
            pooled = np.sort(np.concatenate(sides))
            ranks = np.unique(np.geomspace(1, len(pooled) - 1, BET_THRESHOLDS).astype(int))
            thresholds = np.unique(pooled[-1 - ranks])
            hits = [len(s) - np.searchsorted(s, thresholds, side="right") for s in sides]
            for a, b in ((0, 1), (1, 0)):
                lower, _ = clopper_pearson(hits[a], len(sides[a]), CAUTION)
                _, upper = clopper_pearson(hits[b], len(sides[b]), CAUTION)
                rates = growth(lower, upper, self._epsilon, self._delta)
                choice = int(np.argmax(rates))
                if rates[choice] > found[0]:
                    bet = EventBet.on_guess(
                        self._epsilon, self._delta, float(lower[choice]), float(upper[choice])
                    )
                    event = _Event((a, b), sign, float(thresholds[choice]))
                    found = (float(rates[choice]), event, bet)
        return found

    def _settle(self, plan: _Plan, scores: list[np.ndarray], seen: int) -> None:
        a, b = (plan.event.holds(scores[side]) for side in plan.event.order)
        path = self._log_wealth + np.cumsum(plan.bet.log_gains(a, b))
        self._log_wealth = float(path[-1])
        if self.refuted_after is None and path.max() >= self._limit:
            self.refuted_after = seen + int(np.argmax(path >= self._limit)) + 1

    def _bound(self, plan: _Plan, hits: np.ndarray, below: np.ndarray, trials: int) -> None:
        for event, counts in zip(plan.counted, hits, strict=True):
            a, b = event.order
            found = DirectedAudit.from_hits(
                epsilon=self._epsilon,
                event=f"{plan.name} {event}, more likely for the {('first', 'second')[a]} value",
                trials=trials,
                hits_a=int(counts[a]),
                hits_b=int(counts[b]),
                tail=self._epoch_error / 4,
            )
            if self.best is None or found.delta.lower > self.best.delta.lower:
                self.best = found
            self._prove(found.delta.lower, found.epsilon_lower_bound(self._delta))
        self.score = plan.name
        # Large scores speak for the first side: the test rejects it at small ones.
        self.curve = band = TradeOffBand.from_scores(
            *below, samples=trials, tail=self._epoch_error, score=plan.name
        )
        self._prove(band.delta_lower(self._epsilon), band.epsilon_lower(self._delta))

    def _prove(self, delta: float, epsilon: float) -> None:
        self.delta_lower = max(self.delta_lower, delta)
        self.epsilon_lower = max(self.epsilon_lower, epsilon)
