"""After how many privacy losses a claim is refuted, if the losses of a pair can be drawn."""

from __future__ import annotations

import math

import numpy as np

from mechanisms.audit.betting import MeanBet
from mechanisms.audit.sampled_audit import (
    LOSS_BLOCK,
    LOSS_ROUNDING,
    DrawLosses,
    checked_values,
    generator,
    settings_of,
)
from mechanisms.contract.query import checked_real

# Losses of each side that are drawn first; every block is as long as all before it.
FIRST_BLOCK = 256


def losses_to_refute(
    draw_losses: DrawLosses,
    epsilon: float,
    delta: float,
    *,
    samples: int,
    seed: int = 0,
    confidence: float = 0.999,
) -> int | None:
    """How many losses of each side refute (epsilon, delta)-DP, or None if `samples` do not.

    Bets that the mean of (1 - e^(epsilon - L))_+ is above delta, half of the wealth in each
    direction of the pair: a true claim is refuted with probability at most 1 - confidence, however
    many losses are drawn. The losses are trusted to be those of the pair; see
    `sampled_audit.audit_losses`, whose arguments these are.

    Raises:
        TypeError, ValueError: Arguments out of range; losses that are NaN or of another shape.
    """
    settings_of(epsilon, samples, seed, confidence)
    delta = checked_real("delta", delta, low=-1e-300, high=1.0, allowed="0 <= delta < 1")
    limit = -math.log1p(-confidence)
    bets = [MeanBet(delta, samples) for _ in range(2)]
    start = index = 0
    while start < samples:
        n = min(max(start, FIRST_BLOCK), LOSS_BLOCK, samples - start)
        paths = []
        for side, bet in enumerate(bets):
            rng = generator(seed, side, index)
            losses = checked_values(draw_losses(rng, n, reverse=bool(side)), n, "draw_losses")
            excess = (losses if side == 0 else -losses) - epsilon - LOSS_ROUNDING
            paths.append(bet.settle(-np.expm1(-np.maximum(excess, 0.0))))
        wealth = np.logaddexp(*paths) - math.log(2.0)
        if wealth.max() >= limit:
            return start + int(np.argmax(wealth >= limit)) + 1
        start, index = start + n, index + 1
    return None
