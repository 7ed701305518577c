"""The claims are well formed and in step with the judges."""

import re
from pathlib import Path

import pandas as pd
import pytest

from claims import ledger
from claims.discovery import paper_modules
from claims.ledger import LedgerError, all_claims, all_judges
from paper_figures.mvg2018 import numbers as mvg2018
from paper_figures.mvg2018 import three_studies
from paper_figures.mvg2018.three_studies import STUDIES
from paper_figures.r1smg2024 import dpsgd_verdicts
from paper_figures.r1smg2024 import numbers as r1smg2024

PAPERS = {path.parent.name for path in Path("paper_figures").glob("*/claims.yaml")}


def test_every_paper_has_claims():
    assert {claim.paper for claim in all_claims()} == PAPERS
    assert {"mvg2018", "mgm2021", "imgm2022", "r1smg2024", "tldp2025"} <= PAPERS


def test_every_judge_has_a_claim_and_every_claim_a_judge():
    assert {claim.judge for claim in all_claims()} == set(all_judges())


def test_judges_are_in_packages_of_papers():
    packages = {module.__name__.split(".")[1] for module in paper_modules()}
    # A paper whose judges are the suite's has no module.
    assert "suite" in packages
    assert packages <= PAPERS | {"suite"}


def numbers_that_are_text(value):
    """YAML reads 1e-5 as a string: every such string in nested arguments."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in numbers_that_are_text(item)]
    if isinstance(value, list):
        return [text for item in value for text in numbers_that_are_text(item)]
    is_number = isinstance(value, str) and re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", value)
    return [value] if is_number else []


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.id)
def test_a_claim_is_told_in_full(claim):
    assert claim.statement and claim.expected and claim.where
    texts = (claim.statement, claim.expected, claim.where, claim.reservation, claim.scope)
    texts += (claim.reason,)
    assert all(isinstance(text, str) for text in texts), "YAML reads a number; quote it"
    assert numbers_that_are_text(claim.arguments) == []
    for number in (claim.tolerance, claim.margin):
        assert number is None or isinstance(number, float)
        assert number is None or claim.reason, "a tolerance or a margin needs a reason"
    sentences = [*claim.meaning.values(), *claim.in_reference.values()]
    assert all(text.endswith(".") for text in sentences)


def test_a_sentence_on_the_committed_numbers_is_on_the_committed_verdict():
    committed = pd.read_csv("results/reference/claims.csv", index_col="claim")["verdict"]
    about = {claim.id: list(claim.in_reference) for claim in all_claims() if claim.in_reference}
    assert about and about == {name: [committed[name]] for name in about}


WHOLE = {
    "id": "a-b", "where": "w", "kind": "value", "statement": "s", "expected": "e", "judge": "j",
}  # fmt: skip


def write(folder, *entries):
    (folder / "p2020").mkdir()
    (folder / "p2020" / "claims.yaml").write_text("\n".join(f"- {entry}" for entry in entries))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"jugde": "x"}, "unexpected keyword"),
        ({"kind": "theorem"}, "kind must be one of .*, got 'theorem'"),
        ({"meaning": {"true": "y"}}, "meaning must have verdicts as keys"),
        ({"sizes": {"rows": 3}}, "unexpected keyword"),
    ],
)
def test_a_malformed_claim_is_named(entry, message, tmp_path, monkeypatch):
    write(tmp_path, WHOLE | entry)
    monkeypatch.setattr(ledger, "CLAIMS", tmp_path)
    with pytest.raises(LedgerError, match=message) as error:
        all_claims()
    assert "a-b" in str(error.value)


def test_a_number_of_the_paper_stands_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "CLAIMS", tmp_path)
    (tmp_path / "r1smg2024").mkdir()
    path = tmp_path / "r1smg2024" / "claims.yaml"
    entry = "- {id: a-b, where: w, kind: value, statement: s, expected: e, judge: j, arguments: %s}"
    path.write_text(entry % "{a: [!paper PICKUPS], b: !paper TRAINING.mnist.totals}")
    (claim,) = all_claims()
    assert claim.arguments == {"a": [r1smg2024.PICKUPS], "b": r1smg2024.TRAINING["mnist"].totals}
    path.write_text("\n" + entry % "{a: !paper TRAINING.mnits.totals}")
    words = "claims of r1smg2024, line 2: .*/numbers.py has no TRAINING.mnits.totals"
    with pytest.raises(LedgerError, match=words):
        all_claims()


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_margins_of_mvg2018_are_half_of_the_smallest_difference_it_states(study):
    least = min(mvg2018.STATED_ABOVE_MVG[study.setting.name].values())
    where = ("Table 3", "Table 4", "Table 5")[STUDIES.index(study)]
    margins = {
        claim.margin
        for claim in all_claims()
        if (claim.paper, claim.where, claim.kind) == ("mvg2018", where, "order")
    }
    assert margins == {least / 2}


def test_an_id_may_be_used_once_only(tmp_path, monkeypatch):
    write(tmp_path, WHOLE, WHOLE)
    monkeypatch.setattr(ledger, "CLAIMS", tmp_path)
    with pytest.raises(LedgerError, match="a-b"):
        all_claims()


@pytest.mark.parametrize(
    "run",
    [
        *(
            claim.arguments["decided_by"]
            for claim in all_claims()
            if "decided_by" in claim.arguments
        ),
        *dpsgd_verdicts.DECIDED_BY.values(),
        three_studies.TIMING_RUN,
    ],
)
def test_what_decides_a_claim_is_a_run_of_a_shipped_config(run):
    (named,) = set(re.findall(r"config/\w+\.yaml", run))
    assert Path(named).exists()
