"""A page for each paper: its claims, and its figures and tables as we drew them.

A further page describes the papers' figures and tables in words, beside ours.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from claims.paper import paper_of
from claims.verdicts import count_of
from paper_figures.drawings import LONGEST_TABLE
from site_builder.claim_pages import is_about, shown_claims
from site_builder.drawn_file import DrawnFile
from site_builder.site_data import SUITE, Page, PaperFacts, SiteData
from site_builder.words import sentences
from studies.base.yaml_file import read_yaml

PICTURES = Path(__file__).with_name("pictures.yaml")


def paper_pages(site: SiteData) -> Iterator[Page]:
    """Yield the page of every paper, the page of the suite's own drawings, and the overview."""
    pages = []
    for key in (*site.papers, SUITE):
        own = [each for each in site.drawings.values() if each.drawing.paper == key]
        claims = site.claims[site.claims["paper"] == key]
        if own or len(claims):
            pages.append(_paper_page(site, key, own, claims))
    yield from pages
    yield Page(
        path="papers/index.html",
        template="papers.html",
        title="Papers",
        section="papers/index.html",
        about="The papers on private noise: figures and tables drawn again, claims judged.",
        content={"papers": [page.content for page in pages]},
    )


def _paper_page(site: SiteData, key: str, drawings: list[DrawnFile], claims: pd.DataFrame) -> Page:
    facts = site.papers.get(key)
    return Page(
        path=f"papers/{key}.html",
        template="paper.html",
        title=f"{facts.name} ({facts.year})" if facts else "Across the papers",
        section="papers/index.html",
        about=facts.title if facts else "Figures and tables that compare all mechanisms.",
        content={
            "facts": facts,
            "read": getattr(paper_of(key), "read_words", ""),
            "key": key,
            "mechanisms": facts.mechanisms if facts else (),
            "beside": [] if drawings else _suite_figures(site, facts),
            "counts": count_of(claims["verdict"]),
            "claims": shown_claims(claims),
            "figures": [_drawing_entry(each) for each in drawings if each.is_figure],
            "tables": [_drawing_entry(each) for each in drawings if not each.is_figure],
        },
    )


def _suite_figures(site: SiteData, facts: PaperFacts) -> list[DrawnFile]:
    """Return the figures across the papers whose numbers include a mechanism of the paper."""
    return [
        each
        for each in site.drawings.values()
        if each.drawing.paper == SUITE
        and each.is_figure
        and set(facts.mechanisms) & set(each.data.get("mechanism", []))
    ]


def _drawing_entry(drawing: DrawnFile) -> dict:
    data = drawing.data
    # Omit empty columns.
    data = data.loc[:, data.notna().any()]
    return {
        "drawing": drawing,
        "columns": list(data.columns),
        "numeric": [pd.api.types.is_numeric_dtype(data[name]) for name in data],
        "rows": data.head(LONGEST_TABLE).astype(object).values.tolist(),
        "more": max(0, len(data) - LONGEST_TABLE),
        "studies": list(drawing.drawing.studies),
        "notes": sentences(drawing.note) if drawing.note else [],
    }


def reproduced_page(site: SiteData) -> Page:
    """Make the page of the drawings that reproduce a figure or a table of a paper."""
    entries: dict[str, list[dict]] = {}
    for name, words in read_yaml(PICTURES).items():
        if drawing := site.drawings.get(name):
            own = site.claims[[is_about(claim, drawing) for _, claim in site.claims.iterrows()]]
            entry = {"drawing": drawing, "words": words, "claims": shown_claims(own)}
            entries.setdefault(drawing.drawing.paper, []).append(entry)
    return Page(
        path="reproduced.html",
        template="reproduced.html",
        title="What reproduces",
        section="papers/index.html",
        about="The papers' figures and tables with results in words, beside ours, with verdicts.",
        content={"papers": [(site.papers[key], own) for key, own in entries.items()]},
    )
