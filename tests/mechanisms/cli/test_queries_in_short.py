"""Queries with only some numbers given, and names in any spelling."""

import dataclasses
import math

import pytest

from mechanisms import Query
from mechanisms.__main__ import main


@pytest.mark.parametrize(
    ("stated", "l2"),
    [
        ({"l1_sensitivity": 3.0}, 3.0),
        ({"linf_sensitivity": 2.0}, 2 * math.sqrt(6)),
        # Two elements change by 1 and one by a half.
        ({"l1_sensitivity": 2.5, "linf_sensitivity": 1.0}, 1.5),
        ({"element_range": (-1.0, 1.0)}, 2 * math.sqrt(6)),
        ({"frobenius_bound": 0.5}, 1.0),
        ({"frobenius_bound": 5.0, "linf_sensitivity": 1.0}, math.sqrt(6)),
        ({"structure": "histogram"}, 1.0),
        ({"structure": "histogram", "adjacency": "replace"}, math.sqrt(2)),
    ],
)
def test_the_l2_sensitivity_that_follows(stated, l2):
    """It is the largest that the other numbers allow, for an answer of 6 elements."""
    assert Query(shape=(2, 3), **stated).l2_sensitivity == pytest.approx(l2, rel=1e-12)


@pytest.mark.parametrize(
    ("adjacency", "change"), [("add-remove", 9.0), ("replace", 9 * math.sqrt(2))]
)
def test_the_change_of_a_gram_matrix(adjacency, change):
    query = Query(shape=(3, 3), structure="gram", record_bound=3.0, adjacency=adjacency)
    assert query.l2_sensitivity == pytest.approx(change, rel=1e-12)


@pytest.mark.parametrize(
    ("structure", "lacks"),
    [
        ("records", "record_bound"),
        ("gram", "record_bound"),
    ],
)
def test_an_incomplete_structure_names_the_missing_option(structure, lacks, capsys):
    with pytest.raises(ValueError, match=f"^structure '{structure}' needs {lacks}"):
        Query(shape=(2, 2), structure=structure)
    compare = ["compare", "--shape", "2x2", "--structure", structure, "--epsilon", "1"]
    assert main(compare) == 2
    told = f"error: --structure {structure} needs --{lacks.replace('_', '-')}"
    assert capsys.readouterr().err.startswith(told)


def test_reasons_name_the_options_of_the_command_line(capsys):
    assert main(["compare", "--shape", "4x4", "--l2-sensitivity", "1", "--epsilon", "1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "each needs --element-range or --linf-sensitivity: " in shown
    assert "needs --structure gram: an answer" in shown
    assert "it needs --adjacency local" in shown
    fields = (each.name for each in dataclasses.fields(Query))
    assert not [name for name in fields if "_" in name and name in shown]


def test_a_mechanism_is_audited_by_its_name(capsys):
    query = ["--shape", "4x4", "--l2-sensitivity", "1", "--delta", "1e-5"]
    assert main(["audit", "R1SMG", *query, "--epsilon", "1", "--samples", "2000"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("r1smg, ")
    assert "refuted: (1, 1e-05)-differential privacy is false" in shown
    assert "\n  pair         " in shown
    assert "\n  query        4x4, M = 16, l2 sensitivity 1, add-remove\n" in shown
    assert main(["audit", "laplace", "--epsilon", "1"]) == 2
    assert "'laplace' needs --shape and its sensitivities" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["R1SMG", "r1smg", "R1smg"])
def test_a_name_in_capitals(name, capsys):
    assert main(["describe", name]) == 0
    assert "Theorem 5" in capsys.readouterr().out
