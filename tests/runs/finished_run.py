"""A run of one study from its cells to its tables, without Snakemake."""

from runs.aggregation import join_study, points_of
from runs.batches import batches_of
from runs.cells import cells_of
from runs.runner import run_batch


def finish(config, run):
    """Run a config of one study: write cells, stamps and tables."""
    batches = batches_of(config)
    stamps = stamps_of(config, run)
    for batch, stamp in zip(batches, stamps, strict=True):
        run_batch(batch.specs(config), run, stamp, limits=config["limits"], commit="first")
    join(config, run)
    return run


def stamps_of(config, run):
    return [run / "batches" / f"{batch.stem}.json" for batch in batches_of(config)]


def join(config, run):
    """Write the tables of a study; return the bytes of its rows."""
    (study,) = config["studies"]
    tables = run / "studies"
    rows = tables / f"{study}.parquet"
    join_study(
        stamps_of(config, run),
        run,
        points_of([cell.spec(config) for cell in cells_of(config)]),
        rows=rows,
        timings=tables / f"{study}.timings.parquet",
        maps=None,
        of_maps=(),
    )
    return rows.read_bytes()
