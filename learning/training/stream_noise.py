"""The sums of all training steps as one stream, released by one mechanism.

Batches come in a fixed order, so that a record takes part once per epoch, `steps per epoch` steps
apart: (k, b)-participation. Participation is not random, so that nothing is amplified, and Gaussian
noise may be correlated over the steps (Kairouz et al. 2021, DP-FTRL; Choquette-Choo et al. 2023,
arXiv:2306.08153). The parameters after step t are the start less the learning rate over the batch
times the prefix sum of what was released: the workload of the factorisation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np

from learning.training.noisy_descent import DescentPlan
from mechanisms import AdditiveMechanism, Budget, Query
from mechanisms.base.public_information import (
    MOMENTUM,
    PARTICIPATIONS,
    SEPARATION,
    public_options,
)
from studies.base.study import Value, Variant


def stream_mechanism(
    variant: Variant, total: Budget, calibration: str, plan: DescentPlan, records: int
) -> AdditiveMechanism:
    """The mechanism for one element of the sums of all steps: a stream (1, n).

    All elements have independent noise of this one's distribution. A record moves the sums of its
    steps by vectors of norm at most C, which moves C x no further than if one element moved alone.
    Adjacency: one record's gradients become, or were, zero.
    """
    bound = plan.clipping.bound
    query = Query(
        shape=(1, plan.steps(records)),
        l2_sensitivity=bound,
        l1_sensitivity=bound,
        linf_sensitivity=bound,
        adjacency="add-remove",
        structure="records",
        record_bound=bound,
    )
    offered = {
        PARTICIPATIONS: lambda: plan.epochs,
        SEPARATION: lambda: plan.steps(records, 1),
        MOMENTUM: lambda: 0.0,
    }
    options = public_options(variant.mechanism, offered)
    return variant.calibrate(query, total, calibration, **options)


def stream_values(mechanism: AdditiveMechanism, total: Budget) -> Iterator[Value]:
    """What a whole run spends, and what its noise costs."""
    profile = mechanism.profile()
    delta = profile.delta(total.epsilon)
    yield Value("true_delta_lower", float(delta.lower))
    yield Value("true_delta_upper", float(delta.upper))
    yield Value("true_epsilon_upper", float(profile.epsilon(total.delta).upper))
    bound = mechanism.query.l2_sensitivity
    yield Value("sum_error", math.sqrt(mechanism.expected_error().mean) / bound)
    yield Value("noise_memory", float(mechanism.noise.factorisation.memory))


class StreamRelease:
    """Adds the noise step by step; calls must come in the order of the steps.

    Args:
        mechanism: That of `stream_mechanism`.
        size: Elements of a sum, M.
        seed: Of all its draws.
    """

    def __init__(self, mechanism: AdditiveMechanism, size: int, seed: int) -> None:
        self._noise = mechanism.noise.stepwise(np.random.default_rng(seed), size)

    def __call__(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A sum (1, M) with the noise of the next step; `rng` is not used."""
        return value + next(self._noise)

    def resumed(self, steps: int) -> None:
        """Recreate the noise of earlier steps, on which that of later steps depends."""
        for _ in islice(self._noise, steps):
            pass
