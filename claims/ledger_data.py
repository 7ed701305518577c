"""The ledger as one JSON document, made from claims.csv when it is asked for.

claims/ledger_schema.json describes it. A certificate is a file of the run that
check_certificate.py proves; a page is where the claim is printed. Both stand behind `base`.
"""

import json
from pathlib import Path
from typing import Any

from pooch import file_hash

from claims.ledger import WHOLE, read_ledger
from mechanisms.query.yaml_file import read_yaml
from runs.started import read_starts
from runs.stored import RESULTS

SCHEMA = Path(__file__).with_name("ledger_schema.json")
# Of the document: a field that goes or changes its meaning raises it.
VERSION = 1


def ledger_data(folder: Path) -> dict[str, Any]:
    """The ledger of the run in `folder`, with null where a number or a text is missing.

    What packs or reads it leaves no trace. A release, a start of the run and other rows change it.

    Raises:
        ConfigError: CITATION.cff, which states the version, or the record of starts is damaged.
    """
    cited = read_yaml(Path("CITATION.cff"))
    home, version = cited.get("repository-code"), cited["version"]
    rows = read_ledger(folder).to_dict("records")
    return {
        "version": VERSION,
        "suite version": version,
        "run": folder.name,
        "commits": [start and start["commit"] for start in read_starts(folder)],
        # The tag that CHANGELOG.md tells a release to have.
        "base": f"{home}/blob/v{version}/" * bool(home) + f"{RESULTS.name}/{folder.name}/",
        # Seconds differ whenever the same config runs.
        "tables": {
            path.name: file_hash(str(path))
            for path in sorted((folder / "studies").glob("*.parquet"))
            if ".timings." not in path.name
        },
        "claims": [_claim(row, folder) for row in rows],
    }


def ledger_text(folder: Path) -> str:
    """The same as text; the same results give the same bytes."""
    return json.dumps(ledger_data(folder), indent=1, ensure_ascii=False, allow_nan=False)


def _claim(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    certificate = f"certificates/{row['claim']}.json"
    found = {
        name: None if value == "" or value != value else int(value) if name in WHOLE else value
        for name, value in row.items()
    }
    return found | {
        "page": f"claims.md#{row['claim']}",
        "certificate": certificate if (folder / certificate).exists() else None,
    }
