"""A page per mechanism: its noise, its claim, what is true of it, what it costs, how to call it."""

import math
from collections.abc import Iterator

import pandas as pd

from datasets import DATASETS
from datasets.titles import dataset_title
from mechanisms import AdditiveMechanism
from mechanisms.privacy.fisher import MEANING
from paper_figures.selections import LEVELS
from paper_figures.style import CALIBRATION_TITLES, mechanism_title
from site_builder.charts import Chart, over_size
from site_builder.claim_pages import shown_claims
from site_builder.error_over_size import noise_by_size
from site_builder.error_rates import FALSE_POSITIVE_RATE, error_rates
from site_builder.example_calls import BUDGET, ExampleCall, example_call
from site_builder.formulas import formulas, typeset
from site_builder.leaderboard_pages import view_title
from site_builder.profile_grid import DELTA, EPSILONS, SHAPES, profile_grid
from site_builder.site_data import Page, SiteData
from site_builder.start_page import REFERENCE
from site_builder.words import paragraphs

GUARANTEES = {
    "pure": "pure differential privacy (delta 0)",
    "approximate": "approximate differential privacy (epsilon, delta)",
    "local": "pure local differential privacy",
    "none": "no privacy: it is a control",
}


def mechanism_pages(site: SiteData) -> Iterator[Page]:
    """The overview and every registered mechanism."""
    losses = noise_by_size(site.run)
    for key, cls in site.mechanisms.items():
        own = site.settings_of(key)
        call = example_call(cls)
        errors = error_rates(call.mechanism if call else None)
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
                "formula": typeset(formulas()[key]) if key in formulas() else None,
                "about_it": paragraphs(cls.__doc__ or ""),
                "options": cls.options,
                "refuted": site.refuted.get(key),
                "grid": profile_grid(cls),
                "grid_sizes": [math.prod(shape) for shape in SHAPES],
                "grid_epsilons": EPSILONS,
                "grid_delta": DELTA,
                "verdicts": own,
                "kappa": _kappa(call),
                "kappa_meaning": MEANING,
                "cost": _cost_chart(key, losses),
                "cost_rows": _cost_rows(key, losses),
                "wins": _wins(site, key),
                "claims": claims_on(site, key),
                "rescaled": call is not None and key in site.refuted and call.has_exact,
                "line": site.matrix.lines[key],
                "errors": errors,
                "false_positive_rate": FALSE_POSITIVE_RATE,
                "call": call,
                "budget": BUDGET,
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


def _kappa(call: ExampleCall | None) -> float | None:
    """Of the example's noise, None where it has none."""
    if call is None or not isinstance(call.mechanism, AdditiveMechanism):
        return None
    return call.mechanism.noise.kappa()


def _cost_rows(key: str, losses: pd.DataFrame | None) -> list[dict]:
    """Noise per element by size: as published and at equal true privacy."""
    if losses is None:
        return []
    own = losses[losses["mechanism"] == key]
    if own.empty or key in LEVELS:
        return []
    table = own.pivot_table(index="size", columns="calibration", values="noise")
    return [
        {"size": int(size), **{name: row.get(name, math.nan) for name in CALIBRATION_TITLES}}
        for size, row in table.iterrows()
    ]


def _cost_chart(key: str, losses: pd.DataFrame | None) -> Chart | None:
    """Noise per element over M, beside that of the analytic Gaussian."""
    if losses is None or key in LEVELS or not (losses["mechanism"] == key).any():
        return None
    own = losses[losses["mechanism"].isin({key, REFERENCE})]
    # The reference once: as published it is exactly calibrated.
    own = own[(own["mechanism"] == key) | (own["calibration"] == "exact")]
    rows = own.assign(
        value=own["noise"],
        calibration=own["calibration"].map(CALIBRATION_TITLES),
    )
    rows["label"] = [
        mechanism_title(row.mechanism) + (f", {row.calibration}" if row.mechanism == key else "")
        for row in rows.itertuples()
    ]
    return over_size(
        "cost",
        rows[["label", "mechanism", "calibration", "size", "value"]],
        y_title="noise per element",
        description="Root mean square noise per element over the number of elements, as published "
        "and at equal true privacy.",
        dash="calibration",
    )


def _wins(site: SiteData, key: str) -> list[dict]:
    """The tables at equal true privacy that it leads alone or with others."""
    found = []
    for family, views in site.families.values():
        for view in views:
            if view.calibration != "exact" or view.measure is not view.study.ranked[0]:
                continue
            tied = view.best_mechanisms
            if view.tells_apart(view.main) and key in tied:
                found.append(
                    {
                        "family": family,
                        "view": view,
                        "title": view_title(view),
                        "tied": len(tied),
                    }
                )
    return found


def claims_on(site: SiteData, key: str) -> list[dict]:
    """The guarantees that the ledger judges of the mechanism's paper."""
    ledger = site.run.claims
    own = ledger[(ledger["paper"] == site.paper_of(key)) & (ledger["kind"] == "guarantee")]
    return shown_claims(own)


def _unsupported(site: SiteData, key: str) -> list[dict]:
    """Where it gave no value, and why."""
    own = site.run.missing
    own = own[own["mechanism"] == key]
    found = []
    for (study, dataset, calibration, status, message), _ in own.groupby(
        ["study", "dataset", "calibration", "status", "message"], sort=False
    ):
        found.append(
            {
                "study": study,
                "data": dataset_title(dataset) if dataset in DATASETS else dataset,
                "calibration": CALIBRATION_TITLES[calibration],
                "status": status,
                "message": message,
            }
        )
    return found
