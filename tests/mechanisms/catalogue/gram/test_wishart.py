"""The claim of the Wishart mechanism is false, by its profile and by draws."""

import math

import numpy as np
import pytest
from gram_queries import calibrated
from queries import gram

from mechanisms import (
    Budget,
)
from mechanisms.verification.verification import REFUTED, verify


@pytest.mark.parametrize(("adjacency", "size"), [("add-remove", 1), ("replace", 5)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_wishart_is_refuted_with_its_exact_delta(adjacency, size, epsilon):
    records = 200
    query = gram(size, bound=1 / math.sqrt(records), adjacency=adjacency)
    mechanism = calibrated("wishart", query, Budget(epsilon=epsilon))
    assert mechanism.parameters() == {"c": pytest.approx(3 / (2 * records * epsilon), rel=1e-14)}
    exposed = -math.expm1(-epsilon / 3)
    result = verify(mechanism, samples=20_000, seed=5)
    assert result.verdict == REFUTED
    assert result.claimed_delta == 0
    assert result.true_delta.value == pytest.approx(exposed, rel=1e-14)
    assert mechanism.profile().delta(50.0).lower == pytest.approx(exposed, rel=1e-14)
    assert result.true_epsilon == (np.inf, np.inf, np.inf)
    assert result.audit.delta_lower < exposed < result.audit.delta_upper
    assert result.audit.refutes(0.0)


@pytest.mark.parametrize("size", [1, 3, 10])
def test_outputs_without_a_record_are_impossible_with_it(size):
    """Tested in d dimensions on matrices, not on the losses of the profile."""
    epsilon, bound, trials = 1.0, 2.0, 20_000
    noise = calibrated("wishart", gram(size, bound=bound), Budget(epsilon=epsilon)).noise
    direction = np.random.default_rng(size).standard_normal(size)
    x = bound * direction / np.linalg.norm(direction)
    outputs = noise.sample(np.random.default_rng(7), trials)
    # With the record, an output minus x x^T would have to lie in the cone.
    impossible = np.linalg.eigvalsh(outputs - np.outer(x, x))[:, 0] < 0
    exposed = -math.expm1(-epsilon / 3)
    assert abs(impossible.mean() - exposed) < 4 * math.sqrt(exposed * (1 - exposed) / trials)
