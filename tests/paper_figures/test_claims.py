"""The claims are complete, well formed and in step with the measurements."""

import re

import pytest

from paper_figures import ledger
from paper_figures.ledger import LedgerError, all_claims, all_judges

IDS = """
mvg-thm3 mvg-directions-free mvg-t3-nonprivate mvg-t3-close mvg-t3-order mvg-t3-pca mvg-t3-pure
mvg-t4-order mvg-t5-order mvg-f4-left mvg-f4-middle mvg-f4-right mvg-t6-cost mvg-s93
mgm-thm1 mgm-thm2-udn mgm-thm3-idn mgm-udn-gain mgm-idn-gain mgm-eq25-optimal mgm-thm4 mgm-s72-hr2
mgm-t4-orders mgm-t5-cost mgm-f2-order mgm-f2-adult mgm-f2-trend mgm-f3-order mgm-beats-gaussian
imgm-thm2 imgm-iid-optimal imgm-thm4 imgm-eps0 imgm-mvg-limit imgm-rdp imgm-f1-order
imgm-type1-missing
r1-thm5 r1-null-space r1-thm7 r1-cor1 r1-cc r1-ca r1-cm r1-thm8 r1-thm9 r1-remark2 r1-stability
r1-f4-max r1-f4-order r1-f5-loss r1-f5-shape r1-f6-nonprivate r1-f6-order r1-f6-mvg-bound r1-f7-eps
r1-f7-eps0 r1-f7-epochs r1-f7-order r1-f8-eps r1-f8-eps0 r1-f8-order r1-dpsgd-private r1-f9
tldp-thm1 tldp-thm2 tldp-thm3 tldp-t5 tldp-f1-mnist tldp-f1-cifar tldp-f1-variants tldp-f2
tldp-f3-range tldp-f3-imdb tldp-f3-order
"""


def test_every_claim_is_there_once():
    ids = IDS.split()
    assert len(ids) == 75
    assert [claim.id for claim in all_claims()] == ids


def test_claims_and_measurements_are_in_step():
    used = {claim.measure for claim in all_claims() if claim.measure}
    assert used == set(all_judges())
    assert all(claim.waits_for for claim in all_claims() if not claim.measure)


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
    assert numbers_that_are_text(claim.arguments) == []
    assert claim.tolerance is None or isinstance(claim.tolerance, float)
    assert claim.tolerance is None or claim.reason, "a tolerance needs a reason"
    assert all(text.endswith(".") for text in claim.meaning.values())


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"measur": "x"}, "unexpected keyword"),
        ({"kind": "theorem"}, "kind 'theorem' is none of"),
        ({"measure": "x", "waits_for": "y"}, "either measure or waits_for"),
        ({}, "either measure or waits_for"),
        ({"measure": "x", "meaning": {"true": "y"}}, "unknown verdicts"),
    ],
)
def test_a_malformed_claim_is_named(entry, message, tmp_path, monkeypatch):
    whole = {"id": "a-b", "where": "w", "kind": "value", "statement": "s", "expected": "e"}
    (tmp_path / "p.yaml").write_text(f"- {whole | entry}")
    monkeypatch.setattr(ledger, "CLAIMS", tmp_path)
    with pytest.raises(LedgerError, match=message) as error:
        all_claims()
    assert "a-b" in str(error.value)


def test_an_id_may_be_used_once_only(tmp_path, monkeypatch):
    entry = {
        "id": "a-b", "where": "w", "kind": "value", "statement": "s", "expected": "e",
        "measure": "x",
    }  # fmt: skip
    (tmp_path / "p.yaml").write_text(f"- {entry}\n- {entry}")
    monkeypatch.setattr(ledger, "CLAIMS", tmp_path)
    with pytest.raises(LedgerError, match="a-b"):
        all_claims()
