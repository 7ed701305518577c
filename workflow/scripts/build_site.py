"""Build the site of a run; the work is in site_builder/."""

from pathlib import Path

from claims.mechanism_titles import name_own
from runs.job import job
from site_builder.build import build

with job(snakemake.log[0]):
    name_own(snakemake.config.get("also") or ())
    site = Path(snakemake.output[0])
    build(site.parent, site)
