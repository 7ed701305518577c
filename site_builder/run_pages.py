"""The page of rows without a value, and the page on reproducing each number."""

from paper_figures.style import CALIBRATION_TITLES
from runs.result_table import OK, STATUSES
from site_builder.site_data import Page, SiteData
from studies.base.yaml_file import read_yaml

STATUS_WORDS = {
    "unsupported": "the query or the budget does not meet the assumptions of the mechanism",
    "error": "the mechanism raised an exception",
    "timeout": "the mechanism took longer than the run allows",
    "inconsistent": "the mechanism's releases contradict the noise or the privacy that it states",
}


def failures_page(site: SiteData) -> Page:
    """Make the page of rows without a value, grouped by reason."""
    keys = ["study", "mechanism", "status", "message"]
    missing = site.run.missing
    rows = []
    for key, own in missing.groupby(keys, sort=False, dropna=False):
        entry = {
            "calibrations": [CALIBRATION_TITLES[each] for each in own["calibration"].unique()],
            "datasets": list(own["dataset"].unique()),
            "count": len(own),
        }
        rows.append(dict(zip(keys, key, strict=True)) | entry)
    rows.sort(key=lambda row: (-STATUSES.index(row["status"]), row["study"]))
    return Page(
        path="failures.html",
        template="failures.html",
        title="Rows without a value, and why",
        section="failures.html",
        about="Mechanisms that do not support a query, and the reasons.",
        content={
            "rows": rows,
            "counts": missing["status"].value_counts().to_dict(),
            "status_words": STATUS_WORDS,
            "total": sum(map(len, site.run.rows.values())),
        },
    )


def reproduce_page(site: SiteData) -> Page:
    """Make the page with commands, config, commit and seed for every study and drawing."""
    studies = []
    for name, rows in site.run.rows.items():
        study = site.studies.get(name)
        # Show a cell that has a value if there is one; others only print why they have none.
        first = rows.sort_values("status", key=lambda status: status != OK, kind="stable").iloc[0]
        cells = rows[["dataset", "mechanism", "calibration"]].drop_duplicates()
        studies.append(
            {
                "name": name,
                "about": study.title if study else "",
                "cells": len(cells),
                "origins": site.origins[name],
                "rows": len(rows),
                "datasets": list(rows["dataset"].unique()),
                "first": first,
                "metrics": {each.name: each.described for each in study.metrics} if study else {},
            }
        )
    return Page(
        path="reproduce.html",
        template="reproduce.html",
        title="Reproduce every number",
        section="reproduce.html",
        about="The commands, the config, the commit and the seeds behind every number.",
        content={
            "studies": studies,
            "seed": read_yaml(site.config).get("seed") if site.config else None,
        },
    )
