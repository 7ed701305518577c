"""The ledger as JSON against its CSV file, read without the project's code."""

import csv
import json
from pathlib import Path

import jsonschema

from claims.claim import Claim
from claims.ledger_data import SCHEMA, ledger_text
from claims.verdicts import VERDICTS

REFERENCE = Path(__file__).resolve().parents[2] / "results/reference"


def test_the_document_has_every_cell_of_the_ledger():
    found = json.loads(ledger_text(REFERENCE))
    jsonschema.validate(found, json.loads(SCHEMA.read_text(encoding="utf-8")))
    with (REFERENCE / "claims.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found["claims"]) > 100
    for row, claim in zip(rows, found["claims"], strict=True):
        for name, text in row.items():
            # Cells that a spreadsheet would run have a mark.
            value = "" if claim[name] is None else str(claim[name])
            assert text.removeprefix("'") == value.removeprefix("'") or float(text) == claim[name]
    certificates = {path.stem for path in (REFERENCE / "certificates").glob("*.json")}
    certified = {each["claim"] for each in found["claims"] if each["certificate"]}
    assert certified == {name for name in certificates if not name.startswith("guarantee-")}


def test_the_schema_knows_every_verdict_and_kind():
    claims = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]["claims"]
    fields = claims["items"]["properties"]
    assert set(fields["verdict"]["enum"]) == set(VERDICTS)
    kinds = Claim.model_json_schema()["properties"]["kind"]["enum"]
    assert set(fields["kind"]["enum"]) == set(kinds)
    assert all(field["description"] for field in fields.values())
