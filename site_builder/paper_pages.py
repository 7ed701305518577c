"""A page per paper: its claims, its figures and tables, ours beside its numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from paper_figures.verdicts import count_of
from site_builder.claim_pages import shown_claims
from site_builder.run_folder import DrawnFile
from site_builder.site_data import SUITE, Page, SiteData

# A table with more rows is shown cut; its CSV has all.
LONGEST_TABLE = 60


def paper_pages(site: SiteData) -> Iterator[Page]:
    """The overview, the papers, and what belongs to none of them."""
    drawings = list(site.run.drawings.values())
    entries = []
    for key in (*site.papers, SUITE):
        own = [each for each in drawings if each.drawing.paper == key]
        claims = site.run.claims[site.run.claims["paper"] == key]
        if not own and claims.empty:
            continue
        entries.append(
            {
                "key": key,
                "facts": site.papers.get(key),
                "figures": sum(each.is_figure for each in own),
                "tables": sum(not each.is_figure for each in own),
                "counts": dict(count_of(claims["verdict"])),
            }
        )
        yield _paper_page(site, key, own, claims)
    yield Page(
        path="papers/index.html",
        template="papers.html",
        title="Papers",
        section="papers/index.html",
        about="Five papers on differential-privacy noise for matrices, drawn again.",
        content={"papers": entries},
    )


def _paper_page(site: SiteData, key: str, drawings: list[DrawnFile], claims: pd.DataFrame) -> Page:
    facts = site.papers.get(key)
    mechanisms = [name for name, cls in site.mechanisms.items() if cls.paper == key]
    return Page(
        path=f"papers/{key}.html",
        template="paper.html",
        title=f"{facts.name} ({facts.year})" if facts else "Across the papers",
        section="papers/index.html",
        about=facts.title if facts else "Figures and tables that compare all mechanisms.",
        content={
            "facts": facts,
            "key": key,
            "mechanisms": mechanisms,
            "counts": dict(count_of(claims["verdict"])),
            "claims": shown_claims(claims),
            "figures": [_drawn(each) for each in drawings if each.is_figure],
            "tables": [_drawn(each) for each in drawings if not each.is_figure],
        },
    )


def _drawn(drawing: DrawnFile) -> dict:
    data = drawing.data()
    # What is empty in every row says nothing.
    data = data.loc[:, data.notna().any()]
    return {
        "drawing": drawing,
        "columns": list(data.columns),
        "numeric": [pd.api.types.is_numeric_dtype(data[name]) for name in data],
        "rows": data.head(LONGEST_TABLE).astype(object).values.tolist(),
        "more": max(0, len(data) - LONGEST_TABLE),
        "studies": list(drawing.drawing.experiments),
    }
