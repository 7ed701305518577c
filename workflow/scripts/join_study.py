"""Join the cells of a study; the checks are in runs/aggregation.py."""

from pathlib import Path

from runs.aggregation import join_study, points_of
from runs.job import job
from runs.plan import read_plan

with job(snakemake.log[0]):
    rows, timings, _, joined, *maps = map(Path, snakemake.output)
    # results/<run>/studies/<study>.parquet
    run = rows.parents[1]
    stamps = list(map(Path, snakemake.input))
    plans = [read_plan(run, f"{rows.stem}/{stamp.stem}") for stamp in stamps]
    join_study(
        stamps,
        run,
        points_of(cell for plan in plans for cell in plan.cells),
        rows=rows,
        timings=timings,
        maps=maps[0] if maps else None,
        of_maps=snakemake.params.maps,
    )
    joined.touch()
