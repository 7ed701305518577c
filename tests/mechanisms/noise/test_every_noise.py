"""Contract tests of all noise: moments, tails, precision, memory, linear queries, exact scale.

Every mechanism that adds noise is tested on every structure that it supports."""

import math

import numpy as np
import pytest
import scipy
from queries import box, counts, gram, records, rotation

from mechanisms import AdditiveMechanism, Budget, Query, Unsupported, all_mechanisms, get_mechanism
from mechanisms.strategies.workload import AllRange, Kronecker, Prefix
from mechanisms.verification.verification import HOLDS, verify
from tests.peak_memory import peak_of

BUDGET = Budget(epsilon=0.7, delta=1e-5)


TRIALS = 20_000


QUERIES = {
    "box": box(3, 4),
    # TLDP keeps a fifth of the values with two elements, and hardly any with twelve.
    "pair": box(1, 2),
    "histogram": counts(3, 4, adjacency="add-remove"),
    "moves": counts(3, 4, adjacency="replace"),
    "records": records(3, 4),
    "gram": gram(3),
    "added gram": gram(3, adjacency="add-remove"),
}


WEIGHTS = np.linspace(0, 1, 12).reshape(3, 4)


ROTATION = rotation(3, 1)


# Options that change which values are kept, strategies, directions or layers.
OPTIONS = [
    ("tldp-l-w", "pair", {"weights": [[0.0, 0.8]]}),
    ("tldp-g-w", "pair", {"weights": [[0.0, 0.8]]}),
    ("matrix-mechanism", "moves", {"workload": "all-range"}),
    ("matrix-mechanism", "histogram", {"workload": ["identity", "prefix"]}),
    ("matrix-mechanism-l1", "histogram", {"workload": Prefix(12).matrix()}),
    ("matrix-mechanism-l1", "moves", {"workload": ["prefix", "identity"]}),
    ("mvg", "box", {"precision": [0.6, 0.3, 0.1], "directions": ROTATION}),
    ("udn", "box", {"workload": ROTATION}),
    ("dphsgd", "box", {"thresholds": 0.1 * WEIGHTS}),
    ("imgm", "box", {"compositions": 3}),
]


def calibrated(key, name, options, calibration="published"):
    return get_mechanism(key).calibrate(QUERIES[name], BUDGET, calibration, **options)


def cases():
    """A case for all supported queries and options, as published."""
    additive = [
        key
        for key, cls in all_mechanisms().items()
        if issubclass(cls, AdditiveMechanism) and cls.guarantee != "none"
    ]
    for key, name, options in [
        *((key, name, {}) for key in additive for name in QUERIES),
        *OPTIONS,
    ]:
        try:
            calibrated(key, name, options)
        except Unsupported:
            continue
        what = "-".join([key, name.replace(" ", "-"), *options])
        yield pytest.param(key, name, options, id=what)


CASES = list(cases())
every_noise = pytest.mark.parametrize(("key", "name", "options"), CASES)


@every_noise
def test_draws_have_the_moments_the_tails_and_the_answers_that_are_stated(key, name, options):
    mechanism = calibrated(key, name, options)
    noise = mechanism.noise
    assert mechanism.expected_loss() == pytest.approx(noise.loss().mean, rel=1e-12)
    draws = noise.sample(np.random.default_rng(3), TRIALS).reshape(TRIALS, -1)
    losses = np.vecdot(draws, draws)
    for power, exact in enumerate(noise.loss().raw()[:2], 1):
        error = np.std(losses**power) / math.sqrt(TRIALS)
        assert abs(np.mean(losses**power) - exact) < 4.5 * error
    for threshold in noise.loss().mean * np.array([0.5, 1.0, 2.0]):
        exact = noise.squared_norm_survival(threshold)
        if exact is not None:
            seen = (losses > threshold).mean()
            assert abs(seen - exact) < 4.5 * math.sqrt(exact * (1 - exact) / TRIALS) + 3 / TRIALS
    if noise.symmetric:
        assert np.all(np.abs(draws.mean(axis=0)) < 4.5 * draws.std(axis=0) / math.sqrt(TRIALS))
    first = draws[draws[:, 0] != 0, 0]  # TLDP keeps the others
    assert len(np.unique(first)) == len(first) > 0.7 * TRIALS
    factors = tuple(kind(size) for kind, size in zip((Prefix, AllRange), noise.shape, strict=True))
    stated = noise.workload_variance(factors)
    if stated is not None:
        squares = np.sum((draws @ Kronecker(factors).matrix().T) ** 2, axis=1)
        assert abs(squares.mean() - stated) < 4.5 * squares.std() / math.sqrt(TRIALS)


@every_noise
def test_the_exact_calibration_meets_the_budget(key, name, options):
    published = calibrated(key, name, options)
    profile = published.profile()
    # Even infinite noise leaves the values that TLDP keeps.
    kept = profile is not None and getattr(profile, "atom_mass", 0.0) > BUDGET.delta
    if profile is None or profile.slack or kept:
        with pytest.raises(Unsupported, match=r"no exact calibration|no exact profile"):
            calibrated(key, name, options, "exact")
        return
    mechanism = calibrated(key, name, options, "exact")
    found = verify(mechanism)
    assert found.verdict == HOLDS
    true = mechanism.profile().delta(BUDGET.epsilon)
    if mechanism.budget.delta == BUDGET.delta:
        reached = getattr(true, mechanism.profile().calibrated_curve)
        assert reached == pytest.approx(BUDGET.delta, rel=1e-8)
    again = published.noise.scaled(2.0)
    assert again.loss().mean == pytest.approx(4 * published.expected_loss(), rel=1e-12)


def test_noise_is_drawn_as_float32_or_float64():
    with pytest.raises(TypeError, match="float32 or float64"):
        calibrated("gaussian", "box", {}).sample(0, 1, np.float16)


# Their search for a strategy takes time that grows with the cells, but no memory.
SEARCHES = {"matrix-mechanism-cvxpy"}


@pytest.mark.parametrize("key", sorted({each.values[0] for each in CASES} - SEARCHES))
def test_sampling_needs_no_more_than_a_few_copies_of_the_answer(key):
    """An mn x mn matrix at this shape would be 3.2 GB; the answer is 160 kB."""
    for query in (box(100, 200), gram(200), counts(100, 200, adjacency="replace")):
        try:
            mechanism = get_mechanism(key).calibrate(query, BUDGET)
        except Unsupported:
            continue
        _, peak = peak_of(mechanism.sample, np.random.default_rng(0), 1)
        assert peak < 6 * 8 * query.size


def made(key, query, **options):
    return get_mechanism(key).calibrate(query, BUDGET, **options)


def test_directional_noise_has_the_stated_covariance():
    query = box(4, 3)
    rows = rotation(4, 1)
    theta = np.array([0.6, 0.2, 0.1, 0.1])
    mechanism = made("mvg", query, directions=rows, precision=theta)
    draws = mechanism.sample(np.random.default_rng(5), 200_000)
    along = np.einsum("im,tij->tmj", rows, draws)
    assert np.var(along, axis=0) == pytest.approx(
        np.repeat(mechanism.noise.row_std[:, None] ** 2, 3, axis=1), rel=0.03
    )
    correlation = np.corrcoef(along.reshape(len(along), -1), rowvar=False)
    assert np.abs(correlation - np.eye(12)).max() < 0.012


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("udn", {}),
        ("idn", {}),
        ("mgm", {}),
        ("mgm", {"column_workload": np.random.default_rng(4).standard_normal((6, 3))}),
    ],
)
def test_optimal_variances_have_the_value_of_the_paper(key, options):
    """mgm2021 eq. (25) has the value of eq. (26), the least, for either factor of the noise."""
    rows = np.random.default_rng(3).standard_normal((8, 5))
    noise = made(key, box(5, 3), workload=rows, **options).noise
    columns = options.get("column_workload", np.eye(3))
    for workload, std in ((rows, noise.row_std), (columns, noise.column_std)):
        squares = np.sum(workload**2, axis=0)
        least = np.sum(np.sqrt(squares)) ** 2 / np.sum(std**-2)
        assert np.sum(squares * std**2) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize(
    ("known", "law"),
    [({"element_range": (-1.0, 3.0)}, scipy.stats.uniform(-1, 4)), ({}, scipy.stats.norm(0, 2))],
)
def test_a_random_answer_has_its_law_whatever_the_data(known, law):
    mechanism = made("random-answer", Query(shape=(4000,), l2_sensitivity=2.0, **known))
    answer = mechanism.release(np.full(4000, 2.5), np.random.default_rng(3))
    assert scipy.stats.kstest(answer, law.cdf).pvalue > 1e-3


def test_non_private_returns_the_value():
    value = np.arange(9.0).reshape(3, 3) / 30
    released = made("non-private", box(3, 3)).release(value, np.random.default_rng(0))
    assert np.array_equal(released, value)
