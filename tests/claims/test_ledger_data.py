"""The ledger as JSON against its CSV file, read without the project's code."""

import csv
import hashlib
import json
import re
import shutil
from pathlib import Path

import jsonschema

from claims.claim import Claim
from claims.ledger_data import SCHEMA, ledger_text
from claims.verdicts import VERDICTS

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results/reference"


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


def test_the_document_names_its_tables_and_leads_to_the_files_of_a_release(tmp_path, monkeypatch):
    found = json.loads(ledger_text(REFERENCE))
    assert found["tables"]
    for name, digest in found["tables"].items():
        content = (REFERENCE / "studies" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest
    left_out = {path.name for path in (REFERENCE / "studies").iterdir()} - set(found["tables"])
    assert all(name.endswith(".timings.parquet") for name in left_out)
    places = {found["base"] + (each["certificate"] or each["page"]) for each in found["claims"]}
    assert all((ROOT / place.split("#")[0]).is_file() for place in places)
    monkeypatch.chdir(tmp_path)
    cited = "version: 1.2.0\nrepository-code: https://example.org/suite\n"
    Path("CITATION.cff").write_text(cited, encoding="utf-8")
    of_release = json.loads(ledger_text(REFERENCE))
    assert of_release["base"] == "https://example.org/suite/blob/v1.2.0/results/reference/"
    assert of_release["suite version"] == "1.2.0"
    assert of_release["claims"] == found["claims"]


def test_another_table_is_another_document(tmp_path):
    folder = tmp_path / "reference"
    (folder / "studies").mkdir(parents=True)
    shutil.copy(REFERENCE / "claims.csv", folder)
    first = ledger_text(folder)
    (folder / "studies/pca.timings.parquet").write_bytes(b"1")
    assert ledger_text(folder) == first
    (folder / "studies/pca.parquet").write_bytes(b"1")
    assert ledger_text(folder) != first


def test_the_five_lines_of_the_readme_print_the_contradicted_claims(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    (loader,) = (block for block in blocks if "export" in block)
    assert len(list(filter(None, loader.splitlines()))) == 5
    exec(loader, {})
    with (REFERENCE / "claims.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["verdict"] == "contradicted"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [row["claim"] for row in rows]


def test_the_schema_knows_every_verdict_and_kind():
    claims = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]["claims"]
    fields = claims["items"]["properties"]
    assert set(fields["verdict"]["enum"]) == set(VERDICTS)
    kinds = Claim.model_json_schema()["properties"]["kind"]["enum"]
    assert set(fields["kind"]["enum"]) == set(kinds)
    assert all(field["description"] for field in fields.values())
