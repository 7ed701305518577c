"""Judge the claims of the papers; the work is in claims/ledger.py."""

from pathlib import Path

from claims.ledger import write_ledger
from runs.job import job

with job(snakemake.log[0]):
    write_ledger(Path(snakemake.output.csv).parent)
