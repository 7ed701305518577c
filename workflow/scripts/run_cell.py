"""Run one cell; the work is in runs/runner.py."""

import sys
from pathlib import Path

from runs.runner import CellError, run_cell

try:
    run_cell(
        snakemake.params.specification,
        list(snakemake.input.sources),
        Path(snakemake.output.rows),
        Path(snakemake.output.timings),
        limits=snakemake.config["limits"],
        log=Path(snakemake.log[0]),
    )
except CellError as error:
    sys.exit(f"error: {error}")
