"""The page on what reproduces: the papers' figures and tables in words, ours, and the verdicts."""

import re
from pathlib import Path

import pandas as pd

from site_builder.claim_pages import shown_claims
from site_builder.run_folder import DrawnFile
from site_builder.site_data import Page, SiteData
from studies.base.yaml_file import read_yaml

PICTURES = Path(__file__).with_name("pictures.yaml")
_NAMED = re.compile(r"_(fig|table)(\d+)$")


def reproduced_page(site: SiteData) -> Page:
    """Make the page of those drawings that reproduce a figure or a table of a paper."""
    entries: dict[str, list[dict]] = {}
    for name, words in read_yaml(PICTURES).items():
        if drawing := site.run.drawings.get(name):
            own = claims_on(drawing, site.run.claims)
            entry = {"drawing": drawing, "words": words, "claims": shown_claims(own)}
            entries.setdefault(drawing.drawing.paper, []).append(entry | {"place": place(name)})
    return Page(
        path="reproduced.html",
        template="reproduced.html",
        title="What reproduces",
        section="papers/index.html",
        about="The papers' figures and tables with results in words, beside ours, with verdicts.",
        content={"papers": [(site.papers[key], own) for key, own in entries.items()]},
    )


def place(drawing: str) -> str:
    """Return the place of a drawing's original in its paper, such as "Figure 4"."""
    kind, number = _NAMED.search(drawing).groups()
    return f"{'Figure' if kind == 'fig' else 'Table'} {number}"


def claims_on(drawing: DrawnFile, ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the claims that name the figure or table of a drawing."""
    named = ledger["where"].str.contains(rf"\b{place(drawing.name)}(?!\d)")
    return ledger[(ledger["paper"] == drawing.drawing.paper) & named]
