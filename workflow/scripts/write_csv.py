"""Write the tables of a run as CSV; the work is in runs/aggregation.py."""

from pathlib import Path

from runs.aggregation import write_csv
from runs.job import job

with job(snakemake.log[0]):
    write_csv(
        snakemake.input.rows,
        snakemake.input.timings,
        csv=Path(snakemake.output.csv),
        timed=Path(snakemake.output.timings),
        failed=Path(snakemake.output.failures),
    )
