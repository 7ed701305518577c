"""Build the site of a run; the work is in site_builder/."""

from pathlib import Path

from runs.job import job
from site_builder.build import build

with job(snakemake.log[0]):
    site = Path(snakemake.output[0])
    build(site.parent, site)
