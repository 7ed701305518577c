"""The checker of limits confirms the committed bounds, and none beyond what a test proves."""

import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest
from flint import fmpq
from test_mutants import changed

import check_limit
from claims.certificates.writer import BUDGETS, LIMITS, SIZES
from mechanisms import Budget, Query
from mechanisms.limit.certificate import limit_certificate

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "tests/mechanisms/limit/limit_table.csv"
# Each of these takes a second to check; `make certify` checks all of them.
QUICK = {(1, 0.1), (1, 1.0), (1, 5.0), (2, 1.0), (5, 5.0), (10, 5.0)}


def committed(size: int) -> list[dict]:
    return json.loads((LIMITS / f"elements-{size}.json").read_text())["limits"]


@pytest.mark.parametrize("size", SIZES)
def test_committed_limits_are_confirmed_and_hardly_more(size):
    for certificate, (epsilon, delta) in zip(committed(size), BUDGETS, strict=True):
        budget = {"epsilon": str(epsilon), "delta": str(delta)}
        assert certificate["claim"] == {"elements": size, "l2": "1.0", **budget}
        if (size, epsilon) in QUICK:
            assert "RMSE of an element at least" in check_limit.check(certificate)
            more = f"{float(certificate['bound']['value']) * 1.01:.15g}"
            with pytest.raises(ValueError, match="not proved"):
                check_limit.check(changed(certificate, ("bound", "value"), more))


def test_committed_limits_are_within_a_percent_of_the_table():
    table = pd.read_csv(TABLE, index_col=["elements", "epsilon", "delta"])["limit_rmse"]
    for size in SIZES:
        for certificate, budget in zip(committed(size), BUDGETS, strict=True):
            value, d = float(certificate["bound"]["value"]), certificate["test"]["d"]
            assert math.sqrt(value / d) > 0.99 * table[size, *budget]


@pytest.mark.parametrize("d", [2, 3, 10, 1000])
def test_caps_against_mpmath(d):
    for height in ("0", "1/1000", "3/10", "9/10", "1", "11/10", "2"):
        cosine = mpmath.mpmathify(Fraction(height)) - 1
        half = mpmath.betainc(0.5, mpmath.mpf(d - 1) / 2, 0, cosine**2, regularized=True) / 2
        exact = 0.5 + half if cosine > 0 else 0.5 - half
        found = check_limit.cap(fmpq(*Fraction(height).as_integer_ratio()), d)
        assert abs(float(found.mid()) - float(exact)) <= 1e-12
        assert float(found.rad()) < 1e-12


def brute_force(epsilon: float, weight: float, radii: np.ndarray, gaps: np.ndarray) -> float:
    """The infimum in three dimensions, where each coordinate of u is uniform on [-1, 1]."""
    cosines = (np.arange(40_000) + 0.5) / 20_000 - 1

    def inside(length, distance):
        return distance >= 1 + length - np.interp(length, radii, gaps)

    def value(r):
        own = inside(r, np.sqrt(r * r + 1 - 2 * r * cosines)).mean()
        shifted = np.sqrt(r * r + 1 + 2 * r * cosines)
        far = (inside(shifted, r) & (shifted < radii[-1])).mean()
        own *= r < radii[-1]
        return r * r + weight * (own - np.exp(epsilon) * far)

    return min(map(value, np.linspace(1e-6, radii[-1] + 1, 600)))


@pytest.mark.parametrize("seed", range(6))
def test_a_random_event_proves_what_brute_force_finds(seed):
    rng = np.random.default_rng(seed)
    radii = np.concatenate([[0.0], np.sort(rng.uniform(0.2, 3, 4)) + np.arange(4)])
    gaps = np.concatenate([[0.0], rng.uniform(0, 0.9, 3), [0.0]])
    gaps = np.minimum(gaps, np.minimum.accumulate(gaps - 0.9 * radii) + 0.9 * radii)
    epsilon, weight = 0.5, rng.uniform(0.5, 5)
    infimum = brute_force(epsilon, weight, radii, gaps)
    given = {
        "epsilon": fmpq(1, 2),
        "delta": fmpq(0),
        "d": 3,
        **{
            name: [check_limit.parse_numbers(repr(float(x))) for x in values]
            for name, values in (("radii", radii), ("gaps", gaps), ("weight", [weight]))
        },
    }
    given["weight"] = given["weight"][0]
    check_limit.threshold(**given, bound=check_limit.parse_numbers(f"{infimum - 0.01:.9f}"))
    with pytest.raises(ValueError, match=r"not proved|too small"):
        check_limit.threshold(**given, bound=check_limit.parse_numbers(f"{infimum + 0.01:.9f}"))


MUTANTS = [
    (1, ("claim", "delta"), "1e-3"),
    (1, ("claim", "epsilon"), "1.2"),
    (1, ("claim", "elements"), 0),
    (1, ("claim", "l2"), "-1"),
    (1, ("claim", "weight"), "1"),
    (1, ("kind",), "threshold"),
    (1, ("test", "d"), 2),
    (1, ("test", "steps"), 10),
    (1, ("test", "tests", 0, 0), 40),
    (1, ("test", "tests", 0, 2, 0), "-1e-9"),
    (1, ("test", "tests", 0, 2, 0), "NaN"),
    (1, ("test", "tests", 0, 1, 0), 0.5),
    (1, ("test", "tests"), []),
    (10, ("claim", "elements"), 9),
    (10, ("claim", "delta"), "1e-3"),
    (10, ("claim", "epsilon"), "1.2"),
    (10, ("claim", "epsilon"), "NaN"),
    (10, ("bound", "value"), float("nan")),
    (10, ("bound", "value"), "-0.1"),
    (10, ("kind",), "lattice"),
    (10, ("test", "level"), "1"),
    (10, ("test", "d"), True),
    (10, ("test", "d"), 1),
    (10, ("test", "d"), 5),
    (10, ("test", "d"), "10"),
    (10, ("test", "weight"), "0"),
    (10, ("test", "weight"), "inf"),
    (10, ("test", "radii", 0), "0.01"),
    (10, ("test", "radii", 9), "0"),
    (10, ("test", "gaps", -1), "0.1"),
    (10, ("test", "gaps", 20), "2.5"),
    (10, ("test", "gaps", 20), "2"),
    (10, ("test", "gaps"), ["0"]),
]


@pytest.mark.parametrize(("size", "path", "value"), MUTANTS)
def test_a_changed_certificate_is_refused(size, path, value):
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        check_limit.check(changed(at_one(size), path, value))


def at_one(size: int) -> dict:
    """The certificate at (1, 1e-5)."""
    (found,) = (
        each for each in committed(size) if (*each["claim"].values(),)[2:] == ("1.0", "1e-05")
    )
    return found


def test_a_part_of_a_larger_answer_and_its_sensitivity():
    certificate = changed(at_one(1), ("claim", "elements"), 1000)
    certificate["claim"]["l2"] = "0.5"
    assert check_limit.check(certificate).endswith("at least 0.692130709")


def test_what_has_no_certificate_says_why():
    one = Query(shape=(1,), l2_sensitivity=1.0)
    for query, budget, words in (
        (one, Budget(epsilon=1.0), "delta > 0"),
        (one, Budget(epsilon=0.01, delta=1e-5), "delta > 0"),
        (
            Query(shape=(5,), l1_sensitivity=1.0),
            Budget(epsilon=1.0, delta=1e-5),
            "l2 sensitivity alone",
        ),
        (one, Budget(epsilon=20.0, delta=1e-5), "the search finds no test"),
    ):
        with pytest.raises(ValueError, match=words):
            limit_certificate(query, budget)
