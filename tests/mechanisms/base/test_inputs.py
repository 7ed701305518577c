"""Bad input raises an error that names the value and what is allowed; numbers are read exactly."""

import argparse
import dataclasses
import math
from decimal import Decimal

import numpy as np
import pytest

from mechanisms import (
    Budget,
    Query,
    UnknownMechanism,
    get_mechanism,
)
from mechanisms.base.guard import ReleaseError, checked_value
from mechanisms.cli.query_arguments import name_and_value
from mechanisms.query.written_numbers import number_in, whole_number_in

BUDGET = Budget(epsilon=0.5, delta=1e-6)
PAIR = get_mechanism("gaussian-analytic").calibrate(Query(shape=(2,), l2_sensitivity=1.0), BUDGET)


@pytest.mark.parametrize(
    ("stated", "error", "words"),
    [
        *(
            ({"epsilon": epsilon}, ValueError, "epsilon must be a number from 1e-15 to 1e15, got")
            for epsilon in (
                0,
                -1,
                math.nan,
                math.inf,
                -math.inf,
                1e-320,
                1e300,
                10**400,
                -(10**400),
            )
        ),
        *(
            ({"epsilon": epsilon}, TypeError, "epsilon must be a real number")
            for epsilon in ("1", None, True, 1j)
        ),
        *(({"delta": delta}, ValueError, "0 <= delta < 1") for delta in (-1e-9, 1, 1.5, math.nan)),
        ({"delta": 1e-310}, ValueError, "delta must be 0 or at least 1e-307, got 1e-310"),
    ],
)
def test_bad_budgets(stated, error, words):
    with pytest.raises(error, match=words):
        Budget(**{"epsilon": 1} | stated)


def test_the_least_deltas():
    assert Budget(epsilon=1, delta=1e-307).delta == 1e-307
    assert str(Budget(epsilon=1.0, delta=-0.0).delta) == "0.0"


HISTOGRAM = {"shape": (3,), "structure": "histogram", "record_bound": 1.0}
LARGE = {"shape": (4, 4)}
OF_FOUR = {"shape": (4,), "element_range": (0.0, 1.0), "adjacency": "local"}


@pytest.mark.parametrize(
    ("stated", "error", "words"),
    [
        *(
            ({name: value}, ValueError, f"{name} must be a number from 1e-12 to 1e12, got")
            for name in ("l2_sensitivity", "l1_sensitivity", "frobenius_bound")
            for value in (0, -2.0, math.nan, math.inf, 1e308, 1e-13, 10**400, -(10**400))
        ),
        ({"shape": ()}, TypeError, "non-empty tuple"),
        ({"shape": (0, 3)}, ValueError, r"at least 1, got \(0, 3\)"),
        ({"shape": (2.0,)}, TypeError, "integers"),
        ({"shape": 5}, TypeError, "got 5"),
        ({"element_range": (1, 1)}, ValueError, "a < b"),
        ({"element_range": 3}, TypeError, "pair"),
        (
            {"element_range": (0, math.inf)},
            ValueError,
            "must be a number from -1e12 to 1e12, got inf",
        ),
        ({"adjacency": "swap"}, ValueError, "got 'swap'"),
        (
            {"l2_sensitivity": None},
            ValueError,
            r"l2_sensitivity is missing, .* state it, or l1_sens.* structure 'histogram' is enough",
        ),
        ({"structure": "rows", "record_bound": 1.0}, ValueError, "structure must be one of"),
        (
            {"shape": (50,), "record_bound": 1.0},
            ValueError,
            "record_bound needs a structure, one of .* 2 C / n for the mean of n",
        ),
        ({"structure": "gram"}, ValueError, "needs record_bound"),
        (
            {"shape": (3, 4), "structure": "gram", "record_bound": 1.0},
            ValueError,
            r"needs a square matrix, got \(3, 4\)$",
        ),
        (
            {"shape": (50,), "structure": "records", "record_bound": 1.0},
            ValueError,
            r"needs a matrix .*, got \(50,\); .* 2 C / n for the mean",
        ),
        (
            {"structure": "gram", "record_bound": -1.0},
            ValueError,
            "record_bound must be a number from 1e-12 to 1e12, got -1.0$",
        ),
        (
            HISTOGRAM | {"l2_sensitivity": 2.0},
            ValueError,
            "l2_sensitivity of a histogram must be 1 under add-remove",
        ),
        (
            HISTOGRAM | {"l1_sensitivity": 2.0},
            ValueError,
            "l1_sensitivity of a histogram must be 1",
        ),
        (
            HISTOGRAM | {"linf_sensitivity": 0.5},
            ValueError,
            "linf_sensitivity of a histogram must be 1",
        ),
        (HISTOGRAM | {"adjacency": "local"}, ValueError, "needs adjacency add-remove or replace"),
        (
            HISTOGRAM | {"adjacency": "replace", "shape": (1,)},
            ValueError,
            "of one cell does not change",
        ),
        (
            LARGE | {"linf_sensitivity": 1.1},
            ValueError,
            "linf_sensitivity <= l2_sensitivity, got 1.1 > 1",
        ),
        (
            LARGE | {"linf_sensitivity": 0.2},
            ValueError,
            r"l2_sensitivity <= sqrt\(16\) linf_sensitivity, got 1 > 0.8",
        ),
        (
            LARGE | {"l1_sensitivity": 0.1},
            ValueError,
            "l2_sensitivity <= l1_sensitivity, got 1 > 0.1",
        ),
        (
            LARGE | {"l1_sensitivity": 100.0},
            ValueError,
            r"l1_sensitivity <= sqrt\(16\) l2_sensitivity, got 100 > 4",
        ),
        (
            LARGE | {"l1_sensitivity": 4.0, "structure": "records", "record_bound": 1.0},
            ValueError,
            r"l1_sensitivity <= sqrt\(4\) l2_sensitivity, got 4 > 2",
        ),
        (
            {"shape": (1,), "l2_sensitivity": 2.0, "l1_sensitivity": 3.0},
            ValueError,
            r"l1_sensitivity <= sqrt\(1\) l2_sensitivity, got 3 > 2",
        ),
        (
            LARGE | {"element_range": (0, 1), "linf_sensitivity": 1.5, "l2_sensitivity": 2.0},
            ValueError,
            r"linf_sensitivity <= 1 for .*, got 1.5 > 1",
        ),
        # ||D||_2^2 <= ||D||_1 ||D||_inf, so only two elements of answers in [0, 1]^4 may change.
        (
            OF_FOUR | {"l2_sensitivity": 2.0, "l1_sensitivity": 2.0},
            ValueError,
            r"l2_sensitivity <= sqrt\(l1_sensitivity linf_sensitivity\)",
        ),
    ],
)
def test_bad_queries(stated, error, words):
    with pytest.raises(error, match=words):
        Query(**{"shape": (2, 2), "l2_sensitivity": 1.0} | stated)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("no_such_module:Noise", UnknownMechanism, "the module must be importable"),
        (
            "mechanisms.catalogue.gaussian:NoSuchClass",
            UnknownMechanism,
            "mechanisms.catalogue.gaussian defines no 'NoSuchClass'",
        ),
        (":Noise", UnknownMechanism, "must have a module before the colon"),
        ("mechanisms.query.query:Query", TypeError, "must be a Mechanism"),
    ],
)
def test_outside_mechanism_that_cannot_be_loaded(name, error, words):
    with pytest.raises(error, match=words):
        get_mechanism(name)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("x = 1\ndef f(:\n", "SyntaxError ({path}, line 2): invalid syntax"),
        ("x = 1\n  y = 2\n", "IndentationError ({path}, line 2): unexpected indent"),
        ("x = 1\n\0\n", "): source code string cannot contain null bytes"),
        ("x = 1\nx.y\n", "AttributeError ({path}, line 2, in <module>): 'int' object has no"),
        ("1 / 0\n", "ZeroDivisionError ({path}, line 1, in <module>): division by zero"),
        ("import sys\nsys.exit(0)\n", "SystemExit ({path}, line 2, in <module>): 0"),
    ],
)
def test_an_outside_module_that_raises_is_reported_with_its_line(
    tmp_path, monkeypatch, code, words
):
    path = tmp_path / "wrong_outside_module.py"
    path.write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnknownMechanism) as caught:
        get_mechanism("wrong_outside_module:Noise")
    assert words.format(path=path) in str(caught.value)
    assert "\n" not in str(caught.value)


RECORDS = {"structure": "records", "record_bound": 1.0}
GRAM = {"structure": "gram", "record_bound": 2.0}
REPLACE, LOCAL = {"adjacency": "replace"}, {"adjacency": "local"}


@pytest.mark.parametrize(
    ("stated", "limit", "words"),
    [
        ({"frobenius_bound": 1.0}, 2.0, "l2_sensitivity <= 2 frobenius_bound"),
        (RECORDS, 2.0, "l2_sensitivity <= 2 record_bound for columns that are records"),
        (RECORDS | REPLACE, 2.0, "l2_sensitivity <= 2 record_bound"),
        (RECORDS | LOCAL, 4.0, r"l2_sensitivity <= 2 sqrt\(4\) record_bound"),
        (GRAM, 4.0, r"l2_sensitivity <= record_bound\^2 for a gram matrix under add-remove"),
        (GRAM | REPLACE, 8.0, r"l2_sensitivity <= 2 record_bound\^2 for a gram matrix under rep"),
        (
            {"element_range": (0, 1)},
            4.0,
            r"l2_sensitivity <= sqrt\(16\) 1 for elements in \[0, 1\]",
        ),
        (
            {"element_range": (-1, 1), **RECORDS, "record_bound": 9.0},
            4.0,
            r"l2_sensitivity <= sqrt\(4\) 2 for elements in \[-1, 1\]",
        ),
    ],
)
def test_no_change_is_larger_than_the_values_and_the_records_allow(stated, limit, words):
    kind = {"shape": (4, 4)} | stated
    assert Query(**kind, l2_sensitivity=limit * 1.0009)
    with pytest.raises(ValueError, match=f"{words}.*, got {1.01 * limit:g} > {limit:g}"):
        Query(**kind, l2_sensitivity=limit * 1.01)


@pytest.mark.parametrize(
    ("stated", "limit"),
    [
        # Opposite corners of a box that a ball cuts off: (g, 0) and (0, g).
        ({"shape": (2,), "element_range": (0, 1), "frobenius_bound": 0.5}, 0.5 * math.sqrt(2)),
        # (0.8, 0.6) and (0.6, 0.8) of squared norm 1, and nothing below 0.6.
        ({"shape": (2,), "element_range": (0.6, 1), "frobenius_bound": 1.0}, 0.4 * math.sqrt(2)),
        ({"shape": (1,), "element_range": (0.2, 1), "frobenius_bound": 0.5}, 0.3),
        # A range around zero holds opposite values.
        ({"shape": (2,), "element_range": (-1, 1), "frobenius_bound": 0.5}, 1.0),
    ],
)
def test_a_change_within_a_box_and_a_ball(stated, limit):
    """No pair of values exceeds the limit."""
    with pytest.raises(ValueError, match="l2_sensitivity <="):
        Query(**stated, l2_sensitivity=1.01 * limit)
    low, high = stated["element_range"]
    values = np.random.default_rng(0).uniform(low, high, (1000, *stated["shape"]))
    values = values[np.linalg.norm(values, axis=1) <= stated["frobenius_bound"]]
    apart = np.linalg.norm(values[:, None] - values, axis=2).max()
    assert 0 < apart <= limit
    assert Query(**stated, l2_sensitivity=apart)


@pytest.mark.parametrize("largest", [np.int64(2**53), np.uint64(2**53), np.int64(-(2**53))])
def test_integers_beyond_float64_are_refused(largest):
    value = largest * np.array([1, 0], largest.dtype)
    assert np.isfinite(PAIR.release(value, 0)).all()
    with pytest.raises(
        ValueError, match=r"integers of at most 2\^53 in size, got -?9007199254740993"
    ):
        PAIR.release(value + np.sign(value), 0)


@pytest.mark.parametrize(
    ("stated", "value"),
    [
        ({"element_range": (0.1, 0.7)}, [[0.1, 0.7], [0.7, 0.1]]),
        ({"element_range": (-0.7, -0.1)}, [[-0.1, -0.7], [-0.7, -0.1]]),
        ({"element_range": (-1e6, 1e3)}, [[-1e6, -1e6], [1e3, -1e6]]),
        ({"frobenius_bound": 0.3}, [[0.3, 0.0], [0.0, 0.0]]),
        # Each column is a record, and both have the largest norm; the rows are longer.
        (
            {"structure": "records", "record_bound": 0.3, "l2_sensitivity": 0.3},
            [[0.3, 0.3], [0.0, 0.0]],
        ),
    ],
)
def test_a_value_at_the_end_of_what_is_stated_is_allowed_and_one_beyond_is_not(stated, value):
    value = np.array(value)
    query = Query(**{"shape": (2, 2), "l2_sensitivity": 0.1} | stated)
    for within in (value, np.nextafter(value, 2 * value)):
        assert np.array_equal(checked_value(within, query), within)
    little = value * (1 + 1e-6)
    checked_value(little.astype(np.float32), query)
    for beyond in (little, value * 1.001):
        with pytest.raises(ValueError, match=r"outside of|above|at most"):
            checked_value(beyond, query)


@pytest.mark.parametrize("element_range", [(5, 6), (-6, -5)])
@pytest.mark.parametrize(
    ("stated", "least", "words"),
    [
        ({"frobenius_bound": 1.0}, 20, r"sqrt\(16\) 5 <= frobenius_bound"),
        (RECORDS, 10, r"sqrt\(4\) 5 <= record_bound"),
    ],
)
def test_an_element_range_without_any_allowed_value_is_refused(element_range, stated, least, words):
    kind = {"shape": (4, 4), "l2_sensitivity": 1.0, "element_range": element_range} | stated
    with pytest.raises(ValueError, match=f"{words} for elements in .*, got {least} > 1"):
        Query(**kind)
    bound = "record_bound" if stated == RECORDS else "frobenius_bound"
    # At the least norm itself there is one value and therefore no change.
    assert Query(**kind | {bound: 1.05 * least})


@pytest.mark.parametrize(
    "stated",
    [
        {"l1_sensitivity": 4.0, "linf_sensitivity": 0.25},
        {"l1_sensitivity": 1.0, "linf_sensitivity": 1.0},
        {"l1_sensitivity": 0.9995},
        # A range bounds the values; one person may change them less.
        {"element_range": (0.0, 100.0)},
        {"element_range": (0.0, 100.0), "linf_sensitivity": 0.5},
        {"element_range": (0.0, 1.0), "linf_sensitivity": 1.0, "l2_sensitivity": 2.0},
        OF_FOUR | {"l2_sensitivity": math.sqrt(2), "l1_sensitivity": 2.0},
    ],
)
def test_sensitivities_of_one_query_are_taken(stated):
    query = Query(**{"shape": (4, 4), "l2_sensitivity": 1.0} | stated)
    again = dataclasses.replace(query, adjacency="replace")
    assert again.l2_sensitivity == query.l2_sensitivity


@pytest.mark.parametrize("name", ["l1_sensitivity", "l2_sensitivity", "linf_sensitivity"])
def test_all_sensitivities_of_one_number_are_the_stated_one(name):
    for shape in ((1,), (1, 1)):
        for stated in ({}, {"element_range": (0.0, 10.0)}, {"frobenius_bound": 7.0}):
            query = Query(shape=shape, **{name: 2.0}, **stated)
            norms = query.l1_sensitivity, query.l2_sensitivity, query.linf_sensitivity
            assert norms == (2.0, 2.0, 2.0)
    assert Query(shape=(1,), frobenius_bound=7.0).l1_sensitivity == 14.0
    assert Query(shape=(2,), l2_sensitivity=2.0).l1_sensitivity is None


def test_a_shape_of_numpy_integers_is_one_of_integers():
    query = Query(shape=(np.int64(4), 4), l2_sensitivity=1.0)
    assert query == Query(shape=(4, 4), l2_sensitivity=1.0)
    assert all(type(axis) is int for axis in query.shape)


@pytest.mark.parametrize("factor", [0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("key", ["gaussian", "laplace", "non-private", "tldp-l", "jl"])
def test_noise_and_profiles_are_scaled_by_positive_factors_alone(key, factor):
    query = Query(
        shape=(3, 3),
        l2_sensitivity=1.0,
        l1_sensitivity=1.7,
        linf_sensitivity=1.0,
        structure="records",
        record_bound=1.0,
    )
    mechanism = get_mechanism(key).calibrate(query, BUDGET)
    scaled = [mechanism.profile(), getattr(mechanism, "noise", None)]
    for each in filter(None, scaled):
        with pytest.raises(ValueError, match="factor must be finite and > 0"):
            each.scaled(factor)


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i8"])
def test_arrays_of_another_byte_order_are_accepted(dtype):
    value = np.array([1, 300], dtype=dtype)
    native = value.astype(value.dtype.newbyteorder("="))
    answer = PAIR.release(value, 1)
    np.testing.assert_array_equal(answer, PAIR.release(native, 1))
    assert answer.dtype.isnative


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[1.0, 2.0]], "a plain float32 or float64 array, got list"),
        (np.zeros((3, 2), int), "got int64"),
        (np.ma.zeros((3, 2)), "a plain"),
        (np.zeros(2), r"shape \(n, 2\), got \(2,\)"),
        (np.zeros((3, 4)), r"shape \(n, 2\)"),
        (np.array([[0.0, np.nan]]), r"finite, got nan at index \(0, 1\)"),
    ],
)
def test_wrong_values_of_many_releases_are_not_the_mechanisms_fault(values, words):
    with pytest.raises((TypeError, ValueError), match=words) as error:
        PAIR.release_all(values, 1)
    assert not isinstance(error.value, ReleaseError)
    with pytest.raises(ValueError, match="trials must be at least 1, got 0"):
        PAIR.releases(np.zeros(2), 1, 0)


# Numbers that float64 turns into something else: a whole number, 0, infinity or a neighbour.
CHANGED = (
    "0.99999999999999999999",
    "-3.00000000000000000001",
    "4503599627370497.5",
    "99999999999999999999e-20",
    "1e-400",
    "1e-99999999999999999999",
    "1e400",
    "9007199254740993",
    "-9007199254740993",
)
KEPT = ("3", "0.1", "1e30", "9007199254740994", "1.0", "-0", "1e-300", "0.9999999999999999", "1e5")


@pytest.mark.parametrize("text", CHANGED)
def test_a_number_that_float64_would_change_is_refused(text):
    with pytest.raises(ValueError, match=r"would be read as|exponent is too long"):
        number_in(text)


@pytest.mark.parametrize("text", KEPT)
def test_every_other_number_is_read(text):
    assert number_in(text) == float(text)


def test_whole_numbers_have_any_length():
    for text in ("9007199254740993", "9007199254740993.0", "-5", "1e5", "1" * 300):
        assert whole_number_in(text) == int(Decimal(text))
    for text in ("0.99999999999999999999", "1e-400", "nan", "inf", "1e4001", "", "x", "1e99999999"):
        with pytest.raises(ValueError, match=r"whole number|no number"):
            whole_number_in(text)


@pytest.mark.parametrize("text", [text for text in CHANGED if "." in text])
def test_options_of_mechanisms(text):
    with pytest.raises(argparse.ArgumentTypeError, match="would be read as"):
        name_and_value(f"k={text}")
