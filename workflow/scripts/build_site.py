"""Build the site of a run; the work is in site_builder/."""

import sys
from pathlib import Path

from site_builder.build import build
from site_builder.run_folder import RunFolder

sys.stdout = sys.stderr = open(snakemake.log[0], "w", buffering=1)

site = Path(snakemake.output[0])
build(RunFolder(site.parent), site)
