"""Search over papers, mechanisms, claims, figures and data: a page and the index that it reads."""

import json
from collections.abc import Iterator

from datasets import DATASETS
from datasets.titles import dataset_title
from site_builder.claim_pages import TONES
from site_builder.site_data import Page, PaperFacts, SiteData
from site_builder.words import first_sentence, paragraphs


def search_page() -> Page:
    """The page; a script fills it."""
    return Page(
        path="search.html",
        template="search.html",
        title="Search",
        section="search.html",
        about="Search the papers, mechanisms, claims, figures and data sets.",
        content={},
    )


def search_script(site: SiteData) -> str:
    """The index as a script: pages that are opened as files cannot fetch JSON."""
    index = json.dumps(list(_entries(site)), ensure_ascii=False, separators=(",", ":"))
    return f'"use strict";\nconst searchIndex = {index};\n'


def _entries(site: SiteData) -> Iterator[dict[str, str]]:
    """What can be found: its kind, title, a line about it, further words, and its page."""
    for key, facts in site.papers.items():
        yield _entry("Paper", facts.title, _cited(facts), f"papers/{key}.html", facts.name, key)
    for key, cls in site.mechanisms.items():
        about = first_sentence(paragraphs(cls.__doc__ or cls.title)[0])
        source = site.source_of(cls.paper)
        line = site.matrix.lines[key]
        if line.private:
            about += f" Private as published? {line.private.capitalize()}, {line.at}."
        yield _entry("Mechanism", cls.title, about, f"mechanisms/{key}.html", key, source)
    for _, claim in site.run.claims.iterrows():
        paper = site.papers.get(claim["paper"])
        yield _entry(
            "Claim",
            claim["statement"],
            f"{site.source_of(claim['paper'])}, {claim['where']}",
            f"claims/{claim['claim']}.html",
            claim["claim"],
            claim["sentence"],
            _cited(paper) if paper else "",
        ) | {"verdict": claim["verdict"], "tone": TONES.get(claim["verdict"], "")}
    for name, drawn in site.run.drawings.items():
        link = f"papers/{drawn.drawing.paper}.html#{name}"
        kind = "Figure" if drawn.is_figure else "Table"
        yield _entry(kind, drawn.title, site.source_of(drawn.drawing.paper), link, name)
    for family, _ in site.families.values():
        yield _entry("Leaderboard", family.title, family.about, f"leaderboard/{family.key}.html")
    for key, entry in DATASETS.items():
        about = f"{entry.source}; a record is {entry.record}"
        yield _entry("Data", dataset_title(key), about, f"data/{key}.html", key, entry.citation)


def _entry(kind: str, title: str, about: str, link: str, *words: str) -> dict[str, str]:
    return {"kind": kind, "title": title, "about": about, "link": link, "words": " ".join(words)}


def _cited(facts: PaperFacts) -> str:
    return "; ".join(
        ", ".join(filter(None, (one.authors, one.venue, str(one.year), *dict(one.addresses))))
        for one in facts.references
    )
