"""The sums of all training steps as one stream, released by one mechanism.

Batches come in a fixed order, so that a record takes part once per epoch, `steps per epoch` steps
apart: (k, b)-participation. Participation is not random, so that nothing is amplified, and Gaussian
noise may be correlated over the steps (Kairouz et al. 2021, DP-FTRL; Choquette-Choo et al. 2023,
arXiv:2306.08153). The parameters after step t are the start less the learning rate over the batch
times the prefix sum of what was released: the workload of the factorisation.
"""

import math
from collections.abc import Callable
from itertools import islice

import numpy as np

from learning.training.noisy_descent import DescentPlan
from mechanisms import AdditiveMechanism, Budget, Query
from mechanisms.base.public_information import (
    MOMENTUM,
    PARTICIPATIONS,
    SEPARATION,
)


def stream_query(plan: DescentPlan, records: int) -> Query:
    """One element of the sums of all steps: a stream (1, n).

    All elements have independent noise of this one's distribution. A record moves the sums of its
    steps by vectors of norm at most C, which moves C x no further than if one element moved alone.
    Adjacency: one record's gradients become, or were, zero.
    """
    bound = plan.clipping.bound
    return Query(
        shape=(1, plan.steps(records)),
        l2_sensitivity=bound,
        l1_sensitivity=bound,
        linf_sensitivity=bound,
        adjacency="add-remove",
        structure="records",
        record_bound=bound,
    )


def participation(plan: DescentPlan, records: int) -> dict[str, Callable]:
    """How often and how far apart a record takes part, as public information on the stream."""
    return {
        PARTICIPATIONS: lambda: plan.epochs,
        SEPARATION: lambda: plan.steps(records, 1),
        MOMENTUM: lambda: 0.0,
    }


def spent_by_stream(mechanism: AdditiveMechanism, total: Budget) -> dict[str, float]:
    """What a whole run spends, and what its noise costs, by the name of the number."""
    profile = mechanism.profile()
    delta = profile.delta(total.epsilon)
    error = math.sqrt(mechanism.expected_error().mean) / mechanism.query.l2_sensitivity
    return {
        "true_delta_lower": float(delta.lower),
        "true_delta_upper": float(delta.upper),
        "true_epsilon_upper": float(profile.epsilon(total.delta).upper),
        "sum_error": error,
        "noise_memory": float(mechanism.noise.factorisation.memory),
    }


class StreamRelease:
    """Adds the noise step by step; calls must come in the order of the steps.

    Args:
        mechanism: Calibrated for `stream_query`.
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
