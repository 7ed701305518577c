"""Plans of releases: what counts how, the running total, and the noise that fits a budget."""

import math
import time

import numpy as np
import pytest
import scipy

from mechanisms import Budget, Query, compose, get_mechanism
from mechanisms.plans.plan import Odometer, Parallel, Release, Search, noise_factor
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.sampling.poisson_sampling import SampledRun
from mechanisms.privacy.sampling.total_profile import TotalProfile
from mechanisms.privacy.trade_off import type_two_error


def calibrated(key: str, *, epsilon=1.0, delta=0.0, **query):
    return get_mechanism(key).calibrate(Query(**query), Budget(epsilon=epsilon, delta=delta))


def gaussian(mu: float, **fields) -> Release:
    return Release(of=GaussianProfile(mu=mu), **fields)


def test_every_mechanism_with_a_profile_can_be_composed():
    histogram = {"shape": (4, 4), "structure": "histogram"}
    releases = [
        calibrated("laplace", **histogram),
        calibrated("hb", **histogram),
        calibrated("gaussian-analytic", delta=1e-5, **histogram),
    ]
    found = compose(releases)
    single = [each.profile().delta(1.0).lower for each in releases]
    bounds = found.delta(1.0)
    assert max(single) < bounds.lower <= bounds.upper < bounds.lower * 1.01
    with pytest.raises(ValueError, match="the privacy profile of non-private is not known"):
        compose([calibrated("non-private", **histogram)])


def test_counts_are_repetitions():
    twice = compose(
        [
            gaussian(0.5, times=2, rate=0.1),
            Release(of=LaplaceProfile(l1_sensitivity=0.1, scale=1.0)),
        ]
    )
    listed = compose(
        [
            gaussian(0.5, rate=0.1),
            Release(of=LaplaceProfile(l1_sensitivity=0.1, scale=1.0)),
            gaussian(0.5, rate=0.1),
        ]
    )
    assert set(twice.parts) == set(listed.parts)


def test_one_record_is_in_one_part_of_a_parallel_group():
    parts = Parallel((gaussian(0.3), gaussian(0.7), gaussian(0.7)))
    found = compose([parts, gaussian(0.4)])
    truth = GaussianProfile(mu=math.hypot(0.7, 0.4))
    assert found.delta(1.0).value == pytest.approx(truth.delta(1.0).value, rel=1e-12)
    assert found.epsilon(1e-6).value == pytest.approx(truth.epsilon(1e-6).value, rel=1e-9)
    many = [Parallel((gaussian(0.1 * i), gaussian(0.1 * i + 0.05))) for i in range(1, 8)]
    with pytest.raises(ValueError, match="more than 64 different combinations"):
        compose(many)


def test_a_replaced_record_is_removed_and_added():
    assert compose([gaussian(0.5)], adjacency="replace").delta(1.0).upper == pytest.approx(
        GaussianProfile(mu=0.5).delta(1.0).upper
    )
    stated = [gaussian(0.5, adjacency="add-remove"), gaussian(0.6)]
    upper = compose(stated, adjacency="replace").delta(1.0).upper
    assert upper == pytest.approx(
        GaussianProfile(mu=math.hypot(1.0, 0.6)).delta(1.0).value, rel=1e-3
    )
    parts = Parallel((gaussian(0.2), gaussian(0.5)))
    assert compose([parts], adjacency="replace").delta(1.0).upper == pytest.approx(
        GaussianProfile(mu=1.0).delta(1.0).value, rel=2e-3
    )
    with pytest.raises(ValueError, match="stated for replace and the plan for add-remove"):
        compose([gaussian(0.5, adjacency="replace")])


def test_a_local_release_counts_as_one_for_replaced_records():
    local = calibrated(
        "gaussian-analytic", delta=1e-5, shape=(4,), l2_sensitivity=1.0, adjacency="local"
    )
    assert compose([local], adjacency="replace").delta(1.0).value == pytest.approx(1e-5)
    with pytest.raises(ValueError, match="stated for replace"):
        compose([local])


@pytest.mark.parametrize(
    ("settings", "size"), [({"adjacency": "replace"}, 2), ({"group": 2}, 2), ({"group": 5}, 5)]
)
def test_noise_that_hides_little_of_a_group_beside_other_releases(settings, size):
    """Laplace and Gaussian noise have the shift of the group: no grid holds 1e-5 e^-1000."""

    def shifted(by: float) -> list[Release]:
        noise = LaplaceProfile(l1_sensitivity=0.5 * by, scale=1.0)
        return [
            gaussian(10.0 * by, adjacency="add-remove"),
            Release(of=noise, adjacency="add-remove"),
        ]

    found, truth = (
        compose(shifted(1), **settings).epsilon(1e-5),
        compose(shifted(size)).epsilon(1e-5),
    )
    assert truth.lower <= found.upper <= 1.001 * truth.upper


def test_groups_have_the_distance_of_all_their_members():
    found = compose([gaussian(0.3), gaussian(0.4)], group=3).delta(2.0)
    assert found.upper == pytest.approx(GaussianProfile(mu=1.5).delta(2.0).value, rel=1e-12)
    assert found.lower == pytest.approx(GaussianProfile(mu=0.5).delta(2.0).value, rel=1e-12)


def test_a_search_costs_more_than_one_run_and_less_than_all():
    search = Search(releases=(gaussian(0.1),), runs=100.0)
    upper = compose([search]).epsilon(1e-6).upper
    assert GaussianProfile(mu=0.1).epsilon(1e-6).value < upper
    assert upper < GaussianProfile(mu=0.1).compose(300).epsilon(1e-6).value
    both, other = compose([search, gaussian(0.3)]).epsilon(1e-6), GaussianProfile(mu=0.3)
    assert 0.999 * other.epsilon(1e-6).value < both.lower < other.epsilon(1e-6).value
    assert max(upper, both.lower) < both.upper < upper + other.epsilon(1e-9).value


def test_the_trade_off_curve_has_bounds():
    runs = [SampledRun(step=GaussianProfile(mu=mu), rate=1.0, steps=1) for mu in (0.5, 0.4)]
    found = TotalProfile(parts=tuple(runs))
    alpha = np.array([0.1, 0.5])
    bounds = type_two_error(found, alpha)
    truth = scipy.stats.norm.cdf(scipy.stats.norm.isf(alpha) - math.hypot(0.5, 0.4))
    assert (bounds.lower <= truth).all() and (truth <= bounds.upper).all()
    assert (bounds.upper - bounds.lower < 1e-4).all()


def test_an_odometer_of_ten_thousand_releases():
    odometer, begun = Odometer(), time.process_time()
    kinds = [
        gaussian(0.01),
        gaussian(0.5, rate=0.01),
        Release(of=LaplaceProfile(l1_sensitivity=0.01, scale=1.0)),
    ]
    for i in range(10_000):
        odometer.add(kinds[i % 3])
    counts = [
        Release(of=each.of, rate=each.rate, times=3334 - (i > 0)) for i, each in enumerate(kinds)
    ]
    assert odometer.total.parts == compose(counts).parts
    bounds = odometer.epsilon(1e-6)
    assert bounds.upper < 1.0002 * bounds.lower
    assert time.process_time() - begun < 30


def test_an_odometer_of_gaussian_noise_is_exact_after_each():
    odometer = Odometer()
    for i in range(1, 201):
        odometer.add(GaussianProfile(mu=0.01 * (1 + i % 7)))
        odometer.delta(1.0)
    squares = sum((0.01 * (1 + i % 7)) ** 2 for i in range(1, 201))
    assert odometer.total.mu == pytest.approx(math.sqrt(squares), rel=1e-12)


def test_noise_that_fits_a_budget():
    truth = GaussianProfile(mu=0.5).scale_factor(0.3, 1e-6)
    factor = noise_factor([gaussian(0.3), gaussian(0.4)], 0.3, 1e-6)
    assert truth * (1 - 1e-9) <= factor <= truth * (1 + 1e-4)
    releases = [
        gaussian(0.3, rate=0.1, times=10),
        Release(of=LaplaceProfile(l1_sensitivity=0.5, scale=1.0)),
    ]
    factor = noise_factor(releases, 1.0, 1e-6)
    reached = compose([each.scaled(factor) for each in releases]).delta(1.0).upper
    assert 0.999e-6 < reached <= 1e-6
    # Pure noise: the largest losses add.
    laplace = Release(of=LaplaceProfile(l1_sensitivity=0.5, scale=1.0), times=3)
    fixed = Release(of=PureProfile(largest=0.5), fixed=True)
    assert noise_factor([laplace, fixed], 1.0, 0.0) == pytest.approx(3.0, rel=1e-4)
    with pytest.raises(ValueError, match="fixed releases may exceed it"):
        noise_factor([laplace, fixed], 0.4, 0.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: compose([]), "at least one release"),
        (lambda: compose([gaussian(1.0)], adjacency="local"), "add-remove or replace"),
        (lambda: compose([gaussian(1.0)], group=0), "group must be at least 1"),
        (lambda: gaussian(1.0, rate=0.0), "rate must be a probability"),
        (lambda: gaussian(1.0, rate=1e-309), "rate must be a probability"),
        (lambda: gaussian(1.0, times=0), "times must be at least 1"),
        (lambda: gaussian(1.0, adjacency="both"), "adjacency must be one of add-remove"),
        (lambda: Parallel(()), "at least one release"),
        (lambda: Search(releases=(), runs=3.0), "at least one release"),
        (lambda: Parallel((3,)), "of a Mechanism or a PrivacyProfile, got 3"),
        (lambda: gaussian(1.0, rate=True), "rate must be a real number"),
        (lambda: gaussian(1.0, fixed="no"), "fixed must be True or False, got 'no'"),
        (lambda: Search(releases=(gaussian(1.0),), runs=3.0, eta="1"), "eta must be a real number"),
    ],
)
def test_bad_plans_are_refused(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_parts_of_parts_are_parts():
    """Profiles count as releases, as in `compose`."""
    one, two, three = (GaussianProfile(mu=mu) for mu in (0.2, 0.5, 0.3))
    found = compose([Parallel((one, Parallel((two, Parallel((three,))))))])
    assert found.epsilon(1e-6).value == pytest.approx(two.epsilon(1e-6).value, rel=1e-9)
