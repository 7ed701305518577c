"""The audit of outputs: its error rate, what it finds, and what it cannot find."""

import json
import math

import numpy as np
import pytest
from known_losses import gaussian_delta

from mechanisms import Budget, Query, get_mechanism
from mechanisms.audit.audit import audit_mechanism, audit_release, audit_samples
from mechanisms.audit.audited_pairs import audited_pairs
from mechanisms.check.audit_statistics import clopper_pearson


def gaussians(shift, size=1):
    """N(0, I) and N(shift, I) in `size` elements."""
    return (
        lambda rng, n: rng.standard_normal((n, size)),
        lambda rng, n: shift / math.sqrt(size) + rng.standard_normal((n, size)),
    )


def laplaces(scale=1.0):
    """Laplace noise on the values 0 and 1, so that epsilon = 1 / scale."""
    return tuple(lambda rng, n, x=x: x + rng.laplace(scale=scale, size=(n, 1)) for x in (0, 1))


def laplace_batch(value, rng, count):
    """Laplace noise with epsilon = 2 for neighbours at l1 distance 1."""
    return value + rng.laplace(scale=0.5, size=(count, *value.shape))


def total(outputs):
    return -outputs.sum(axis=1)


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sources", "epsilon", "delta"),
    [
        (gaussians(1.0), 0.5, gaussian_delta(1.0, 0.5)),
        (gaussians(1.0, size=3), 1.0, gaussian_delta(1.0, 1.0)),
        (laplaces(), 1.0, 0.0),
        (laplaces(), 0.5, 1 - math.exp(-0.25)),
    ],
)
def test_claims_that_hold_with_equality_are_not_refuted(sources, epsilon, delta):
    """No claim is refuted in 200 seeds at 99.9%, by the default scores."""
    found = [audit_samples(sources, epsilon, delta, samples=900, seed=seed) for seed in range(200)]
    assert {audit.verdict for audit in found} == {"undecided"}
    assert max(audit.delta_lower for audit in found) <= delta
    assert max(audit.epsilon_lower for audit in found) <= epsilon
    assert max(audit.epsilon_lower for audit in found) > 0


def test_the_bounds_err_as_seldom_as_promised():
    """At 60% confidence; either of the two bounds may be wrong, and both are counted."""
    epsilon, mu, runs = 0.5, 1.0, 200
    delta = gaussian_delta(mu, epsilon)
    found = [
        audit_samples(gaussians(mu), epsilon, delta, score=total, samples=600, seed=seed,
                      confidence=0.6)
        for seed in range(runs)
    ]  # fmt: skip
    wrong = sum(audit.delta_lower > delta or audit.epsilon_lower > epsilon for audit in found)
    assert wrong <= 0.4 * runs
    assert sum(audit.verdict == "refuted" for audit in found) <= wrong
    assert np.mean([audit.delta_lower for audit in found]) > delta / 4


def test_counts_come_from_the_last_third_and_have_exact_bounds():
    """With two points, all outputs of one value lie in the event and none of the other."""
    sources = (lambda rng, n: np.zeros((n, 1)), lambda rng, n: np.ones((n, 1)))
    audit = audit_samples(sources, 1.0, 0.5, score=total, samples=302)
    counted = audit.counted
    assert (counted.trials, counted.hits_a, counted.hits_b) == (102, 102, 0)
    least = 0.00025 ** (1 / 102)
    assert audit.delta_lower == pytest.approx(least - math.e * (1 - least))
    assert audit.epsilon_lower == pytest.approx(math.log((least - 0.5) / (1 - least)))


def test_every_output_is_drawn_once():
    drawn = []

    def release(value, rng, count):
        noise = rng.standard_normal((count, 3))
        drawn.extend(noise[:, 0].tolist())
        return value + noise

    audit = audit_release(release, np.zeros(3), np.ones(3), 1.0, 0.1, samples=3001, batch=True)
    # The others are two batches of 128 rows for each value, which serve to test the rows.
    assert audit.samples == 3001 and len(drawn) == 6002 + 512
    assert len(set(drawn)) == 6002 + 256


def test_an_audit_repeats_and_depends_on_its_seed():
    found = [audit_samples(laplaces(), 1.0, samples=600, seed=seed).to_dict() for seed in (3, 3, 4)]
    assert found[0] == found[1] != found[2]
    assert json.loads(json.dumps(found[0]))["verdict"] == "undecided"


# --- what it finds -----------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [True, False])
def test_half_of_the_noise_is_refuted_with_bounds_below_the_truth(batch):
    def release(value, rng, *count):
        return laplace_batch(value, rng, *count) if batch else laplace_batch(value, rng, 1)[0]

    pair = np.zeros(3), np.eye(3)[0]
    audit = audit_release(release, *pair, 1.0, 0.1, samples=12_000, batch=batch)
    # delta(1) = 1 - e^((1 - 2) / 2) for Laplace noise of epsilon 2.
    assert audit.verdict == "refuted" and 0.3 < audit.delta_lower < 1 - math.exp(-0.5)
    assert 1.5 < audit.epsilon_lower < 2 + 2 * math.log(0.9)


def test_the_most_telling_score_is_used():
    """The values differ only in their spread, which means do not show."""
    sources = (
        lambda rng, n: rng.standard_normal((n, 2)),
        lambda rng, n: 4 * rng.standard_normal((n, 2)),
    )
    audit = audit_samples(sources, 0.5, samples=4000, seed=1)
    assert audit.verdict == "refuted" and audit.counted.event.startswith("spread")


def test_spherical_noise_is_seen_by_distances():
    """R1SMG's noise in 64 dimensions claims (1, 1e-5); the true delta is 0.928."""

    def release(value, rng, count):
        directions = rng.standard_normal((count, 64))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return value + math.sqrt(3.122) * directions * rng.standard_normal((count, 1))

    audit = audit_release(release, np.zeros(64), np.eye(64)[0], 1.0, 1e-5, samples=3000, batch=True)
    assert audit.verdict == "refuted" and 0.8 < audit.delta_lower < 0.928
    assert audit.counted.event.startswith("distance")


def test_naive_laplace_is_found_by_its_bits_only():
    """Real numbers with this noise are 1-DP for values 0 and 1; doubles are not."""
    assert audit_samples(laplaces(), 1.0, 1e-6, score="bits", samples=8000).verdict == "refuted"
    assert audit_samples(laplaces(), 1.0, 1e-6, samples=8000).verdict == "undecided"


def test_noise_on_a_grid_hides_the_bits():
    """Discrete Laplace on multiples of 2^-20, values on the grid: as private as claimed."""

    def source(value):
        def draw(rng, n):
            ones = rng.geometric(1 - math.exp(-(2.0**-20)), (2, n, 1))
            return value + (ones[0] - ones[1]) * 2.0**-20

        return draw

    audit = audit_samples((source(0.0), source(1.0)), 1.0, 1e-6, score="bits", samples=4000)
    assert audit.verdict == "undecided"


@pytest.mark.parametrize("epsilon", [0.0, 600.0, 1000.0])
def test_extreme_claims(epsilon):
    """Two distinct points refute epsilon 0; no number of samples refutes an extreme epsilon."""
    sources = (lambda rng, n: np.zeros((n, 1)), lambda rng, n: np.ones((n, 1)))
    audit = audit_samples(sources, epsilon, samples=600)
    assert audit.verdict == ("undecided" if epsilon else "refuted")
    assert 0 < audit.epsilon_lower < 10


def test_equal_constant_outputs_stay_undecided():
    sources = (lambda rng, n: np.ones((n, 2)),) * 2
    for score in (None, "bits"):
        audit = audit_samples(sources, 1.0, score=score, samples=500)
        assert audit.verdict == "undecided" and audit.delta_lower == 0 == audit.epsilon_lower


def test_a_custom_score_gets_outputs_in_their_shape():
    """The exact likelihood ratio uses eight elements; a single element shows an eighth of it."""

    def release(value, rng, count):
        return value + rng.laplace(scale=4.0, size=(count, 2, 4))

    def ratio(outputs):
        assert outputs.shape[1:] == (2, 4)
        return (np.abs(outputs - 1) - np.abs(outputs)).sum(axis=(1, 2))

    pair = np.zeros((2, 4)), np.ones((2, 4))
    settings = {"samples": 9000, "batch": True}
    assert audit_release(release, *pair, 0.5, 0.02, score=ratio, **settings).verdict == "refuted"
    one = audit_release(release, *pair, 0.5, 0.02, score=lambda x: -x[:, 0, 0], **settings)
    assert one.verdict == "undecided"


def test_pairs_of_a_mechanism_share_the_error():
    """A correct mechanism passes in five seeds; the confidence is that of all pairs together."""
    query = Query(shape=(2,), l1_sensitivity=1.0, element_range=(0.0, 1.0))
    mechanism = get_mechanism("laplace").calibrate(query, Budget(epsilon=1.0))
    found = [audit_mechanism(mechanism, 1.0, samples=600, seed=seed) for seed in range(5)]
    assert {audit.verdict for audit in found} == {"undecided"}
    assert found[0].confidence == 0.999 and found[0].pair is not None
    pairs = len(audited_pairs(mechanism.release, query))
    counted = found[0].counted
    # Every pair has two events with two bounds each.
    lower, _ = clopper_pearson(counted.hits_a, counted.trials, 0.001 / (4 * pairs))
    assert pairs > 1 and counted.probability_a.lower == pytest.approx(lower)
