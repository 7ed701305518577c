"""A total that grows against totals that are computed anew, and what a release more costs."""

import copy
import math

import numpy as np
import pytest

from mechanisms.plans.plan import Odometer, Release, compose
from mechanisms.privacy import composition
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.sampling import running_total
from mechanisms.privacy.sampling.running_total import RunningTotal


def laplace(loss, times=1):
    return Release(of=LaplaceProfile(l1_sensitivity=loss, scale=1.0), times=times)


def gaussian(mu, rate=1.0):
    return Release(of=GaussianProfile(mu=mu), rate=rate)


def different(count):
    """Releases of which no two are alike, in a mixed order."""
    kinds = (lambda x: laplace(0.05 + x), lambda x: gaussian(0.3 + x, rate=0.05))
    return [kinds[i % 2](0.1 * (i * 37 % 101) / 101) for i in range(count)]


# Gaussian noise on all records, which is merged anew; a kind again; one that dwarfs the others.
MIXED = [
    laplace(0.1), gaussian(0.2), laplace(0.1, times=3), gaussian(0.3), gaussian(0.4, rate=0.1),
    laplace(0.2), gaussian(0.1), laplace(0.1), laplace(2.0), gaussian(0.3, rate=0.1), laplace(0.2),
    *[laplace(0.01)] * 5, gaussian(3.0), laplace(0.3),
]  # fmt: skip


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-60])
def test_bounds_of_a_growing_plan_meet_those_computed_anew(delta):
    odometer, releases = Odometer(), []
    for release in MIXED:
        releases.append(release)
        odometer.add(release)
        found = odometer.epsilon(delta)
        # Asked after each, and compared after each third.
        if len(releases) % 3 and len(releases) < len(MIXED):
            continue
        anew = compose(releases).epsilon(delta)
        assert found.lower <= anew.upper and anew.lower <= found.upper
        assert found.upper - found.lower <= 2 * (anew.upper - anew.lower) + 1e-9
    assert isinstance(odometer.total, RunningTotal)


def test_gaussian_noise_beside_hardly_any_other_has_its_closed_form():
    """It is merged anew each time; the losses of the others add up to less than 1e-6."""
    odometer, truth = Odometer(), 0.0
    for i in range(40):
        mu = 0.1 + 0.01 * (i % 5)
        odometer.add(gaussian(mu))
        odometer.add(laplace(1e-9 * (i + 1)))
        truth = math.hypot(truth, mu)
        bounds = odometer.delta(1.0)
        exact = GaussianProfile(mu=truth).delta(1.0).value
        assert bounds.lower * (1 - 1e-6) <= exact <= bounds.upper * (1 + 1e-6)
        assert bounds.upper < bounds.lower * 1.001 + 1e-12


def test_the_sum_is_that_of_its_parts_but_for_far_less_than_is_allowed():
    """`FFT_ERROR` allows 1e-12."""
    odometer, losses = Odometer(), np.linspace(0.0, 3.0, 100)
    for release in different(40):
        odometer.add(release)
        odometer.delta(0.5)
    for side in ("above", "below"):
        for kept in odometer.total._sum(side, 0, math.inf).sums:
            found = np.exp(kept.log_delta(losses, tilted=False)[0])
            anew = np.exp(composition.LossSum(*kept.parts).log_delta(losses, tilted=False)[0])
            assert anew.max() > 0.1
            np.testing.assert_allclose(found, anew, rtol=0, atol=2e-14)


def test_an_older_total_keeps_its_bounds():
    odometer = Odometer()
    for release in MIXED[:5]:
        odometer.add(release)
    old = odometer.total
    for release in MIXED[5:9]:
        odometer.add(release)
        odometer.epsilon(1e-6)
    for delta in (1e-6, 1e-60):
        found, anew = old.epsilon(delta), compose(MIXED[:5]).epsilon(delta)
        assert found.upper == pytest.approx(anew.upper, rel=1e-3)
        assert found.lower <= anew.upper and anew.lower <= found.upper
    assert odometer.epsilon(1e-6).lower > old.epsilon(1e-6).upper


def test_masses_of_a_sum_are_its_own_after_another_has_extended_it():
    """They are computed when they are first asked for."""
    law, more = (
        composition.LossDistribution(spacing=0.1, places=np.array([-1, at]), masses=np.full(2, 0.5))
        for at in (1, 2)
    )
    tilted = [(each.places, each.masses, times) for each, times in ((law, 3), (more, 2))]
    kept = running_total._Sum(((law, 3), (more, 2)), tilted, {law: 3, more: 2}, 64)
    parts = [((law, times), (more, times)) for times in (4, 8)]
    asked = [
        kept.extended(each, [(law.places, law.masses, n) for law, n in each]) for each in parts
    ]
    (low, high), masses = asked[0]
    expected = composition.likely_sums([(law.places, law.masses, n) for law, n in parts[0]])
    np.testing.assert_allclose(masses()[: high - low + 1].sum(), expected[1]().sum(), atol=1e-12)
    first = expected[0][0]
    found = dict(zip(range(low, high + 1), masses(), strict=True))
    np.testing.assert_allclose(
        [found[first + i] for i in range(expected[1]().size)], expected[1](), atol=1e-12
    )


def test_a_copied_odometer_counts_its_own_releases():
    odometer = Odometer()
    for release in MIXED[:4]:
        odometer.add(release)
        odometer.epsilon(1e-6)
    copied = copy.deepcopy(odometer)
    copied.add(MIXED[4])
    found, anew = copied.epsilon(1e-6), compose(MIXED[:5]).epsilon(1e-6)
    assert found.upper == pytest.approx(anew.upper, rel=1e-3)
    kept = copied.total.memory._sums.values()
    assert any(law in each.last for each in kept for law in each.held)


def test_a_release_more_takes_as_many_transforms_among_many_as_among_few(monkeypatch):
    """Laws and transforms of releases: those of 48 cost less than thrice those of 24."""
    counted = {"laws": 0, "transforms": 0}

    def counting(name, function):
        def call(*given, **named):
            counted[name] += 1
            return function(*given, **named)

        return call

    monkeypatch.setattr(
        running_total.TotalProfile,
        "_laws",
        counting("laws", running_total.TotalProfile._laws),
    )
    for module in (composition, running_total):
        transform = counting("transforms", composition.transform_of)
        monkeypatch.setattr(module, "transform_of", transform)
    odometer, costs = Odometer(), []
    for release in different(48):
        odometer.add(release)
        odometer.epsilon(1e-6)
        costs.append(dict(counted))
    for name in counted:
        assert costs[47][name] <= 3 * costs[23][name], name
        # Computed anew there would be 48 * 49 / 2 of each, for two sides.
        assert costs[47][name] < 48 * 49 / 2, name
    assert np.all(np.diff([each["laws"] for each in costs]) >= 2)
