"""Staircase noise: its shells, its moments, its exact profile, and the least error of theta."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.noise.staircase_noise import Staircase
from mechanisms.privacy.staircase_profile import StaircaseProfile
from mechanisms.privacy.staircase_shells import end_of_cut

MECHANISM = get_mechanism("staircase")
ROOT = math.sqrt(6)
QUERIES = {
    "l2": Query(shape=(6,), l2_sensitivity=2.0),
    "l1": Query(shape=(6,), l2_sensitivity=2.0, l1_sensitivity=2.0),
    "linf": Query(shape=(6,), l2_sensitivity=2 * ROOT, linf_sensitivity=2.0),
    "line": Query(shape=(1,), l2_sensitivity=2.0),
}


def norms(norm: str, draws: np.ndarray) -> np.ndarray:
    order = {"l1": 1, "l2": 2, "linf": np.inf, "line": 1}[norm]
    return np.linalg.norm(draws, order, axis=1)


@pytest.mark.parametrize("norm", QUERIES)
def test_the_norm_has_the_law_of_the_shells_and_the_stated_moments(norm):
    query = QUERIES[norm]
    mechanism = MECHANISM.calibrate(query, Budget(epsilon=1.5))
    noise = mechanism.noise
    assert noise.norm == ("linf" if norm == "line" else norm) and noise.width == 2.0
    draws = mechanism.sample(np.random.default_rng(0), 10_000)
    size, edges = query.size, (np.arange(60) + noise.theta) * noise.width

    def cdf(r):
        """From the density: mass of the shells below r, each e^(-1.5 k) times its volume."""
        inner = np.concatenate([[0.0], edges[:-1]])
        filled = np.clip(np.asarray(r)[..., None], inner, edges) ** size - inner**size
        weights = np.exp(-1.5 * np.arange(60))
        return filled @ weights / ((edges**size - inner**size) @ weights)

    assert stats.kstest(norms(norm, draws), cdf).pvalue > 1e-3
    losses = np.vecdot(draws, draws)
    error = losses.std() / 100
    assert losses.mean() == pytest.approx(mechanism.expected_loss(), abs=4 * error)
    assert losses.var() == pytest.approx(mechanism.loss().variance, rel=0.1)


@pytest.mark.parametrize("norm", QUERIES)
@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_the_profile_is_that_of_draws_and_of_the_worst_change(norm, delta):
    """By the densities at draws of the noise; no other change of the ball reveals more."""
    query, epsilon = QUERIES[norm], 1.5
    mechanism = MECHANISM.calibrate(query, Budget(epsilon=epsilon, delta=delta), "exact")
    noise, profile = mechanism.noise, mechanism.profile()
    assert profile.epsilon(delta).value == pytest.approx(epsilon, rel=1e-9)
    cut = norm == "line" and delta > 0
    assert 1.0 < noise.width < 2.0 if delta > 0 and not cut else noise.width == 2.0
    assert math.isfinite(noise.end) == cut
    rng = np.random.default_rng(1)
    draws = mechanism.sample(rng, 100_000)

    def shell(x):
        radius = norms(norm, x) / noise.width
        return np.where(radius > noise.end, np.inf, np.maximum(np.ceil(radius - noise.theta), 0))

    vertex = np.full(query.size, 2.0) if norm == "linf" else 2.0 * np.eye(query.size)[0]
    other = rng.standard_normal(query.size)
    other *= 2.0 / norms(norm, other[None])
    at = np.array([0.0, 0.4, 1.0, 1.2]) * epsilon
    for change, worst in ((vertex, True), (other, False)):
        losses = epsilon * (shell(draws - change) - shell(draws))
        gains = np.maximum(-np.expm1(at[:, None] - losses), 0)
        errors = gains.std(axis=1) / math.sqrt(len(draws)) + 1e-9
        excess = (gains.mean(axis=1) - profile.delta(at).value) / errors
        assert excess.max() < 4
        assert not worst or excess.min() > -4
    sampled = profile.sample_losses(rng, 100_000)
    gains = np.maximum(-np.expm1(at[:, None] - sampled), 0)
    errors = gains.std(axis=1) / math.sqrt(len(sampled)) + 1e-9
    assert np.abs((gains.mean(axis=1) - profile.delta(at).value) / errors).max() < 4


def test_the_profile_on_the_line_by_integration():
    """Where a change crosses several edges, against the two densities on a fine grid."""
    profile = StaircaseProfile(
        norm="linf", dimension=1, step=0.7, theta=0.3, width=1.0, sensitivity=2.6
    )
    x = (np.arange(800_000) + 0.5) / 8000 - 50

    def density(x):
        return np.exp(-0.7 * np.maximum(np.floor(np.abs(x) - 0.3) + 1, 0))

    p, q = density(x), density(x - 2.6)
    for epsilon in (0.0, 0.5, 0.7, 1.0, 1.7, 2.0):
        direct = np.maximum(p - math.exp(epsilon) * q, 0).sum() / p.sum()
        assert profile.delta(epsilon).value == pytest.approx(direct, rel=1e-9)
    assert profile.largest_loss == pytest.approx(2.1)


def density(x, noise: Staircase):
    """Of staircase noise of one number at width 1, up to a factor."""
    inside = np.abs(x) <= noise.end
    return inside * np.exp(-noise.step * np.maximum(np.ceil(np.abs(x) - noise.theta), 0))


def cut_settings(seed: int, count: int):
    """Random budgets at which the noise of one number is cut off."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield float(10 ** rng.uniform(-1.3, 1)), float(10 ** rng.uniform(-8, -0.05))


def cut(epsilon: float, delta: float):
    query = Query(shape=(1,), l2_sensitivity=1.0)
    return MECHANISM.calibrate(query, Budget(epsilon=epsilon, delta=delta), "exact")


def test_no_change_of_one_number_reveals_more_than_the_sensitivity():
    """By the densities between all of their edges, at changes within 1 and other epsilons."""
    for epsilon, delta in cut_settings(2, 40):
        mechanism = cut(epsilon, delta)
        noise, profile = mechanism.noise, mechanism.profile()
        inner = noise.theta + np.arange(math.ceil(noise.end - noise.theta))
        edges = np.concatenate([-inner, inner, [-noise.end, noise.end]])
        at = np.array([0.0, 0.5, 1.0, 2.0]) * epsilon
        for change in (1e-3, 0.1, noise.theta, 0.5, 0.9, 1 - 1e-9, 1.0):
            bends = np.unique(np.concatenate([edges, edges + change]))
            # Edges that differ by rounding alone are one.
            bends = bends[np.diff(bends, append=np.inf) > 1e-12 * noise.end]
            middle, width = (bends[1:] + bends[:-1]) / 2, np.diff(bends)
            p, q = density(middle, noise), density(middle - change, noise)
            excess = np.maximum(p - np.exp(at)[:, None] * q, 0.0) @ width / (p @ width)
            stated = profile.delta(at).value
            assert np.all(excess <= stated * (1 + 1e-8) + 1e-13), (epsilon, delta, change)
            if change == 1.0:
                assert excess == pytest.approx(stated, rel=1e-8, abs=1e-13)
                assert excess[2] == pytest.approx(delta, rel=1e-6, abs=1e-13)


def test_the_cut_keeps_its_budget_and_has_less_error_than_the_shrunk_staircase():
    for epsilon, delta in cut_settings(3, 40):
        mechanism = cut(epsilon, delta)
        bounds = mechanism.profile().delta(epsilon)
        assert delta * (1 - 1e-7) < bounds.value < bounds.upper <= delta
        assert mechanism.profile().largest_loss == math.inf
        published = MECHANISM.calibrate(mechanism.query, Budget(epsilon=epsilon, delta=delta))
        shrunk = published.noise.scaled(published.profile().scale_factor(epsilon, delta))
        assert mechanism.expected_loss() <= shrunk.loss().mean * (1 + 1e-9)


def test_the_error_of_a_cut_by_integration():
    """The moments of the loss against the density, and draws within the end."""
    noise = cut(0.7, 1e-3).noise
    x = (np.arange(1_000_000) + 0.5) / 1e6 * noise.end
    weights = density(x, noise) / density(x, noise).sum()
    moments = noise.loss()
    assert moments.mean == pytest.approx(weights @ x**2, rel=1e-6)
    assert moments.variance == pytest.approx(weights @ x**4 - (weights @ x**2) ** 2, rel=1e-5)
    draws = noise.sample(np.random.default_rng(6), 100_000)[:, 0]
    assert np.abs(draws).max() <= noise.end
    shares = np.cumsum(weights)
    cdf = np.interp(np.sort(np.abs(draws)), x, shares)
    assert stats.kstest(cdf, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(("epsilon", "delta", "times"), [(1.0, 1e-5, 10), (0.3, 1e-7, 50)])
def test_releases_of_a_cut_compose(epsilon, delta, times):
    """Losses -epsilon, 0, epsilon and inf, of which the finite ones are convolved."""
    profile = cut(epsilon, delta).profile()
    lost, b = profile.infinite_mass, math.exp(-epsilon)
    up = (profile.delta(0.0).value - lost) / (1 - b)
    one, law = np.array([b * up, 1 - lost - up * (1 + b), up]), np.ones(1)
    for _ in range(times):
        law = np.convolve(law, one)
    losses = epsilon * (np.arange(2 * times + 1) - times)
    composed = profile.compose(times)
    for at in (0.0, 2.5 * epsilon, 0.5 * times * epsilon, 2 * times * epsilon):
        gains = np.maximum(-np.expm1(np.minimum(at - losses, 0.0)), 0.0)
        exact = law @ gains - math.expm1(times * math.log1p(-lost))
        found = composed.delta(at)
        assert found.value == pytest.approx(exact, rel=1e-8)
        assert found.lower <= exact * (1 + 1e-10) and exact <= found.upper * (1 + 1e-10)


def test_noise_that_ends_is_for_one_number_and_never_pure():
    profile = cut(1.0, 1e-5).profile()
    with pytest.raises(ValueError, match="no pure guarantee"):
        profile.scale_factor(1.0, 0.0)
    with pytest.raises(ValueError, match="end must be"):
        StaircaseProfile(
            norm="l2", dimension=2, step=1.0, theta=0.5, width=1.0, sensitivity=1.0, end=4.0
        )


def test_two_balls_of_different_radius_in_three_dimensions():
    """The share of a ball outside of a larger one has a closed form there: two caps."""
    from mechanisms.privacy.staircase_profile import _Noise, _outside_ball

    radii = np.array([0.9, 1.3, 4.0])
    for ratio, edges in ((1.9, 1), (2.2, 2), (1.0 + 1e-7, 1)):
        found = _outside_ball(_Noise("l2", 3, 1.0, 0.5, Fraction(ratio)), radii, edges)
        r, big, t = radii, radii + edges, ratio
        lens = math.pi * (r + big - t) ** 2
        lens *= (t * t + 2 * t * (r + big) - 3 * (r - big) ** 2) / (12 * t)
        share = 1 - lens / (4 / 3 * math.pi * r**3)
        assert found == pytest.approx(share, rel=1e-9, abs=1e-14)


def test_no_other_first_edge_has_less_error():
    for size, epsilon in ((1, 1.0), (2, 4.0), (8, 10.0), (64, 10.0)):
        query = Query(shape=(size,), l2_sensitivity=1.0)
        noise = MECHANISM.calibrate(query, Budget(epsilon=epsilon)).noise
        for theta in np.linspace(0.02, 1.0, 50):
            other = Staircase(shape=(size,), norm=noise.norm, step=epsilon, theta=theta, width=1.0)
            assert other.loss().mean >= noise.loss().mean * (1 - 1e-12)


def test_a_claim_holds_and_an_excluded_vertex_leaves_an_upper_bound():
    assert verify(
        MECHANISM.calibrate(QUERIES["l2"], Budget(epsilon=0.8)), samples=5000
    ).verdict == ("holds")
    query = Query(shape=(9,), l2_sensitivity=1.4, l1_sensitivity=2.0, linf_sensitivity=1.0)
    mechanism = MECHANISM.calibrate(query, Budget(epsilon=1.0))
    assert mechanism.noise.norm == "l1" and "excludes the worst change" in mechanism.slack()
    assert mechanism.profile().epsilon(0.0).upper == 1.0
    with pytest.raises(Unsupported, match="no exact calibration"):
        MECHANISM.calibrate(query, Budget(epsilon=1.0, delta=1e-5), "exact")


@pytest.mark.parametrize(
    ("size", "epsilon", "words"), [(9, 600.0, "up to 500"), (9, 1e-4, "steps")]
)
def test_what_is_refused(size, epsilon, words):
    with pytest.raises(Unsupported, match=words):
        MECHANISM.calibrate(Query(shape=(size,), l2_sensitivity=1.0), Budget(epsilon=epsilon))


@pytest.mark.parametrize(
    ("step", "theta", "width"),
    [
        (30.0, 3.6e-05, 0.999999999927934),
        # Of a width an ulp below the sensitivity delta is 0.02: no rounding that may be ignored.
        (100.0, 3.3e-15, math.nextafter(1.0, 0.0)),
        (1.0, 0.4, 1 - 8 * 2.0**-53),
        (1.0, 0.4, math.nextafter(1 / 3, 0.0)),
    ],
)
def test_an_edge_that_is_hardly_crossed_counts(step, theta, width):
    """The layers summed with 60 digits, at the last edge but one that a change can cross."""
    profile = StaircaseProfile(
        norm="linf", dimension=1, step=step, theta=theta, width=width, sensitivity=1.0
    )
    with mpmath.workdps(60):
        ratio = 1 / mpmath.mpf(width)
        edges = int(mpmath.ceil(ratio)) - 1
        weights = [mpmath.exp(-step * k) * (k + mpmath.mpf(theta)) for k in range(150)]
        lost = [min((ratio - edges) / (2 * (k + mpmath.mpf(theta))), 1) for k in range(150)]
        truth = mpmath.fdot(weights, lost) / mpmath.fsum(weights)
    bounds = profile.delta(edges * step)
    assert 0 < bounds.lower <= truth <= bounds.upper <= bounds.lower * (1 + 1e-8)
    assert profile.epsilon(0.0).value == (edges + 1) * step


@pytest.mark.parametrize("edges", range(1, 50))
def test_a_pure_scale_crosses_no_edge_more(edges):
    """Sensitivities over whole numbers are rounded, half of them downwards."""
    for sensitivity in (1.0, 0.1, 0.7, 3.3):
        profile = StaircaseProfile(
            norm="l2", dimension=3, step=0.3, theta=0.5, width=0.77, sensitivity=sensitivity
        )
        scaled = profile.scaled(profile.scale_factor(0.3 * (edges + 0.5), 0.0))
        assert Fraction(scaled.width) * edges >= Fraction(sensitivity)
        assert scaled.width == pytest.approx(sensitivity / edges, rel=1e-15)
        assert scaled.delta(0.3 * edges).upper == 0.0


def test_delta_that_falls_to_nothing_between_two_scales():
    """At epsilon 100 the first edge is at 3e-15: an ulp of the width moves delta by 0.04."""
    budget = Budget(epsilon=100.0, delta=1e-3)
    query = Query(shape=(1,), l2_sensitivity=1.0)
    mechanism = get_mechanism("staircase").calibrate(query, budget, calibration="exact")
    assert mechanism.profile().delta(100.0).upper <= 1e-3
    assert mechanism.noise.width == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_the_profile_has_no_jump_where_a_quotient_of_losses_rounds(norm):
    """The largest number below k steps divided by the step may round to k."""
    step = 0.1
    profile = StaircaseProfile(
        norm=norm, dimension=2, step=step, theta=0.5, width=1.0, sensitivity=50.0
    )
    below, above = (
        np.array([np.nextafter(k * step, side) for k in range(1, 40)]) for side in (0.0, np.inf)
    )
    assert np.any(np.floor(below / step) * step > below)
    found = [profile.delta(each).value for each in (below, above)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.3])
@pytest.mark.parametrize("theta", [0.2, 0.6, 1.0])
def test_delta_is_the_last_unit_of_the_noise_that_ends(epsilon, delta, theta):
    end = end_of_cut(epsilon, delta, theta)
    edges = theta + np.arange(end - theta)
    inner, outer = np.append(0.0, edges), np.append(edges, end)
    density = np.exp(-epsilon * np.arange(len(inner)))
    last = np.maximum(outer - np.maximum(inner, end - 1), 0.0)
    assert last @ density / (2 * (outer - inner) @ density) == pytest.approx(delta, rel=1e-9)
