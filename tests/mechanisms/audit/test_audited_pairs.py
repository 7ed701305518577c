"""Mechanisms are audited at a default value, at the edges of the range and far from both."""

import numpy as np
import pytest

from mechanisms import Query, get_mechanism
from mechanisms.__main__ import main
from mechanisms.audit.audited_pairs import audited_pairs
from mechanisms.check.neighbours import is_allowed
from mechanisms.cli.audit_command import _bound


def gaussian_noise(value, rng):
    return value + rng.standard_normal(value.shape)


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": (1,), "l1_sensitivity": 0.5},
        {"shape": (3, 2), "l2_sensitivity": 0.7},
        {"shape": (4,), "l1_sensitivity": 1.0, "structure": "histogram"},
        {"shape": (3, 2), "l2_sensitivity": 1.0, "frobenius_bound": 12.0},
    ],
)
@pytest.mark.parametrize("edges", [(-1.0, 1.0), (2.0, 5.0), (0.0, 10.0)])
def test_pairs_lie_at_both_edges_and_are_neighbours(fields, edges):
    query = Query(element_range=edges, **fields)
    pairs = audited_pairs(gaussian_noise, query)
    constant = {
        name.removesuffix(", at a constant value"): pair
        for name, pair in pairs
        if "constant" in name
    }
    assert len({name for name, _ in pairs}) == len(pairs)
    for name, (first, second) in pairs:
        assert is_allowed(first, query) and is_allowed(second, query)
        change = np.subtract(*constant.get(name.rsplit(", ", 1)[0], (first, second)))
        assert np.allclose(first - second, change) or name.endswith("at a random value")
        moved = first != second
        for place, edge in zip(("lower", "upper"), edges, strict=True):
            if name.endswith(f"{place} edge"):
                assert np.allclose((np.minimum, np.maximum)[edge == edges[1]](first, second), edge)
                assert moved.any()
    if "frobenius_bound" not in fields:
        found = {name.rsplit(", ", 1)[1] for name, _ in pairs}
        assert found == {
            "at a constant value",
            "at the lower edge",
            "at the upper edge",
            "at a random value",
        }


def test_without_a_range_pairs_start_at_a_constant():
    pairs = audited_pairs(gaussian_noise, Query(shape=(2,), l2_sensitivity=1.0))
    assert pairs and all(name.endswith(", at a constant value") for name, _ in pairs)


class Redrawn(get_mechanism("laplace")):
    """Laplace noise redrawn until the answer lies in [-1, 1], which is not private at the edges."""

    key, only_adds_noise = "redrawn", False

    def _releases(self, value, rng, trials):
        answers = super()._releases(value, rng, trials)
        while (beyond := np.abs(answers) > 1).any():
            answers[beyond] = super()._releases(value, rng, beyond.sum())[:, 0]
        return answers


def test_noise_redrawn_into_its_range_is_refuted_at_an_edge(capsys):
    """Values in the middle show epsilon 0.87; edge and middle show log(2.72 * 1.61) = 1.48."""
    query = ["--shape", "1", "--l1-sensitivity", "0.5", "--element-range=-1,1", "--epsilon", "1"]
    assert main(["audit", f"{__name__}:Redrawn", *query, "--samples", "24000"]) == 0
    shown = capsys.readouterr().out
    assert "refuted: (1, 0)-differential privacy is false" in shown
    assert "  pair         one element, at the " in shown


def test_a_bound_that_equals_the_claim_in_five_digits_is_printed_above_it():
    assert _bound(1 + 1e-9, 1.0) == "above 1"
    assert _bound(1.25, 1.0) == "at least 1.25"
    assert _bound(1.0, 1.0) == "at least 1"
    assert _bound(0.1234567, 1.0) == "at least 0.12345"
