"""Build the site of a run; the work is in site_builder/."""

from pathlib import Path

from runs.job import job
from site_builder.build import build
from site_builder.run_folder import RunFolder

with job(snakemake.log[0]):
    site = Path(snakemake.output[0])
    build(RunFolder(site.parent), site)
