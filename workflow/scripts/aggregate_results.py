"""Join the experiments of a run; the work is in experiments/aggregate.py."""

from pathlib import Path

from experiments.aggregate import aggregate_results

aggregate_results(
    snakemake.input.rows,
    snakemake.input.timings,
    parquet=Path(snakemake.output.parquet),
    csv=Path(snakemake.output.csv),
    timings_csv=Path(snakemake.output.timings),
    failures_csv=Path(snakemake.output.failures),
)
