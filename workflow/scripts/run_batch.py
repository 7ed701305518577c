"""Run the cells of one batch; the work is in runs/runner.py."""

from pathlib import Path

from mechanisms.query.words import in_one_line
from runs.job import exit_with_planner, fail_job
from runs.plan import PlanError, read_plan
from runs.runner import CellError, run_batch

stamp = Path(snakemake.output[0])
# results/<run>/batches/<study>/<batch>.json
run = stamp.parents[2]
try:
    with exit_with_planner():
        batch = read_plan(run, snakemake.wildcards.batch, snakemake.params.digest)
        batch.require_code()
        run_batch(batch.cells, run, stamp, limits=snakemake.config["limits"], commit=batch.commit)
except (CellError, PlanError, OSError) as error:
    fail_job(in_one_line(error), snakemake.log[0])
