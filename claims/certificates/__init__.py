"""Certificates of refuted and proved privacy guarantees: small JSON files that anybody can check.

`check_certificate.py` at the top of the repository checks them and shares no code with this
package, which writes them. May be imported by site_builder; imports `mechanisms`, `claims` and what
the papers state.
"""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "results" / "reference" / "certificates"


def certificate_of(claim_id: str, folder: Path = FOLDER) -> list[Path]:
    """The committed certificates of a claim of the ledger, or of "guarantee/MECHANISM".

    The latter are the rows of the guarantee study for a mechanism. Empty where there is none.
    """
    return [
        path
        for path in sorted(folder.glob("*.json"))
        if claim_id in json.loads(path.read_text(encoding="utf-8"))["claims"]
    ]
