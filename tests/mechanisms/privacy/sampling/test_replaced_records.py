"""Runs on samples where a record is replaced: quadrature, closed forms and sampled losses."""

import numpy as np
import pytest
from scipy import stats

from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.sampling.known_samples import KnownSamplesProfile
from mechanisms.privacy.sampling.poisson_sampling import SampledRun


def mixture_delta(q, present, absent, other, epsilon):
    """(1 - q) N(absent) + q N(present) against (1 - q) N(absent) + q N(other), by quadrature."""
    at = np.linspace(-14, 14, 400_001)
    density = [np.exp(-((at - mean) ** 2) / 2) for mean in (present, absent, other)]
    p, p_other = ((1 - q) * density[1] + q * each for each in (density[0], density[2]))
    return np.maximum(p - np.exp(epsilon) * p_other, 0).sum() * (at[1] - at[0]) / np.sqrt(2 * np.pi)


@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_a_replaced_record_in_one_step(rate):
    """No absent value within the range is worse than the bound, and the other end attains it."""
    mu, epsilon = 1.5, 0.4
    run = SampledRun(step=GaussianProfile(mu=mu), rate=rate, steps=1, adjacency="replace")
    bound = run.step_delta(epsilon).value
    assert mixture_delta(rate, mu / 2, -mu / 2, -mu / 2, epsilon) == pytest.approx(bound, rel=1e-6)
    for absent in np.linspace(-mu / 2, mu / 2, 7):
        for ends in ((mu / 2, -mu / 2), (-mu / 2, mu / 2)):
            found = mixture_delta(rate, ends[0], absent, ends[1], epsilon)
            assert found <= bound * (1 + 1e-6)
    # The composition's chords, on one step.
    assert bound <= run.delta(epsilon) <= bound * 1.01


def test_replacing_costs_no_less_than_removing_and_no_more_than_without_samples():
    """Two values or one and none are pairs of the same mixtures: replacing covers both."""
    step, at = GaussianProfile(mu=0.8), {"rate": 0.1, "steps": 50}
    either = SampledRun(step=step, **at).delta(1.0)
    replaced = SampledRun(step=step, adjacency="replace", **at).delta(1.0)
    assert either <= replaced * (1 + 1e-3)
    assert replaced < step.compose(50).delta(1.0).value


def test_every_record_in_every_sample_is_plain_composition():
    step = GaussianProfile(mu=0.2)
    run = SampledRun(step=step, rate=1.0, steps=20, adjacency="replace")
    assert run.delta(1.0) == pytest.approx(step.compose(20).delta(1.0).value, rel=0.02)
    known = KnownSamplesProfile(mu=0.2, rate=1.0, steps=20)
    assert known.delta(1.0).value == step.compose(20).delta(1.0).value


@pytest.mark.parametrize(("mu", "rate", "steps"), [(1.0, 0.3, 10), (0.9, 0.02, 300)])
def test_known_samples(mu, rate, steps):
    profile = KnownSamplesProfile(mu=mu, rate=rate, steps=steps)
    for epsilon in (0.5, 8.0):
        masses = stats.binom.pmf(np.arange(1, steps + 1), steps, rate)
        each = [GaussianProfile(mu=mu).compose(k).delta(epsilon).value for k in range(1, steps + 1)]
        bounds = profile.delta(epsilon)
        assert bounds.value == pytest.approx(float(masses @ each), rel=1e-9)
        assert bounds.lower <= bounds.value <= bounds.upper
        # Secret samples reveal no more.
        secret = SampledRun(
            step=GaussianProfile(mu=mu), rate=rate, steps=steps, adjacency="replace"
        )
        assert secret.delta(epsilon) <= bounds.upper * 1.01
    losses = profile.sample_losses(np.random.default_rng(0), 200_000)
    gain = -np.expm1(np.minimum(2.0 - losses, 0))
    error = gain.std() / np.sqrt(gain.size)
    assert abs(gain.mean() - profile.delta(2.0).value) < 4 * error
    scaled = profile.scaled(profile.scale_factor(3.0, 1e-5))
    assert scaled.delta(3.0).value == pytest.approx(1e-5, rel=1e-8)
    assert profile.compose(3) == KnownSamplesProfile(mu=mu, rate=rate, steps=3 * steps)


def test_step_delta_at_epsilon_beyond_the_exponential():
    run = SampledRun(step=GaussianProfile(mu=45.0), rate=0.5, steps=1)
    expected = 0.5 * GaussianProfile(mu=45.0).delta(1000 + np.log(2)).value
    assert run.step_delta(1000.0).value == pytest.approx(expected, rel=1e-9)
