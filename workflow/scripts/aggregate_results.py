"""Join the studies of a run; the work is in runs/aggregation.py."""

from pathlib import Path

from runs.aggregation import aggregate_results
from runs.job import job

with job(snakemake.log[0]):
    aggregate_results(
        snakemake.input.rows,
        snakemake.input.timings,
        parquet=Path(snakemake.output.parquet),
        csv=Path(snakemake.output.csv),
        timings_csv=Path(snakemake.output.timings),
        failures_csv=Path(snakemake.output.failures),
    )
