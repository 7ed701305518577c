"""The audit of a training by its own canaries: what it is given, finds, and does not find."""

import math

import numpy as np
import pytest

from learning.training.clipping import Clipping
from learning.training.one_run import CanaryAudit
from learning.training.one_run_audit import Guesses, epsilon_by_count
from mechanisms import Budget, Query, get_mechanism
from mechanisms.privacy.gaussian_profile import GaussianProfile

SIZE, BATCH, DELTA = 2000, 1000, 1e-5
CLIPPING = Clipping(bound=0.5)
QUERY = CLIPPING.query(SIZE, BATCH)


def audited(mechanism, steps, *, seed, rate=1.0, canaries=1000, value=None):
    """An audit after some steps on sums that are all `value`."""
    audit = CanaryAudit(
        mechanism=mechanism,
        clipping=CLIPPING,
        rate=rate,
        batch=BATCH,
        canaries=canaries,
        size=SIZE,
        seed=seed,
    )
    value = np.zeros((1, SIZE), np.float32) if value is None else value
    rng = np.random.default_rng([seed, 1])
    released = [audit.release(value, rng) for _ in range(steps)]
    return audit, np.concatenate(released)


def gaussian(epsilon, query=QUERY):
    return get_mechanism("gaussian-analytic").calibrate(query, Budget(epsilon=epsilon, delta=DELTA))


def test_canaries_are_half_of_all_and_sampled_at_the_rate():
    exact = get_mechanism("non-private").calibrate(QUERY, Budget(epsilon=1.0, delta=DELTA))
    value = np.full((1, SIZE), 0.25, np.float32)
    _, released = audited(exact, 400, seed=3, rate=0.2, value=value)
    moved = released - value
    assert set(np.unique(moved)) == {0.0, 0.5}
    inside = (moved > 0).any(axis=0)
    # Binomial(1000, 1/2) and Binomial(400 inside, 0.2); four standard deviations.
    assert inside.sum() == pytest.approx(500, abs=64)
    assert (moved[:, inside] > 0).mean() == pytest.approx(0.2, abs=4 * 0.4 / math.sqrt(400 * 430))
    # A canary that is in shows in 400 exact releases: all guesses are right.
    audit, _ = audited(exact, 400, seed=3, rate=0.2, value=value)
    all_right = Guesses(canaries=1000, guesses=1000, correct=1000)
    assert audit.best(DELTA)[0] <= epsilon_by_count(all_right, DELTA, 0.05 / 3)
    assert audit.best(DELTA)[0] > 4
    # The guesses that prove the bound, from which anybody can derive it.
    bound, found = audit.best(DELTA)
    assert bound == epsilon_by_count(found, DELTA, 0.05 / 3)
    assert found.canaries == 1000 and 500 < found.correct <= found.guesses


def test_sums_with_canaries_keep_their_bound():
    value = np.zeros((1, SIZE), np.float32)
    value[0, 0] = QUERY.frobenius_bound
    _, released = audited(gaussian(1e9), 1, seed=1, value=value)
    assert np.linalg.norm(released) <= QUERY.frobenius_bound * (1 + 1e-3)


def test_the_bound_holds_and_finds_part_of_the_truth():
    """T steps on all records are one Gaussian release of mu sqrt(T)."""
    mechanism, steps = gaussian(1.0), 4
    truth = GaussianProfile(mu=mechanism.profile().mu * math.sqrt(steps)).epsilon(DELTA).value
    bounds = [audited(mechanism, steps, seed=seed)[0].best(DELTA)[0] for seed in range(20)]
    assert np.mean(np.array(bounds) > truth) <= 0.05
    assert np.mean(bounds) > 0.1 * truth


def test_less_noise_than_claimed_is_found():
    """Noise for epsilon = 16 claims 1."""
    bounds = [audited(gaussian(16.0), 1, seed=seed)[0].best(DELTA)[0] for seed in range(5)]
    assert min(bounds) > 1.0


def test_an_answer_that_ignores_the_sums_shows_nothing():
    query = Query(shape=(1, SIZE), l2_sensitivity=0.5)
    ignoring = get_mechanism("random-answer").calibrate(query, Budget(epsilon=1.0, delta=DELTA))
    bounds = [audited(ignoring, 2, seed=seed)[0].best(DELTA)[0] for seed in range(10)]
    assert max(bounds) < 0.3 and np.median(bounds) == 0


@pytest.mark.parametrize("canaries", [1, 2, 7])
def test_few_canaries_prove_nothing(canaries):
    assert audited(gaussian(1e3), 1, seed=1, canaries=canaries)[0].best(DELTA)[0] < 3
