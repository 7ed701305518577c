"""The index of claims, and a page for each: verdict, numbers, and how to check and cite it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import pandas as pd

import claims
from claims.certificates import certificate_of, command, proof
from claims.claim import Claim, all_claims
from claims.claim_text import is_long
from claims.judges import all_judges
from claims.ledger_pages import BRACKETS, WrittenPart, parts_of, size_words
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
from site_builder.citations import repository, suite
from site_builder.site_data import Page, SiteData

ROOT = Path(claims.__file__).resolve().parents[1]
# The tone in which a verdict is shown: good, bad or mixed; the rest are plain.
TONES = {
    CONFIRMED: "good",
    CONTRADICTED: "alert",
    NOT_FOUND: "alert",
    PARTLY: "mixed",
    DEPENDS: "mixed",
}
# The tones of the verdicts on a mechanism's guarantee at one setting.
VERDICT_TONES = {"holds": "good", "loose": "mixed", "refuted": "alert"}
# The order in which claims are shown: readers look for contradictions first.
ORDER = (CONTRADICTED, NOT_FOUND, PARTLY, DEPENDS, CONFIRMED, INCONCLUSIVE, NOT_RUN)
_DRAWN = re.compile(r"(Figure|Table)s? (\d+)")


def claim_pages(site: SiteData) -> Iterator[Page]:
    """Yield the index and the page of every claim."""
    yield Page(
        path="claims.html",
        template="claims.html",
        title="Claims of the papers",
        section="claims.html",
        about="Every claim of the papers on private noise, with a verdict and the numbers.",
        content={
            "papers": claims_by_paper(site),
            "counts": site.run.verdict_counts,
            "meaning": MEANING,
            "sure": BRACKETS,
            "total": len(site.run.claims),
            "publications": sum(len(facts.references) for facts in site.papers.values()),
        },
    )
    judging = Judging(site)
    for claim in shown_claims(site.run.claims):
        yield _claim_page(site, claim, judging)


def claims_by_paper(site: SiteData) -> list[dict]:
    """Return the papers with their claims, each paper's in the order of `ORDER`."""
    return [
        {
            "paper": site.papers.get(key),
            "key": key,
            "name": site.source_of(key),
            "claims": shown_claims(own),
            "counts": dict(count_of(own["verdict"])),
        }
        for key, own in site.run.claims.groupby("paper", sort=False)
    ]


def shown_claims(ledger: pd.DataFrame) -> list[dict]:
    """Return claims as templates show them, in the order of `ORDER`."""
    return sorted(
        (_claim_entry(claim) for _, claim in ledger.iterrows()),
        key=lambda claim: ORDER.index(claim["verdict"]),
    )


def _claim_page(site: SiteData, claim: dict, judging: Judging) -> Page:
    paper = site.papers.get(claim["paper"])
    declared = judging.claims.get(claim["id"])
    mechanism = declared.arguments.get("mechanism") if declared else None
    drawn = (f"{claim['paper']}_{kind}{number}" for kind, number in _drawings(claim["where"]))
    return Page(
        path=f"claims/{claim['id']}.html",
        template="claim.html",
        title=f"{claim['id']}: {claim['verdict']}",
        section="claims.html",
        about=f"{claim['verdict'].capitalize()}: {claim['statement']}",
        content={
            "claim": claim,
            "meaning": MEANING[claim["verdict"]],
            "paper": paper,
            "paper_name": site.source_of(claim["paper"]),
            "read": getattr(paper_of(claim["paper"]), "read_words", ""),
            "command": f"python -m paper_figures show {site.run.name} {claim['id']}"
            + " --all" * claim["is_long"],
            "judge": judging.describe(declared) if declared else None,
            "mechanism": mechanism if mechanism in site.mechanisms else None,
            "settings": site.settings_of(mechanism) if claim["kind"] == "guarantee" else [],
            "drawings": [site.run.drawings[name] for name in drawn if name in site.run.drawings],
            "suite": judging.suite,
        },
    )


def _drawings(where: str) -> Iterator[tuple[str, str]]:
    """Yield the figures and tables that a place in a paper names: ("fig", "4") for "Figure 4"."""
    for kind, number in _DRAWN.findall(where):
        yield {"Figure": "fig", "Table": "table"}[kind], number


class Judging:
    """The claims as they are declared, and the code that judges them."""

    def __init__(self, site: SiteData) -> None:
        self.site = site
        self.claims = {claim.id: claim for claim in all_claims()}
        self.judges = all_judges()
        self.suite = suite()

    @cached_property
    def _code(self) -> str | None:
        """The URL of the code at the site's commit; None before a release has stated one."""
        home, commit = repository(), self.site.provenance.commit
        return f"{home}/blob/{commit}/" if home and commit else None

    def describe(self, claim: Claim) -> dict:
        """Describe the judge of a claim: its name, place, code, arguments and studies."""
        judge = self.judges[claim.rule or claim.judge]
        lines, first = inspect.getsourcelines(judge.function)
        file = str(Path(inspect.getsourcefile(judge.function)).relative_to(ROOT))
        return {
            "name": judge.name,
            "place": f"{file}:{first}",
            "link": self._code and f"{self._code}{file}#L{first}",
            "code": "".join(lines),
            "given": {n: _plain(each) for n, each in claim.arguments.items() if each is not None},
            "declared": f"paper_figures/{claim.paper}/claims.yaml",
            "reads_results": judge.reads_results,
            "studies": [
                {"name": study, "origins": self.site.origins[study]}
                for study in (t.removesuffix(".parquet") for t in judge.tables(claim.arguments))
                if study in self.site.run.studies
            ],
        }


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(_plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_plain(each)}" for name, each in value.items())
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _claim_entry(claim: pd.Series) -> dict:
    return {
        "id": claim["claim"],
        "where": claim["where"],
        "kind": claim["kind"],
        "statement": claim["statement"],
        "paper_says": claim["paper says"],
        "reservation": claim["reservation"],
        "scope": claim["scope"],
        "differs": claim["differs"],
        "reply": claim["reply"],
        "we_find": claim["we find"],
        "verdict": claim["verdict"],
        "tone": TONES.get(claim["verdict"], ""),
        "sentence": claim["sentence"],
        "choice": claim["choice"],
        "parts": _add_tones(parts_of(claim)),
        "is_long": is_long(claim),
        "decided_by": claim["decided by"],
        "sizes": list(filter(None, (size_words(claim), *claim["other sizes"].split("\n")))),
        "implied": list(filter(None, claim["implied epsilon"].split("\n"))),
        "computed": claim["detail"],
        "reason": claim["reason"],
        "tolerance": claim["tolerance"],
        "margin": claim["margin"],
        "calibration": claim["calibration"],
        "proofs": [
            {"words": proof(path), "command": command(path), "file": path.read_text("utf-8")}
            for path in certificate_of(claim["claim"])
        ],
        "paper": claim["paper"],
    }


def _add_tones(parts: Iterable[WrittenPart]) -> list[dict]:
    return [
        part._asdict() | {"tone": TONES.get(part.verdict, ""), "parts": _add_tones(part.parts)}
        for part in parts
    ]
