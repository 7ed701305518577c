"""mvg2018's queries against brute force over records in the box, and its allocation."""

import math

import numpy as np
import pytest

from papers.mvg2018 import binary_allocation, record_covariance, scaled_records


@pytest.mark.parametrize("share", [0.55, 0.95])
@pytest.mark.parametrize("informative", [[0], [4, 1], [0, 1, 2, 3]])
def test_binary_allocation(informative, share):
    theta = np.array(binary_allocation(5, informative, share))
    assert theta.sum() == pytest.approx(1, abs=1e-15)
    assert theta[informative].sum() == pytest.approx(share, rel=1e-14)
    assert np.ptp(theta[informative]) == 0
    assert np.ptp(np.delete(theta, informative)) == 0


def records_of(rng, features, count):
    """Records in the box, half of them at its corners."""
    inside = rng.uniform(-1, 1, (count, features))
    return np.where(rng.random((count, 1)) < 0.5, np.sign(inside), inside)


def test_a_replaced_record_changes_the_covariance_by_at_most_the_sensitivities():
    rng = np.random.default_rng(4)
    features, size = 6, 10
    query = record_covariance(features, size)
    x, y = records_of(rng, features, 20_000), records_of(rng, features, 20_000)
    changes = (x[:, :, None] * x[:, None, :] - y[:, :, None] * y[:, None, :]) / size
    assert np.linalg.norm(changes, axis=(1, 2)).max() <= query.reach * (1 + 1e-12)
    assert np.abs(changes).sum(axis=(1, 2)).max() <= query.l1_sensitivity
    assert np.abs(changes).max() <= query.linf_sensitivity
    assert (x**2).sum(axis=1).max() / size <= query.record_bound**2 * (1 + 1e-12)
    # Changing half of the signs attains the least l2 sensitivity.
    one, half = np.ones(features), np.repeat([1.0, -1.0], features // 2)
    worst = np.linalg.norm(np.outer(one, one) - np.outer(half, half)) / size
    assert worst == pytest.approx(query.reach, rel=1e-12)
    assert record_covariance(4, 2021).l2_sensitivity == 8 / 2021


def test_a_replaced_record_changes_one_column_by_at_most_the_sensitivities():
    query = scaled_records(6, 248)
    change = np.full(6, 2.0)
    assert query.l2_sensitivity == pytest.approx(np.linalg.norm(change), rel=1e-15)
    assert query.l1_sensitivity == change.sum()
    assert query.linf_sensitivity == 2.0
    assert query.one_column
    assert query.record_bound == pytest.approx(math.sqrt(6))
    assert query.frobenius_bound == pytest.approx(math.sqrt(6 * 248))
