"""The claim of the Wishart mechanism is false, by its profile and by sampled losses."""

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
