"""Certificates of refuted and proved privacy guarantees: small JSON files that anybody can check.

This package writes them. `check_certificate.py` at the top of the repository checks them and
imports nothing of this suite.
"""

import functools
import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "results" / "reference" / "certificates"
# The proofs in prose, by mechanism; docs/certificates.md has the full arguments.
_NEAR_X = (
    "Let x and x' be neighbours, and let E hold the outputs that lie nearer to x than to x' by a "
    "factor. The length of the noise is about that of one normal number, at any dimension, so the "
    "noise of x' seldom reaches E"
)
PROOFS = {
    "r1smg": _NEAR_X,
    "product_noise": _NEAR_X,
    "tldp": (
        "Let x and x' be neighbours that differ in several components. Each adds to the loss, and "
        "E holds the outputs with a component kept from x, or that as a whole lie nearer to x "
        "than to x'"
    ),
    "wishart": (
        "Let x' have one more record than x, and let E hold the outputs y for which y - x' is not "
        "positive. The noise is never negative, so x' has no output in E"
    ),
    "dawa": (
        "Let x' have equal cells, and let x differ from it. E holds the outputs in which every "
        "bucket is one cell; each of the many intervals makes E likelier under x"
    ),
    "gaussian": (
        "Let x and x' be neighbours. Half-spaces across x' - x are the best events, and P and Q "
        "are normal probabilities"
    ),
    "norm_noise": (
        "Let x and x' be neighbours. By the triangle inequality, the density at x is nowhere more "
        "than e^epsilon times that at x'"
    ),
}
SIGNS = {
    "delta_at_least": "delta is at least",
    "epsilon_at_least": "epsilon is at least",
    "delta_at_most": "delta is at most",
}


@functools.cache
def read_certificates() -> dict[Path, dict]:
    """Read every committed file, and return the contents by path."""
    return {
        path: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))
    }


def certificate_of(claim_id: str) -> list[Path]:
    """Return the paths of the committed certificates of a claim; the list may be empty.

    Args:
        claim_id: The id of a claim of the ledger, or "guarantee/MECHANISM" for the rows on a
            mechanism in the study guarantee.
    """
    return [path for path, file in read_certificates().items() if claim_id in file["claims"]]


def budget_text(certificate: dict) -> str:
    """Format the claimed budget of a certificate as "(epsilon, delta)"."""
    return f"({certificate['claim']['epsilon']}, {certificate['claim']['delta']})"


def command(path: Path) -> str:
    """Return the command that checks a file, to be run from the top of the repository."""
    return f"python check_certificate.py results/reference/certificates/{path.name}"


def proof(path: Path) -> str:
    """Describe the proof of the first certificate of a file."""
    first = read_certificates()[path]["certificates"][0]
    ((kind, value),) = first["bound"].items()
    return (
        f"{PROOFS[first['mechanism']]}. The claim is {budget_text(first)}-privacy for "
        f"{first['setting']}; {SIGNS[kind]} {value}."
    )
