"""The worst change that a query allows: searches over changes, enumeration, closed forms."""

import itertools
import math

import numpy as np
import pytest
from record_counts import counts
from scipy import optimize

from mechanisms import Budget, Query, Unsupported, all_mechanisms, get_mechanism, verify
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.mahalanobis import allowed_share
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.privacy.gaussian_profile import GaussianProfile, worst_case_mu
from mechanisms.privacy.laplace_profile import IndependentLaplaceProfile
from mechanisms.privacy.numerics import unit_gauss_legendre
from mechanisms.verification.verification import HOLDS, LOOSE, REFUTED
from paper_figures.mvg2018.numbers import FIRST_COMPONENT
from paper_figures.r1smg2024.numbers import setting


def laplace_delta(epsilon, shifts, nodes=24):
    """delta of Laplace noise of scale 1 on shifted components, by nested quadrature over losses."""
    first, *others = sorted((abs(t) for t in shifts if t), reverse=True) or [0.0]
    epsilon = np.asarray(epsilon, dtype=float)
    if not others:
        inside = -np.expm1(np.minimum(epsilon - first, 0) / 2)
        return np.where(epsilon <= -first, -np.expm1(np.minimum(epsilon, 0)), inside)
    # Where delta of the others has kinks, as a function of the loss of the first.
    sums = np.array([sum(signs) for signs in itertools.product(*((-t, t) for t in others))])
    ends = np.sort(np.clip(np.r_[-first, epsilon - sums, first], -first, first))
    unit, weights = unit_gauss_legendre(nodes)
    loss = (ends[:-1, None] + np.diff(ends)[:, None] * unit).ravel()
    mass = (np.diff(ends)[:, None] * weights).ravel() * np.exp((loss - first) / 2) / 4
    loss = np.r_[loss, first, -first]
    mass = np.r_[mass, 0.5, math.exp(-first) / 2]
    if len(others) == 1:
        return float(mass @ laplace_delta(epsilon - loss, others))
    return float(mass @ [laplace_delta(epsilon - each, others, nodes) for each in loss])


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"l2_sensitivity": 2.0}, "l2_sensitivity of a histogram must be 1 under add-remove"),
        ({"l1_sensitivity": 2.0}, "l1_sensitivity of a histogram must be 1"),
        ({"linf_sensitivity": 0.5}, "linf_sensitivity of a histogram must be 1"),
        ({"adjacency": "local"}, "needs adjacency add-remove or replace"),
        ({"adjacency": "replace", "shape": (1,)}, "of one cell does not change"),
    ],
)
def test_a_histogram_is_stated_consistently(stated, words):
    kind = {"shape": (3,), "l2_sensitivity": 1.0, "structure": "histogram", "record_bound": 1.0}
    with pytest.raises(ValueError, match=words):
        Query(**kind | stated)


def test_the_sensitivities_of_a_histogram_follow_from_the_record():
    query = counts(3, 4, 5, adjacency="replace", record_bound=3.0)
    assert (query.l1_sensitivity, query.linf_sensitivity, query.changed) == (6.0, 3.0, 2)
    assert query.reach == pytest.approx(3 * math.sqrt(2), rel=1e-15)
    typed = Query(
        shape=(4,), l2_sensitivity=1.4142, adjacency="replace",
        structure="histogram", record_bound=1.0,
    )  # fmt: skip
    assert typed.l2_sensitivity == math.sqrt(2)
    ranged = Query(
        shape=(4,), l2_sensitivity=1.0, element_range=(0, 50),
        structure="histogram", record_bound=1.0,
    )  # fmt: skip
    assert ranged.linf_sensitivity == 1.0


@pytest.mark.parametrize(
    ("key", "near"), [("tldp-l", 1.17e-5), ("tldp-l-w", 7.1e-6), ("tldp-g", 5.8e-3),
                      ("tldp-g-w", 4.2e-3)]
)  # fmt: skip
def test_tldp_on_counts_gives_away_two_cells_at_most(key, near):
    """A pickup that moves changes two cells: two atoms and two shifts, whatever the map's size."""
    case = setting("r1smg2024-count-1e-05")
    mechanism = get_mechanism(key).calibrate(case.query, case.budget)
    epsilon = case.budget.epsilon
    keep = math.exp(mechanism.parameters()["log_p"])
    if key.startswith("tldp-l"):
        noise = laplace_delta(epsilon, [1 / mechanism.noise.noise.scale] * 2)
    else:
        mu = math.sqrt(2) / mechanism.noise.noise.sigma
        noise = GaussianProfile(mu=mu).delta(epsilon).value
    exact = 1 - (1 - keep) ** 2 * (1 - noise)
    found = mechanism.profile().delta(epsilon)
    assert found.lower <= exact * (1 + 1e-9) and exact * (1 - 1e-9) <= found.upper
    assert exact == pytest.approx(near, rel=0.02)
    assert verify(mechanism).verdict == REFUTED


def test_tldp_on_counts_keeps_the_cells_with_the_largest_chance():
    mechanism = get_mechanism("tldp-g-w").calibrate(
        counts(5, adjacency="replace"), Budget(epsilon=0.01), weights=[0.9, 0.1, 0.5, 0.3, 0.99]
    )
    keep = np.exp(mechanism.noise.log_keep)
    exposed = 1 - (1 - keep[1]) * (1 - keep[3])
    assert mechanism.profile().atom_mass == pytest.approx(exposed, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.869, 3.6])
def test_laplace_shifts_fill_the_box_and_leave_a_rest(epsilon):
    query = Query(shape=(5,), l2_sensitivity=2.4, l1_sensitivity=3.934, linf_sensitivity=1.505)
    noise = IndependentLaplace(shape=(5,), scale=1.0)
    assert noise.slack(query) is None
    worst = laplace_delta(epsilon, [1.505, 1.505, 3.934 - 3.01])
    bounds = noise.profile(query).delta(epsilon)
    assert bounds.lower <= worst * (1 + 1e-9) and worst * (1 - 1e-9) <= bounds.upper
    assert bounds.value == pytest.approx(worst, rel=1e-5)
    if epsilon == 2.869:
        assert worst == pytest.approx(0.1574, abs=3e-4)
    # No change of three components is worse.
    for shares in np.random.default_rng(0).dirichlet([0.7] * 3, 12):
        change = np.minimum(3.934 * shares, 1.505)
        assert laplace_delta(epsilon, change, nodes=16) <= worst * (1 + 1e-7)


def test_laplace_with_a_rest_is_calibrated_and_composed():
    query = Query(shape=(5,), l2_sensitivity=1.55, l1_sensitivity=2.5, linf_sensitivity=1.0)
    exact = get_mechanism("laplace").calibrate(query, Budget(epsilon=1, delta=0.01), "exact")
    assert exact.profile().delta(1.0).upper == pytest.approx(0.01, rel=1e-9)
    profile = IndependentLaplaceProfile(components=1, width=0.2, rest=0.1, scale=1.0)
    twice = profile.compose(2)
    assert twice.attains_largest_loss and twice.largest_loss == pytest.approx(0.6)
    exactly = laplace_delta(0.3, [0.2, 0.2, 0.1, 0.1], nodes=4)
    bounds = twice.delta(0.3)
    assert bounds.lower <= exactly <= bounds.upper
    forward = profile.sample_losses(np.random.default_rng(3), 100_000)
    gain = -np.expm1(np.minimum(0.1 - forward, 0))
    assert abs(gain.mean() - profile.delta(0.1).value) < 4 * gain.std() / math.sqrt(gain.size)


def test_laplace_under_the_l2_ball_is_bounded_and_exact_for_pure_privacy():
    """TLDP-L on a tensor in [0, 1]^4 whose l2 sensitivity is 1, not 2."""
    query = Query(shape=(4,), l2_sensitivity=1.0, element_range=(0, 1), adjacency="local")
    mechanism = get_mechanism("tldp-l").calibrate(query, Budget(epsilon=1.0))
    keep = math.exp(mechanism.parameters()["log_p"])
    found = 0.0
    for change in np.abs(np.random.default_rng(1).standard_normal((60, 3))):
        noise = laplace_delta(1.0, change / np.linalg.norm(change), nodes=6)
        found = max(found, 1 - (1 - keep) ** 4 * (1 - noise))
    bounds = mechanism.profile().delta(1.0)
    assert bounds.lower <= found <= bounds.upper
    assert bounds.lower >= 1 - (1 - keep) ** 4 - 1e-12
    # A kept value alone refutes the claim, whatever the noise.
    assert mechanism.slack() and verify(mechanism).verdict == REFUTED
    stated = Query(shape=(4,), l2_sensitivity=1.0, l1_sensitivity=1.9, adjacency="local")
    exact = get_mechanism("laplace").calibrate(stated, Budget(epsilon=0.5), "exact")
    assert exact.noise.scale == pytest.approx(1.9 / 0.5, rel=1e-12)
    assert verify(exact).verdict == HOLDS
    with pytest.raises(Unsupported, match="l2_sensitivity excludes"):
        get_mechanism("laplace").calibrate(stated, Budget(epsilon=0.5, delta=0.1), "exact")


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_the_l1_norm_that_records_give_a_gram_matrix(size, adjacency):
    replaced = adjacency == "replace"
    # The largest that may be typed, so that they cut off no pair of records.
    query = Query(
        shape=(size, size), l2_sensitivity=1.0 + replaced, l1_sensitivity=size * (1.0 + replaced),
        adjacency=adjacency, structure="gram", record_bound=1.0,
    )  # fmt: skip

    def less(pair):
        x, y = (each / max(1.0, np.linalg.norm(each)) for each in np.split(pair, 2))
        return -np.abs(np.outer(x, x) - replaced * np.outer(y, y)).sum()

    starts = np.random.default_rng(size).standard_normal((30, 2 * size))
    largest = -min(optimize.minimize(less, start, method="Powell").fun for start in starts)
    profile = IndependentLaplace(shape=(size, size), scale=1.0).profile(query)
    loss = profile.epsilon(0.0)
    assert loss.lower <= largest * (1 + 1e-3) and largest <= loss.upper * (1 + 1e-9)
    if size != 3 or not replaced:
        assert loss.lower == pytest.approx(loss.upper, rel=1e-12)
        assert largest == pytest.approx(loss.upper, rel=2e-3)


def test_laplace_on_the_covariance_of_mvg2018_wastes_half_of_its_variance():
    result = verify(get_mechanism("laplace").calibrate(FIRST_COMPONENT.query, Budget(epsilon=1.0)))
    assert result.verdict == LOOSE
    assert result.true_epsilon == pytest.approx([math.sqrt(0.5)] * 3, rel=1e-12)
    assert result.wasted_variance == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_mu_under_all_three_sensitivities_by_search(seed):
    rng = np.random.default_rng(seed)
    std, linf = rng.uniform(0.3, 2, 4), rng.uniform(0.5, 1.5)
    l2 = linf * rng.uniform(1, 2)
    l1 = l2 * rng.uniform(1, 2)
    l2 = min(l2, math.sqrt(l1 * linf))
    mu = worst_case_mu(std, l2_sensitivity=l2, l1_sensitivity=l1, linf_sensitivity=linf)
    query = Query(shape=(4, 1), l2_sensitivity=l2, l1_sensitivity=l1, linf_sensitivity=linf)
    # Denser and denser around the best change found.
    best, spread = np.ones(4), 1.0
    for _ in range(60):
        tried = np.abs(best + spread * rng.standard_normal((400, 4)))
        tried = np.minimum(tried, linf)
        tried *= np.minimum(1, l1 / tried.sum(axis=1))[:, None]
        tried *= np.minimum(1, l2 / np.linalg.norm(tried, axis=1))[:, None]
        found = np.linalg.norm(tried / std, axis=1)
        assert found.max() <= mu * (1 + 1e-12)
        best, spread = tried[found.argmax()], 0.85 * spread
    assert found.max() == pytest.approx(mu, rel=2e-2)
    assert query.reach == pytest.approx(
        worst_case_mu(np.ones(4), l2_sensitivity=l2, l1_sensitivity=l1, linf_sensitivity=linf),
        rel=1e-12,
    )


def turned(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    return MatrixGaussian(
        row_std=rng.uniform(0.5, 2, rows),
        column_std=rng.uniform(0.5, 2, columns),
        row_directions=np.linalg.qr(rng.standard_normal((rows, rows)))[0],
        column_directions=np.linalg.qr(rng.standard_normal((columns, columns)))[0],
    )


def whitened(noise, change):
    rows, columns = noise.row_directions / noise.row_std, noise.column_directions / noise.column_std
    return np.linalg.norm(rows.T @ change @ columns)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_turned_noise_on_a_histogram_by_enumeration(adjacency):
    noise, query = turned(3, 4), counts(3, 4, adjacency=adjacency, record_bound=2.0)
    cells = 2.0 * np.eye(12).reshape(12, 3, 4)
    changes = cells
    if adjacency == "replace":
        changes = [a - b for a, b in itertools.permutations(cells, 2)]
    assert noise.slack(query) is None
    largest = max(whitened(noise, change) for change in changes)
    assert noise.profile(query).mu == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_of_turned_noise_hold_every_change(seed):
    rng = np.random.default_rng(seed)
    linf, *growths = rng.uniform([0.5, 1, 1], [1, 1.9, 1.9])
    # ||D||_2^2 <= ||D||_1 ||D||_inf.
    l2, l1 = linf * np.cumprod(np.sort(growths))
    stated = {"l2_sensitivity": l2, "l1_sensitivity": l1, "linf_sensitivity": linf}
    for shape in ((2, 2), (4, 5)):
        noise, query = turned(*shape, seed), Query(shape=shape, **stated)
        changes = rng.standard_normal((400, *shape)) ** 3
        found = max(allowed_share(c, query) * whitened(noise, c) for c in changes)
        profile = noise.profile(query)
        above = getattr(profile, "above", profile).mu
        below = getattr(profile, "below", profile).mu
        assert below <= above and found <= above
        assert (noise.slack(query) is None) == (below == above)


CUT = (
    # The box and the l2 ball cut each other, alone and for a Gram matrix.
    Query(
        shape=(3, 3), l2_sensitivity=1.0, l1_sensitivity=2.5, element_range=(0, 0.6),
        frobenius_bound=2.0, adjacency="local",
    ),
    Query(
        shape=(3, 3), l2_sensitivity=0.94, l1_sensitivity=1.5, element_range=(0, 0.6),
        frobenius_bound=2.0, adjacency="replace", structure="gram", record_bound=1.0,
    ),
    counts(3, 3, adjacency="replace"),
)  # fmt: skip


@pytest.mark.parametrize("query", CUT, ids=("cut", "gram", "counts"))
@pytest.mark.parametrize("key", sorted(set(all_mechanisms()) - {"spherical-gamma"}))  # a search
def test_who_admits_slack_has_bounds_that_differ(key, query):
    """At an epsilon below every claim's; some deltas underflow."""
    try:
        mechanism = get_mechanism(key).calibrate(query, Budget(epsilon=0.9, delta=1e-3))
        profile = mechanism.profile()
    except Unsupported:
        return
    if profile is None:
        return
    bounds = profile.log_delta(0.2)
    wide = bounds.upper > -math.inf and bounds.lower < bounds.upper - 1e-3
    if mechanism.slack() is not None:
        assert wide
    elif not isinstance(profile, IndependentLaplaceProfile):
        assert not wide
