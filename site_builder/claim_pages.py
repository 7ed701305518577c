"""The index of claims, and a page for each: its verdict and numbers, how to check and cite it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import claims
from claims.certificates import certificate_of, command, proof
from claims.claim import Claim, all_claims
from claims.judges import all_judges
from claims.ledger_pages import BRACKETS, how_judged, items, parts_of
from claims.paper import paper_of
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    MEANING,
    NOT_FOUND,
    NOT_RUN,
    PARTLY,
    count_of,
)
from mechanisms.verification.verification import HOLDS, LOOSE, REFUTED
from site_builder.citations import repository, suite
from site_builder.drawn_file import DrawnFile
from site_builder.site_data import Page, SiteData

ROOT = Path(claims.__file__).resolve().parents[1]
# The tones of verdicts on claims, and of verdicts on a mechanism's guarantee at a setting. Verdicts
# without a tone are shown plainly.
TONES = {
    CONFIRMED: "good",
    CONTRADICTED: "alert",
    NOT_FOUND: "alert",
    PARTLY: "mixed",
    DEPENDS: "mixed",
    HOLDS: "good",
    LOOSE: "mixed",
    REFUTED: "alert",
}
# The order in which claims are shown: readers look for contradictions first.
ORDER = (CONTRADICTED, NOT_FOUND, PARTLY, DEPENDS, CONFIRMED, INCONCLUSIVE, NOT_RUN)


def claim_pages(site: SiteData) -> Iterator[Page]:
    """Yield the index of the claims, and the page of every claim."""
    yield Page(
        path="claims.html",
        template="claims.html",
        title="Claims of the papers",
        section="claims.html",
        about="Every claim of the papers on private noise, with a verdict and the numbers.",
        content={
            "papers": claims_by_paper(site),
            "meaning": MEANING,
            "sure": BRACKETS,
            "publications": sum(len(facts.references) for facts in site.papers.values()),
        },
    )
    declared = {claim.id: claim for claim in all_claims()}
    for entry in shown_claims(site.claims):
        yield _claim_page(site, entry, declared.get(entry["id"]))


def claims_by_paper(site: SiteData) -> list[dict]:
    """Return the papers with their claims; the claims of a paper are sorted by `ORDER`."""
    return [
        {
            "paper": site.papers.get(key),
            "key": key,
            "name": site.source_of(key),
            "claims": shown_claims(own),
            "counts": count_of(own["verdict"]),
        }
        for key, own in site.claims.groupby("paper", sort=False)
    ]


def shown_claims(ledger: pd.DataFrame) -> list[dict]:
    """Return the claims of a ledger as templates need them, sorted by `ORDER`."""
    return sorted(
        (_claim_entry(claim) for _, claim in ledger.iterrows()),
        key=lambda claim: ORDER.index(claim["verdict"]),
    )


def _claim_page(site: SiteData, claim: dict, declared: Claim | None) -> Page:
    mechanism = declared.arguments.get("mechanism") if declared else None
    return Page(
        path=f"claims/{claim['id']}.html",
        template="claim.html",
        title=f"{claim['id']}: {claim['verdict']}",
        section="claims.html",
        about=f"{claim['verdict'].capitalize()}: {claim['statement']}",
        content={
            "claim": claim,
            "meaning": MEANING[claim["verdict"]],
            "read": getattr(paper_of(claim["paper"]), "read_words", ""),
            "judge": _judge_entry(site, declared) if declared else None,
            "mechanism": mechanism if mechanism in site.mechanisms else None,
            "settings": site.settings_of(mechanism) if claim["kind"] == "guarantee" else [],
            "drawings": [each for each in site.drawings.values() if is_about(claim, each)],
            "suite": suite(),
        },
    )


def is_about(claim: Mapping[str, Any], drawing: DrawnFile) -> bool:
    """Return whether a claim names the figure or table of its paper that a drawing reproduces."""
    is_named = drawing.place and re.search(rf"\b{drawing.place}\b", claim["where"])
    return claim["paper"] == drawing.drawing.paper and bool(is_named)


def _judge_entry(site: SiteData, claim: Claim) -> dict:
    """Return the facts on the judge of a claim: its name, place, code, arguments and studies."""
    judge = all_judges()[claim.judge]
    lines, first = inspect.getsourcelines(judge.function)
    file = str(Path(inspect.getsourcefile(judge.function)).relative_to(ROOT))
    home = repository()
    studies = [table.removesuffix(".parquet") for table in judge.tables(claim.arguments)]
    return {
        "name": judge.name,
        "place": f"{file}:{first}",
        "link": home and site.commit and f"{home}/blob/{site.commit}/{file}#L{first}",
        "code": "".join(lines),
        "given": {n: _plain(each) for n, each in claim.arguments.items() if each is not None},
        "reads_results": judge.reads_results,
        "studies": [
            {"name": study, "origins": site.origins[study]}
            for study in studies
            if study in site.rows
        ],
    }


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(_plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_plain(each)}" for name, each in value.items())
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _claim_entry(claim: pd.Series) -> dict:
    return claim.to_dict() | {
        "id": claim["claim"],
        "parts": parts_of(claim),
        "facts": how_judged(claim),
        "implied": items(claim["implied epsilon"]),
        "proofs": [
            {"words": proof(path), "command": command(path), "file": path.read_text("utf-8")}
            for path in certificate_of(claim["claim"])
        ],
    }
