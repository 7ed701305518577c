"""Write the tables of a run as CSV; the work is in runs/aggregation.py."""

from pathlib import Path

from runs.aggregation import write_csv
from runs.job import job

with job(snakemake.log[0]):
    studies = [Path(table).stem for table in snakemake.input.rows]
    write_csv(Path(snakemake.output.csv).parent, studies)
