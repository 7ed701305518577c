"""Join the cells of a study; the checks are in runs/aggregation.py."""

from pathlib import Path

from runs.aggregation import join_study
from runs.batches import read_plan
from runs.job import job
from runs.provenance import JOINED
from runs.result_table import TableError

with job(snakemake.log[0]):
    # results/<run>/studies/<study>.parquet
    table = Path(snakemake.output[0])
    run, study = table.parents[1], table.stem
    # A stamp holds the digest of its batch, whose cells have been measured.
    plans = [
        read_plan(run, f"{study}/{Path(stamp).stem}", Path(stamp).read_text(encoding="utf-8"))
        for stamp in snakemake.input
    ]
    cells = [cell for plan in plans for cell in plan.batch.cells]
    try:
        join_study(study, cells, run, snakemake.params.maps)
    except TableError:
        # The next run then looks at every cell of the study again.
        for stamp in snakemake.input:
            Path(stamp).unlink(missing_ok=True)
        raise
    (table.parent / f"{study}{JOINED}").touch()
