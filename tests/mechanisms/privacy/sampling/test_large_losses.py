"""Compositions of losses so large that Q has no digits left: bounds must stay bounds."""

import functools
import math

import numpy as np
import pytest

from mechanisms import Budget, Query, get_mechanism

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.OutOfRangeWarning")


@functools.cache
def one_release(shape, epsilon):
    """R1SMG as published: the loss of a release is far above epsilon, and heavy-tailed."""
    query = Query(shape=shape, l2_sensitivity=2 * math.sqrt(math.prod(shape)))
    budget = Budget(epsilon=epsilon, delta=1e-5)
    return get_mechanism("r1smg").calibrate(query, budget).profile()


@functools.cache
def ten_releases(shape, epsilon):
    """Computed once for both tests: the convolution takes seconds."""
    return one_release(shape, epsilon).compose(10)


# The largest losses, whose bounds are wide, and the most elements.
LARGEST, MOST = ((2, 10), 1e6), ((1, 26_010), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "epsilon"), [LARGEST, MOST])
def test_more_releases_spend_no_less(shape, epsilon):
    single, composed = one_release(shape, epsilon), ten_releases(shape, epsilon)
    for at in (0.5, epsilon, 3 * epsilon):
        one, all_of_them = single.delta(at), composed.delta(at)
        assert 0 <= all_of_them.lower <= all_of_them.value <= all_of_them.upper <= 1
        assert all_of_them.lower >= one.lower * (1 - 1e-3) - 1e-9
    found = composed.epsilon(1e-5)
    assert single.epsilon(1e-5).lower * (1 - 1e-9) <= found.lower <= found.value <= found.upper
    assert math.isfinite(found.upper)


@pytest.mark.parametrize(("shape", "epsilon"), [LARGEST, MOST])
def test_against_draws(shape, epsilon):
    """E (1 - e^(at - L))_+ of the sum L of ten losses."""
    composed = ten_releases(shape, epsilon)
    losses = composed.sample_losses(np.random.default_rng(0), 20_000)
    for at in np.quantile(losses, [0.01, 0.5, 0.99]):
        terms = -np.expm1(np.minimum(at - losses, 0.0))
        error = 5 * terms.std() / math.sqrt(len(terms))
        bounds = composed.delta(max(at, 0.0))
        if at > 0:
            assert bounds.lower - error <= terms.mean() <= bounds.upper + error
            if (shape, epsilon) == MOST:
                assert bounds.value == pytest.approx(terms.mean(), abs=error + 2e-3)
