"""Join the cells of an experiment; the checks are in runs/aggregation.py."""

import sys
from pathlib import Path

from runs.aggregation import aggregate_experiment
from runs.frames import TableError

sys.stdout = sys.stderr = open(snakemake.log[0], "w", buffering=1)

try:
    aggregate_experiment(
        snakemake.input.rows,
        snakemake.input.timings,
        {tuple(cell): points for *cell, points in snakemake.params.points},
        snakemake.params.maps,
        Path(snakemake.output.rows),
        Path(snakemake.output.timings),
        strict=snakemake.params.strict,
    )
except TableError as error:
    sys.exit(f"error: {error}")
