"""A page for each mechanism: its noise, its claim, its true privacy and its cost."""

from collections.abc import Iterator

from claims.judged_rows import LEVELS
from mechanisms.verification.standing import SETTINGS
from paper_figures.style import CALIBRATION_TITLES
from site_builder.claim_pages import shown_claims
from site_builder.leaderboards import View
from site_builder.site_data import Page, SiteData
from site_builder.words import paragraphs
from studies.base.families import Family

GUARANTEES = {
    "pure": "pure differential privacy (delta 0)",
    "approximate": "approximate differential privacy (epsilon, delta)",
    "local": "pure local differential privacy",
    "none": "no privacy: it is a control",
}


def mechanism_pages(site: SiteData) -> Iterator[Page]:
    """Yield the page of every registered mechanism, and the overview."""
    ledger = site.claims
    for key, cls in site.mechanisms.items():
        paper, line = site.paper_of(key), site.matrix.lines[key]
        own = ledger[(ledger["paper"] == paper) & (ledger["kind"] == "guarantee")]
        yield Page(
            path=f"mechanisms/{key}.html",
            template="mechanism.html",
            title=cls.title,
            section="mechanisms/index.html",
            about=f"{cls.title}: its noise, its claim, its true privacy and its cost.",
            content={
                "key": key,
                "cls": cls,
                "paper": paper,
                "guarantee": GUARANTEES[cls.guarantee],
                "about_it": paragraphs(cls.__doc__ or ""),
                "cost": _cost(site, key),
                "wins": _wins(site, key),
                "claims": shown_claims(own),
                "private": line.private,
                "told": f"{line.at} {SETTINGS}",
                "unsupported": _unsupported(site, key),
            },
        )
    yield Page(
        path="mechanisms/index.html",
        template="mechanisms.html",
        title="Mechanisms",
        section="mechanisms/index.html",
        about="Every mechanism with its source, its claim and what is true of it.",
        content={},
    )


def _cost(site: SiteData, key: str) -> dict | None:
    """Return the root mean square noise of an element, by size and calibration, and its budget.

    Return None for the controls in LEVELS, and if the run has no such rows.
    """
    own = site.noise[site.noise["mechanism"] == key]
    if own.empty or key in LEVELS:
        return None
    table = own.pivot_table(index="size", columns="calibration", values="noise")
    return {
        "epsilon": float(own["epsilon"].iloc[0]),
        "delta": float(own["delta"].iloc[0]),
        "sizes": table.reindex(columns=CALIBRATION_TITLES).reset_index().to_dict("records"),
    }


def _wins(site: SiteData, key: str) -> list[tuple[Family, View]]:
    """Return the main tables in which the mechanism is best, or tied with the best.

    A table counts only if its best mechanism is better than an answer without data.
    """
    return [
        (family, view)
        for family, views in site.families
        for view in views
        if view.is_main and view.ranking and key in view.best_mechanisms
    ]


def _unsupported(site: SiteData, key: str) -> list[dict]:
    """Return the cells in which the mechanism gave no value, with the reasons."""
    own = site.missing[site.missing["mechanism"] == key]
    reasons = own[["study", "dataset", "calibration", "status", "message"]].drop_duplicates()
    return reasons.to_dict("records")
