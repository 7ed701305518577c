"""A page per mechanism: its noise, its claim, its true privacy and its cost."""

import math
from collections.abc import Iterator

import pandas as pd

from claims.judged_rows import LEVELS
from datasets.titles import dataset_title
from paper_figures.style import CALIBRATION_TITLES
from site_builder.claim_pages import shown_claims
from site_builder.error_over_size import noise_by_size
from site_builder.leaderboard_pages import view_title
from site_builder.site_data import Page, SiteData
from site_builder.words import paragraphs

GUARANTEES = {
    "pure": "pure differential privacy (delta 0)",
    "approximate": "approximate differential privacy (epsilon, delta)",
    "local": "pure local differential privacy",
    "none": "no privacy: it is a control",
}


def mechanism_pages(site: SiteData) -> Iterator[Page]:
    """Yield a page for every registered mechanism, and the overview."""
    losses = noise_by_size(site.run)
    for key, cls in site.mechanisms.items():
        own = site.settings_of(key)
        yield Page(
            path=f"mechanisms/{key}.html",
            template="mechanism.html",
            title=cls.title,
            section="mechanisms/index.html",
            about=f"{cls.title}: its noise, its claim, its true privacy and its cost.",
            content={
                "key": key,
                "cls": cls,
                "source": site.source_of(cls.paper),
                "paper": site.paper_of(key),
                "guarantee": GUARANTEES[cls.guarantee],
                "about_it": paragraphs(cls.__doc__ or ""),
                "options": cls.options,
                "refuted": site.refuted.get(key),
                "verdicts": own,
                "cost": _cost(key, losses),
                "wins": _wins(site, key),
                "claims": claims_on(site, key),
                "line": site.matrix.lines[key],
                "unsupported": _unsupported(site, key),
            },
        )
    yield Page(
        path="mechanisms/index.html",
        template="mechanisms.html",
        title="Mechanisms",
        section="mechanisms/index.html",
        about="Every mechanism with its source, its claim and what is true of it.",
        content={"matrix": site.matrix},
    )


def _cost(key: str, losses: pd.DataFrame | None) -> dict | None:
    """Return the root mean square noise per element by size at both calibrations, and its budget.

    Return None for the controls of `LEVELS`, and if the run has no such rows.
    """
    if losses is None or key in LEVELS:
        return None
    own = losses[losses["mechanism"] == key]
    if own.empty:
        return None
    table = own.pivot_table(index="size", columns="calibration", values="noise")
    return {
        "epsilon": float(own["epsilon"].iloc[0]),
        "delta": float(own["delta"].iloc[0]),
        "sizes": [
            {"size": int(size), **{name: row.get(name, math.nan) for name in CALIBRATION_TITLES}}
            for size, row in table.iterrows()
        ],
    }


def _wins(site: SiteData, key: str) -> list[dict]:
    """Return the tables by a study's main measure, at equal true privacy, that it leads or ties.

    A table counts only if the best is better than an answer without data.
    """
    return [
        {
            "family": family,
            "view": view,
            "title": view_title(view),
            "tied": len(view.best_mechanisms),
        }
        for family, views in site.families.values()
        for view in views
        if view.is_main and view.tells_apart(view.main) and key in view.best_mechanisms
    ]


def claims_on(site: SiteData, key: str) -> list[dict]:
    """Return the ledger's claims of a guarantee in the mechanism's paper."""
    ledger = site.run.claims
    own = ledger[(ledger["paper"] == site.paper_of(key)) & (ledger["kind"] == "guarantee")]
    return shown_claims(own)


def _unsupported(site: SiteData, key: str) -> list[dict]:
    """Return where the mechanism gave no value, and why."""
    own = site.run.missing[site.run.missing["mechanism"] == key]
    reasons = own[["study", "dataset", "calibration", "status", "message"]].drop_duplicates()
    return [
        {
            "study": row.study,
            "data": dataset_title(row.dataset),
            "calibration": CALIBRATION_TITLES[row.calibration],
            "status": row.status,
            "message": row.message,
        }
        for row in reasons.itertuples()
    ]
