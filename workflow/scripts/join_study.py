"""Join the cells of a study; the checks are in runs/aggregation.py."""

from pathlib import Path

from runs.aggregation import join_study
from runs.job import job

with job(snakemake.log[0]):
    rows, timings, *maps = map(Path, snakemake.output)
    join_study(
        map(Path, snakemake.input),
        # results/<run>/studies/<study>.parquet
        rows.parents[1],
        {tuple(cell): points for *cell, points in snakemake.params.points},
        rows=rows,
        timings=timings,
        maps=maps[0] if maps else None,
        of_maps=snakemake.params.maps,
    )
