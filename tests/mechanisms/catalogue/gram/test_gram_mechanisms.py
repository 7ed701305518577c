"""What all mechanisms for Gram matrices have in common."""

import math

import numpy as np
import pytest
from gram_queries import calibrated, gram

from mechanisms import (
    Query,
    Unsupported,
)
from mechanisms.__main__ import main
from mechanisms.verification.verification import HOLDS, verify
from tests.peak_memory import peak_of

KEYS = ["mod-sulq", "analyze-gauss", "wishart", "ppca"]
ADDITIVE = KEYS[:3]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("query", "words"),
    [
        (Query(shape=(3, 3), l2_sensitivity=1.0), "structure 'gram'"),
        (
            Query(shape=(3, 3), l2_sensitivity=1.0, structure="records", record_bound=1.0),
            "structure 'gram'",
        ),
        (gram(3, adjacency="local"), "add-remove or replace"),
    ],
)
def test_what_is_no_gram_matrix_is_unsupported(key, query, words):
    with pytest.raises(Unsupported, match=words):
        calibrated(key, query)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_the_typed_l2_sensitivity_is_not_used(key, adjacency):
    typed, less = (
        calibrated(key, gram(3, adjacency=adjacency, **changed))
        for changed in ({}, {"l2_sensitivity": 0.5})
    )
    assert typed.parameters() == less.parameters()


@pytest.mark.parametrize("key", ADDITIVE)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_moments_of_the_loss(key, size):
    mechanism = calibrated(key, gram(size, bound=0.5))
    losses = mechanism.noise.squared_norms(np.random.default_rng(1), 60_000)
    assert mechanism.expected_loss() == mechanism.loss().mean
    for power, exact in enumerate(mechanism.loss().raw(), 1):
        error = np.std(losses**power) / math.sqrt(len(losses))
        assert abs(np.mean(losses**power) - exact) < 4.5 * error


@pytest.mark.parametrize("key", ADDITIVE)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_exact_calibration_meets_the_budget(key, adjacency):
    mechanism = calibrated(key, gram(5, adjacency=adjacency), calibration="exact")
    assert mechanism.profile().delta(0.8).value == pytest.approx(1e-6, rel=1e-9)
    result = verify(mechanism)
    assert result.verdict == HOLDS
    assert result.wasted_variance == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("key", ADDITIVE)
def test_sampling_needs_no_more_than_a_few_copies_of_the_answer(key):
    mechanism = calibrated(key, gram(200))
    _, peak = peak_of(mechanism.sample, np.random.default_rng(0), 1)
    assert peak < 4 * 8 * 200 * 200


@pytest.mark.parametrize("key", KEYS)
def test_on_the_command_line(key, capsys):
    arguments = [
        "verify", key, "--shape", "5x5", "--structure", "gram", "--record-bound", "1",
        "--l2-sensitivity", "1.5", "--adjacency", "replace", "--epsilon", "0.5",
        "--delta", "1e-6", "--samples", "2000",
    ]  # fmt: skip
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    verdict = {"wishart": "refuted: the claim is false\n", "ppca": "holds: the claim is true\n"}
    assert f"verdict      {verdict.get(key, 'loose')}" in shown
