"""Command line without Snakemake: run one cell, check a config, list the studies."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import mechanisms
from datasets import DataError, fetch
from experiments.contract.settings import ConfigError
from experiments.contract.study import all_experiments, maps_of
from mechanisms.contract.mechanism import CALIBRATIONS
from runs.batches import batches_of, cells_to_run
from runs.cells import Cell, cells_of, results_folder
from runs.config import read_config
from runs.frames import read_frame
from runs.redo import Wanted, redo
from runs.result_table import OK
from runs.runner import CellError, cell_files, run_cells


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status (0, 1 for a cell that could not start, 2)."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (ConfigError, mechanisms.UnknownMechanism) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (CellError, DataError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _check(options) -> int:
    config = read_config(options.config)
    cells = cells_of(config)
    points = sum(len(cell.points(config)) for cell in cells)
    todo = len(cells_to_run(config, results_folder(config)))
    print(
        f"{options.config}: {len(cells)} cells in {len(batches_of(config))} jobs, with {points} "
        f"grid points; {todo} cells have no current result"
    )
    return 0


def _list(options) -> int:
    for name, experiment in all_experiments().items():
        print(f"{name:<14} {experiment.PAPER:<10} data: {', '.join(experiment.DATASETS)}")
        print(f"{'':<14} {experiment.__doc__.strip().splitlines()[0]}")
    return 0


def _run(options) -> int:
    config = read_config(options.config)
    cell = Cell(
        experiment=options.experiment,
        dataset=options.dataset,
        mechanism=options.mechanism,
        calibration=options.calibration,
    )
    # Here all trials run in one job, whatever the config says.
    cells = [replace(each, trial=None) for each in cells_of(config)]
    if cell not in cells:
        near = list(dict.fromkeys(c.stem for c in cells if c.experiment == cell.experiment))
        raise ConfigError(
            f"{options.config} has no cell {cell.stem}; it has "
            f"{', '.join(near) or 'no cell of this experiment'}"
        )
    for name in cell.downloads(config):
        fetch(name, Path(config["data"]["folder"]), mirror=config["data"]["mirror"])
    folder, planned = results_folder(config), cell.planned(config)
    run_cells([planned], folder, limits=config["limits"])
    rows, timings = cell_files(planned, folder)
    frame = read_frame(rows)
    experiment = all_experiments()[cell.experiment]
    measured = frame[(frame["status"] == OK) & ~frame["metric"].isin(maps_of(experiment))]
    summary = measured.groupby(
        ["shape", "epsilon", "metric", *(c.name for c in experiment.COORDINATES)],
        sort=False,
        dropna=False,
    )["value"].mean()
    print(summary.to_string())
    for _, row in frame[frame["status"] != OK].iterrows():
        print(f"{row['status']}: {row['shape']}, epsilon {row['epsilon']:g}: {row['message']}")
    print(f"rows in {rows}, seconds and memory in {timings}")
    return 0


def _redo(options) -> int:
    wanted = Wanted(
        statuses=options.status,
        studies=options.study,
        datasets=options.dataset,
        mechanisms=options.mechanism,
    )
    stems = redo(Path("results") / options.name, wanted)
    print("\n".join(stems))
    cells = "cell" if len(stems) == 1 else "cells"
    print(f"{len(stems)} {cells} of {options.name} will be measured again by its next run")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m runs", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every study").set_defaults(run=_list)
    check = commands.add_parser("check", help="check a config")
    check.add_argument("config")
    check.set_defaults(run=_check)
    run = commands.add_parser("run", help="one cell, without Snakemake")
    run.add_argument("experiment")
    run.add_argument("--dataset", required=True)
    run.add_argument("--mechanism", required=True, help="a mechanism or variant of the config")
    run.add_argument("--calibration", default="published", choices=CALIBRATIONS)
    run.add_argument("--config", default="config/quick.yaml")
    run.set_defaults(run=_run)
    again = commands.add_parser(
        "redo", help="remove results of cells, so that the next run measures them again"
    )
    again.add_argument("name", metavar="run", help="a folder of results/")
    for option, what in (
        ("--status", "cells with a row of this status, such as error or timeout"),
        ("--study", "cells of these studies"),
        ("--dataset", "cells on these data sets"),
        ("--mechanism", "cells of these mechanisms or variants"),
    ):
        again.add_argument(option, nargs="+", default=(), help=what)
    again.set_defaults(run=_redo)
    return parser


if __name__ == "__main__":
    sys.exit(main())
