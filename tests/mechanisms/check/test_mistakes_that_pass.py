"""Mistakes that the comparison does not find, as SHARP_EDGES.md says; one that it finds must go."""

import dataclasses
from pathlib import Path

import numpy as np
import planted_bugs as planted
import pytest
from test_counted_records import QUERIES, Cycle

from mechanisms import Query
from mechanisms.audit.audit import audit_samples
from mechanisms.audit.outputs import from_function
from mechanisms.check.checks import QUICK, THOROUGH, require_consistent

PAGE = " ".join((Path(__file__).resolve().parents[3] / "SHARP_EDGES.md").read_text().split())


class HidesABit(planted.Gaussian):
    """The last bit of every number says whether the value is above 0.5 there."""

    only_adds_noise = False

    def _release(self, value, rng):
        answer = value + self.sample(rng, 1, value.dtype)[0]
        bits = answer.view(f"u{answer.itemsize}")
        return (bits & ~bits.dtype.type(1) | (value > 0.5)).view(value.dtype)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("effort", [QUICK, THOROUGH], ids=["study", "verify"])
def test_a_hidden_bit_passes(effort):
    assert "hides a bit of the answer in the last bit of its float passed too; `audit" in PAGE
    mechanism = HidesABit.calibrate(planted.QUERY, planted.BUDGET)
    for seed in range(2):
        assert require_consistent(mechanism, seed=seed, effort=effort).releases


def test_an_audit_of_bits_finds_a_hidden_bit():
    """By nothing else, and not where it is not there."""

    def verdict(kind, score):
        mechanism = kind.calibrate(Query(shape=(2,), l2_sensitivity=1.0), planted.BUDGET)
        pair = [from_function(mechanism.release, np.array([4.0, end])) for end in (0.25, 0.75)]
        return audit_samples(pair, 1.0, 1e-5, score=score, samples=2000, seed=0).verdict

    assert "`audit --score bits` finds it." in PAGE
    assert verdict(HidesABit, "bits") == "refuted"
    assert verdict(HidesABit, None) == verdict(planted.Gaussian, "bits") == "undecided"


@pytest.mark.usefixtures("steady_clock")
def test_a_table_of_numbers_passes_in_a_study_of_one_element():
    assert "numbers from a table of 65,536 in one element" in PAGE
    mechanism = Cycle.calibrate(
        dataclasses.replace(QUERIES["histogram"], shape=(1, 1)), planted.BUDGET
    )
    for seed in range(4):
        assert require_consistent(mechanism, seed=seed, effort=QUICK).releases
