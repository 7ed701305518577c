"""Join the batches of a study; the checks are in runs/aggregation.py."""

from pathlib import Path

from runs.aggregation import aggregate_study
from runs.job import job

with job(snakemake.log[0]):
    aggregate_study(
        snakemake.input.rows,
        snakemake.input.timings,
        {tuple(cell): points for *cell, points in snakemake.params.points},
        snakemake.params.maps,
        Path(snakemake.output.rows),
        Path(snakemake.output.timings),
    )
