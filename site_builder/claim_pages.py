"""Every claim of the papers with its verdict, on one page with a permalink each."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from claims.certificates import certificate_of, command, proof
from claims.ledger_pages import size_words
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    MEANING,
    NOT_FOUND,
    PARTLY,
)
from site_builder.site_data import Page, SiteData

# The look of a verdict: what holds, what does not, what is in between; the rest is plain.
TONES = {
    CONFIRMED: "good",
    CONTRADICTED: "alert",
    NOT_FOUND: "alert",
    PARTLY: "mixed",
    DEPENDS: "mixed",
}


def claims_page(site: SiteData) -> Page:
    """The page of all claims."""
    ledger = site.run.claims
    papers = [
        {"paper": site.papers.get(key), "key": key, "claims": shown_claims(own)}
        for key, own in ledger.groupby("paper", sort=False)
    ]
    return Page(
        path="claims.html",
        template="claims.html",
        title="Claims of the papers",
        section="claims.html",
        about="Every claim of the papers on private noise, with a verdict and the numbers.",
        content={
            "papers": papers,
            "counts": site.run.verdict_counts,
            "meaning": MEANING,
            "tones": TONES,
            "total": len(ledger),
            "publications": sum(len(facts.references) for facts in site.papers.values()),
        },
    )


def shown_claims(ledger: pd.DataFrame) -> list[dict]:
    """Claims as templates show them."""
    return [_shown(claim) for _, claim in ledger.iterrows()]


def _shown(claim: pd.Series) -> dict:
    return {
        "id": claim["claim"],
        "where": claim["where"],
        "kind": claim["kind"],
        "statement": claim["statement"],
        "paper_says": claim["paper says"],
        "reservation": claim["reservation"],
        "scope": claim["scope"],
        "we_find": claim["we find"],
        "verdict": claim["verdict"],
        "tone": TONES.get(claim["verdict"], ""),
        "sentence": claim["sentence"],
        "choice": claim["choice"],
        "parts": _parts(claim["parts"].split("\n")),
        "decided_by": claim["decided by"],
        "sizes": size_words(claim),
        "computed": " ".join(filter(None, (claim["detail"], claim["reason"]))),
        "calibration": claim["calibration"],
        "proofs": [
            {"words": proof(path), "command": command(path), "file": path.read_text("utf-8")}
            for path in certificate_of(claim["claim"])
        ],
        "paper": claim["paper"],
    }


def _parts(lines: Iterable[str]) -> list[dict]:
    """Each part with its verdict marked: "below JL 0.01: confirmed (reason)"."""
    found = []
    for line in filter(None, lines):
        words, verdict, rest = line, "", ""
        for each in MEANING:
            before, mark, after = line.partition(f": {each}")
            if mark and len(before) < len(words):
                words, verdict, rest = before, each, after.strip()
        found.append(
            {"words": words, "verdict": verdict, "tone": TONES.get(verdict, ""), "rest": rest}
        )
    return found
