"""Audits a claimed (epsilon, delta) by sampling: confidence bounds on the true delta of a pair.

P and Q are the output distributions for two neighbouring inputs. A lower bound above the claimed
delta refutes the claim for the mechanism. An upper bound holds for this pair alone: it supports the
claim only if the pair is the worst one, and only an exact profile proves that.

Samples are drawn in blocks of fixed size, each with its own seed, and only counts are kept: memory
does not grow with the number of samples, and the draws of a block depend on the seed, the
distribution and the number of the block alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mechanisms.audit.audit_statistics import (
    AuditResult,
    DirectedAudit,
    betting_interval,
    clopper_pearson,
    familywise_confidence,
    hockey_stick,
    spread_on_grid,
    value_grid,
)
from mechanisms.audit.learned_scores import CLASSIFIERS, Score, new_classifier
from mechanisms.audit.output_sources import DrawOutputs

__all__ = [
    "AuditResult",
    "audit_losses",
    "audit_outputs",
    "familywise_confidence",
]

LOSS_BLOCK = 65_536  # losses held at once
OUTPUT_BLOCK = 4_096  # outputs held at once: 260 MB at 89 x 89 in float64
LOSS_ROUNDING = 1e-9  # losses are taken to be exact to within this

# Streams of draws: a stage plus a distribution.
P, Q = 0, 1
COUNTING, TRAINING, FITTING = 0, 2, 4

DrawLosses = Callable[..., np.ndarray]  # (rng, n, reverse=bool) -> (n,)


def audit_losses(
    draw_losses: DrawLosses,
    epsilon: float,
    *,
    samples: int,
    seed: int,
    confidence: float = 0.999,
) -> AuditResult:
    """Audit a pair whose privacy loss log p(x)/q(x) can be sampled.

    Two methods, each in both directions of the pair; P against Q reads:
    - two samples: P(E) - e^epsilon Q(E) with E = {L > epsilon}, by Clopper-Pearson intervals. The
      lower bound needs no trust in the losses: it holds for any event.
    - one sample: the mean of (1 - e^(epsilon - L))_+ under P, which is delta(epsilon) (Balle,
      Barthe and Gaboardi 2018, Theorem 5), by betting. Far tighter for small delta or large
      epsilon, but only as good as the losses.
    Each of the 12 one-sided bounds (four probabilities and two means, from both sides) gets a
    twelfth of the error probability 1 - confidence.

    A loss of exactly epsilon is not in the event, and rounding must not put it there (at the
    epsilon of Laplace noise half of all losses are such ties): the event and the mean are taken
    at epsilon + LOSS_ROUNDING, which can only lower the lower bounds, and twice that is added to
    the upper bounds, which compensates for it.

    Args:
        draw_losses: called as draw_losses(rng, n, reverse=False) for n losses log p(x)/q(x) with
            x ~ P, and with reverse=True for the same losses with x ~ Q. Shape (n,); +-inf where
            only one of the two can produce x. n is at most `LOSS_BLOCK`; if one draw takes much
            memory, the function must slice n itself.
        epsilon: finite, >= 0.
        samples: draws of P, and as many of Q.
        seed: >= 0; the result depends on it and on `samples`, nothing else.
        confidence: in (0, 1); see `familywise_confidence` for several audits.

    Raises:
        TypeError, ValueError: arguments out of range; losses that are NaN or of another shape.
    """
    settings = settings_of(epsilon, samples, seed, confidence)
    tail = (1.0 - confidence) / 12
    threshold = epsilon + LOSS_ROUNDING
    above, below, means = [], [], []
    for side in (P, Q):
        hits_above = hits_below = 0
        weights = np.zeros(len(value_grid()))
        for rng, n in _blocks(seed, side, samples, LOSS_BLOCK):
            losses = checked_values(draw_losses(rng, n, reverse=side == Q), n, "draw_losses")
            # log of the density drawn from over that of the other distribution
            ratios = losses if side == P else -losses
            excess = ratios[ratios > threshold] - threshold
            hits_above += len(excess)
            hits_below += int(np.count_nonzero(ratios < -threshold))
            weights += spread_on_grid(-np.expm1(-excess))
        weights[0] += samples - hits_above
        above.append(hits_above)
        below.append(hits_below)
        means.append(betting_interval(value_grid(), weights, tail))

    forward, reverse = (
        DirectedAudit.from_hits(
            epsilon=epsilon,
            event=event,
            trials=samples,
            hits_a=above[a],
            hits_b=below[b],
            tail=tail,
            one_sample=means[a],
            slack=2 * LOSS_ROUNDING,
        )
        for a, b, event in ((P, Q, "log p/q > epsilon"), (Q, P, "log q/p > epsilon"))
    )
    return AuditResult(**settings, method="losses", forward=forward, reverse=reverse)


def audit_outputs(
    draw_outputs_p: DrawOutputs,
    draw_outputs_q: DrawOutputs,
    epsilon: float,
    *,
    score: Score | str,
    samples: int,
    seed: int,
    confidence: float = 0.999,
) -> AuditResult:
    """Audit a mechanism without a known density by a score of its outputs: lower bounds only.

    The first half of the samples trains: it chooses, for each direction of the pair, the event
    {score > t} or {score < t} with the largest lower bound. A learned score is fitted on one half
    of that half, and the event is chosen on the other. The second half of the samples is drawn
    after the events are fixed and gives the Clopper-Pearson bounds. As the density is unknown,
    nothing bounds delta from above: every upper bound is 1. Each of the four one-sided bounds gets
    a quarter of the error probability 1 - confidence.

    Args:
        draw_outputs_p, draw_outputs_q: called as draw(rng, n) for n outputs, shape (n, *shape);
            n is at most `OUTPUT_BLOCK`.
        epsilon: finite, >= 0.
        score: a function (n, *shape) -> (n,), which may be +-inf; or `logistic` (linear) or
            `boosting` (gradient boosted trees), a scikit-learn classifier of the flattened
            outputs. A learned score holds a quarter of the outputs in memory.
        samples: draws of P, and as many of Q; at least 8.
        seed: >= 0; the result depends on it and on `samples`, nothing else.
        confidence: in (0, 1); see `familywise_confidence` for several audits.

    Raises:
        TypeError, ValueError: arguments out of range; scores that are NaN or of another shape.
    """
    settings = settings_of(epsilon, samples, seed, confidence, least_samples=8)
    tail = (1.0 - confidence) / 4
    draws = (draw_outputs_p, draw_outputs_q)
    training, trials = samples // 2, samples - samples // 2
    if isinstance(score, str):
        fitting = training // 2
        training -= fitting
        score = _learned_score(score, draws, fitting, seed)

    def scores(stage: int, side: int, count: int) -> Iterator[np.ndarray]:
        for rng, n in _blocks(seed, stage + side, count, OUTPUT_BLOCK):
            yield checked_values(score(draws[side](rng, n)), n, "score")

    trained = [np.concatenate(list(scores(TRAINING, side, training))) for side in (P, Q)]
    directions = ((P, Q), (Q, P))
    events = [best_event(trained[a], trained[b], epsilon, tail)[1:] for a, b in directions]

    hits = np.zeros((2, 2), dtype=int)  # of event, distribution
    for side in (P, Q):
        for block in scores(COUNTING, side, trials):
            hits[:, side] += [np.count_nonzero(sign * block > t) for sign, t in events]

    forward, reverse = (
        DirectedAudit.from_hits(
            epsilon=epsilon,
            event=f"score > {t}" if sign > 0 else f"score < {-t}",
            trials=trials,
            hits_a=int(counts[a]),
            hits_b=int(counts[b]),
            tail=tail,
        )
        for (a, b), (sign, t), counts in zip(directions, events, hits, strict=True)
    )
    return AuditResult(**settings, method="outputs", forward=forward, reverse=reverse)


def _learned_score(
    kind: str, draws: tuple[DrawOutputs, DrawOutputs], count: int, seed: int
) -> Score:
    """The decision function of a classifier of `count` outputs of each distribution."""
    if kind not in CLASSIFIERS:
        raise ValueError(f"score must be a function or one of {list(CLASSIFIERS)}, got {kind!r}")
    outputs = [
        draws[side](rng, n).reshape(n, -1)
        for side in (P, Q)
        for rng, n in _blocks(seed, FITTING + side, count, OUTPUT_BLOCK)
    ]
    classifier = new_classifier(kind).fit(np.concatenate(outputs), np.repeat([1, 0], count))
    return lambda block: classifier.decision_function(block.reshape(len(block), -1))


def best_event(
    scores_a: np.ndarray, scores_b: np.ndarray, epsilon: float, tail: float
) -> tuple[float, int, float]:
    """(bound, sign, t) of the event {sign * score > t} with the largest bound on these samples."""
    best = (-1.0, 1, 0.0)
    for sign in (1, -1):
        a, b = np.sort(sign * scores_a), np.sort(sign * scores_b)
        pooled = np.sort(np.concatenate((a, b)))
        # Events that hold 1, 2, 3, ... and then, by steps of 3%, up to nearly all samples.
        ranks = np.unique(np.geomspace(1, len(pooled) - 1, 500).astype(int))
        thresholds = np.unique(pooled[-1 - ranks])
        hits_a, hits_b = (len(s) - np.searchsorted(s, thresholds, side="right") for s in (a, b))
        lower, _ = clopper_pearson(hits_a, len(a), tail)
        _, upper = clopper_pearson(hits_b, len(b), tail)
        deltas = hockey_stick(lower, upper, epsilon)
        choice = int(np.argmax(deltas))
        best = max(best, (float(deltas[choice]), sign, float(thresholds[choice])))
    return best


def _blocks(
    seed: int, stream: int, samples: int, block: int
) -> Iterator[tuple[np.random.Generator, int]]:
    """A generator and a count for every block of one stream of draws."""
    for index, start in enumerate(range(0, samples, block)):
        yield generator(seed, stream, index), min(block, samples - start)


def generator(seed: int, stream: int, index: int) -> np.random.Generator:
    """The generator of one block of one stream of draws."""
    # The same as SeedSequence(seed).spawn(...)[stream].spawn(...)[index].
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, index)))


def checked_values(values: np.ndarray, n: int, source: str) -> np.ndarray:
    """`values` as floats of shape (n,), or ValueError: another shape, or NaN."""
    values = np.asarray(values, dtype=float)
    if values.shape != (n,):
        raise ValueError(f"{source} must return shape ({n},), got {values.shape}")
    missing = np.count_nonzero(np.isnan(values))
    if missing:
        raise ValueError(
            f"{source} must not return NaN, got {missing} among {n} values; return +-inf where a "
            "density is zero, and check for inf - inf"
        )
    return values


def settings_of(
    epsilon: float, samples: int, seed: int, confidence: float, least_samples: int = 1
) -> dict[str, Any]:
    """The arguments of an audit, checked, as plain numbers."""
    for name, value in (("samples", samples), ("seed", seed)):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{name} must be an integer, got {value!r}")
    if not (math.isfinite(epsilon) and epsilon >= 0):
        raise ValueError(f"epsilon must be finite and >= 0, got {epsilon!r}")
    if samples < least_samples:
        raise ValueError(f"samples must be at least {least_samples}, got {samples}; try 1000000")
    if seed < 0:
        raise ValueError(f"seed must be >= 0, got {seed}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence!r}; 0.999 is usual")
    return {
        "epsilon": float(epsilon),
        "samples": int(samples),
        "seed": int(seed),
        "confidence": float(confidence),
    }
