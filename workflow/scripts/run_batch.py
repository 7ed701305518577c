"""Run the cells of one batch; the work is in runs/runner.py."""

from pathlib import Path

from mechanisms.query.words import in_one_line
from runs.batches import PlanError, read_plan, write_stamp
from runs.job import exit_with_planner, fail_job
from runs.runner import CellError, run_cells

# results/<run>/batches/<study>/<batch>.txt
run = Path(snakemake.output[0]).parents[2]
try:
    with exit_with_planner():
        plan = read_plan(run, snakemake.wildcards.batch, snakemake.params.digest)
        plan.require_code()
        limits = snakemake.config["limits"]
        run_cells(plan.batch.cells, run, limits=limits, commit=plan.commit)
        write_stamp(run, plan.batch)
except (CellError, PlanError, OSError) as error:
    fail_job(in_one_line(error), snakemake.log[0])
