"""The page that lists all certificates, and why some verdicts on guarantees have none."""

import json
import math
from pathlib import Path

import pandas as pd

from claims.certificates.writer import FOLDER, VERDICTS
from claims.ledger import read_ledger
from mechanisms.query.words import rounded_down

# These reasons say why a verdict on a guarantee has no certificate.
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
# The page rounds the seconds of a check up to one of these, so that it seldom changes.
_SECONDS = (5, 20, 60)
_SIGNS = {
    "delta_at_least": "delta >=",
    "epsilon_at_least": "epsilon >=",
    "delta_at_most": "delta <=",
}
_JUDGED = ("contradicted", "partly", "confirmed")


def overview(seconds: dict[Path, float], of_limits: dict[Path, float]) -> str:
    """Return the page, in Markdown.

    Args:
        seconds: The seconds, at most 60, that the check of each certificate file took.
        of_limits: The same for the files of limits.
    """
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
        count, spent = len(file["certificates"]), _seconds_bound(seconds[path])
        lines.append(f"| [{path.stem}]({path.name}) | {claims} | {count} | {spent} |")
    for path, file in files.items():
        lines += ["", f"## {path.stem}", ""]
        lines += ["| setting | claimed (epsilon, delta) | certified |", "|---|---|---|"]
        for each in file["certificates"]:
            ((kind, value),) = each["bound"].items()
            claim = f"({each['claim']['epsilon']}, {each['claim']['delta']})"
            lines.append(f"| {each['setting']} | {claim} | {_SIGNS[kind]} {value} |")
    lines += ["", "## Limits", "", _LIMITS, ""]
    lines += ["| file | (epsilon, delta) | RMSE of an element, at least | seconds, at most |"]
    lines += ["|---|---|---|---|"]
    for path, spent in of_limits.items():
        for each in json.loads(path.read_text(encoding="utf-8"))["limits"]:
            claim, value = each["claim"], float(each["bound"]["value"])
            rmse = rounded_down(math.sqrt(value / each["test"]["d"]), 5)
            lines.append(
                f"| [{path.stem}](limits/{path.name}) | ({claim['epsilon']}, {claim['delta']}) | "
                f"{rmse} | {_seconds_bound(spent)} |"
            )
    lines += ["", "## Verdicts without a certificate", ""]
    lines += ["| verdict | on | why |", "|---|---|---|", *uncertified_rows(files)]
    return "\n".join(lines) + "\n"


def _seconds_bound(seconds: float) -> int:
    return min(limit for limit in _SECONDS if seconds <= limit)


def uncertified_rows(files: dict[Path, dict]) -> list[str]:
    """Return table rows for the verdicts on guarantees that no file covers.

    The verdicts are those of the ledger, and "refuted" and "holds" of the study, not "loose".

    Args:
        files: The contents of the certificate files.

    Raises:
        LookupError: A verdict has neither a certificate nor a reason.
    """
    covered = {claim for file in files.values() for claim in file["claims"]}
    rows = []
    ledger = read_ledger(FOLDER.parent)
    judged = ledger[(ledger["kind"] == "guarantee") & ledger["verdict"].isin(_JUDGED)]
    for name, verdict in zip(judged["claim"], judged["verdict"], strict=True):
        rows.append((verdict, name, name, CLAIMS_WITHOUT))
    for key, found in pd.read_csv(VERDICTS).groupby("mechanism", sort=False)["verdict"]:
        for verdict, reasons in (("refuted", {}), ("holds", HOLDS_WITHOUT)):
            if verdict in set(found):
                rows.append((verdict, key, f"guarantee/{key}", reasons))
    open_ = [(verdict, name, reasons) for verdict, name, key, reasons in rows if key not in covered]
    for verdict, name, reasons in open_:
        if name not in reasons:
            raise LookupError(f"{name} is {verdict} and has neither a certificate nor a reason")
    return [f"| {verdict} | `{name}` | {reasons[name]} |" for verdict, name, reasons in open_]
