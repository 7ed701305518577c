"""Write the certificates of the reference run, check each file, and list the files.

The list also says why a verdict on a guarantee has no certificate.

python -m claims.certificates
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import pandas as pd

from claims.certificates import FOLDER, SIGNS, budget_text
from claims.certificates.writer import VERDICTS, write, write_limits
from claims.ledger import read_ledger
from mechanisms.cli.arguments import Parser, run
from mechanisms.query.words import rounded_down

ROOT = Path(__file__).resolve().parents[2]
# Reasons why a verdict on a guarantee has no certificate.
_GAUSSIAN = (
    "Gaussian noise: the certificates of `guarantee/gaussian-analytic` bound delta at its mu; that "
    "the noise has this mu is algebra"
)
_WASTEFUL = "Gaussian noise with far more variance than needed; its formula is not in the checker"
_CAP = "the odds of a cap are e^epsilon by the choice of p; there is no number to bound"
_TRIANGLE = "the loss is at most epsilon by the triangle inequality; there is no number to bound"
_QUALITY = "a proof by the sensitivity of the quality; there is no number to bound"
# The reasons for claims of the ledger, by their ids.
CLAIMS_WITHOUT = {
    "mvg-thm3": _WASTEFUL,
    "mvg-directions-free": "about the directions of the noise, by a rotation; no number to bound",
    "mgm-thm1": _WASTEFUL,
    "mgm-thm2-udn": _WASTEFUL,
    "mgm-thm3-idn": _WASTEFUL,
    "mgm-thm6": "about any algorithm, by the odds of a sample; there is no noise to certify",
    "imgm-thm4": _GAUSSIAN,
    "privunit-guarantee": _CAP,
    "r1-clue": (
        "noise along one known direction: P = 1 and Q = 0 for the outputs on the line through x, "
        "without arithmetic"
    ),
    "r1-null-space": "about the null space of a vector, not about a delta",
    "r1-composition": "about which of two accountants is looser, not about a noise",
}
# The reasons for mechanisms of the guarantee study, by their keys.
HOLDS_WITHOUT = {
    "dawa": "a proof by sensitivity and composition; there is no number to bound",
    "exponential": _QUALITY,
    "hb": _TRIANGLE,
    "matrix-mechanism-l1": _TRIANGLE,
    "ppca": _QUALITY,
    "privunit-g": _CAP,
    "spherical-gamma": "calibrated by a numerical profile; no interval bound is written",
}
_LIMITS = (
    "No private mechanism has less error: `python check_limit.py FILE`. At l2 sensitivity 1, for "
    "answers that take all values; a file for each number of elements."
)
_JUDGED = ("contradicted", "partly", "confirmed")


def main() -> int:
    """Write, check and list all certificates, and return the exit status."""
    Parser(prog="python -m claims.certificates", description=__doc__).parse_args()
    written = {"check_certificate.py": write(), "check_limit.py": write_limits()}
    for stale in {*FOLDER.rglob("*.json")}.difference(*written.values()):
        stale.unlink()
    for checker, paths in written.items():
        # Run the checker as a reader would; it prints which certificate it rejects.
        command = [sys.executable, ROOT / checker, *paths]
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
            return 1
    (FOLDER / "README.md").write_text(overview(*written.values()), encoding="utf-8")
    print(f"{sum(map(len, written.values()))} files were written to {FOLDER} and checked.")
    return 0


def overview(guarantees: list[Path], limits: list[Path]) -> str:
    """Return the README.md of the folder of certificates.

    Args:
        guarantees: The paths of the certificates of guarantees.
        limits: The paths of the certificates of limits.
    """
    lines = [
        "# Certificates",
        "",
        "Written by `make certify`. How to check one, and the proofs: "
        "[docs/certificates.md](../../../docs/certificates.md). Each file takes about 5 seconds to "
        "check, and each file of limits about 20.",
        "",
        "| file | claims | certificates |",
        "|---|---|---|",
    ]
    files = {path: json.loads(path.read_text(encoding="utf-8")) for path in guarantees}
    for path, file in files.items():
        claims = ", ".join(f"`{claim}`" for claim in file["claims"])
        lines.append(f"| [{path.stem}]({path.name}) | {claims} | {len(file['certificates'])} |")
    for path, file in files.items():
        lines += ["", f"## {path.stem}", ""]
        lines += ["| setting | claimed (epsilon, delta) | certified |", "|---|---|---|"]
        for each in file["certificates"]:
            ((kind, value),) = each["bound"].items()
            lines.append(f"| {each['setting']} | {budget_text(each)} | {SIGNS[kind]} {value} |")
    lines += ["", "## Limits", "", _LIMITS, ""]
    lines += ["| file | (epsilon, delta) | RMSE of an element, at least |", "|---|---|---|"]
    for path in limits:
        for each in json.loads(path.read_text(encoding="utf-8"))["limits"]:
            rmse = rounded_down(math.sqrt(float(each["bound"]["value"]) / each["test"]["d"]), 5)
            lines.append(f"| [{path.stem}](limits/{path.name}) | {budget_text(each)} | {rmse} |")
    lines += ["", "## Verdicts without a certificate", ""]
    lines += ["| verdict | on | why |", "|---|---|---|", *uncertified_rows(files)]
    return "\n".join(lines) + "\n"


def uncertified_rows(files: dict[Path, dict]) -> list[str]:
    """Return a table row for each verdict on a guarantee that no file covers.

    These are verdicts of the ledger, and the verdicts "refuted" and "holds" of the study guarantee.

    Args:
        files: The contents of the certificate files by path.

    Raises:
        LookupError: A verdict has neither a certificate nor a reason.
    """
    covered = {claim for file in files.values() for claim in file["claims"]}
    ledger = read_ledger(FOLDER.parent)
    judged = ledger[(ledger["kind"] == "guarantee") & ledger["verdict"].isin(_JUDGED)]
    verdicts = [(each.verdict, each.claim, each.claim) for each in judged.itertuples()]
    for key, found in pd.read_csv(VERDICTS).groupby("mechanism", sort=False)["verdict"]:
        both = [verdict for verdict in ("refuted", "holds") if verdict in set(found)]
        verdicts += [(verdict, key, f"guarantee/{key}") for verdict in both]
    rows = []
    for verdict, name, covered_as in verdicts:
        if covered_as not in covered:
            reason = (HOLDS_WITHOUT if verdict == "holds" else CLAIMS_WITHOUT).get(name)
            if reason is None:
                raise LookupError(f"{name} is {verdict} and has neither a certificate nor a reason")
            rows.append(f"| {verdict} | `{name}` | {reason} |")
    return rows


if __name__ == "__main__":
    sys.exit(run(main))
