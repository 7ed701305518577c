"""The pages on data sets, on rows without a value, and on how to reproduce each number."""

from datasets import DATASETS
from paper_figures.style import CALIBRATION_TITLES
from runs.result_table import OK, STATUSES
from site_builder.site_data import Page, SiteData
from studies.base.study import all_studies
from studies.base.yaml_file import read_yaml

SOURCES = {
    "official": "downloaded from its publisher and checked against a checksum",
    "bundled": "part of scikit-learn",
    "simulated": "simulated here, from a seed",
}
STATUS_WORDS = {
    "unsupported": "the query or the budget does not meet the assumptions of the mechanism",
    "error": "the mechanism raised an exception",
    "timeout": "the mechanism took longer than the run allows",
    "inconsistent": "the mechanism's releases contradict the noise or the privacy that it states",
}


def data_page(site: SiteData) -> Page:
    """Make the page of all data sets of the catalogue, with the studies that use them."""
    used: dict[str, list[dict]] = {}
    for study, rows in site.rows.items():
        for dataset in rows["dataset"].unique():
            # The study derives its data set from this entry of the catalogue.
            key = all_studies()[study].files_of(dataset)
            used.setdefault(key, []).append({"study": study, "dataset": dataset})
    families = {
        (view.study.name, view.dataset): (family, view)
        for family, views in site.families
        for view in reversed(views)
    }
    entries = []
    for key, entry in DATASETS.items():
        uses = [
            use | {"ranked": families.get((use["study"], use["dataset"]))}
            for use in used.get(key, [])
        ]
        entries.append({"key": key, "entry": entry, "uses": uses})
    return Page(
        path="data.html",
        template="datasets.html",
        title="Data",
        section="data.html",
        about="Every data set with its source, its licence and what a record is.",
        content={"datasets": entries, "sources": SOURCES},
    )


def failures_page(site: SiteData) -> Page:
    """Make the page of rows without a value, grouped by reason."""
    keys = ["study", "mechanism", "status", "message"]
    missing = site.missing
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
            "total": sum(map(len, site.rows.values())),
        },
    )


def reproduce_page(site: SiteData) -> Page:
    """Make the page with the commands, the config, the commits and the seed of the run."""
    studies = []
    for name, rows in site.rows.items():
        study = all_studies()[name]
        # Show a cell that has a value, if there is one: others only print why they have none.
        first = rows.sort_values("status", key=lambda status: status != OK, kind="stable").iloc[0]
        cells = rows[["dataset", "mechanism", "calibration"]].drop_duplicates()
        studies.append(
            {
                "name": name,
                "about": study.title,
                "cells": len(cells),
                "origins": site.origins[name],
                "rows": len(rows),
                "datasets": list(rows["dataset"].unique()),
                "first": first,
                "metrics": {each.name: each.described for each in study.metrics},
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
