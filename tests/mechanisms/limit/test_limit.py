"""The limit agrees with closed forms and is never above the error of a private mechanism."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
import scipy
from limit_table import TABLE, markdown, row
from scipy import sparse

from mechanisms import Budget, Query, Unsupported, get_mechanism
from mechanisms.comparison.best_known import exact_errors
from mechanisms.limit.lattice import lattice_test
from mechanisms.limit.limit import limit
from mechanisms.limit.pure import pure_limit

CHEAP = ("gaussian-analytic", "laplace", "l2", "llagp", "imgm", "gaussian", "r1smg")


def test_pure_privacy_on_the_line_is_the_staircase():
    """Geng and Viswanath give 1.9181 at epsilon 1; a lattice of several distances comes near it."""
    found = limit(Query(shape=(1,), l2_sensitivity=3.0), Budget(epsilon=1.0))
    assert found.lower == pytest.approx(9 * 1.918104, rel=1e-6)
    for epsilon in (0.5, 1.0, 2.0):
        exact = pure_limit(1, epsilon)
        assert staircase_error(1, epsilon, 1 / 3) == pytest.approx(exact, rel=1e-9)
        lattice = lattice_test(epsilon, 0.0, False).lower(0.0)
        assert lattice <= exact
        assert lattice == pytest.approx(exact, rel=6e-3)


@pytest.mark.parametrize(
    ("size", "epsilon", "ratio"),
    [(2, 1.0, 1.007), (8, 1.0, 1.000), (2, 4.0, 1.376), (8, 4.0, 1.009), (8, 10.0, 1.534)],
)
def test_pure_privacy_in_a_ball_is_that_of_staircase_noise(size, epsilon, ratio):
    """The l2 mechanism has `ratio` times the least squared error, which the staircase attains."""
    query, budget = Query(shape=(size,), l2_sensitivity=2.0), Budget(epsilon=epsilon)
    found = limit(query, budget).lower
    assert error("l2", query, budget) ** 2 * size / found == pytest.approx(ratio, abs=6e-4)
    attained = 4 * staircase_error(size, epsilon, size / (size + 2))
    assert found <= attained <= found * (1 + 5e-5)


def test_pure_privacy_of_l1_and_linf_is_bounded_by_volume():
    """At large epsilon, where single directions tell little, it is never above the staircase."""
    for epsilon in (0.5, 3.0):
        for size in (4, 30):
            # E||u||^2 for a uniform point in the ball of each norm.
            for given, square, near in (
                ({"l2_sensitivity": math.sqrt(size), "linf_sensitivity": 1.0}, size / 3, 0.65),
                (
                    {"l1_sensitivity": 1.0, "l2_sensitivity": 1.0},
                    2 * size / ((size + 1) * (size + 2)),
                    0.7,
                ),
            ):
                query = Query(shape=(size,), **given)
                found = limit(query, Budget(epsilon=epsilon))
                ratio = math.sqrt(found.lower / staircase_error(size, epsilon, square))
                assert near < ratio <= 1, (size, epsilon, given, ratio)


def staircase_error(size: int, epsilon: float, square: float) -> float:
    """The least E||n||^2 of noise (k + theta) u with u uniform in the unit ball of a norm.

    P(k) is proportional to e^(-epsilon k) (k + theta)^size, so the density falls by the factor
    e^-epsilon at every radius k + theta and the noise is private. `square` is E||u||^2.
    """

    def cost(log_theta: float) -> float:
        radii = np.arange(2000) + math.exp(log_theta)
        logs = size * np.log(radii) - epsilon * np.arange(2000)
        weights = np.exp(logs - logs.max())
        return square * float(weights @ radii**2 / weights.sum())

    grid = np.linspace(-epsilon / (size + 2) - 5, 0, 300)
    near = int(np.argmin([cost(each) for each in grid]))
    bounds = grid[max(near - 1, 0)], grid[min(near + 1, 299)]
    found = scipy.optimize.minimize_scalar(
        cost, bounds=bounds, method="bounded", options={"xatol": 1e-10}
    )
    return found.fun


def test_changes_by_whole_steps_have_the_error_of_geometric_noise():
    """It is 2b / (1 - b)^2 for each cell of a histogram at delta 0; real changes cost more."""
    query = Query(shape=(50,), l2_sensitivity=1.0, structure="histogram", record_bound=1.0)
    b = math.exp(-1)
    least = 50 * 2 * b / (1 - b) ** 2
    found = limit(query, Budget(epsilon=1.0)).lower
    assert 0.995 * least <= found <= least


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "epsilon", "delta", "known"),
    [(10, 1.0, 1e-5, 2.88486), (30, 1.0, 1e-5, 3.40458), (1000, 1.0, 1e-5, 3.71899)],
)
def test_known_values_are_reached(size, epsilon, delta, known):
    """The values come from an independent implementation; they agree within 0.1%."""
    found = limit(Query(shape=(size,), l2_sensitivity=1.0), Budget(epsilon=epsilon, delta=delta))
    assert found.rmse >= known * (1 - 1e-3)


def test_fast_reaches_the_values_of_balls():
    for size, known in ((100, 3.1039), (7921, 3.7226), (48_000, 3.7293)):
        query = Query(shape=(size,), l2_sensitivity=1.0)
        found = limit(query, Budget(epsilon=1.0, delta=1e-5), fast=True)
        assert found.rmse == pytest.approx(known, rel=1e-3)


def settings(seed: int, count: int):
    """Random queries and budgets for which a limit is known."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(10 ** rng.uniform(0, 5)) if rng.random() < 0.8 else 1
        s = float(10 ** rng.uniform(-3, 3))
        kind = rng.choice(["l2", "l1", "linf", "histogram"])
        given = {"shape": (size,), "l2_sensitivity": s}
        if kind == "l1":
            given["l1_sensitivity"] = s * size ** rng.uniform(0, 0.5)
        elif kind == "linf":
            given["linf_sensitivity"] = s * size ** rng.uniform(-0.5, 0)
        elif kind == "histogram":
            given |= {"structure": "histogram", "record_bound": s}
        yield Query(**given), float(10 ** rng.uniform(-1.5, 0.9)), float(10 ** rng.uniform(-10, -2))


@pytest.mark.slow
def test_no_exactly_calibrated_mechanism_is_below_the_limit():
    """One test bounds the error at every delta, so it is held against several deltas each."""
    checked, rng = 0, np.random.default_rng(5)
    for query, epsilon, near in settings(4, 24):
        found = limit(query, Budget(epsilon=epsilon, delta=near), fast=True)
        if found.lower is None:
            continue
        # The factor on the test of sensitivity 1; its bound falls linearly in delta.
        factor = found.lower / found.test.lower(near)
        level, price = found.test.lower(0.0), found.test.lower(0.0) - found.test.lower(near)
        for key in CHEAP:
            for delta in near * 10 ** rng.uniform(-1, 1, 4):
                rmse = error(key, query, Budget(epsilon=epsilon, delta=float(delta)))
                if rmse is None:
                    break
                least = factor * (level - price * delta / near)
                assert rmse**2 * query.size >= least * (1 - 1e-9), (key, query, epsilon, delta)
                checked += 1
    assert checked >= 300


def error(key: str, query: Query, budget: Budget) -> float | None:
    """The RMSE of a mechanism at the exact calibration, or None if it is unsupported."""
    try:
        mechanism = get_mechanism(key).calibrate(query, budget, "exact")
    except Unsupported:
        return None
    return math.sqrt(mechanism.expected_loss() / query.size)


@pytest.mark.slow
def test_the_search_is_not_above_the_best_mechanism():
    for query, epsilon, delta in settings(7, 4):
        budget = Budget(epsilon=epsilon, delta=delta)
        found, best = limit(query, budget), min(exact_errors(query, budget).values())
        assert found.lower is not None
        assert found.rmse <= best * (1 + 1e-9), (query, budget)


def test_a_mechanism_of_too_little_noise_is_caught():
    """The test above can fail: at M = 1000, 99.9% of the best error is below the limit."""
    query, budget = Query(shape=(1000,), l2_sensitivity=1.0), Budget(epsilon=1.0, delta=1e-5)
    assert limit(query, budget).rmse > 0.9995 * min(exact_errors(query, budget).values())


@pytest.mark.parametrize(
    ("given", "epsilon", "words"),
    [
        ({"element_range": (0.0, 1.0)}, 1.0, "unrestricted range"),
        ({"frobenius_bound": 4.0}, 1.0, "unrestricted range"),
        ({"adjacency": "local"}, 1.0, "local"),
        ({"structure": "records", "record_bound": 1.0}, 1.0, "records"),
        ({"structure": "gram", "record_bound": 1.0}, 1.0, "gram"),
        # The search does not reach so far.
        ({}, 1e3, "epsilon from"),
    ],
)
def test_missing_bounds_give_the_reason(given, epsilon, words):
    query = Query(shape=(2, 2), l2_sensitivity=1.0, **given)
    found = limit(query, Budget(epsilon=epsilon, delta=1e-5))
    assert found.lower is None and found.rmse is None
    assert found.how.startswith("no bound known: ") and words in found.how


@pytest.mark.parametrize(
    ("size", "delta", "fast"),
    [(3, 0.9, True), (2, 0.97, True), (10, 1 - 1e-9, True), (3, 0.9, False), (2, 0.97, False)],
)
def test_at_a_large_delta_the_bound_stays_below_the_best_mechanism(size, delta, fast):
    query, budget = Query(shape=(size,), l2_sensitivity=1.0), Budget(epsilon=1.0, delta=delta)
    found = limit(query, budget, fast=fast).lower
    assert found is None or found <= error("gaussian-analytic", query, budget) ** 2 * size


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="Query and a Budget"):
        limit((3,), Budget(epsilon=1.0))


def test_the_table_can_be_redone():
    """A few rows are recomputed; the search has no randomness."""
    with TABLE.open() as file:
        rows = list(csv.DictReader(file))
    for stored in (rows[0], rows[-1]):
        again = row(int(stored["elements"]), float(stored["epsilon"]), float(stored["delta"]))
        assert again["best"] == stored["best"]
        for name in ("limit_rmse", "best_rmse"):
            assert again[name] == pytest.approx(float(stored[name]), rel=1e-4)
    page = Path(__file__).parents[3] / "docs/the_limit.md"
    assert "\n".join(markdown()) in page.read_text()


def test_at_small_epsilon_the_bound_of_one_number_is_nearly_attained():
    """Lattice noise of this value, spread evenly over its cells, is private for all changes."""
    epsilon, delta = 0.1, 1e-5
    test = lattice_test(epsilon, delta, False)
    steps, growth = test.steps, math.exp(epsilon)
    assert list(test.shifts) == list(range(1, steps + 1))
    noise, density = _best_lattice_noise(epsilon, delta, steps, reach=400)
    error = noise + 1 / (12 * steps**2)
    assert 0.9997 * error < test.lower(delta) < error
    for change in np.linspace(0, 1, 21) * steps:
        # A change of j + t cells mixes two changes of whole cells with weights 1 - t and t.
        whole, rest = int(change), change % 1
        seen = [
            np.maximum(density - growth * np.append(density, np.zeros(j))[j:], 0.0).sum()
            for j in (whole, whole + 1)
        ]
        assert (1 - rest) * seen[0] + rest * seen[1] <= delta * (1 + 1e-4)


def _best_lattice_noise(epsilon, delta, steps, reach):
    """The least second moment of symmetric noise on multiples of 1 / steps, and its law."""
    places = np.arange(-reach, reach + 1)
    # Maps the probabilities of 0, 1, ... to those of all places.
    half = reach + 1
    mirror = sparse.csr_array(
        (np.ones(len(places)), (np.arange(len(places)), np.abs(places))), shape=(len(places), half)
    )
    excess = [
        mirror - math.exp(epsilon) * sparse.eye(len(places), k=j) @ mirror
        for j in range(1, steps + 1)
    ]
    count = steps * len(places)
    # In units of delta, so that the solver's tolerance is far below delta.
    rows = sparse.hstack([sparse.vstack(excess) / delta, -sparse.eye(count)])
    sums = sparse.kron(sparse.eye(steps), np.ones((1, len(places))))
    found = scipy.optimize.linprog(
        np.concatenate([(places / steps) ** 2 @ mirror, np.zeros(count)]),
        A_ub=sparse.vstack([rows, sparse.hstack([sparse.csr_array((steps, half)), sums])]).tocsr(),
        b_ub=np.concatenate([np.zeros(count), np.ones(steps)]),
        A_eq=np.concatenate([mirror.sum(axis=0), np.zeros(count)])[None, :],
        b_eq=[1.0],
        method="highs",
    )
    density = mirror @ np.maximum(found.x[:half], 0.0)
    return found.fun, density / density.sum()
