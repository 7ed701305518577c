"""What is fixed before an epoch of an audit is drawn: a score, its events, and the bet on one.

All of it is chosen on outputs that are not counted again: one half fits the scores, and the other
selects among the scores and their events.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.black_box.learned_scores import Learner, Score
from mechanisms.check.audit_statistics import largest_probability, least_probability
from mechanisms.check.events import best_event
from mechanisms.verification.betting import EventBet, growth
from mechanisms.verification.sampled_audit import checked_values

# Outputs of each side that the events are chosen by, and the numbers that these may have.
CHOICE_OUTPUTS, CHOICE_NUMBERS = 1 << 17, 1 << 23
# Events are chosen as if their probabilities were this unlucky: bolder guesses lose wealth, and
# more timid ones bet late. Of 0.01 to 0.45 this one refuted soonest in four examples.
CAUTION = 0.15
# Thresholds that bets are tried at, and those of the trade-off curve.
BET_THRESHOLDS, THRESHOLDS = 150, 500


@dataclass(frozen=True)
class Event:
    """{sign * score > threshold}, seen from the side `order[0]` against `order[1]`."""

    order: tuple[int, int]
    sign: int
    threshold: float

    def holds(self, scores: np.ndarray) -> np.ndarray:
        return self.sign * scores > self.threshold

    def __str__(self) -> str:
        return f"> {self.threshold:g}" if self.sign > 0 else f"< {-self.threshold:g}"


@dataclass(frozen=True)
class Plan:
    """All that is fixed before an epoch is drawn."""

    name: str
    score: Score
    gain: tuple[float, float]  # what it promises: growth of the wealth, then a bound of delta
    bet: EventBet
    event: Event
    counted: tuple[Event, ...]
    thresholds: np.ndarray

    def scores(self, outputs: np.ndarray) -> np.ndarray:
        """The scores of outputs (n, *shape), shape (n,)."""
        return checked_values(self.score(outputs), len(outputs), "score")


class Planner:
    """Learns from outputs of both sides, and plans by what it has learned.

    Args:
        epsilon, delta: The claim.
        learners: Scores by name.
    """

    def __init__(self, epsilon: float, delta: float, learners: dict[str, Learner]) -> None:
        self._epsilon, self._delta, self._learners = epsilon, delta, learners
        self._choice: tuple[list[np.ndarray], ...] = ([], [])

    def learn(self, pair: Sequence[np.ndarray]) -> None:
        """Half of the outputs fit the scores, the other half chooses among them."""
        for side, outputs in enumerate(pair):
            room = self._room(side, outputs[0])
            kept = outputs[1::2]
            if room > 0:
                # A copy: a view would keep the other half alive.
                self._choice[side].append(np.array(kept[:room]))
            for learner in self._learners.values():
                learner.add(side, outputs[::2])
                if len(kept) > max(room, 0):
                    learner.add(side, kept[max(room, 0) :])

    @property
    def holds_enough(self) -> bool:
        """Whether no output needs to be held any more, so that `lessons` say all."""
        full = all(self._room(side, held[0][0]) <= 0 for side, held in enumerate(self._choice))
        return full and all(learner.adds_up for learner in self._learners.values())

    def lessons(self, outputs: np.ndarray, before: list | None = None) -> list:
        """For each learner a summary of outputs, which then need not be kept.

        Of those in the summaries `before` too, where they are given.
        """
        learners = self._learners.values()
        before = before or [None] * len(learners)
        return [
            learner.lesson(outputs, known) for learner, known in zip(learners, before, strict=True)
        ]

    def learn_lessons(self, side: int, lessons: list) -> None:
        """Learn from the summaries of outputs of a side; nothing where there are none."""
        for learner, lesson in zip(self._learners.values(), lessons, strict=False):
            learner.learn(side, lesson)

    def plan(self) -> Plan:
        plans = (self._plan_of(name, learner.score()) for name, learner in self._learners.items())
        return max(plans, key=lambda plan: plan.gain)

    def _plan_of(self, name: str, score: Score) -> Plan:
        scores = [
            np.concatenate([checked_values(score(each), len(each), "score") for each in held])
            for held in self._choice
        ]
        counted, bound = [], 0.0
        for a, b in ((0, 1), (1, 0)):
            promised, sign, threshold = best_event(scores[a], scores[b], self._epsilon, CAUTION)
            counted.append(Event((a, b), sign, threshold))
            bound = max(bound, promised)
        rate, event, bet = self._best_bet(scores)
        ordered = np.sort(np.concatenate(scores))
        places = np.linspace(0, len(ordered) - 1, THRESHOLDS).astype(int)
        return Plan(name, score, (rate, bound), bet, event, tuple(counted), ordered[places])

    def _best_bet(self, scores: list[np.ndarray]) -> tuple[float, Event, EventBet]:
        """The event on which wealth should grow fastest, and the bet on it."""
        found = (0.0, Event((0, 1), 1, math.inf), EventBet.on_guess(self._epsilon, 0.0, 0.1, 0.5))
        for sign in (1, -1):
            sides = [np.sort(sign * each) for each in scores]
            pooled = np.sort(np.concatenate(sides))
            ranks = np.unique(np.geomspace(1, len(pooled) - 1, BET_THRESHOLDS).astype(int))
            thresholds = np.unique(pooled[-1 - ranks])
            hits = [len(s) - np.searchsorted(s, thresholds, side="right") for s in sides]
            for a, b in ((0, 1), (1, 0)):
                lower = least_probability(hits[a], len(sides[a]), CAUTION)
                upper = largest_probability(hits[b], len(sides[b]), CAUTION)
                rates = growth(lower, upper, self._epsilon, self._delta)
                choice = int(np.argmax(rates))
                if rates[choice] > found[0]:
                    bet = EventBet.on_guess(
                        self._epsilon, self._delta, float(lower[choice]), float(upper[choice])
                    )
                    event = Event((a, b), sign, float(thresholds[choice]))
                    found = (float(rates[choice]), event, bet)
        return found

    def _room(self, side: int, output: np.ndarray) -> int:
        """How many more such outputs of a side are held to choose by."""
        most = min(CHOICE_OUTPUTS, max(64, CHOICE_NUMBERS // max(output.size, 1)))
        return most - sum(map(len, self._choice[side]))
