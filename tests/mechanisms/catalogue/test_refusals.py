"""Queries, budgets and options that a mechanism cannot serve are refused with the reason."""

import math

import numpy as np
import pytest
from queries import box, counts, gram

from mechanisms import (
    Budget,
    OutOfRangeWarning,
    Query,
    Unsupported,
    all_mechanisms,
    get_mechanism,
)
from mechanisms.query.box_query import box_query
from mechanisms.strategies.workload import Prefix

BUDGET, PURE = Budget(epsilon=0.5, delta=1e-6), Budget(epsilon=1.0)
MATRIX, TENSOR = (Query(shape=shape, l2_sensitivity=1.0) for shape in ((3, 3), (3, 3, 3)))
VECTOR, LOCAL = (Query(shape=(3,), l2_sensitivity=1.0, adjacency=a) for a in ("replace", "local"))
RANGED = Query(shape=(2,), l2_sensitivity=1.0, element_range=(0.0, 1.0))
RECORDS = Query(shape=(3, 7), l2_sensitivity=1.0, structure="records", record_bound=1.0)
# Whether a change of a clipped answer attains its norm depends on the thresholds.
BALL = Query(shape=(10,), element_range=(0, 1), l1_sensitivity=1.5)
COLUMNS = Query(
    shape=(2, 3), l2_sensitivity=1.0, element_range=(0, 1), structure="records", record_bound=1.0
)
CUBE = Query(shape=(4, 4, 4), l2_sensitivity=1.0, l1_sensitivity=1.0)
ROW, BOX = box_query((1, 6), -1, 1), box_query((2, 3), -1, 1)
UNIT = box_query((4,), 0, 1)
SEVEN, TEN, MANY = (Query(shape=(size,), l2_sensitivity=1.0) for size in (7, 10, 10**6))
EXACT = {"calibration": "exact"}

UNSUPPORTED = [
    ("r1smg", Query(shape=(2,), l2_sensitivity=1.0), BUDGET, {}, "at least 3 elements"),
    ("mvg", MATRIX, BUDGET, {}, "frobenius_bound"),
    ("mvg", Query(shape=(9,), l2_sensitivity=1.0, frobenius_bound=1.0), BUDGET, {}, "matrix"),
    ("mvg", box(3, 4), BUDGET, {"mode": "equimodal"}, "square"),
    ("idn", MATRIX, BUDGET, {}, "element_range"),
    ("udn", TENSOR, BUDGET, {}, "matrix"),
    ("laplace", MATRIX, BUDGET, {}, "l1_sensitivity"),
    ("exponential", VECTOR, PURE, {}, r"element_range.*half the budget"),
    ("exponential", RANGED, PURE, EXACT, r"no exact calibration.*normaliser"),
    ("privunit-g", VECTOR, PURE, {}, "local randomiser"),
    ("privunit-g", LOCAL, PURE, {}, "lie in a ball"),
    ("tldp-l", VECTOR, PURE, {}, "element_range or linf_sensitivity"),
    ("tldp-g-w", UNIT, PURE, EXACT | {"weights": [1.0] * 4}, "no pure guarantee"),
    ("jl", MATRIX, BUDGET, {}, "needs structure"),
    ("jl", gram(3, adjacency="local"), BUDGET, {}, "add-remove or replace"),
    ("jl", gram(3), PURE, {}, "delta > 0"),
    *(
        (key, query, BUDGET, {}, words)
        for key in ("mod-sulq", "analyze-gauss", "wishart", "ppca")
        for query, words in (
            (MATRIX, "structure 'gram'"),
            (RECORDS, "structure 'gram'"),
            (gram(3, adjacency="local"), "add-remove or replace"),
        )
    ),
    ("mod-sulq", gram(1), Budget(epsilon=1.0, delta=0.4), {}, r"delta below 0\.399 at d = 1"),
    ("ppca", gram(4), BUDGET, EXACT, "no exact calibration"),
    *(
        (key, query, PURE, {}, words)
        for key in ("hb", "dawa", "dawa-published")
        for query, words in ((MATRIX, "l1_sensitivity"), (CUBE, "one or two axes"))
    ),
    ("dawa", counts(4), PURE, EXACT, "no exact calibration"),
    ("dawa-published", counts(4), PURE, EXACT, "no exact calibration"),
    ("matrix-mechanism-l1", VECTOR, PURE, {"workload": "prefix"}, "l1_sensitivity"),
    ("product-noise", VECTOR, BUDGET, {}, "at least 4 elements"),
    ("product-noise", SEVEN, BUDGET, {"k": 1000}, "give one of the two"),
    (
        "product-noise",
        MANY,
        Budget(epsilon=1e4),
        {"k": 1},
        "do not converge for 1000000 elements at epsilon 10000",
    ),
    (
        "product-noise",
        Query(shape=(16,), l2_sensitivity=1.0),
        PURE,
        {"k": 1e-310},
        r"states ln\(delta\) = 713.* delta is not in \(0, 1\)",
    ),
    *(
        (key, SEVEN, Budget(epsilon=epsilon, delta=delta), EXACT, "moments of its squared norm")
        for key in ("r1smg", "product-noise")
        for epsilon, delta in ((1.0, 1e-80), (1e-6, 1e-100))
    ),
    *(
        (
            "spherical-gamma",
            Query(shape=(2,), l2_sensitivity=0.0025),
            Budget(epsilon=0.0326, delta=1e-300),
            {"calibration": calibration},
            "no multiple of this noise",
        )
        for calibration in ("published", "exact")
    ),
    ("spherical-gamma", TEN, Budget(epsilon=1.0, delta=1 - 1e-9), {}, "for a delta as large as"),
    ("dphsgd", BALL, BUDGET, {"thresholds": [0.8] * 10}, "may all change at once"),
    ("dphsgd", COLUMNS, BUDGET, {"thresholds": [[0.5] * 3] * 2}, "all change at once"),
    ("dphsgd", Query(shape=(2, 3), l2_sensitivity=1.0), BUDGET, {}, "needs element_range"),
    # Both numbers of the whole budget are in range.
    *(
        (
            "gaussian-per-element",
            Query(shape=(5, 5), l2_sensitivity=1.0),
            budget,
            {},
            r"in a part (epsilon|delta) must",
        )
        for budget in (Budget(epsilon=1e-14, delta=1e-5), Budget(epsilon=1.0, delta=2e-307))
    ),
]


@pytest.mark.parametrize(("key", "query", "budget", "options", "reason"), UNSUPPORTED)
def test_what_is_not_supported_gives_the_reason(key, query, budget, options, reason):
    with pytest.raises(Unsupported, match=reason):
        get_mechanism(key).calibrate(query, budget, **options)


@pytest.mark.parametrize(
    "key", [k for k, cls in all_mechanisms().items() if cls.guarantee == "approximate"]
)
def test_delta_zero_is_unsupported_by_approximate_mechanisms(key):
    with pytest.raises(Unsupported, match="delta"):
        get_mechanism(key).calibrate(box(3, 3), Budget(epsilon=1e-3))


SQUARE = box(3, 3)
BAD = [
    ("gaussian", SQUARE, {"calibration": "fair"}, "published"),
    ("gaussian", SQUARE, {"sigma": 1}, "no options"),
    ("mvg", SQUARE, {"zetta": "sqrt"}, "did you mean 'zeta'"),
    ("mvg", SQUARE, {"zeta": "root"}, "published or sqrt, got 'root'"),
    ("mvg", SQUARE, {"zeta": np.array(["published", "sqrt"])}, "published or sqrt, got array"),
    ("mvg", SQUARE, {"precision": [0.9, 0.9, 0.9]}, "sum at most 1"),
    ("mvg", SQUARE, {"precision": [0.5, 0.5]}, "must have 3 weights"),
    ("mvg", SQUARE, {"precision": [1.0, 0.0, 0.0]}, "positive weights"),
    ("mvg", SQUARE, {"directions": [[1, 2], [3, 4]]}, r"shape \(3, 3\)"),
    ("mvg", SQUARE, {"directions": np.ones((3, 3))}, "orthonormal"),
    ("mvg", SQUARE, {"directions": "identity"}, "finite real matrix"),
    ("udn", SQUARE, {"workload": np.eye(2)}, "3 columns"),
    ("udn", SQUARE, {"workload": [[1, 0, 0]]}, "must not ignore direction 1"),
    ("imgm", SQUARE, {"compositions": 0}, ">= 1, got 0"),
    ("imgm", SQUARE, {"compositions": 2.0}, ">= 1, got 2.0"),
    ("moments-accountant", SQUARE, {"rate": 0.0}, "option rate must be"),
    ("moments-accountant", SQUARE, {"rate": 1.5}, "option rate must be"),
    ("moments-accountant", SQUARE, {"steps": 0}, "option steps must be"),
    ("tldp-g-w", UNIT, {"weights": [[0.5, 0.5]]}, r"shape \(4,\), got \(1, 2\)"),
    ("tldp-g-w", UNIT, {"weights": [0.5, 0.5]}, r"shape \(4,\), got \(2,\)"),
    ("tldp-g-w", UNIT, {"weights": [1.5, 0.0, 0.0, 0.0]}, r"numbers in \[0, 1\]"),
    ("tldp-g-w", UNIT, {"weights": [-0.1, 0.0, 0.0, 0.0]}, r"numbers in \[0, 1\]"),
    ("tldp-g-w", UNIT, {"weights": 0.5}, r"numbers in \[0, 1\]"),
    *(
        ("jl", gram(3), {"rows": rows}, "option rows must be an integer >= 1")
        for rows in (0, -3, 2.5, True, "many")
    ),
    ("jl", RECORDS, {"rows": 5}, "must be 7 or null for records, got 5"),
    ("ppca", gram(3), {"components": 4}, "at most d = 3, got 4"),
    *(
        (key, counts(4), {"ratio": ratio}, "0 < ratio < 1")
        for key in ("dawa", "dawa-published")
        for ratio in (0, 1, -0.1, math.nan, "half", True)
    ),
    *(
        ("product-noise", SEVEN, {"k": k}, "option k must be a number > 0")
        for k in (0, -1.0, "many", True)
    ),
    ("llagp", ROW, {"layers": [3, 4]}, "layers must add up"),
    ("llagp", ROW, {"layers": [6, 1]}, "layers must add up"),
    ("dphsgd", BOX, {"thresholds": [[1.0, 0.5]]}, "thresholds must"),
    ("dphsgd", BOX, {"thresholds": [[0.0] * 3] * 2}, "thresholds must"),
    ("dphsgd", BOX, {"thresholds": [[2.0] * 3] * 2}, "thresholds must"),
    *(
        ("matrix-mechanism", counts(2, 3), options, words)
        for options, words in (
            ({"workload": "prefixes"}, "one of identity, total"),
            ({"workload": 3}, "option workload must be"),
            ({"workload": ["prefix"]}, r"one workload per axis of \(2, 3\)"),
            ({"workload": ["prefix", "x"]}, "option workload must be"),
            ({"workload": np.eye(5)}, "6 cells.* got 5"),
            ({"workload": Prefix(7)}, "6 cells.* got 7"),
            ({"workload": [[]]}, "non-empty"),
            ({"workload": [[1, 2, 3, 4, 5, math.nan]]}, "finite"),
            ({"workload": "width"}, "option workload must be"),
            ({"strategy": "prefix"}, "no option 'strategy'"),
        )
    ),
]


@pytest.mark.parametrize(("key", "query", "options", "words"), BAD)
def test_bad_options_are_named(key, query, options, words):
    with pytest.raises(ValueError, match=words):
        get_mechanism(key).calibrate(query, BUDGET, **options)


@pytest.mark.parametrize(
    ("key", "query", "epsilon", "words"),
    [
        ("gaussian", SQUARE, 1.0, "epsilon < 1 only"),
        ("r1smg", SQUARE, 1 / 9, "epsilon < 1/M"),
        ("analyze-gauss", gram(4), 1.0, "epsilon < 1 only"),
        ("matrix-mechanism", counts(4), 1.0, "epsilon < 1 only"),
    ],
)
def test_use_outside_the_theorem_warns_once_and_works(key, query, epsilon, words, recwarn):
    mechanism = get_mechanism(key).calibrate_only(query, Budget(epsilon=epsilon, delta=1e-6))
    assert [each.category for each in recwarn] == [OutOfRangeWarning]
    assert words in str(recwarn[0].message)
    assert mechanism.expected_loss() > 0
    recwarn.clear()
    get_mechanism(key).calibrate_only(query, Budget(epsilon=0.99 * epsilon, delta=1e-6))
    assert not recwarn
