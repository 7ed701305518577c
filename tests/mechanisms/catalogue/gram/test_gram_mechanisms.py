"""What all mechanisms for Gram matrices have in common."""

import pytest
from gram_queries import calibrated, gram

from mechanisms import (
    Query,
    Unsupported,
)
from mechanisms.__main__ import main

KEYS = ["mod-sulq", "analyze-gauss", "wishart", "ppca"]


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
