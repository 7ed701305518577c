"""The table of all certificates, and the verdicts on guarantees that have none, with the reason."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from claims.certificates.writer import FOLDER, verdicts

# Why a verdict on a guarantee has no certificate.
CLAIMS_WITHOUT = {
    "r1-clue": (
        "noise along one known direction: P = 1 and Q = 0 for the outputs on the line through x, "
        "without arithmetic"
    ),
}
NO_NUMBER = "the loss is at most epsilon by the triangle inequality; there is no number to bound"
HOLDS_WITHOUT = {
    "dawa": "a proof by sensitivity and composition; there is no number to bound",
    "exponential": "a proof by the sensitivity of the quality; there is no number to bound",
    "hb": NO_NUMBER,
    "l2": NO_NUMBER,
    "laplace": NO_NUMBER,
    "matrix-mechanism-l1": NO_NUMBER,
    "plrv-o": "a mixture over gamma draws, bounded numerically; no interval bound is written",
    "ppca": "a proof by the sensitivity of the quality; there is no number to bound",
    "privunit-g": "the odds of a cap, calibrated numerically; no interval bound is written",
    "spherical-gamma": "calibrated by a numerical profile; no interval bound is written",
}
# Seconds that a check takes at most, in coarse steps so that the page does not change by itself.
LIMITS = (5, 20, 60)
SIGNS = {
    "delta_at_least": "delta >=",
    "epsilon_at_least": "epsilon >=",
    "delta_at_most": "delta <=",
}


def overview(seconds: dict[Path, float]) -> str:
    """The page, from the files and the seconds that the check of each took."""
    lines = [
        "# Certificates",
        "",
        "Written by `make certify`. How to check one, and the proofs: "
        "[docs/certificates.md](../../../docs/certificates.md). A whole file is checked in at most "
        "so many seconds.",
        "",
        "| file | claims | certificates | seconds, at most |",
        "|---|---|---|---|",
    ]
    files = {path: json.loads(path.read_text(encoding="utf-8")) for path in seconds}
    for path, file in files.items():
        claims = ", ".join(f"`{claim}`" for claim in file["claims"])
        count, spent = len(file["certificates"]), min(s for s in LIMITS if seconds[path] <= s)
        lines.append(f"| [{path.stem}]({path.name}) | {claims} | {count} | {spent} |")
    for path, file in files.items():
        lines += ["", f"## {path.stem}", ""]
        lines += ["| setting | claimed (epsilon, delta) | certified |", "|---|---|---|"]
        for each in file["certificates"]:
            ((kind, value),) = each["bound"].items()
            claim = f"({each['claim']['epsilon']}, {each['claim']['delta']})"
            lines.append(f"| {each['setting']} | {claim} | {SIGNS[kind]} {value} |")
    lines += ["", "## Verdicts without a certificate", ""]
    lines += ["| verdict | on | why |", "|---|---|---|", *without(files)]
    return "\n".join(lines) + "\n"


def without(files: dict[Path, dict]) -> list[str]:
    """Rows for contradicted, partly true, refuted and holding guarantees that no file covers.

    Raises:
        LookupError: One of them has neither a certificate nor a reason.
    """
    covered = {claim for file in files.values() for claim in file["claims"]}
    rows = []
    with (FOLDER.parent / "claims.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            open_ = row["verdict"] in ("contradicted", "partly") and row["claim"] not in covered
            if row["kind"] == "guarantee" and open_:
                rows.append((row["verdict"], row["claim"], CLAIMS_WITHOUT))
    for key, found in verdicts().items():
        for verdict in ("refuted", "holds"):
            if verdict in found.values() and f"guarantee/{key}" not in covered:
                rows.append((verdict, key, HOLDS_WITHOUT if verdict == "holds" else {}))
    for verdict, name, reasons in rows:
        if name not in reasons:
            raise LookupError(f"{name} is {verdict} and has neither a certificate nor a reason")
    return [f"| {verdict} | `{name}` | {reasons[name]} |" for verdict, name, reasons in rows]
