"""The mechanism for streams: its privacy, its noise, its errors and what it refuses."""

import itertools

import numpy as np
import pytest

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.strategies.streams.designs import FAMILIES
from mechanisms.verification.self_check import QUICK, require_consistent

BUDGET = Budget(epsilon=1.0, delta=1e-6)
MU = float(mu_for(1.0, 1e-6))


def stream(*shape, adjacency="add-remove", l2=1.0):
    return Query(
        shape=shape, l2_sensitivity=l2, structure="records", record_bound=l2, adjacency=adjacency
    )


def calibrated(query, calibration="published", **options):
    return get_mechanism("factorisation").calibrate(query, BUDGET, calibration, **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_factorisation_is_exactly_mu_gdp(family):
    for adjacency in ("add-remove", "replace"):
        mechanism = calibrated(stream(2, 24, adjacency=adjacency, l2=3.0), factorisation=family)
        assert mechanism.slack() is None
        delta = mechanism.profile().delta(np.array([0.2, 1.0])).value
        assert delta == pytest.approx(GaussianProfile(mu=MU).delta(np.array([0.2, 1.0])).value)
        exact = calibrated(mechanism.query, "exact", factorisation=family)
        assert exact.noise.sigma == pytest.approx(mechanism.noise.sigma, rel=1e-9)
        require_consistent(mechanism, seed=3, effort=QUICK)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_noise_has_the_worst_change_that_it_states(family):
    """mu^2 of a change D is D^T S^-1 D for noise of covariance S: the largest over columns."""
    mechanism = calibrated(stream(1, 20), factorisation=family)
    precision = np.linalg.inv(mechanism.noise.sigma**2 * mechanism.noise.factorisation.covariance())
    assert np.sqrt(np.diag(precision).max()) == pytest.approx(MU, rel=1e-8)


def test_two_participations_of_one_person_are_covered():
    mechanism = calibrated(stream(1, 20), participations=2, separation=7)
    precision = np.linalg.inv(mechanism.noise.sigma**2 * mechanism.noise.factorisation.covariance())
    largest = max(
        precision[i, i] + precision[j, j] + 2 * abs(precision[i, j])
        for i in range(20)
        for j in range(i + 7, 20)
    )
    assert np.sqrt(largest) == pytest.approx(MU, rel=1e-8)
    assert mechanism.slack() is None


def test_banded_noise_has_the_worst_change_that_it_states():
    """mu^2 of a change D is D^T S^-1 D: the largest over three steps at most, 4 apart or more."""
    options = {"factorisation": "banded", "participations": 3, "separation": 4}
    mechanism = calibrated(stream(1, 12), **options)
    precision = np.linalg.inv(mechanism.noise.sigma**2 * mechanism.noise.factorisation.covariance())
    largest = 0.0
    for count in (1, 2, 3):
        for steps in itertools.combinations(range(12), count):
            if all(late - early >= 4 for early, late in itertools.pairwise(steps)):
                for signs in itertools.product((-1.0, 1.0), repeat=count):
                    largest = max(largest, signs @ precision[np.ix_(steps, steps)] @ signs)
    assert np.sqrt(largest) == pytest.approx(MU, rel=1e-8)
    assert mechanism.slack() is None
    assert 0 <= mechanism.optimality_gap() <= 1e-3
    require_consistent(mechanism, seed=5, effort=QUICK)
    assert calibrated(stream(1, 12), factorisation="dense").optimality_gap() <= 1e-6
    dense = {"factorisation": "dense", "participations": 3, "separation": 4}
    assert calibrated(stream(1, 12), **dense).optimality_gap() is None


@pytest.mark.parametrize(
    ("family", "momentum"),
    [*((family, 0.0) for family in FAMILIES), ("bandmf", 0.9), ("dense", 0.9)],
)
def test_answers_are_unbiased_with_the_stated_error(family, momentum):
    mechanism = calibrated(stream(2, 16), factorisation=family, momentum=momentum)
    errors = mechanism.answers(mechanism.sample(np.random.default_rng(11), 20_000))
    variances = np.mean(errors**2, axis=(0, 1))
    stated = mechanism.expected_error()
    assert variances.mean() == pytest.approx(stated.mean, rel=0.03)
    assert variances.max() == pytest.approx(stated.maximal, rel=0.05)
    deviation = errors.mean(axis=0) / np.sqrt(variances / len(errors))
    assert np.abs(deviation).max() < 4.5
    value = np.full((2, 16), 0.3)
    released = mechanism.release(value, np.random.default_rng(1))
    noise = mechanism.sample(np.random.default_rng(1), 1)[0]
    assert released == pytest.approx(value + noise)


def test_a_bounded_sensitivity_has_slack_and_no_exact_calibration():
    options = {"factorisation": "tree", "participations": 3, "separation": 4}
    mechanism = calibrated(stream(1, 32), **options)
    assert "between bounds only" in mechanism.slack()
    delta = mechanism.profile().delta(1.0)
    assert delta.lower < delta.upper == pytest.approx(1e-6, rel=1e-6)
    with pytest.raises(Unsupported, match="between bounds only"):
        calibrated(stream(1, 32), "exact", **options)


def test_answers_of_a_step_need_no_later_steps():
    """The noise of step t does not depend on what is drawn for later ones."""
    for family in FAMILIES:
        found = calibrated(stream(1, 16), factorisation=family).noise.factorisation
        draws = np.random.default_rng(0).standard_normal((1, 16))
        later = draws.copy()
        later[:, 9:] += 5.0
        changed = found.correlated(later) - found.correlated(draws)
        assert changed[:, :9] == pytest.approx(0.0, abs=1e-12)


def test_verification_says_that_the_claim_holds():
    result = verify(calibrated(stream(3, 8), "exact"), samples=20_000)
    assert result.verdict == "holds"


@pytest.mark.parametrize(
    "query",
    [
        Query(shape=(4, 4), l2_sensitivity=1.0),
        Query(shape=(4,), l2_sensitivity=1.0, structure="histogram", record_bound=1.0),
        stream(2, 4, adjacency="local"),
    ],
)
def test_answers_that_are_no_streams_are_refused(query):
    with pytest.raises(Unsupported, match="needs structure 'records'"):
        calibrated(query)


@pytest.mark.parametrize(
    ("option", "value"),
    [("factorisation", "haar"), ("bands", 0), ("momentum", 1.0), ("participations", 0)],
)
def test_options_outside_their_range_are_refused(option, value):
    with pytest.raises(ValueError, match=f"option {option} must be"):
        calibrated(stream(1, 16), **{option: value})
