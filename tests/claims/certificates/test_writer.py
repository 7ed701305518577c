"""The writer gives the committed bytes, and its bounds are within 1% of the exact numbers."""

import csv
import functools
import json
from decimal import ROUND_CEILING

import pytest

from claims.certificates import FOLDER
from claims.certificates.__main__ import uncertified_rows
from claims.certificates.noises import exact, rounded
from claims.certificates.writer import files, text_of

TABLE = FOLDER.parent / "tables" / "suite_verdicts.csv"


@functools.cache
def written():
    return {name: text_of(claims, certificates) for name, claims, certificates in files()}


def test_the_committed_files_are_those_written():
    assert {path.stem: path.read_text() for path in FOLDER.glob("*.json")} == written()


def test_every_refuted_row_has_a_certificate_within_a_hundredth():
    certified = {}
    for text in written().values():
        file = json.loads(text)
        for claim in file["claims"]:
            for each in file["certificates"]:
                certified[claim, each["setting"]] = each["bound"]
    with TABLE.open(newline="") as file:
        refuted = [row for row in csv.DictReader(file) if row["verdict"] == "refuted"]
    assert len(refuted) > 80
    for row in refuted:
        ((kind, value),) = certified[f"guarantee/{row['mechanism']}", row["setting"]].items()
        true = float(row["true epsilon" if kind == "epsilon_at_least" else "true delta"])
        assert float(value) <= true * (1 + 1e-6)
        # For these we know only an upper bound, and two intervals that contain both changed cells.
        loose = row["profile"] == "upper bound" or kind == "epsilon_at_least"
        assert float(value) >= true * (
            0.4 if row["profile"] == "upper bound" else 0.98 if loose else 0.99
        )


def test_verdicts_without_a_certificate_have_a_reason():
    rows = uncertified_rows({path: json.loads(path.read_text()) for path in FOLDER.glob("*.json")})
    assert any("`r1-clue`" in row for row in rows)
    with pytest.raises(LookupError, match="neither a certificate nor a reason"):
        uncertified_rows({})


def test_numbers_are_written_as_their_source_has_them():
    assert exact(1 / 248) == "1/248"
    assert exact(1e-5) == "1e-05"
    assert exact((8 / 2021) ** 2) == "64/4084441"
    assert rounded(0.216641999, 6) == "0.216641"
    assert rounded(0.216641001, 6, ROUND_CEILING) == "0.216642"
