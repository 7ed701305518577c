"""A run of one study from its cells to its tables, without Snakemake."""

from runs.aggregation import join_study
from runs.batches import batches_of, write_stamp
from runs.cells import cells_of
from runs.runner import run_cells


def finish(config, run):
    """Run a config of one study: write cells, stamps and tables."""
    for batch in batches_of(config):
        measure(batch, config, run, "first")
    join(config, run)
    return run


def measure(batch, config, run, commit):
    """Run the cells of a batch and leave its stamp, as its job does."""
    run_cells(batch.cells, run, limits=config["limits"], commit=commit)
    write_stamp(run, batch)


def join(config, run):
    """Write the tables of a study; return the bytes of its rows."""
    (study,) = config["studies"]
    join_study(study, cells_of(config), run, of_maps=())
    return (run / "studies" / f"{study}.parquet").read_bytes()
