"""DAWA's budget: audits and closed forms refute the published partition and not the safe one."""

import itertools
import math

import numpy as np
import pytest
from histograms import calibrated

from mechanisms import (
    Budget,
    Query,
    get_mechanism,
    verify,
)
from mechanisms.audit.audit import audit_samples
from mechanisms.strategies.partition import (
    dyadic_partition,
    every_other,
    log_all_single,
    published_partition,
    running_deviations,
    spikes,
)
from mechanisms.verification.verification import HOLDS, REFUTED

PARTITIONS = (dyadic_partition, published_partition)


# Adjacent counts, the second with one record less, and the cell that it is taken from.
PAIRS = [((0, 1, 0, 0), (0, 0, 0, 0)), ((0, 2, 0, 0), (0, 1, 0, 0)), ((0, 1, 0, 1), (0, 0, 0, 1))]


def all_single(released):
    """The count of cell 1 where all four cells are buckets of their own, else -inf."""
    single = np.all(np.diff(released, axis=1) != 0, axis=1)
    return np.where(single, released[:, 1], -np.inf)


def both_sides(draw, pair):
    """The two ways to draw outputs that an audit compares, from draw(values, rng, n)."""
    return [lambda rng, n, x=x: draw(x, rng, n) for x in np.array(pair, dtype=float)]


def audit_of(draws, epsilon, score, seed):
    """The audit of a pure claim of epsilon by 100,000 outputs of each side."""
    return audit_samples(draws, epsilon, 0.0, score=score, samples=100_000, seed=seed)


def audited(key, pair):
    mechanism = calibrated(key, 4, epsilon=2.0, ratio=0.5)
    return audit_of(both_sides(mechanism.releases, pair), 2.0, all_single, seed=1)


@pytest.mark.parametrize("pair", PAIRS)
def test_published_partition_breaks_the_budget(pair):
    """By samples; test_published_partition_is_refuted_in_closed_form has the number."""
    assert audited("dawa-published", pair).verdict == REFUTED


@pytest.mark.parametrize("pair", PAIRS)
def test_safe_variant_passes_the_same_audit(pair):
    result = audited("dawa", pair)
    assert result.epsilon_lower <= 2
    assert result.verdict != REFUTED


@pytest.mark.parametrize("size", [3, 4, 6])
def test_the_chance_of_single_cells_in_closed_form(size):
    """Against draws of the partition, and with deviations computed from the values."""
    l1, epsilon, charge = 2.0, 3.0, 1.1
    for values, deviations in (
        (np.zeros(size), spikes(size, {})),
        (np.eye(size)[1], spikes(size, {1: 1.0})),
        (2 * (np.eye(size)[0] - np.eye(size)[-1]), spikes(size, {0: 2.0, size - 1: -2.0})),
        (np.arange(size) % 2 * 1.5, every_other(size, 1.5)),
    ):
        for level, found in enumerate(running_deviations(values)):
            if level:
                counted = [each for each, count in deviations(2**level) for _ in range(count)]
                assert sorted(counted) == pytest.approx(sorted(found), abs=1e-12)
        exact = math.exp(
            log_all_single(size, deviations, l1_sensitivity=l1, epsilon=epsilon, charge=charge)
        )
        draws = 40_000
        rng = np.random.default_rng(size)
        single = published_partition(values, l1, epsilon, charge, rng, draws).all(axis=1).mean()
        assert abs(single - exact) < 4 * math.sqrt(exact * (1 - exact) / draws)


@pytest.mark.parametrize(
    ("size", "epsilon", "ratio", "true"),
    [
        (4, 2.0, 0.5, 2.60),
        (16, 1.0, 0.25, 3.417),
        (256, 1.0, 0.25, 62.92),
        (4096, 1.0, 0.25, 1022.4),
    ],
)
def test_published_partition_is_refuted_in_closed_form(size, epsilon, ratio, true):
    # DAWA states nothing that its releases could be compared with.
    published, safe = (
        verify(calibrated(key, size, epsilon=epsilon, ratio=ratio), effort=None)
        for key in ("dawa-published", "dawa")
    )
    assert published.verdict == REFUTED
    assert published.true_epsilon.lower == pytest.approx(true, rel=1e-3)
    assert published.true_epsilon.upper == math.inf
    assert (safe.verdict, safe.wasted_variance) == (HOLDS, None)


def test_a_moved_record_shows_twice():
    """Under replace both cells are in intervals of their own, and the noise is twice as large."""
    query = Query(
        shape=(16, 16), l2_sensitivity=math.sqrt(2), adjacency="replace",
        structure="histogram", record_bound=1.0,
    )  # fmt: skip
    mechanism = get_mechanism("dawa-published").calibrate(query, Budget(epsilon=1.0))
    assert mechanism.profile().epsilon(0.0).lower > 10
    both = mechanism.profile().compose(2)
    assert both.epsilon(0.0).lower == pytest.approx(2 * mechanism.profile().epsilon(0.0).lower)


def test_partition_alone_keeps_its_share_or_does_not():
    """Stage 1 at epsilon 1: are all cells buckets of their own? Under both adjacencies."""
    pairs = {1.0: PAIRS[0], 2.0: ((0, 1, 0, 0), (0, 0, 1, 0))}
    bounds = {}
    for partition, (l1, pair) in itertools.product(PARTITIONS, pairs.items()):

        def draw(x, rng, n, partition=partition, l1=l1):
            return partition(x, l1, 1.0, l1, rng, n).all(axis=1).astype(float)

        result = audit_of(both_sides(draw, pair), 1.0, lambda all_: all_, seed=2)
        bounds[partition, l1] = result.epsilon_lower
    assert bounds[published_partition, 1.0] > 1.5
    assert bounds[dyadic_partition, 1.0] <= 1
    assert bounds[dyadic_partition, 2.0] <= 1
