"""Audits a claimed (epsilon, delta) by sampling: confidence bounds on the true delta of a pair.

P and Q are the output distributions for two neighbouring inputs. A lower bound above the claimed
delta refutes the claim for the mechanism. An upper bound holds for this pair alone: it supports the
claim only if the pair is the worst one, and only an exact profile proves that.

Samples are drawn in blocks of fixed size, each with its own seed, and only counts are kept. So
memory does not grow with the number of samples, and the draws of a block depend only on the seed,
the distribution and the number of the block.
"""

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mechanisms.check.audit_statistics import (
    LOSS_ROUNDING,
    AuditResult,
    DirectedAudit,
    betting_interval,
    spread_on_grid,
    value_grid,
)
from mechanisms.query.query import checked_real

LOSS_BLOCK = 65_536  # losses in a block

_EPSILONS = {"low": 0.0, "high": sys.float_info.max, "allowed": "with 0 <= epsilon < inf"}
_CONFIDENCES = {
    "low": math.ulp(0.0),
    "high": math.nextafter(1.0, 0.0),
    "allowed": "with 0 < confidence < 1",
}
# The two distributions, and the numbers of their streams of draws.
P, Q = 0, 1

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

    Two methods are used, each for (P, Q) and for (Q, P). For (P, Q) and its loss L they bound:
    - two samples: P(E) - e^epsilon Q(E) with E = {L > epsilon}, by Clopper-Pearson intervals. The
      lower bound needs no trust in the losses: it holds for any event.
    - one sample: the mean of (1 - e^(epsilon - L))_+ under P, which is delta(epsilon) (Balle,
      Barthe and Gaboardi 2018, Theorem 5), by betting. This is far tighter for small delta or large
      epsilon, but only as good as the losses.
    Each of the 12 one-sided bounds (four probabilities and two means, from both sides) gets a
    twelfth of the error probability 1 - confidence.

    A loss of exactly epsilon is not in the event, and rounding must not put it there: at the
    epsilon of Laplace noise half of all losses are such ties. So the event and the mean are taken
    at epsilon + LOSS_ROUNDING, which can only lower the lower bounds. Twice that is added to the
    upper bounds, which compensates.

    Args:
        draw_losses: Called as draw_losses(rng, n, reverse=False) for (n,) losses log p(x)/q(x) with
            x ~ P, and with reverse=True for the same losses with x ~ Q. A loss is +-inf if only one
            of P and Q can produce x. n is at most `LOSS_BLOCK`; if one draw takes much memory, the
            function must draw fewer at a time itself.
        epsilon: Finite, >= 0.
        samples: Draws from P, and as many from Q.
        seed: >= 0. The result depends on it and on `samples`, nothing else.
        confidence: In (0, 1); see `familywise_confidence` for several audits.

    Raises:
        TypeError, ValueError: An argument is out of range, or losses are NaN or of another shape.
    """
    settings = settings_of(epsilon, samples, seed, confidence)
    tail = (1.0 - confidence) / 12
    threshold = epsilon + LOSS_ROUNDING
    above, below, means = [], [], []
    for side in (P, Q):
        hits_above = hits_below = 0
        weights = np.zeros(len(value_grid()))
        for rng, n in _blocks(seed, side, samples):
            losses = checked_values(draw_losses(rng, n, reverse=side == Q), n, "draw_losses")
            # The log of the density drawn from, over the density of the other distribution.
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
            hits=(above[a], below[b]),
            tail=tail,
            one_sample=means[a],
            slack=2 * LOSS_ROUNDING,
        )
        for a, b, event in ((P, Q, "log p/q > epsilon"), (Q, P, "log q/p > epsilon"))
    )
    return AuditResult(**settings, forward=forward, reverse=reverse)


def _blocks(seed: int, stream: int, samples: int) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield a generator and a number of draws for every block of one stream."""
    for index, start in enumerate(range(0, samples, LOSS_BLOCK)):
        # Equal to SeedSequence(seed).spawn(...)[stream].spawn(...)[index].
        seeds = np.random.SeedSequence(seed, spawn_key=(stream, index))
        yield np.random.default_rng(seeds), min(LOSS_BLOCK, samples - start)


def checked_values(values: np.ndarray, n: int, source: str) -> np.ndarray:
    """Return `values` as floats; raise ValueError unless the shape is (n,) and none is NaN."""
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
    """Check the arguments of an audit, and return them as plain numbers."""
    for name, value, least in (("samples", samples, least_samples), ("seed", seed, 0)):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{name} must be an integer, got {value!r}")
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    return {
        "epsilon": checked_real("epsilon", epsilon, **_EPSILONS),
        "samples": int(samples),
        "seed": int(seed),
        "confidence": checked_real("confidence", confidence, **_CONFIDENCES),
    }
