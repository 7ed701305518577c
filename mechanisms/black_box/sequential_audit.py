"""Audits any mechanism by its outputs, and stops as soon as the claim is refuted.

Outputs are drawn in epochs, each as long as all before it. Every epoch is tested by a score and by
events that were fixed before it, and trains the scores of the next. A bet on the most telling event
(`EventBet`) multiplies one wealth from the first test to the last; when it reaches its limit the
claim is refuted, however often the wealth was checked. The epoch is then finished, and the counts
of each epoch give bounds for its events. The audit never supports a claim: a mechanism may violate
it too rarely for any number of samples to show, or on another pair.
"""

import contextlib
import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanisms.black_box.forked_work import in_order
from mechanisms.black_box.learned_scores import Learner
from mechanisms.black_box.output_slices import SIDES, OutputSlices, Slice
from mechanisms.black_box.output_sources import DrawOutputs
from mechanisms.black_box.plans import THRESHOLDS, Plan, Planner
from mechanisms.black_box.trade_off_band import TradeOffBand
from mechanisms.check.audit_statistics import DirectedAudit
from mechanisms.privacy.profile import check_count
from mechanisms.query.query import checked_real
from mechanisms.verification.sampled_audit import settings_of
from mechanisms.verification.verification import REFUTED, UNDECIDED

# Draws of each side before the first test.
FIRST_EPOCH = 128
FEWEST_SAMPLES = 16


@dataclass(frozen=True, kw_only=True)
class SequentialAudit:
    """What samples of a pair say about a claim of (epsilon, delta)-differential privacy.

    With probability `confidence` all of it holds at once: a true claim does not lose its bet, the
    counts of all epochs hold, and so do the bands of all epochs. Each gets a third of the error.
    The verdict and the bounds of delta and epsilon follow from all three, so that they agree.

    verdict: "refuted" or "undecided"; never "holds".
    samples: outputs drawn of each side, training included.
    refuted_after: outputs of each side after which the claim was refuted, or None. The audit
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
    processes: int = 1,
) -> SequentialAudit:
    """Test whether two sources of outputs contradict (epsilon, delta)-differential privacy.

    Memory does not grow with `samples`.

    Args:
        draws: Outputs for the first and for the second value, see `output_sources`.
        learners: Scores by name, see `learned_scores`; the one that distinguishes best is used.
        epsilon, delta: The claim: finite >= 0, and in [0, 1).
        samples: The most outputs of each side, at least 16.
        seed: >= 0; the result depends on it, on `samples` and on the sources.
        confidence: In (0, 1), of all that is reported.
        whole_budget: Draw all samples, also where the claim falls earlier: the bounds are tighter.
        processes: Number of forked processes that draw and score outputs, once enough are held to
            choose the scores. The result is the same for any number. Sources and scores
            must be functions of their arguments alone and fit to run after a fork, which code
            with threads or an accelerator is not; a score must not be a classifier.

    Raises:
        TypeError, ValueError: Arguments out of range; a source or score that fails.
    """
    if check_count("processes", processes) > 1 and not all(
        learner.adds_up for learner in learners.values()
    ):
        raise ValueError(
            f"a classifier is trained and used in one process, got processes = {processes}; choose "
            "another score"
        )
    delta = checked_real("delta", delta, low=-1e-300, high=1.0, allowed="0 <= delta < 1")
    settings = settings_of(epsilon, samples, seed, confidence, least_samples=FEWEST_SAMPLES)
    share = (1 - confidence) / 3
    ends = _ends(samples)
    state = _State(epsilon, delta, learners, share, share / max(1, len(ends) - 1))
    outputs = OutputSlices(draws, seed)
    start = 0
    for end in ends:
        state.epoch(outputs, start, end, last=end == samples, processes=processes)
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
        self._epsilon, self._delta = epsilon, delta
        self._planner = Planner(epsilon, delta, learners)
        self._limit, self._epoch_error = -math.log(error), epoch_error
        self._log_wealth = 0.0
        self.refuted_after: int | None = None
        self.best: DirectedAudit | None = None
        self.delta_lower = self.epsilon_lower = 0.0
        self.curve: TradeOffBand | None = None
        self.score: str | None = None

    def epoch(
        self, outputs: OutputSlices, start: int, end: int, *, last: bool, processes: int
    ) -> None:
        """Test by what is known, then learn, unless nothing is tested any more."""
        plan = self._planner.plan() if start else None
        hits = np.zeros((2, 2), dtype=int)
        below = np.zeros((2, THRESHOLDS), dtype=int)
        seen = start

        def test(scores: list[np.ndarray]) -> None:
            self._settle(plan, scores, seen)
            for side in SIDES:
                hits[:, side] += [event.holds(scores[side]).sum() for event in plan.counted]
                ordered = np.sort(scores[side])
                below[side] += np.searchsorted(ordered, plan.thresholds, side="right")

        def study(task: tuple[Slice, int]) -> tuple[np.ndarray, list]:
            scores, lessons = [], []
            for part in outputs.parts(*task):
                scores.append(plan.scores(part))
                if not last:
                    lessons = self._planner.lessons(part, lessons)
                # The next part then lies where this one did, which the cache still holds.
                del part
            return np.concatenate(scores), lessons

        slices = outputs.take(end - start)
        if plan is not None and (last or self._planner.holds_enough):
            tasks = list(itertools.product(slices, SIDES))
            with contextlib.closing(in_order(study, tasks, processes)) as results:
                for studied in zip(results, results, strict=True):
                    test([scores for scores, _ in studied])
                    seen += len(studied[0][0])
                    for side, (_, lessons) in enumerate(studied):
                        self._planner.learn_lessons(side, lessons)
        else:
            for wanted in slices:
                pair = [outputs.draw(wanted, side) for side in SIDES]
                if plan is not None:
                    test([plan.scores(each) for each in pair])
                seen += wanted.size
                if not last:
                    self._planner.learn(pair)
        if plan is not None:
            self._bound(plan, hits, below, end - start)
            if self.refuted_after is None and self.delta_lower > self._delta:
                self.refuted_after = end
            if self.refuted_after is not None:
                self._prove(float(self._delta), float(self._epsilon))

    def _settle(self, plan: Plan, scores: list[np.ndarray], seen: int) -> None:
        a, b = (plan.event.holds(scores[side]) for side in plan.event.order)
        path = self._log_wealth + np.cumsum(plan.bet.log_gains(a, b))
        self._log_wealth = float(path[-1])
        if self.refuted_after is None and path.max() >= self._limit:
            self.refuted_after = seen + int(np.argmax(path >= self._limit)) + 1

    def _bound(self, plan: Plan, hits: np.ndarray, below: np.ndarray, trials: int) -> None:
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
