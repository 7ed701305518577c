"""Runs whose losses are far beyond those of any useful noise, up to the end of searches.

There a sampled release shows who is in the sample: the loss of a run is a sum of normal numbers
over the samples that hold the record. Let Z be the quantile of this sum at delta. As
delta(e) <= P(L > e), and at least (1 - e^-50) P(L > e + 50), epsilon is between Z - 51 and Z.
"""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.sampling.poisson_sampling import SampledRun
from mechanisms.privacy.sampling.sampled_profile import sampled

DELTA = 1e-5


def quantile(mu: float, rate: float, steps: int) -> float:
    """Of the loss of Gaussian releases on samples."""
    seen = np.arange(steps + 1)
    seen = seen[stats.binom.pmf(seen, steps, rate) > 1e-30]
    weights = stats.binom.pmf(seen, steps, rate)
    means = seen * (mu**2 / 2 + math.log(rate)) + (steps - seen) * math.log1p(-rate)
    spreads = np.sqrt(np.maximum(seen * mu**2, 1e-9))
    return optimize.brentq(
        lambda z: weights @ stats.norm.sf((z - means) / spreads) - DELTA,
        -1e3,
        2 * means[-1] + 1e3,
        rtol=1e-14,
    )


@pytest.mark.parametrize("mu", [1500.0, 1e4, 1e6, 3e7])
@pytest.mark.parametrize("steps", [1, 10, 300])
def test_a_run_with_very_large_losses_has_finite_bounds(mu, steps):
    truth = quantile(mu, 0.01, steps)
    run = SampledRun(step=GaussianProfile(mu=mu), rate=0.01, steps=steps)
    close = 1e-5 if steps == 1 else 0.1
    assert truth - 51 <= run.epsilon(DELTA) <= truth * (1 + close)
    lower, upper = run.log_bounds(np.array([truth * 0.8, truth * 1.2]))
    assert (lower[0] > math.log(DELTA)) and (upper[1] < math.log(DELTA))


def test_bounds_of_the_profile_of_such_a_run():
    truth = quantile(1500.0, 0.01, 10)
    bounds = sampled(GaussianProfile(mu=1500.0), 0.01, 10).epsilon(DELTA)
    assert 0.9 * truth <= bounds.lower <= truth and truth - 51 <= bounds.upper <= 1.1 * truth
