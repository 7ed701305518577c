"""Run the cells of one batch; the work is in runs/runner.py."""

from pathlib import Path

from mechanisms.query.words import in_one_line
from runs.cell_spec import CellSpec
from runs.job import end_with, ending_with_planner
from runs.runner import CellError, require_sources, run_batch

stamp = Path(snakemake.output[0])
try:
    with ending_with_planner():
        require_sources(snakemake.params.sources, snakemake.params.digest)
        run_batch(
            [CellSpec.from_json(cell) for cell in snakemake.params.cells],
            # results/<run>/batches/<study>/<batch>.json
            stamp.parents[2],
            stamp,
            limits=snakemake.config["limits"],
        )
except (CellError, OSError) as error:
    end_with(in_one_line(error), snakemake.log[0])
