"""Run the cells of one batch; the work is in runs/runner.py."""

from pathlib import Path

from runs.job import end_with, ending_with_planner
from runs.runner import CellError, require_sources, run_batch

rows = Path(snakemake.output.rows)
try:
    with ending_with_planner():
        require_sources(snakemake.params.sources, snakemake.params.digest)
        run_batch(
            snakemake.params.cells,
            # results/<run>/batches/<study>/<batch>.parquet
            rows.parents[2],
            rows,
            Path(snakemake.output.timings),
            limits=snakemake.config["limits"],
        )
except (CellError, OSError) as error:
    end_with(f"error: {error}", snakemake.log[0])
