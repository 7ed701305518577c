"""Mechanisms for Gram matrices against the papers' formulas, samples, quadrature and limits."""

import math
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import special, stats

from mechanisms import (
    AdditiveMechanism,
    Budget,
    OutOfRangeWarning,
    Query,
    Unsupported,
    get_mechanism,
)
from mechanisms.__main__ import main
from mechanisms.audit.sampled_audit import audit_outputs
from mechanisms.audit.verification import (
    HOLDS,
    LOOSE,
    REFUTED,
    verify,
)
from mechanisms.noise import bingham as bingham
from mechanisms.noise.wishart_noise import Wishart, trace_moment
from mechanisms.ppca import NotConverged

KEYS = ["mod-sulq", "analyze-gauss", "wishart", "ppca"]
ADDITIVE = KEYS[:3]
BUDGET = Budget(epsilon=0.8, delta=1e-6)


def gram(size, *, bound=1.0, adjacency="replace", **more):
    # The l2 sensitivity is one that nobody may use: all follows from the record bound.
    return Query(
        shape=(size, size),
        l2_sensitivity=1e9,
        structure="gram",
        record_bound=bound,
        adjacency=adjacency,
        **more,
    )


def calibrated(key, query, budget=BUDGET, calibration="published", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfRangeWarning)
        return get_mechanism(key).calibrate(query, budget, calibration, **options)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("query", "words"),
    [
        (Query(shape=(3, 3), l2_sensitivity=1.0), "structure 'gram'"),
        (
            Query(shape=(3, 3), l2_sensitivity=1.0, structure="records", record_bound=1.0),
            "structure 'gram'",
        ),
        (gram(3, adjacency="local"), "add-remove or replace"),
    ],
)
def test_what_is_no_gram_matrix_is_unsupported(key, query, words):
    with pytest.raises(Unsupported, match=words):
        calibrated(key, query)


@pytest.mark.parametrize(("size", "records"), [(3, 50), (40, 2000)])
def test_beta_of_mod_sulq(size, records):
    """The paper's formula in its own units: n records of the unit ball, A = (1/n) sum x x^T."""
    epsilon, delta = BUDGET.epsilon, BUDGET.delta
    beta = (size + 1) / (records * epsilon) * math.sqrt(
        2 * math.log((size**2 + size) / (delta * 2 * math.sqrt(2 * math.pi)))
    ) + 1 / (records * math.sqrt(epsilon))
    mechanism = calibrated("mod-sulq", gram(size, bound=1 / math.sqrt(records)))
    assert mechanism.parameters() == {"sigma": pytest.approx(beta, rel=1e-14)}


def test_mod_sulq_where_its_logarithm_is_negative():
    with pytest.raises(Unsupported, match=r"needs delta below 0\.399 at d = 1"):
        calibrated("mod-sulq", gram(1), Budget(epsilon=1.0, delta=0.4))


@pytest.mark.parametrize(("adjacency", "factor"), [("add-remove", 1.0), ("replace", math.sqrt(2))])
def test_sigma_of_analyze_gauss(adjacency, factor):
    mechanism = calibrated("analyze-gauss", gram(4, bound=3.0, adjacency=adjacency))
    expected = factor * 9 * math.sqrt(2 * math.log(1.25e6)) / 0.8
    assert mechanism.parameters() == {"sigma": pytest.approx(expected, rel=1e-14)}


def test_analyze_gauss_warns_outside_the_range_of_the_gaussian_theorem():
    with pytest.warns(OutOfRangeWarning, match="epsilon < 1 only"):
        get_mechanism("analyze-gauss").calibrate(gram(4), Budget(epsilon=1.0, delta=1e-6))


def records_of_the_ball(rng, count, size, bound):
    """Points of the ball, among them the origin, the axes and others on the sphere."""
    points = rng.standard_normal((count, size))
    points *= (bound * rng.random(count) ** 0.3 / np.linalg.norm(points, axis=1))[:, None]
    points[0] = 0
    points[1 : 1 + size] = bound * np.eye(size)
    points[1 + size : 4 + size] *= (
        bound / np.linalg.norm(points[1 + size : 4 + size], axis=1)[:, None]
    )
    return points


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_no_pair_of_records_is_worse_than_the_profile_says(adjacency, size):
    """The distance of the upper triangles, which is all that symmetric noise hides."""
    bound = 1.7
    mechanism = calibrated("analyze-gauss", gram(size, bound=bound, adjacency=adjacency))
    rng = np.random.default_rng(2)
    x = records_of_the_ball(rng, 60, size, bound)
    change = x[:, :, None] * x[:, None]
    if adjacency == "replace":
        change = change[:, None] - change
    rows, columns = np.triu_indices(size)
    largest = np.linalg.norm(change[..., rows, columns], axis=-1).max()
    mu = mechanism.profile().mu
    assert largest / mechanism.noise.sigma == pytest.approx(mu, rel=1e-12)


def test_a_box_that_no_diagonal_change_fits_into_leaves_slack():
    query = gram(4, bound=2.0, linf_sensitivity=1.0)
    mechanism = calibrated("mod-sulq", query)
    assert "no element can move by record_bound^2" in mechanism.slack()
    assert verify(mechanism).verdict == HOLDS
    with pytest.raises(Unsupported, match="no exact calibration"):
        calibrated("mod-sulq", query, calibration="exact")
    assert calibrated("mod-sulq", gram(4, bound=2.0, linf_sensitivity=4.0)).slack() is None


@pytest.mark.parametrize("key", ADDITIVE)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_moments_of_the_loss(key, size):
    mechanism = calibrated(key, gram(size, bound=0.5))
    losses = mechanism.noise.loss_samples(np.random.default_rng(1), 60_000)
    assert mechanism.expected_loss() == mechanism.loss().mean
    for power, exact in enumerate(mechanism.loss().raw(), 1):
        error = np.std(losses**power) / math.sqrt(len(losses))
        assert abs(np.mean(losses**power) - exact) < 4.5 * error


@pytest.mark.parametrize("key", ["mod-sulq", "analyze-gauss"])
def test_symmetric_noise_is_mirrored_and_independent(key):
    mechanism = calibrated(key, gram(4))
    draws = mechanism.sample(np.random.default_rng(0), 40_000)
    assert np.array_equal(draws, draws.swapaxes(1, 2))
    rows, columns = np.triu_indices(4)
    upper = draws[:, rows, columns] / mechanism.noise.sigma
    covariance = upper.T @ upper / len(upper)
    error = np.sqrt((1 + np.eye(10)) / len(upper))
    assert np.all(np.abs(covariance - np.eye(10)) < 4.5 * error)
    assert np.all(np.abs(upper.mean(axis=0)) < 4.5 / math.sqrt(len(upper)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("key", ADDITIVE)
def test_same_seed_same_bytes(key, dtype):
    noise = calibrated(key, gram(6)).noise
    first, second = (noise.sample(np.random.default_rng(3), 2, dtype) for _ in range(2))
    assert first.dtype == dtype and first.shape == (2, 6, 6)
    assert first.tobytes() == second.tobytes()
    with pytest.raises(TypeError, match="float16"):
        noise.sample(np.random.default_rng(0), 1, np.float16)


@pytest.mark.parametrize("key", ADDITIVE)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_exact_calibration_meets_the_budget(key, adjacency):
    mechanism = calibrated(key, gram(5, adjacency=adjacency), calibration="exact")
    assert mechanism.profile().delta(0.8).value == pytest.approx(1e-6, rel=1e-9)
    result = verify(mechanism)
    assert result.verdict == HOLDS
    assert result.wasted_variance == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("key", ["mod-sulq", "analyze-gauss"])
def test_symmetric_gaussian_claims_hold_and_waste_variance(key):
    result = verify(calibrated(key, gram(5)))
    assert result.verdict == LOOSE
    assert result.wasted_variance > 1.2


# The Wishart mechanism.


def test_moments_of_traces_against_known_formulas():
    for size, freedom in ((1, 1), (3, 4), (7, 8)):
        k, d = freedom, size
        assert trace_moment((1,), d, k) == k * d
        assert trace_moment((2,), d, k) == k * d * (d + 1) + k**2 * d
        # tr W is chi-square with k d degrees of freedom.
        assert trace_moment((1, 1), d, k) == k * d * (k * d + 2)
    for power in (1, 2, 3, 4):
        # For d = 1, W is chi-square with k degrees of freedom; its even moments.
        expected = math.prod(5 + 2 * i for i in range(2 * power))
        assert trace_moment((2,) * power, 1, 5) == expected
        # tr (G G^T)^2 = tr (G^T G)^2.
        assert trace_moment((2,) * power, 3, 8) == trace_moment((2,) * power, 8, 3)


def pairings(items):
    """All perfect matchings of a list."""
    if not items:
        yield []
        return
    for index in range(1, len(items)):
        rest = items[1:index] + items[index + 1 :]
        for others in pairings(rest):
            yield [(items[0], items[index]), *others]


@pytest.mark.parametrize("copies", [1, 2])
def test_moments_of_traces_by_wicks_theorem(copies):
    """Every matching of the factors G_am gives d^(loops of a) k^(loops of m)."""
    size, freedom = 4, 6
    # tr W^2 = sum G_am G_bm G_bn G_an: row and column index of factor 4 c + (0, 1, 2, 3).
    rows = [(c, row) for c in range(copies) for row in (0, 1, 1, 0)]
    columns = [(c, column) for c in range(copies) for column in (0, 0, 1, 1)]

    def loops(labels, matching):
        parent = {label: label for label in labels}

        def root(label):
            while parent[label] != label:
                label = parent[label]
            return label

        for i, j in matching:
            parent[root(labels[i])] = root(labels[j])
        return len({root(label) for label in labels})

    total = sum(
        size ** loops(rows, matching) * freedom ** loops(columns, matching)
        for matching in pairings(list(range(4 * copies)))
    )
    assert trace_moment((2,) * copies, size, freedom) == total


def test_wishart_noise_has_the_law_of_scipy():
    noise = Wishart(shape=(3, 3), scale=0.7)
    draws = noise.sample(np.random.default_rng(0), 20_000)
    theirs = stats.wishart(df=4, scale=0.7 * np.eye(3)).rvs(20_000, random_state=1)
    for statistic in (lambda w: w[:, 0, 0], lambda w: w[:, 0, 1], np.linalg.det):
        assert stats.ks_2samp(statistic(draws), statistic(theirs)).pvalue > 1e-3
    mean = draws.mean(axis=0)
    assert np.abs(mean - 4 * 0.7 * np.eye(3)).max() < 0.1
    assert np.linalg.eigvalsh(draws).min() > 0


@pytest.mark.parametrize(("adjacency", "size"), [("add-remove", 1), ("replace", 5)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_wishart_is_refuted_with_its_exact_delta(adjacency, size, epsilon):
    records = 200
    query = gram(size, bound=1 / math.sqrt(records), adjacency=adjacency)
    mechanism = calibrated("wishart", query, Budget(epsilon=epsilon))
    assert mechanism.parameters() == {"c": pytest.approx(3 / (2 * records * epsilon), rel=1e-14)}
    exposed = -math.expm1(-epsilon / 3)
    result = verify(mechanism, samples=20_000, seed=5)
    assert result.verdict == REFUTED
    assert result.claimed_delta == 0
    assert result.true_delta.value == pytest.approx(exposed, rel=1e-14)
    assert mechanism.profile().delta(50.0).lower == pytest.approx(exposed, rel=1e-14)
    assert result.true_epsilon == (np.inf, np.inf, np.inf)
    assert result.audit.delta_lower < exposed < result.audit.delta_upper
    assert result.audit.refutes(0.0)


@pytest.mark.parametrize("size", [1, 3, 10])
def test_outputs_without_a_record_are_impossible_with_it(size):
    """In d dimensions, from matrices and not from the profile's losses."""
    epsilon, bound, trials = 1.0, 2.0, 20_000
    noise = calibrated("wishart", gram(size, bound=bound), Budget(epsilon=epsilon)).noise
    direction = np.random.default_rng(size).standard_normal(size)
    x = bound * direction / np.linalg.norm(direction)
    outputs = noise.sample(np.random.default_rng(7), trials)
    # With the record an output minus x x^T would have to be in the cone.
    impossible = np.linalg.eigvalsh(outputs - np.outer(x, x))[:, 0] < 0
    exposed = -math.expm1(-epsilon / 3)
    assert abs(impossible.mean() - exposed) < 4 * math.sqrt(exposed * (1 - exposed) / trials)


def test_wishart_is_refuted_by_outputs_alone():
    noise = calibrated("wishart", gram(4), Budget(epsilon=1.0)).noise
    x = np.array([1.0, 0, 0, 0])
    audit = audit_outputs(
        noise.sample,
        lambda rng, n: noise.sample(rng, n) + np.outer(x, x),
        1.0,
        score=lambda outputs: np.linalg.eigvalsh(outputs - np.outer(x, x))[:, 0],
        samples=20_000,
        seed=0,
    )
    assert audit.refutes(0.0)
    assert 0.2 < audit.delta_lower < -math.expm1(-1 / 3)


# PPCA.


def bingham_moments(exponents):
    """E x_i^2 for density ~ exp(sum m_i x_i^2) on the sphere of R^3, by quadrature."""
    polar, weight = special.roots_legendre(400)
    turn = (np.arange(400) + 0.5) * 2 * np.pi / 400
    ring = np.sqrt(1 - polar**2)[:, None]
    points = np.stack(
        [ring * np.cos(turn), ring * np.sin(turn), np.broadcast_to(polar[:, None], (400, 400))]
    )
    exponent = np.tensordot(exponents, points**2, axes=1)
    density = np.exp(exponent - exponent.max()) * weight[:, None]
    return (points**2 * density).sum(axis=(1, 2)) / density.sum()


def squares(drawn):
    """|r_i|^2 of every draw: (draws, d)."""
    return np.vecdot(drawn, drawn)


@pytest.mark.parametrize("gap", [0.0, 0.3, 4.0, 300.0])
def test_one_component_of_two_is_von_mises(gap):
    draws, diagnostics = bingham.sample_bingham(
        np.array([gap, 0.0]), 1, np.random.default_rng(0), 20_000
    )
    # x = (cos t, sin t) has 2 t von Mises with concentration gap / 2.
    x = draws[:, :, 0]
    doubled = 2 * np.arctan2(x[:, 1], x[:, 0])
    doubled = (doubled + np.pi) % (2 * np.pi) - np.pi
    law = stats.vonmises(gap / 2) if gap else stats.uniform(-np.pi, 2 * np.pi)
    assert stats.kstest(doubled, law.cdf).pvalue > 1e-3
    mean = special.ive(1, gap / 2) / special.ive(0, gap / 2)
    error = np.std(np.cos(doubled)) / math.sqrt(len(doubled))
    assert abs(np.cos(doubled).mean() - mean) < 4 * error
    assert diagnostics["r_hat"] < bingham.CONVERGED


@pytest.mark.parametrize("exponents", [(1.0, 0.0, 0.0), (9.0, 4.0, -2.0), (60.0, 55.0, 0.0)])
def test_one_component_of_three_by_quadrature(exponents):
    exponents = np.array(exponents)
    draws, _ = bingham.sample_bingham(exponents, 1, np.random.default_rng(4), 20_000)
    error = squares(draws).std(axis=0) / math.sqrt(len(draws))
    assert np.all(np.abs(squares(draws).mean(axis=0) - bingham_moments(exponents)) < 4 * error)


def test_two_components_of_three_are_the_complement_of_one():
    """V V^T = I - u u^T with u of density exp(-u^T M u)."""
    exponents = np.array([7.0, 3.0, 0.0])
    draws, _ = bingham.sample_bingham(exponents, 2, np.random.default_rng(5), 20_000)
    expected = 1 - bingham_moments(-exponents)
    error = squares(draws).std(axis=0) / math.sqrt(len(draws))
    assert np.all(np.abs(squares(draws).mean(axis=0) - expected) < 4 * error)


def test_components_without_a_preference_are_uniform():
    """|r_i|^2, the share of a unit vector in a random subspace, is Beta(k / 2, (d - k) / 2)."""
    size, components = 9, 3
    draws, _ = bingham.sample_bingham(np.zeros(size), components, np.random.default_rng(6), 8000)
    law = stats.beta(components / 2, (size - components) / 2)
    for row in range(size):
        assert stats.kstest(squares(draws)[:, row], law.cdf).pvalue > 1e-4


def test_concentrated_components_are_the_leading_ones():
    """E (1 - |r_i|^2) ~ sum_j 1 / (2 (m_i - m_j)) over the rest, to first order."""
    exponents = np.array([4e4, 3e4, 1e4, 5e3, 0.0])
    draws, _ = bingham.sample_bingham(exponents, 2, np.random.default_rng(7), 8000)
    expected = [sum(1 / (2 * (m - o)) for o in exponents[2:]) for m in exponents[:2]]
    lost = 1 - squares(draws)[:, :2]
    error = lost.std(axis=0) / math.sqrt(len(lost))
    assert np.all(np.abs(lost.mean(axis=0) - expected) < 4 * error + 1e-3 * np.array(expected))


@pytest.mark.parametrize("kappa", [0.0, 1e-7, 1.0, 1e3, 9e5, 2e6, 1e12])
def test_von_mises_draws_of_any_concentration(kappa):
    """numpy changes its method at 1e-8, 1e-5 and 1e6."""
    draws = np.random.default_rng(1).vonmises(np.full(40_000, 3.0), kappa)
    assert np.all(np.abs(draws) <= np.pi)
    loss = 2 * np.sin((draws - 3.0) / 2) ** 2  # 1 - cos, without cancellation
    if kappa < 1e5:
        expected = 1 - special.ive(1, kappa) / special.ive(0, kappa)
    else:  # the asymptotic series
        expected = 1 / (2 * kappa) + 1 / (8 * kappa**2)
    assert abs(loss.mean() - expected) < 4 * loss.std() / 200


def test_split_r_hat():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((4000, 4))
    assert bingham.split_r_hat(noise) == pytest.approx(1.0, abs=0.003)
    assert bingham.split_r_hat(noise + np.array([0, 0, 0, 3])) > 1.5
    assert bingham.split_r_hat(noise + np.linspace(0, 3, 4000)[:, None]) > 1.2
    assert bingham.split_r_hat(np.ones((8, 4))) == 1.0
    assert bingham.split_r_hat(np.ones((8, 4)) * [1, 1, 1, 2]) == math.inf
    # By hand: halves (0, 2), (4, 2) of one chain, W = 2, means 1 and 3, B = 4.
    assert bingham.split_r_hat(np.array([[0.0], [2], [4], [2]])) == math.sqrt(1 / 2 + 2 / 2)


def covariance(size, seed=0, records=300):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((records, size)) * np.arange(size, 0, -1)
    data /= np.linalg.norm(data, axis=1).max() * math.sqrt(records)
    return data.T @ data, 1 / math.sqrt(records)


@pytest.mark.parametrize("components", [1, 3, 6])
def test_a_release_is_a_projector(components):
    value, bound = covariance(6)
    mechanism = calibrated("ppca", gram(6, bound=bound), components=components)
    released, diagnostics = mechanism.release_with_diagnostics(value, np.random.default_rng(0))
    assert released.shape == (6, 6)
    assert np.allclose(released, released.T, rtol=0, atol=1e-14)
    assert np.allclose(released @ released, released, rtol=0, atol=1e-12)
    assert np.trace(released) == pytest.approx(components, abs=1e-12)
    assert diagnostics["r_hat"] < bingham.CONVERGED
    again = mechanism.release(value, np.random.default_rng(0))
    assert again.tobytes() == released.tobytes()
    many = mechanism.releases(value, np.random.default_rng(0), 5)
    assert many.shape == (5, 6, 6)
    assert mechanism.release(value.astype(np.float32), np.random.default_rng(0)).dtype == np.float32


def test_the_density_is_the_papers_in_its_own_units():
    """d = 2, exp(n eps v^T A v / 2): twice v's angle is von Mises with n eps (gap of A) / 4."""
    records, epsilon = 400, 0.8
    value = np.array([[0.30, 0.05], [0.05, 0.25]])
    mechanism = calibrated("ppca", gram(2, bound=1 / math.sqrt(records)), Budget(epsilon=epsilon))
    projectors = mechanism.releases(value, np.random.default_rng(1), 20_000)
    eigenvalues, vectors = np.linalg.eigh(value)
    # cos 2t = 2 cos^2 t - 1, cos^2 t the share along the leading eigenvector.
    cosine = 2 * np.einsum("i,tij,j->t", vectors[:, 1], projectors, vectors[:, 1]) - 1
    kappa = records * epsilon * (eigenvalues[1] - eigenvalues[0]) / 4
    expected = special.ive(1, kappa) / special.ive(0, kappa)
    assert 0.3 < expected < 0.99
    assert abs(cosine.mean() - expected) < 4 * cosine.std() / math.sqrt(len(cosine))


def log_constant(value, scale):
    """log of the integral of exp(scale v^T A v) over the circle."""
    turn = (np.arange(20_000) + 0.5) * np.pi / 20_000
    v = np.stack([np.cos(turn), np.sin(turn)])
    return special.logsumexp(scale * np.einsum("it,ij,jt->t", v, value, v))


@pytest.mark.parametrize(("adjacency", "share"), [("replace", 1.0), ("add-remove", 0.5)])
def test_largest_loss_of_one_component_of_two(adjacency, share):
    """Over records of the unit ball and all directions: within the bound, and it is nearly met."""
    epsilon = 2.0
    mechanism = calibrated("ppca", gram(2, adjacency=adjacency), Budget(epsilon=epsilon))
    rng = np.random.default_rng(0)
    largest = 0.0
    x = np.array([1.0, 0.0])
    for weight in (0.0, 1.0, 40.0):
        for _ in range(20):
            base = weight * np.outer(*(2 * [rng.standard_normal(2)]))
            y = np.array([0.0, 1.0]) if adjacency == "replace" else np.zeros(2)
            with_x, with_y = base + np.outer(x, x), base + np.outer(y, y)
            constants = log_constant(with_x, epsilon / 2) - log_constant(with_y, epsilon / 2)
            loss = epsilon / 2 * np.linalg.eigvalsh(with_x - with_y) - constants
            largest = max(largest, np.abs(loss).max())
    assert mechanism.profile().largest_loss == share * epsilon
    assert 0.8 * share * epsilon < largest <= share * epsilon


@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
def test_ppca_holds_by_an_upper_bound(adjacency):
    mechanism = calibrated("ppca", gram(4, adjacency=adjacency), components=2)
    result = verify(mechanism, samples=2000)
    assert result.verdict == HOLDS
    assert (result.claimed_delta, result.wasted_variance) == (0.0, None)
    assert result.true_epsilon.upper <= 0.8
    assert result.true_delta.lower == 0
    assert not isinstance(mechanism, AdditiveMechanism)
    with pytest.raises(Unsupported, match="no exact calibration"):
        calibrated("ppca", gram(4), calibration="exact")


def test_more_components_than_dimensions_are_refused():
    with pytest.raises(ValueError, match="at most d = 3, got 4"):
        calibrated("ppca", gram(3), components=4)


def test_what_has_not_converged_is_told(monkeypatch):
    monkeypatch.setattr(bingham, "LEAST_SWEEPS", 8)
    monkeypatch.setattr(bingham, "MOST_SWEEPS", 16)
    value, bound = covariance(20)
    mechanism = calibrated("ppca", gram(20, bound=bound / 30), components=2)
    _, diagnostics = mechanism.release_with_diagnostics(value, np.random.default_rng(0))
    assert diagnostics["sweeps"] == 16
    assert diagnostics["r_hat"] > bingham.CONVERGED
    with pytest.warns(NotConverged, match="after 16 sweeps"):
        mechanism.release(value, np.random.default_rng(0))


@pytest.mark.parametrize("key", ADDITIVE)
def test_sampling_needs_no_more_than_a_few_copies_of_the_answer(key):
    mechanism = calibrated(key, gram(200))
    tracemalloc.start()
    try:
        mechanism.sample(np.random.default_rng(0), 1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * 8 * 200 * 200


@pytest.mark.parametrize("key", KEYS)
def test_on_the_command_line(key, capsys):
    arguments = [
        "verify", key, "--shape", "5x5", "--structure", "gram", "--record-bound", "1",
        "--l2-sensitivity", "1.5", "--adjacency", "replace", "--epsilon", "0.5",
        "--delta", "1e-6", "--samples", "2000",
    ]  # fmt: skip
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    verdict = {"wishart": "refuted: the claim is false\n", "ppca": "holds: the claim is true\n"}
    assert f"verdict      {verdict.get(key, 'loose')}" in shown
