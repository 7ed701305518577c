"""The worst change that a query allows, by searches, enumeration and closed forms."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from known_losses import laplace_delta
from queries import counts, gram, records, rotation, tree_matrix
from scipy import optimize

from mechanisms import Budget, Query, Unsupported, all_mechanisms, get_mechanism, verify
from mechanisms.noise.gaussian_noise import IndependentGaussian, SymmetricGaussian
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.mahalanobis import allowed_share
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.noise.radial_noise import Spherical
from mechanisms.noise.strategy_noise import sensitivity_bounds
from mechanisms.noise.tree_laplace import TreeLaplace
from mechanisms.privacy.gaussian_profile import worst_case_mu
from mechanisms.privacy.laplace_profile import IndependentLaplaceProfile
from mechanisms.strategies.optimal_strategy import optimal_strategy
from mechanisms.strategies.p_identity import search
from mechanisms.strategies.tree import BlockTree
from mechanisms.strategies.workload import Prefix
from mechanisms.verification.verification import HOLDS, LOOSE, REFUTED
from papers.mvg2018 import FIRST_COMPONENT


def whitened(noise, change):
    """||row covariance^-1/2 D column covariance^-1/2||_F from the covariances themselves."""
    sides = []
    for std, directions in noise.axes:
        directions = np.eye(len(std)) if directions is None else directions
        sides.append(np.linalg.inv(directions * std))
    return np.linalg.norm(sides[0] @ change @ sides[1].T)


BOUND = 1.3
HISTOGRAM = {"structure": "histogram", "record_bound": 1.0}


def test_the_sensitivities_of_a_histogram_follow_from_the_record():
    query = counts(3, 4, 5, adjacency="replace", record_bound=3.0)
    assert (query.l1_sensitivity, query.linf_sensitivity, query.changed) == (6.0, 3.0, 2)
    typed = Query(shape=(4,), l2_sensitivity=1.4142, adjacency="replace", **HISTOGRAM)
    assert typed.l2_sensitivity == math.sqrt(2)
    ranged = Query(shape=(4,), l2_sensitivity=1.0, element_range=(0, 50), **HISTOGRAM)
    assert ranged.linf_sensitivity == 1.0


@pytest.mark.parametrize(
    ("query", "reach"),
    [
        (counts(3, 4, 5, adjacency="replace", record_bound=3.0), 3 * math.sqrt(2)),
        # The typed l2 sensitivity of a Gram matrix counts where it is smaller only.
        (gram(3, bound=BOUND), math.sqrt(2) * BOUND**2),
        (gram(3, bound=BOUND, adjacency="add-remove"), BOUND**2),
        (gram(3, bound=BOUND, adjacency="local"), 2 * BOUND**2),
        (gram(3, bound=BOUND, l2_sensitivity=1.0), 1.0),
        (gram(1, bound=BOUND), BOUND**2),
    ],
)
def test_the_largest_l2_norm_of_a_change(query, reach):
    assert query.reach == pytest.approx(reach, rel=1e-15)


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.869, 3.6])
def test_laplace_shifts_fill_the_box_and_leave_a_remainder(epsilon):
    query = Query(shape=(5,), l2_sensitivity=2.4, l1_sensitivity=3.934, linf_sensitivity=1.505)
    noise = IndependentLaplace(shape=(5,), scale=1.0)
    assert noise.profile(query).slack is None
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


def test_laplace_with_a_remainder_is_composed():
    profile = IndependentLaplaceProfile(components=1, width=0.2, rest=0.1, scale=1.0)
    twice = profile.compose(2)
    assert twice.attains_largest_loss and twice.largest_loss == pytest.approx(0.6)
    exactly = laplace_delta(0.3, [0.2, 0.2, 0.1, 0.1], nodes=4)
    bounds = twice.delta(0.3)
    assert bounds.lower <= exactly <= bounds.upper


def test_laplace_under_the_l2_ball_is_bounded_and_exact_for_pure_privacy():
    """Tested with TLDP-L on a tensor in [0, 1]^4 whose l2 sensitivity is 1, not 2."""
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
    # A single kept value refutes the claim, whatever the noise.
    assert mechanism.profile().slack and verify(mechanism).verdict == REFUTED
    stated = Query(shape=(4,), l2_sensitivity=1.0, l1_sensitivity=1.9, adjacency="local")
    exact = get_mechanism("laplace").calibrate(stated, Budget(epsilon=0.5), "exact")
    assert exact.noise.scale == pytest.approx(1.9 / 0.5, rel=1e-12)
    assert verify(exact).verdict == HOLDS


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_the_l1_norm_that_records_give_a_gram_matrix(size, adjacency):
    replaced = adjacency == "replace"
    # The largest allowed sensitivities, so that they exclude no pair of records.
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
    # Search more and more densely around the best change found.
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


def moved_counts(adjacency):
    """The changes of 3 x 4 counts by one record that counts twice."""
    cells = 2.0 * np.eye(12).reshape(12, 3, 4)
    if adjacency == "add-remove":
        return cells
    return [a - b for a, b in itertools.permutations(cells, 2)]


def corners_of_one_column():
    """The norm of a change is convex, so that a corner of the box of one record is the worst."""
    for column, corner in itertools.product(range(3), itertools.product((-2, 2), repeat=4)):
        change = np.zeros((4, 3))
        change[:, column] = corner
        yield change


ROTATED = turned(4, 3)


@pytest.mark.parametrize(
    ("noise", "query", "changes"),
    [
        *(
            (turned(3, 4), counts(3, 4, adjacency=each, record_bound=2.0), moved_counts(each))
            for each in ("add-remove", "replace")
        ),
        *(
            (noise, records(4, 3), list(corners_of_one_column()))
            for noise in (
                replace(ROTATED, row_directions=None, column_directions=None),
                replace(ROTATED, column_std=np.ones(3), column_directions=None),
                ROTATED,
            )
        ),
    ],
    ids=["counts", "moved counts", "axes", "turned rows", "turned both"],
)
def test_mu_is_the_largest_over_all_changes(noise, query, changes):
    assert noise.profile(query).slack is None
    largest = max(whitened(noise, change) for change in changes)
    assert noise.profile(query).mu == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_of_rotated_noise_cover_every_change(seed):
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
        assert (noise.profile(query).slack is None) == (below == above)


CUT = (
    # The box and the l2 ball intersect, alone and for a Gram matrix.
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
def test_noise_with_slack_has_bounds_that_differ(key, query):
    """Tested at an epsilon below that of every claim; some deltas underflow."""
    try:
        mechanism = get_mechanism(key).calibrate(query, Budget(epsilon=0.9, delta=1e-3))
        profile = mechanism.profile()
    except Unsupported:
        return
    if profile is None:
        return
    bounds = profile.log_delta(0.2)
    wide = bounds.upper > -math.inf and bounds.lower < bounds.upper - 1e-3
    if mechanism.profile().slack is not None:
        assert wide
    elif not isinstance(profile, IndependentLaplaceProfile):
        assert not wide


# The change of a Gram matrix by one record, against the worst of many pairs of records.


STEEP, MILD = np.array([0.2, 0.5, 1.1]), np.array([0.3, 0.4, 0.9])


def worst_of_pairs(noise, adjacency):
    """The largest ||U1^-1 (x x^T - y y^T) U2^-T||_F over the ball, from many starting points.

    The norm is convex in |x|^2 and in |y|^2, so records at the maximum have norm 0 or B.
    """

    def less(pair, replaced):
        x, y = (BOUND * each / np.linalg.norm(each) for each in (pair[:3], pair[3:]))
        return -whitened(noise, np.outer(x, x) - replaced * np.outer(y, y))

    starts = np.random.default_rng(0).standard_normal((12, 6))
    kinds = (0, 1) if adjacency == "replace" else (0,)
    return -min(
        optimize.minimize(less, start, args=(kind,)).fun for start in starts for kind in kinds
    )


@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
@pytest.mark.parametrize(
    "noise",
    [
        MatrixGaussian(row_std=STEEP, column_std=STEEP),
        MatrixGaussian(
            row_std=STEEP,
            column_std=MILD,
            row_directions=rotation(3, 1),
            column_directions=rotation(3, 1),
        ),
        MatrixGaussian(row_std=STEEP, column_std=np.ones(3), row_directions=rotation(3, 2)),
        MatrixGaussian(row_std=np.ones(3), column_std=MILD),
        MatrixGaussian(row_std=np.full(3, 0.7), column_std=np.full(3, 0.5)),
    ],
)
def test_directional_noise_is_judged_by_records(noise, adjacency):
    query = gram(3, bound=BOUND, adjacency=adjacency)
    assert noise.profile(query).slack is None
    assert noise.profile(query).mu == pytest.approx(worst_of_pairs(noise, adjacency), rel=1e-5)


@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
def test_directions_that_differ_make_it_an_upper_bound(adjacency):
    noise = MatrixGaussian(row_std=STEEP, column_std=MILD[::-1])
    query = gram(3, bound=BOUND, adjacency=adjacency)
    bounds, worst = noise.profile(query), worst_of_pairs(noise, adjacency)
    assert bounds.above.mu > 1.04 * worst > 1.04 * bounds.below.mu
    assert "different directions" in noise.profile(query).slack


def test_a_box_that_cuts_off_the_worst_record_is_slack():
    box = gram(3, bound=BOUND, l2_sensitivity=BOUND**2, linf_sensitivity=0.5 * BOUND**2)
    spherical = Spherical(shape=(3, 3), radial_shape=1.0, power=2.0, scale=1.0)
    matrix = MatrixGaussian(row_std=STEEP, column_std=STEEP)
    symmetric = SymmetricGaussian(shape=(3, 3), sigma=1.0)
    assert "excludes" in matrix.profile(gram(3, bound=BOUND, l2_sensitivity=1.0)).slack
    for noise in (IndependentGaussian(shape=(3, 3), sigma=1.0), spherical, matrix, symmetric):
        assert "excludes the worst pair of records" in noise.profile(box).slack
        assert noise.profile(gram(3, bound=BOUND, linf_sensitivity=BOUND**2)).slack is None


@pytest.mark.parametrize(
    ("stated", "known"),
    [
        ({"l1_sensitivity": 1.0}, True),
        ({"l1_sensitivity": 1.0, "linf_sensitivity": 1.0}, True),
        ({"l1_sensitivity": 2.0, "linf_sensitivity": 0.5}, False),
        ({"l2_sensitivity": 1.4142, "l1_sensitivity": 2.0, "adjacency": "replace"}, False),
        ({"l2_sensitivity": 1.4142, "adjacency": "replace", **HISTOGRAM}, True),
        (HISTOGRAM, True),
        ({}, True),
        ({"l1_sensitivity": math.sqrt(8)}, True),
        ({"l1_sensitivity": 2.0}, False),
        ({"linf_sensitivity": 1.0}, True),
        ({"element_range": (0.0, 0.36)}, False),
    ],
)
def test_strategies_report_slack_where_neighbours_are_not_used_in_full(stated, known):
    query = Query(**{"shape": (8,), "l2_sensitivity": 1.0} | stated)
    strategy = optimal_strategy(Prefix(8).gram())
    assert sensitivity_bounds(query, (strategy,)).exact == known


# Directional noise if one record, which is a column, changes: mu against a search over the box.


def test_the_ball_binds_where_it_is_smaller_than_the_box():
    noise = replace(ROTATED, row_directions=None, column_directions=None)
    query = records(4, 3, l2_sensitivity=2.5, element_range=None, linf_sensitivity=2.0)

    def less(change):
        return -np.sum((change / noise.row_std) ** 2) / noise.column_std.min() ** 2

    best = min(
        optimize.minimize(
            less,
            start,
            bounds=[(-2, 2)] * 4,
            constraints={"type": "ineq", "fun": lambda d: 2.5**2 - d @ d},
        ).fun
        for start in np.random.default_rng(3).uniform(-1, 1, (40, 4))
    )
    assert noise.profile(query).mu == pytest.approx(math.sqrt(-best), rel=1e-5)


def test_a_box_that_cannot_be_used_is_reported_as_slack():
    noise = replace(ROTATED, column_std=np.ones(3), column_directions=None)
    ball = records(4, 3, l2_sensitivity=2.5, element_range=None, linf_sensitivity=2.0)
    wide = replace(ball, linf_sensitivity=2.5)
    assert noise.profile(wide).slack is None
    assert noise.profile(wide).mu == pytest.approx(2.5 / noise.row_std.min())
    small = replace(ball, linf_sensitivity=1.3)
    assert "not along axes" in noise.profile(small).slack
    worst = max(
        whitened(noise, share * change)
        for change in np.random.default_rng(1).uniform(-1.3, 1.3, (4000, 4, 1)) * [1.0, 0, 0]
        for share in [min(1.0, 2.5 / np.linalg.norm(change))]
    )
    bounds = noise.profile(small)
    assert bounds.above.mu <= 2.5 / noise.row_std.min()
    # The search stays below the upper bound and finds a worse change than the known one.
    assert bounds.below.mu <= worst * 1.05 and worst <= bounds.above.mu
    many = MatrixGaussian(
        row_std=np.linspace(1, 2, 17),
        column_std=np.ones(2),
        row_directions=rotation(17, 3),
    )
    assert "not along axes" in many.profile(records(17, 2)).slack


# Strategies spend all of epsilon; linear programmes find the worst change.


def least_l1(inverse, change):
    """min ||m||_1 subject to A^+ m = D: the largest log ratio of the released densities."""
    count = inverse.shape[1]
    found = optimize.linprog(
        np.ones(2 * count), A_eq=np.hstack([inverse, -inverse]), b_eq=change, bounds=(0, None)
    )
    return found.fun


@pytest.mark.parametrize(("shape", "branching", "height"), [((9,), 3, 2), ((8,), 2, 3),
                                                            ((4, 6), 2, 2)])  # fmt: skip
def test_the_cells_of_a_tree_spend_all_of_epsilon(shape, branching, height):
    noise = TreeLaplace(tree=BlockTree(shape=shape, branching=branching, height=height), scale=1.0)
    inverse = np.linalg.pinv(tree_matrix(noise.tree))
    one = np.zeros(math.prod(shape))
    one[1] = 1.0
    move = one.copy()
    move[-1] = -1.0
    for adjacency, change, loss in (
        ("add-remove", one, height), ("replace", move, 2 * height)
    ):  # fmt: skip
        assert least_l1(inverse, change) == pytest.approx(loss, rel=1e-9)
        bounds = noise.profile(counts(*shape, adjacency=adjacency)).epsilon(0.0)
        assert bounds == pytest.approx([loss] * 3, rel=1e-12)


@pytest.mark.parametrize(("height", "delta"), [(2, 0.1238), (3, 0.0691), (5, 0.0344)])
def test_the_noisy_tree_is_several_components(height, delta):
    tree = BlockTree(shape=(2**height,), branching=2, height=height)
    profile = TreeLaplace(tree=tree, scale=float(height)).profile(counts(2**height))
    assert profile.delta(0.5).upper == pytest.approx(delta, abs=6e-5)
    assert profile.delta(0.5).lower == 0


def test_a_p_identity_strategy_spends_all_of_epsilon():
    strategy = search(Prefix(16).gram())
    assert not strategy.is_identity
    inverse = np.linalg.pinv(strategy.matrix())
    losses = [least_l1(inverse, cell) for cell in np.eye(16)]
    assert max(losses) == pytest.approx(1.0, rel=1e-9)
    assert strategy.attained_share == pytest.approx(1.0, rel=1e-9)


def test_a_strategy_under_a_small_box_is_not_refuted():
    query = Query(shape=(8,), l2_sensitivity=1.0, element_range=(0.0, 0.36))
    budget = Budget(epsilon=20.0, delta=1e-5)
    mechanism = get_mechanism("matrix-mechanism").calibrate(query, budget, workload="prefix")
    assert "l2 ball" in mechanism.profile().slack
    assert mechanism.profile().below.mu < mechanism.profile().above.mu
    assert verify(mechanism).true_delta.lower < verify(mechanism).true_delta.value
