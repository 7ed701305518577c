"""The sequential audit of outputs: how often it errs, what it finds, and what it cannot find."""

import json
import math

import numpy as np
import pytest
from known_losses import gaussian_delta
from scipy.stats import norm

from mechanisms.black_box.learned_scores import USUAL, FixedScore, distance_score, learners_of
from mechanisms.black_box.output_sources import from_function
from mechanisms.black_box.sequential_audit import audit_samples
from mechanisms.black_box.trade_off_band import TradeOffBand


def gaussians(shift, size=1):
    """N(0, I) and N(shift, I) in `size` elements."""
    return (
        lambda rng, n: rng.standard_normal((n, size)),
        lambda rng, n: shift / math.sqrt(size) + rng.standard_normal((n, size)),
    )


def known(score):
    return {"known": FixedScore(score)}


def total(outputs):
    return -outputs.sum(axis=1)


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learners", [lambda: known(total), lambda: learners_of(["mean", "spread"])]
)
def test_a_true_claim_falls_as_seldom_as_promised(learners):
    """At 85%, and with claims that hold with equality: 5% for each of the three statements."""
    epsilon, mu, runs = 0.5, 1.0, 60
    delta = gaussian_delta(mu, epsilon)
    found = [
        audit_samples(
            gaussians(mu), learners(), epsilon, delta, samples=600, seed=seed, confidence=0.85
        )
        for seed in range(runs)
    ]
    assert sum(audit.verdict == "refuted" for audit in found) <= 0.1 * runs
    assert sum(audit.delta_lower > delta for audit in found) <= 0.05 * runs
    assert sum(audit.epsilon_lower > epsilon for audit in found) <= 0.05 * runs
    assert all(audit.samples == 600 for audit in found if audit.verdict == "undecided")
    # The bounds are not vacuous.
    assert np.mean([audit.delta_lower for audit in found]) > delta / 4


def test_the_band_covers_the_exact_curve_at_all_thresholds():
    """Of a score that is the likelihood ratio: both lines of the band enclose G_mu."""
    mu, runs, missed = 1.0, 40, 0
    alpha = np.linspace(0.01, 0.99, 50)
    exact = norm.cdf(norm.isf(alpha) - mu)
    for seed in range(runs):
        audit = audit_samples(
            gaussians(mu), known(total), 1.0, 0.3, samples=384, seed=seed, confidence=0.7
        )
        band = audit.curve
        missed += (band.upper(alpha) < exact).any() or (band.lower(alpha) > exact).any()
        assert (band.upper(alpha) >= band.estimate(alpha) - 1e-12).all()
    assert missed <= 0.1 * runs


def test_a_band_in_closed_form():
    """Four outputs of each side; a fair coin between two tests lies on the line between them."""
    band = TradeOffBand.from_scores(
        np.array([0, 2, 4]), np.array([3, 4, 4]), samples=4, tail=0.04, score="x"
    )
    assert band.radius == pytest.approx(math.sqrt(math.log(100) / 8))
    assert band.estimate(0.0) == pytest.approx(0.25)
    assert band.estimate(0.25) == pytest.approx(0.125)
    assert band.estimate(1.0) == 0
    assert band.upper(0.0) == 1 and band.upper(1.0) == 0


def test_what_a_band_proves_in_closed_form():
    """One threshold: the event has 0.1 of one side and 0.3 of the other, and 0.02 either way."""
    samples = 10_000
    tail = 4 * math.exp(-2 * samples * 0.02**2)
    for first, second, p, q in ((1000, 3000, 0.28, 0.12), (7000, 9000, 0.28, 0.12)):
        band = TradeOffBand.from_scores(
            np.array([first]), np.array([second]), samples=samples, tail=tail, score="x"
        )
        assert band.epsilon_lower(0.0) == pytest.approx(math.log(p / q))
        assert band.epsilon_lower(0.1) == pytest.approx(math.log((p - 0.1) / q))
        assert band.delta_lower(0.5) == pytest.approx(p - math.exp(0.5) * q)
        assert band.epsilon_lower(0.5) == 0 and band.delta_lower(1000.0) == 0
    alike = TradeOffBand.from_scores(
        np.array([500]), np.array([500]), samples=samples, tail=tail, score="x"
    )
    assert alike.epsilon_lower(0.0) == 0 and alike.delta_lower(0.0) == 0


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_bounds_agree_with_the_curve_and_with_a_true_claim(delta):
    """Laplace noise of epsilon 1, at 85%: 5% each for the bet, the counts and the bands."""
    runs, rates = 40, np.array([0.01, 0.1, 0.3, 0.6])
    truth = 1 + 2 * math.log1p(-delta)  # delta(epsilon) = 1 - e^((epsilon - 1) / 2)
    found = [
        audit_samples(
            (naive_laplace(0.0), naive_laplace(1.0)), known(total), truth, delta,
            samples=4000, seed=seed, confidence=0.85,
        )
        for seed in range(runs)
    ]  # fmt: skip
    for audit in found:
        type_two = audit.curve.upper(rates)
        for more, less in ((1 - type_two, rates), (1 - rates, type_two)):
            assert (more <= math.exp(audit.epsilon_lower) * less + delta + 1e-9).all()
            assert (more <= math.exp(truth) * less + audit.delta_lower + 1e-9).all()
    assert all(audit.epsilon_lower <= truth for audit in found)
    assert np.mean([audit.epsilon_lower for audit in found]) > truth / 2


def test_a_claim_that_lost_its_bet_is_below_both_bounds():
    audit = audit_samples(gaussians(3.0), known(total), 1.0, 0.3, samples=50_000, seed=1)
    assert audit.verdict == "refuted"
    assert audit.delta_lower >= 0.3 and audit.epsilon_lower >= 1.0


# --- what it finds -----------------------------------------------------------------------------


def test_a_claim_falls_within_the_epoch_and_is_counted_exactly():
    audit = audit_samples(gaussians(3.0), known(total), 1.0, 0.0, samples=50_000, seed=1)
    assert audit.verdict == "refuted"
    assert 128 < audit.refuted_after <= audit.samples <= 512
    whole = audit_samples(
        gaussians(3.0), known(total), 1.0, 0.0, samples=5000, seed=1, whole_budget=True
    )
    assert whole.refuted_after == audit.refuted_after and whole.samples == 5000
    assert audit.delta_lower < whole.delta_lower < gaussian_delta(3.0, 1.0)
    assert json.loads(json.dumps(whole.to_dict()))["verdict"] == "refuted"


@pytest.mark.parametrize("score", ["mean", "logistic", "boosting"])
def test_scores_are_learned(score):
    draws = gaussians(2.5, size=20)
    audit = audit_samples(draws, learners_of([score]), 1.0, 0.05, samples=6000, seed=1)
    assert audit.verdict == "refuted" and audit.score == score


def test_the_most_telling_score_is_used():
    """A difference in the spread alone; the means say nothing."""
    draws = (
        lambda rng, n: rng.standard_normal((n, 2)),
        lambda rng, n: 4 * rng.standard_normal((n, 2)),
    )
    audit = audit_samples(draws, learners_of(["mean", "spread"]), 0.5, 0.0, samples=4000, seed=1)
    assert audit.verdict == "refuted" and audit.score == "spread"


def test_spherical_noise_is_seen_by_distances():
    """R1SMG's noise in 64 dimensions claims (1, 1e-5); the true delta is 0.928."""
    first, second = np.zeros(64), np.eye(64)[0]

    def source(value):
        def draw(rng, n):
            directions = rng.standard_normal((n, 64))
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
            return value + math.sqrt(3.122) * directions * rng.standard_normal((n, 1))

        return draw

    audit = audit_samples(
        (source(first), source(second)), known(distance_score(first, second)), 1.0, 1e-5,
        samples=4000, seed=1,
    )  # fmt: skip
    assert audit.verdict == "refuted" and audit.refuted_after < 300


def naive_laplace(value):
    return lambda rng, n: value + rng.laplace(size=(n, 1))


def test_naive_laplace_is_found_by_its_bits_and_by_nothing_else():
    """Real numbers with this noise are 1-DP for values 0 and 1; doubles are not."""
    draws = naive_laplace(0.0), naive_laplace(1.0)
    audit = audit_samples(draws, learners_of(["bits"]), 1.0, 1e-6, samples=8000, seed=1)
    assert audit.verdict == "refuted" and audit.refuted_after < 2000
    others = learners_of(["mean", "spread"])
    assert audit_samples(draws, others, 1.0, 1e-6, samples=8000, seed=1).verdict == "undecided"


def test_noise_on_a_grid_hides_the_bits():
    """Discrete Laplace on multiples of 2^-20, values on the grid: as private as claimed."""

    def source(value):
        def draw(rng, n):
            ones = rng.geometric(1 - math.exp(-(2.0**-20)), (2, n, 1))
            return value + (ones[0] - ones[1]) * 2.0**-20

        return draw

    draws = source(0.0), source(1.0)
    audit = audit_samples(draws, learners_of(["bits"]), 1.0, 1e-6, samples=4000, seed=1)
    assert audit.verdict == "undecided"


def test_a_curator_who_tells_the_value_once_in_a_million_stays_undecided():
    """Not (1, 0)-private, and no audit of this size can see it: never "holds"."""

    def source(value):
        def draw(rng, n):
            noise = rng.laplace(scale=1.25, size=(n, 1))
            return value + np.where(rng.random((n, 1)) < 1e-6, 0.0, noise)

        return draw

    audit = audit_samples(
        (source(0.0), source(1.0)), learners_of(["mean", "spread"]), 1.0, 0.0, samples=8000, seed=1
    )
    assert audit.verdict == "undecided"


def test_constant_outputs_that_differ_are_told_apart():
    draws = (lambda rng, n: np.zeros((n, 2)), lambda rng, n: np.ones((n, 2)))
    audit = audit_samples(draws, learners_of(["mean"]), 1.0, 0.5, samples=500, seed=0)
    assert audit.verdict == "refuted"


@pytest.mark.parametrize("epsilon", [0.0, 600.0, 1000.0])
def test_extreme_claims(epsilon):
    """Two points that are told apart: false at epsilon 0, and beyond any number of samples."""
    draws = (lambda rng, n: np.zeros((n, 1)), lambda rng, n: np.ones((n, 1)))
    audit = audit_samples(draws, known(total), epsilon, 0.0, samples=600, seed=0)
    assert audit.verdict == ("undecided" if epsilon else "refuted")
    assert 0 < audit.epsilon_lower < 10


@pytest.mark.slow
def test_outputs_in_parts_are_those_of_a_whole_slice():
    """Bit for bit, asked for few at a time."""
    asked = []

    def source(value, in_turn):
        whole = from_function(lambda value, rng: value + rng.standard_normal(value.shape), value)

        def draw(rng, n):
            asked.append((in_turn, n))
            return whole(rng, n)

        draw.in_turn = in_turn
        return draw

    values = np.zeros((2, 40, 50))
    values[1, 0, 0] = 0.2
    found = [
        audit_samples(
            tuple(source(value, in_turn) for value in values),
            learners_of(USUAL),
            1.0,
            1e-5,
            samples=20_000,
            whole_budget=True,
        )
        for in_turn in (True, False)
    ]
    first, second = (json.dumps(each.to_dict(), default=np.ndarray.tolist) for each in found)
    assert first == second
    few = [n for in_turn, n in asked if in_turn]
    assert np.bincount(few).argmax() < np.max([n for in_turn, n in asked if not in_turn]) / 10


def test_every_output_is_drawn_once_and_used():
    """So many calls for each value, none of which gives what another gave."""
    drawn = []

    def source(value):
        def draw(rng, n):
            outputs = value + rng.standard_normal((n, 3))
            drawn.extend((outputs[:, 0] - value).tolist())
            return outputs

        return draw

    audit = audit_samples(
        (source(0.0), source(0.1)), learners_of(USUAL), 1.0, 0.1, samples=3000, whole_budget=True
    )
    assert audit.samples == 3000 and len(drawn) == 6000 == len(set(drawn))


def test_equal_constant_outputs_stay_undecided():
    draws = (lambda rng, n: np.ones((n, 2)),) * 2
    audit = audit_samples(draws, learners_of(["mean", "bits"]), 1.0, 0.0, samples=500, seed=0)
    assert audit.verdict == "undecided" and audit.delta_lower == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"samples": 15}, "samples must be at least 16"),
        ({"confidence": 1.0}, "confidence"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        audit_samples(gaussians(1.0), known(total), 1.0, 0.0, **{"samples": 100} | arguments)
    with pytest.raises(ValueError, match="score must be a function or one of mean"):
        learners_of(["forest"])
    with pytest.raises(ValueError, match="one shape"):
        audit_samples(
            (lambda rng, n: np.zeros((n, 1)), lambda rng, n: np.zeros((n, 2))),
            known(total), 1.0, 0.0, samples=100,
        )  # fmt: skip
