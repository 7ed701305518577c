"""Properties that hold for random mechanisms, queries and budgets, far beyond any use."""

import math
from collections import Counter

import numpy as np
import pytest

from mechanisms import Budget, Query, Unsupported, all_mechanisms
from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.composition import ComposedProfile
from mechanisms.privacy.finite_profile import PureProfile

# Their time grows too fast with the number of elements for cells of a million elements.
SLOW = {
    "matrix-mechanism": 64,
    "matrix-mechanism-l1": 64,
    "dawa": 256,
    "hb": 4096,
    "exponential": 4096,
}
LEAST_SLACK = 1e-9


def random_query(rng: np.random.Generator, most: int) -> Query:
    """A query of a random structure, with M log-uniform in [1, most]."""
    size = int(np.exp(rng.uniform(0, np.log(most))))
    side = max(math.isqrt(size), 1)
    l2 = float(10.0 ** rng.uniform(-6, 6))
    l1 = l2 * math.sqrt(size) ** rng.uniform(0, 1)
    vector, matrix = {"shape": (size,), "l2_sensitivity": l2}, {"shape": (side, side)}
    largest = min(side, 300)
    kinds = [
        vector,
        vector | {"l1_sensitivity": l1},
        vector | {"l2_sensitivity": l2 * math.sqrt(size), "linf_sensitivity": l2},
        {"shape": (size,), "structure": "histogram", "record_bound": 1.0},
        {"shape": (largest, largest), "structure": "gram", "record_bound": l2},
        matrix | {"l2_sensitivity": l2, "structure": "records", "record_bound": l2},
        matrix | {"element_range": (0.0, l2), "frobenius_bound": l2 * side, "adjacency": "local"},
    ]
    return Query(**kinds[rng.integers(len(kinds))])


def random_budget(rng: np.random.Generator) -> Budget:
    """A budget with epsilon log-uniform in [1e-15, 1e8] and delta in [1e-300, 0.9]."""
    epsilon = float(10.0 ** (rng.uniform(-15, 8) if rng.random() < 0.6 else rng.uniform(-2, 2)))
    delta = float(
        10.0 ** (rng.uniform(-300, -0.05) if rng.random() < 0.6 else rng.uniform(-30, -2))
    )
    return Budget(epsilon=epsilon, delta=delta)


def at_most(logs, others) -> bool:
    """Whether logs are at most others, up to rounding; -inf is at most -inf."""
    others = np.maximum(others, -1e18)
    return bool((logs <= others + LEAST_SLACK * (1 + np.abs(others))).all())


def check_profile(profile, epsilon: float, delta: float) -> None:
    """Check that bounds are ordered, fall with epsilon and invert each other.

    No pair may be worse than randomised response with the same largest loss.
    """
    at = np.array([0.0, epsilon / 2, epsilon, min(2 * epsilon, 1e15)])
    lower, value, upper = profile.log_delta(at)
    assert not np.isnan([lower, value, upper]).any(), (lower, value, upper)
    assert (lower <= value).all() and (value <= upper).all() and (upper <= 0).all()
    assert at_most(lower[1:], upper[:-1]), "the curve rises"
    if math.isfinite(profile.largest_loss):
        assert at_most(lower, PureProfile(largest=profile.largest_loss).log_delta(at).upper)
    inverse = profile.epsilon(delta)
    assert not np.isnan(inverse).any()
    assert 0 <= inverse.lower <= inverse.value <= inverse.upper
    if 0 < inverse.upper < 1e14 and delta > profile.floor * 10:
        beyond = profile.log_delta(inverse.upper * (1 + 1e-6) + 1e-300)
        assert beyond.lower <= math.log(delta) + 1e-6 * (1 + abs(math.log(delta)))
    if lower[0] > -math.inf and profile.floor < delta:
        assert not (inverse.upper == 0 and lower[0] > math.log(delta) + 1e-6)


def check_composition(profile, epsilon: float, times: int) -> None:
    """Check delta against one release and basic composition, delta_k(k e) <= k delta(e)."""
    composed = profile.compose(times)
    # Sums of losses are rounded, so delta may vanish at this very epsilon.
    at = np.array([epsilon, times * epsilon * (1 + 1e-9)])
    lower, value, upper = composed.log_delta(at)
    assert not np.isnan([lower, value, upper]).any()
    assert (lower <= value).all() and (value <= upper).all()
    one = profile.log_delta(epsilon)
    tolerance = 1e-6 * (1 + abs(one.value)) if one.value > -math.inf else 0.0
    assert lower[1] <= one.upper + math.log(times) + tolerance
    assert upper[0] >= one.lower - tolerance - 1e-3


def check_cell(cls, query: Query, budget: Budget, calibration: str, rng) -> str:
    """Check one cell; raise AssertionError, or any error of the mechanism but Unsupported."""
    try:
        mechanism = cls.calibrate(query, budget, calibration)
    except Unsupported as reason:
        assert str(reason)
        return "unsupported"
    if isinstance(mechanism, AdditiveMechanism) and mechanism.guarantee != "none":
        loss = mechanism.loss()
        assert math.isfinite(loss.mean) and loss.mean > 0
        for each in (loss.raw_kurtosis, loss.raw_skewness, loss.central_kurtosis):
            assert not math.isnan(each)
    profile = mechanism.profile()
    if profile is None:
        return "no profile"
    check_profile(profile, budget.epsilon, budget.delta)
    if rng.random() < 0.5 and not isinstance(profile, ComposedProfile):
        base = profile.above if isinstance(profile, BoundedProfile) else profile
        if not isinstance(base, PureProfile):
            try:
                check_composition(base, budget.epsilon, int(rng.integers(2, 20)))
            except ValueError as reason:
                if "infinite loss" not in str(reason):
                    raise
    return "number"


def cells(seed: int, count: int, most: int = 10**6):
    """(key, cls, query, budget, calibration, rng) of each cell; M is at most `most`."""
    mechanisms = sorted(all_mechanisms().items())
    for index in range(count):
        rng = np.random.default_rng([seed, index])
        key, cls = mechanisms[index % len(mechanisms)]
        yield (
            key, cls, random_query(rng, min(SLOW.get(key, most), most)), random_budget(rng),
            str(rng.choice(("published", "exact"))), rng,
        )  # fmt: skip


# Their searches take seconds; only the big run includes them.
SEARCHES = ("spherical-gamma", "product-noise", "l2")


@pytest.mark.slow
def test_cells_far_beyond_any_use():
    found = Counter()
    for key, cls, query, budget, calibration, rng in cells(3, 400, most=3000):
        if key in SEARCHES:
            continue
        try:
            found[check_cell(cls, query, budget, calibration, rng)] += 1
        except Exception as error:
            raise AssertionError(f"{key}, {calibration}, {query}, {budget}") from error
    assert found["number"] >= 25 and found["unsupported"] >= 25, found
