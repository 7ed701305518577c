"""Verdicts on tldp2025's closed forms, against other closed forms and arithmetic by hand."""

import math

import numpy as np
import pytest

from claims.verdicts import CONFIRMED, CONTRADICTED, DEPENDS, PARTLY
from paper_figures.tldp2025 import contributions
from paper_figures.tldp2025.contributions import (
    lower_at_every_shape,
    symmetry_kept,
    weighted_noise,
)
from paper_figures.tldp2025.theorems import (
    baseline_noise,
    constant_factor,
    error_growth,
    tensor_guarantee,
    tensor_mechanism,
)


def test_weights_lower_the_true_delta_but_do_not_make_it_zero(make_claim):
    unit = {"epsilon": 1.0, "width": 1.0, "counts": [4, 1], "compared": [1, 4]}
    found = tensor_guarantee(make_claim(weight=0.9, **unit), None)
    verdicts = [part.verdict for part in found.parts]
    assert verdicts == [CONTRADICTED] * 2 + [CONFIRMED] * 4 and found.verdict == PARTLY
    # A weight of 0 changes nothing.
    same = tensor_guarantee(make_claim(weight=0.0, **unit), None)
    assert [part.verdict for part in same.parts] == [CONTRADICTED] * 6


def test_an_order_is_an_upper_bound_and_table_5_has_the_stated_one(make_claim):
    def verdicts(stated):
        claim = make_claim(1e-3, epsilon=1.0, width=2.0, sides=[28, 280], stated=stated)
        found = error_growth(claim, None)
        return [outcome.verdict for outcome in found.outcomes], found.verdict

    assert verdicts(-1) == ([CONTRADICTED, PARTLY, CONFIRMED], DEPENDS)
    assert verdicts(-0.5) == ([CONTRADICTED, CONFIRMED, CONFIRMED], DEPENDS)
    assert verdicts(0.5) == ([CONFIRMED] * 3, CONFIRMED)
    assert verdicts(-1.1) == ([CONTRADICTED] * 3, CONTRADICTED)


def test_noise_that_grows_more_slowly_than_i_is_of_order_i(make_claim):
    pairs = [["laplace", "tldp-l"], ["gaussian", "tldp-g"], ["mvg", "tldp-g"]]
    at = {"epsilon": 1.0, "width": 2.0, "delta": 1e-5, "sides": [16, 64]}
    found = baseline_noise(make_claim(0.01, pairs=pairs, **at), None)
    assert [part.verdict for part in found.parts] == [CONFIRMED, CONFIRMED, CONTRADICTED]


@pytest.mark.parametrize("clip", [0.5, 1.0, 3.0])
def test_dphsgd_s_entry_is_another_constant_times_the_gaussian_s(clip, make_claim):
    at = {"epsilons": [0.1, 10.0], "width": 2.0, "sides": [1, 28], "clip": clip}
    found = constant_factor(make_claim(1e-9, **at), None)
    assert [part.verdict for part in found.parts] == [CONFIRMED, CONTRADICTED]
    assert f"{2 * math.sqrt(2):.4g} (stated 1)" in found.numbers


def below(make_claim, shapes, epsilons):
    claim = make_claim(epsilons=epsilons, width=2.0, delta=1e-5, shapes=shapes)
    return {part.name: part.verdict for part in lower_at_every_shape(claim, None).parts}


def test_tldp_is_lower_for_large_tensors_and_not_always_for_small_ones(make_claim):
    assert set(below(make_claim, [[28, 28], [1, 784]], [1.0]).values()) == {CONFIRMED}
    small = below(make_claim, [[1, 1], [28, 28]], [0.1, 10.0])
    contradicted = {name for name, verdict in small.items() if verdict == CONTRADICTED}
    # At I = 1 the deviations are sqrt(2) Delta/epsilon and Delta/sqrt(2 epsilon), which cross at 4.
    assert contradicted == {"TLDP-L below Gaussian:", "TLDP-G below Laplace:"}


def test_symmetry_survives_only_if_all_pairs_are_kept(make_claim):
    found = symmetry_kept(make_claim(side=3, epsilons=[0.1, 1.0], widths=[1.0], low=0.01), None)
    assert {part.verdict for part in found.parts} == {CONTRADICTED}
    # In a small enough unit nearly every value is kept.
    unit = make_claim(side=3, epsilons=[0.1], widths=[1e-4], low=0.01)
    assert symmetry_kept(unit, None).verdict == CONFIRMED
    # By sampling which elements are kept, at a p that shows: both of the only pair.
    p = math.exp(tensor_mechanism("tldp-l", 0.1, 0.01, 4).parameters()["log_p"])
    kept = np.random.default_rng(0).random((200_000, 2)) < p
    pair = symmetry_kept(make_claim(side=2, epsilons=[0.1], widths=[0.01], low=0.01), None)
    stated = float(pair.parts[0].found.split()[2])
    assert kept.all(axis=1).mean() == pytest.approx(stated, rel=0.03)


def test_weights_never_lower_the_noise(make_claim, monkeypatch):
    at = {"epsilon": 1.0, "width": 1.0, "counts": [1, 4]}
    found = weighted_noise(make_claim(weight=0.9, **at), None)
    assert {part.verdict for part in found.parts} == {CONTRADICTED}
    # p = 1/3 for TLDP-L at I = 1: (1 - p/10)/(1 - p).
    assert f"{(1 - 1 / 30) / (1 - 1 / 3):.4g} times at I = 1" in found.numbers

    # Were weights to raise the probability of keeping, there would be less noise.
    def reversed_weights(key, epsilon, width, count, weight=0.0):
        return tensor_mechanism(key, epsilon, width, count, 0.9 - weight)

    monkeypatch.setattr(contributions, "tensor_mechanism", reversed_weights)
    assert weighted_noise(make_claim(weight=0.9, **at), None).verdict == CONFIRMED
