"""`list` and `describe` report whether the claim of a mechanism is true."""

import json

import pandas as pd
import pytest

from mechanisms import all_mechanisms, verify
from mechanisms.__main__ import main
from mechanisms.verification.standing import standing, standing_by
from papers.settings import PAPER_SETTINGS


def test_one_refuted_setting_is_enough_and_waste_is_what_most_settings_have():
    assert str(standing_by(["holds", "refuted", "loose", "undecided"])) == (
        "refuted at 1 of 4 settings of the papers in the range of its theorem"
    )
    assert str(standing_by(["holds", "holds", "loose"])) == (
        "holds at 2 of 3 settings of the papers in the range of its theorem, loose at 1"
    )
    assert standing_by(["undecided", "holds"]).verdict == "undecided"
    assert standing_by(["holds", "holds", "loose"]).verdict == "holds"
    assert standing_by(["loose", "holds", "loose"]).settings == 2


@pytest.mark.parametrize("key", ["r1smg", "mgm", "dphsgd", "imgm"])
def test_the_stored_standing_agrees_with_verdicts_computed_here(key):
    cls = all_mechanisms()[key]
    found = []
    for setting in PAPER_SETTINGS:
        if cls.limit(setting.query, setting.budget):
            continue
        try:
            mechanism = cls.calibrate_only(setting.query, setting.budget)
        except Exception as error:
            assert type(error).__name__ == "Unsupported"
        else:
            found.append(verify(mechanism, effort=None).verdict)
    assert standing(key) == standing_by(found)


def test_every_mechanism_with_a_refuted_claim_says_so_in_its_own_words():
    refuted = [key for key in all_mechanisms() if standing(key) and "refuted" in str(standing(key))]
    assert {"r1smg", "tldp-l", "wishart"} <= set(refuted)
    for key in refuted:
        assert "false" in all_mechanisms()[key].__doc__, key


def test_the_verdicts_agree_with_the_ledger():
    """The ledger contradicts claims on the guarantee of a refuted mechanism."""
    ledger = pd.read_csv("results/reference/claims.csv").set_index("claim")["verdict"]
    for key, claim in (("r1smg", "r1-thm5"), ("tldp-l", "tldp-thm1")):
        assert (standing(key).verdict, ledger[claim]) == ("refuted", "contradicted")


def test_list_and_describe_show_it(capsys):
    assert main(["list"]) == 0
    lines = {line.split()[0]: line.split()[-1] for line in capsys.readouterr().out.splitlines()}
    assert (lines["r1smg"], lines["gaussian-analytic"]) == ("refuted", "holds")
    assert lines["non-private"] == "none"
    assert main(["describe", "r1smg", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["verdict"]
    assert told == str(standing("r1smg")) and told.startswith("refuted at ")
