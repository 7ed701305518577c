"""The ledger as pages: every claim, and a short page of what is not confirmed."""

from __future__ import annotations

import pandas as pd

from claims.certificates import certificate_of, command, proof
from claims.markdown import markdown_table
from claims.verdicts import (
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    MEANING,
    NOT_FOUND,
    NOT_RUN,
    PARTLY,
    count_of,
)
from datasets.titles import dataset_title

# How a count reads where the verdict alone does not: "17 partly confirmed".
_COUNTED = {PARTLY: "partly confirmed", DEPENDS: "dependent on an open choice"}
# In this order on the page of findings.
_TOLD = {
    CONTRADICTED: "Contradicted at the paper's stated parameters",
    PARTLY: "True in part",
    DEPENDS: "Depends on a choice that the paper does not state",
    NOT_FOUND: "Not found",
    INCONCLUSIVE: "Inconclusive",
    NOT_RUN: "Not run",
}


def claims_page(ledger: pd.DataFrame) -> str:
    """Every claim with its verdict, our numbers, their sizes and what was computed."""
    lines = ["# Claims ledger", "", f"{_counted(ledger)}.", "", *_vocabulary()]
    for paper, claims in ledger.groupby("paper", sort=False):
        index = pd.DataFrame(
            {
                "claim": [_link(claim) for claim in claims["claim"]],
                "where": claims["where"],
                "statement": claims["statement"],
                "verdict": claims["verdict"],
            }
        )
        lines += ["", f"## {paper}", "", markdown_table(index)]
        for _, claim in claims.iterrows():
            lines += _section(claim)
    return "\n".join(lines) + "\n"


def findings_page(ledger: pd.DataFrame) -> str:
    """What is not confirmed, in one table per verdict; what is confirmed is a count."""
    lines = [
        "# Findings",
        "",
        f"{_counted(ledger)}. [The ledger](claims.md) lists every claim with the numbers, the "
        "sizes and what was computed. This page lists the claims that are not confirmed as stated.",
    ]
    for verdict, title in _TOLD.items():
        claims = ledger[ledger["verdict"] == verdict]
        if claims.empty:
            continue
        table = pd.DataFrame(
            {
                "claim": [f"[{name}](claims.md#{name})" for name in claims["claim"]],
                "paper": claims["paper"] + ", " + claims["where"],
                "statement": claims["statement"],
                "we find": claims["sentence"],
                "sizes": [size_words(claim) for _, claim in claims.iterrows()],
            }
        )
        lines += ["", f"## {title}", "", MEANING[verdict], "", markdown_table(table)]
    return "\n".join(lines) + "\n"


def size_words(claim: pd.Series) -> str:
    """Our sizes beside the paper's: "10,000 of 60,000 records; 5 of 100 epochs; 3 trials"."""
    words = []
    for name in ("records", "epochs", "rounds", "trials"):
        ours, theirs = claim[name], claim[f"paper {name}"]
        if pd.notna(ours):
            less, more = (pd.notna(theirs) and c for c in (ours < theirs, ours > theirs))
            text = f"{ours:,g}{f' of {theirs:,g}' if less else ''} {name}"
            words.append(f"{text} (paper: {theirs:,g})" if more else text)
    if words and _given(claim["dataset"]):
        words[0] += f" of {dataset_title(claim['dataset'])}"
    network, theirs = claim["network"], claim["paper network"]
    if _given(network):
        words.append(f"{network} (paper: {theirs})" if _given(theirs) else network)
    epsilons, theirs = claim["epsilons"], claim["paper epsilons"]
    if _given(epsilons):
        text = f"epsilon {epsilons}"
        words.append(f"{text} (paper: {theirs})" if _given(theirs) else text)
    return "; ".join(words)


def _given(value) -> bool:
    return isinstance(value, str) and value != ""


def _section(claim: pd.Series) -> list[str]:
    paragraphs = {
        "Claim": claim["statement"],
        "The paper": claim["paper says"],
        "Its reservation": claim["reservation"],
        "Scope": claim["scope"],
        "We find": claim["we find"],
        "Open choice": claim["choice"],
        "Verdict": " ".join(filter(None, (f"**{claim['verdict']}**.", claim["sentence"]))),
        "Would be decided by": claim["decided by"],
        "Sizes": size_words(claim),
        "Computed": " ".join(filter(None, (claim["detail"], claim["reason"]))),
    }
    lines = ["", f'<a id="{claim["claim"]}"></a>', f"### {claim['claim']} ({claim['where']})", ""]
    for title, text in paragraphs.items():
        if text:
            lines.append(f"- **{title}:** {' '.join(text.split())}")
        if title == "Verdict" and claim["parts"]:
            lines += [f"  - {part}" for part in claim["parts"].split("\n")]
    for path in certificate_of(claim["claim"]):
        lines.append(f"- **Proof:** {proof(path)} Check it: `{command(path)}`")
    return lines


def _vocabulary() -> list[str]:
    return [f"- **{verdict}**: {meaning}" for verdict, meaning in MEANING.items()]


def _counted(ledger: pd.DataFrame) -> str:
    counts = count_of(ledger["verdict"]).items()
    words = ", ".join(f"{n} {_COUNTED.get(verdict, verdict)}" for verdict, n in counts)
    return f"{len(ledger)} claims: {words}"


def _link(claim: str) -> str:
    return f"[{claim}](#{claim})"
