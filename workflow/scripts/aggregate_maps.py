"""Join the maps of the cells of an experiment; see runs/aggregation.py."""

import sys
from pathlib import Path

from runs.aggregation import aggregate_maps

sys.stdout = sys.stderr = open(snakemake.log[0], "w", buffering=1)

aggregate_maps(snakemake.input.rows, snakemake.params.maps, Path(snakemake.output[0]))
