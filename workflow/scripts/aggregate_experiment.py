"""Join the batches of a study; the checks are in runs/aggregation.py."""

from pathlib import Path

from runs.aggregation import aggregate_experiment
from runs.job import job

with job(snakemake.log[0]):
    aggregate_experiment(
        snakemake.input.rows,
        snakemake.input.timings,
        {tuple(cell): points for *cell, points in snakemake.params.points},
        snakemake.params.maps,
        Path(snakemake.output.rows),
        Path(snakemake.output.timings),
    )
