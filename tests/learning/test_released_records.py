"""Records are released one by one, by the mechanism's own release method."""

import numpy as np

from learning.releases import protected
from mechanisms import Budget
from mechanisms.catalogue.gaussian import AnalyticGaussian
from mechanisms.query.box_query import box_query

QUERY, BUDGET = box_query((2, 3), 0.0, 1.0), Budget(epsilon=1.0, delta=1e-5)
RECORDS = np.random.default_rng(0).random((2000, 6)).astype(np.float32)


class Doubling(AnalyticGaussian):
    """A mechanism that releases twice the value, without noise."""

    only_adds_noise = False

    def _release(self, value, rng):
        return 2 * value


def test_a_release_that_does_more_than_add_noise_is_not_bypassed():
    mechanism = Doubling.calibrate(QUERY, BUDGET)
    assert np.array_equal(protected(mechanism, RECORDS, np.random.default_rng(1)), 2 * RECORDS)


def test_every_record_gets_its_own_noise():
    mechanism = AnalyticGaussian.calibrate(QUERY, BUDGET)
    released = protected(mechanism, RECORDS, np.random.default_rng(1))
    assert released.shape == RECORDS.shape and released.dtype == np.float32
    noise = (released - RECORDS) / mechanism.noise.sigma
    # Four standard errors of the mean and of the variance of 12,000 normal draws.
    assert abs(noise.mean()) < 4 / 12_000**0.5
    assert abs(noise.var() - 1) < 4 * (2 / 12_000) ** 0.5
