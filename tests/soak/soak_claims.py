"""The command on the page of every claim prints the committed numbers.

`make soak` runs this file, which takes a minute. No claim needs a training.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from claims.certificates import command, read_certificates
from claims.ledger import read_ledger
from claims.ledger_pages import parts_of
from mechanisms.query.words import with_minus
from paper_figures.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
LEDGER = read_ledger(ROOT / "results/reference").to_dict("records")


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim["claim"])
def test_the_command_prints_the_verdict_and_the_numbers(claim, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(["show", "reference", claim["claim"]]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"{claim['claim']} ({claim['paper']}, {claim['where']}): {claim['verdict']}"
    printed = " ".join(" ".join(rest).split())
    printed = printed.replace(" - ", " ")
    for part in parts_of(claim):
        for words in (part.words, part.reason, *(each.words for each in part.parts)):
            assert with_minus(" ".join(words.split())) in printed
    assert with_minus(" ".join(claim["sentence"].split())) in printed
    assert claim["parts"] or with_minus(claim["we find"]) in printed


@pytest.mark.parametrize("path", list(read_certificates()), ids=lambda path: path.stem)
def test_the_command_of_a_certificate_proves_it(path):
    subprocess.run([sys.executable, *command(path).split()[1:]], cwd=ROOT, check=True)
