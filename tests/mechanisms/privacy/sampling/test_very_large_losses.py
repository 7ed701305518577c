"""Runs and totals whose losses are far beyond those of any useful noise, up to the end of searches.

There a sampled release shows who is in the sample: the loss of a run is a sum of normal numbers
over the samples that hold the record. Let Z be the quantile of this sum at delta. As
delta(e) <= P(L > e), and at least (1 - e^-50) P(L > e + 50), epsilon is between Z - 51 and Z.
"""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile, laplace_profile
from mechanisms.privacy.sampling.poisson_sampling import SampledRun
from mechanisms.privacy.sampling.sampled_profile import SampledGaussianProfile
from mechanisms.privacy.sampling.total_profile import total

DELTA = 1e-5


def quantile(mu: float, rate: float, steps: int, more: float = 0.0) -> float:
    """Of the loss of Gaussian releases on samples, and of one normal loss of mean `more`."""
    seen = np.arange(steps + 1)
    seen = seen[stats.binom.pmf(seen, steps, rate) > 1e-30]
    weights = stats.binom.pmf(seen, steps, rate)
    means = seen * (mu**2 / 2 + math.log(rate)) + (steps - seen) * math.log1p(-rate) + more
    spreads = np.sqrt(np.maximum(seen * mu**2 + 2 * more, 1e-9))
    return optimize.brentq(
        lambda z: weights @ stats.norm.sf((z - means) / spreads) - DELTA,
        -1e3,
        2 * means[-1] + 1e3,
        rtol=1e-14,
    )


@pytest.mark.parametrize("mu", [1500.0, 1e4, 1e6, 3e7])
@pytest.mark.parametrize("steps", [1, 10, 1000])
def test_a_run_with_very_large_losses_has_finite_bounds(mu, steps):
    truth = quantile(mu, 0.01, steps)
    run = SampledRun(step=GaussianProfile(mu=mu), rate=0.01, steps=steps)
    close = 1e-5 if steps == 1 else 0.1
    assert truth - 51 <= run.epsilon(DELTA) <= truth * (1 + close)
    lower, upper = run.log_bounds(np.array([truth * 0.8, truth * 1.2]))
    assert (lower[0] > math.log(DELTA)) and (upper[1] < math.log(DELTA))


def test_bounds_of_the_profile_of_such_a_run():
    truth = quantile(1500.0, 0.01, 10)
    bounds = SampledGaussianProfile(mu=1500.0, rate=0.01, steps=10).epsilon(DELTA)
    assert 0.9 * truth <= bounds.lower <= truth and truth - 51 <= bounds.upper <= 1.1 * truth


@pytest.mark.parametrize("mu", [1e6, 2e6, 2e7])
def test_a_total_of_samples_with_very_large_losses(mu):
    releases = [
        SampledRun(step=GaussianProfile(mu=mu), rate=0.1, steps=1),
        SampledRun(step=GaussianProfile(mu=1.0), rate=1.0, steps=1),
    ]
    truth = quantile(mu, 0.1, 1, more=0.5)
    bounds = total(releases).epsilon(DELTA)
    assert 0.99 * truth <= bounds.lower <= truth and truth - 51 <= bounds.upper <= 1.01 * truth


@pytest.mark.parametrize("width", [5e11, 2e12, 1e14])
def test_a_total_of_pure_and_gaussian_releases_with_very_large_losses(width):
    """The Laplace loss is its width, less some units at most: nothing beside the widths here."""
    laplace = laplace_profile(components=1, width=width, rest=0.0, scale=1.0)
    assert isinstance(laplace, LaplaceProfile)
    parts = [(laplace, 1), (GaussianProfile(mu=1e3), 1)]
    found = total([SampledRun(step=step, rate=1.0, steps=n) for step, n in parts])
    truth = width + GaussianProfile(mu=1e3).epsilon(DELTA).value
    bounds = found.epsilon(DELTA)
    assert bounds.lower <= truth * (1 + 1e-4) and truth * (1 - 1e-4) <= bounds.upper
    assert bounds.upper <= 1.001 * truth and bounds.lower >= 0.99 * truth


def test_no_lower_bound_beyond_the_end_of_the_search():
    """A finite epsilon of 1.25e15: beyond 1e15 nothing is known, and nothing is claimed."""
    releases = [
        SampledRun(step=step, rate=1.0, steps=1)
        for step in (LaplaceProfile(l1_sensitivity=1.0, scale=1.0), GaussianProfile(mu=5e7))
    ]
    bounds = total(releases).epsilon(DELTA)
    assert bounds.lower == 1e15 and bounds.upper == math.inf
