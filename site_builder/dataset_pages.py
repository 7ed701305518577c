"""The page of data sets: source, licence, checksums, the unit of a record, and the users."""

from datasets import DATASETS
from datasets.titles import dataset_title
from site_builder.site_data import Page, SiteData

SOURCES = {
    "official": "downloaded from its publisher and checked against a checksum",
    "bundled": "part of scikit-learn",
    "simulated": "simulated here, from a seed",
}


def data_page(site: SiteData) -> Page:
    """Make the page with every entry of the catalogue."""
    used: dict[str, list[dict]] = {}
    for study, rows in site.run.rows.items():
        known = site.studies.get(study)
        for dataset in rows["dataset"].unique():
            # The entry of the catalogue from which the study derives its data set.
            key = known.files_of(dataset) if known else dataset
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
        entries.append({"key": key, "entry": entry, "title": dataset_title(key), "uses": uses})
    return Page(
        path="data.html",
        template="datasets.html",
        title="Data",
        section="data.html",
        about="Every data set with its source, its licence and what a record is.",
        content={"datasets": entries, "sources": SOURCES},
    )
