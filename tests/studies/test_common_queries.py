"""Common queries: the printed commands ask the stored queries, and rows have known numbers."""

import shlex

import pytest
from one_case import case_of, checked, setup_of
from one_case import measured as values_of

from mechanisms import Unsupported
from mechanisms.__main__ import main
from mechanisms.cli import compare_command
from studies.common_queries import QUERIES


class Asked(BaseException):
    """Stops the command once it has parsed the query; an Exception would be caught and reported."""


@pytest.mark.parametrize("name", QUERIES)
def test_the_command_asks_for_the_query(name, monkeypatch):
    asked, heard = QUERIES[name], {}

    def compare(query, budgets, **others):
        heard.update(others, query=query, budgets=budgets)
        raise Asked

    monkeypatch.setattr(compare_command, "compare", compare)
    python, module, package, *words = shlex.split(asked.command)
    assert (python, module, package) == ("python", "-m", "mechanisms")
    with pytest.raises(Asked):
        main(words)
    assert heard["query"] == asked.query
    assert heard["budgets"] == [asked.budget]
    assert heard["workload"] == asked.workload


def measured(name, key, calibration="published"):
    """The metrics of one mechanism, and the columns beside them."""
    settings = checked("common_queries", {"datasets": [name], "mechanisms": [key]})
    values = values_of(case_of(setup_of("common_queries", name, settings), key, calibration))
    at = {column: text for value in values for column, text in value.at.items()}
    return {value.metric: value.value for value in values if not value.timing}, at


def test_a_mechanism_has_its_error_its_privacy_and_its_verdict():
    found, at = measured("small-matrix", "l2")
    # The radius is Gamma(M), so that E R^2 = M (M + 1).
    assert found["rmse"] ** 2 == pytest.approx(281, rel=1e-12)
    assert found["rmse_error"] == 0
    assert found["true_epsilon"] == pytest.approx(1, rel=1e-9)
    assert found["true_delta"] == 0
    assert at == {"verdict": "holds"}


def test_limitations_of_the_numbers_are_noted():
    _, at = measured("gradient", "gaussian")
    assert at["verdict"] == "loose"
    assert at["note"].startswith(
        "is outside its theorem's range: the theorem is proved for epsilon < 1 "
    )


def test_an_unsupported_mechanism_gives_the_reason():
    with pytest.raises(Unsupported, match="needs delta > 0"):
        measured("small-matrix", "gaussian")
