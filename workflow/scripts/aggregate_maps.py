"""Join the maps of the batches of a study; see runs/aggregation.py."""

from pathlib import Path

from runs.aggregation import aggregate_maps
from runs.job import job

with job(snakemake.log[0]):
    aggregate_maps(snakemake.input.rows, snakemake.params.maps, Path(snakemake.output[0]))
