"""Print the summary of a run; a strict run with failed cells ends here with status 1."""

import sys
from pathlib import Path

from runs.job import job
from runs.results import summary_of

with job(snakemake.log[0]):
    out = Path(snakemake.output[0])
    text, failed = summary_of(out.parent, list(snakemake.input))
    out.write_text(text, encoding="utf-8")
    if failed and snakemake.params.strict:
        print(text)
        sys.exit(1)
