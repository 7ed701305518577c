"""The command line without Snakemake: check a config, run one cell, check a run.

python -m runs check CONFIG
    Check a config; count its cells, jobs and grid points, and the cells that still have to run.
python -m runs check RUN [--sample 5] [--seed N] [--seconds S]
    Recompute a random sample of a finished run's cells in a temporary folder and compare the
    numbers within the tolerances of their studies; `reference` is the run in the repository.
python -m runs restore RUN
    Copy the cells that are current from the committed tables of a run into its store, so that the
    next run measures only cells that are stale or new.
python -m runs adopt RUN --sample N [--study ...] [--seconds S] [--seed N]
    Use this after a change of code that changes no number. It recomputes N cells of each study; if
    all agree, it notes in the manifests of the run that its rows belong to this code.
python -m runs start [--config CONFIG] [--cores N]
    Run a config with Snakemake, showing a line of progress and the findings at the end.
python -m runs run STUDY --dataset D --mechanism M
    Run one cell of a config.
python -m runs redo RUN [--status error timeout] [--study ...] [--dataset ...] [--mechanism ...]
                        [--other-packages]
    Remove the results of cells, by default of all, so that the next run measures them again.
"""

import argparse
import math
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import mechanisms
from datasets import DataError, fetch
from mechanisms.base.mechanism import CALIBRATIONS
from mechanisms.cli import arguments as reading
from mechanisms.query.words import in_one_line
from runs import rerun
from runs.batches import batches_of
from runs.cell_spec import CellSpec
from runs.cells import cells_of, results_folder
from runs.config import read_config
from runs.provenance import commit_of_tree
from runs.result_table import CELL, FAILURES, OK, STATUSES, DamagedTable
from runs.results import REFERENCE, RESULTS, frame_of, require_known, tables_of
from runs.runner import CellError, run_cells
from runs.start import start
from runs.store import cell_file, provenance_in, read_cell
from runs.travel import redo, restore
from studies.base.settings import ConfigError
from studies.base.study import Study, all_studies

# The default number of cells that `check RUN` recomputes.
SAMPLE = 5


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status.

    The status is 1 if data, a cell or a point of `run` fails, if a file of results is damaged, or
    if numbers lie outside their tolerances. It is 2 for bad input. After `start`, it is
    Snakemake's.
    """
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (ConfigError, mechanisms.UnknownMechanism) as error:
        print(in_one_line(error), file=sys.stderr)
        return 2
    except (CellError, DataError, DamagedTable) as error:
        print(in_one_line(error), file=sys.stderr)
        return 1


def _check(options) -> int:
    if not options.what.endswith(".yaml"):
        return _check_run(options)
    for name in ("sample", "seed", "seconds"):
        if getattr(options, name) not in (None, math.inf):
            raise ConfigError(
                f"--{name} is for a run, such as {REFERENCE}, and {options.what} is a config; "
                f"leave --{name} out"
            )
    config = read_config(options.what)
    cells = cells_of(config)
    stale, packages = Counter(), Counter()
    for cell in cells:
        found = provenance_in(cell_file(results_folder(config), cell.stem))
        if found is None:
            stale["not measured"] += 1
            continue
        if changed := found.differs(cell):
            stale[f"other {', '.join(changed)}"] += 1
        packages.update(found.other_packages())
    points = sum(len(cell.points) for cell in cells)
    print(
        f"{options.what}: {len(cells)} cells, {len(batches_of(config))} jobs and {points} grid "
        f"points; {stale.total()} cells have no current result"
    )
    for words, count in (*stale.most_common(), *packages.most_common()):
        print(f"  {words}: {count} cells")
    return 0


def _check_run(options) -> int:
    run = options.what
    config = read_config(_config_of(run))
    seed = _seed_of(options)
    stored = rerun.cells_with_values(run, cells_of(config), options.seconds)
    if not stored:
        within = f" and known seconds within {options.seconds}; allow more or leave --seconds out"
        raise ConfigError(
            f"{run} has no cell with a value{within if options.seconds < math.inf else '; run it'}"
        )
    cells = rerun.sample_of(stored, options.sample or SAMPLE, seed)
    print(f"{run}: {len(cells)} of {len(stored)} cells again, --seed {seed}", flush=True)
    return int(_wrong(run, cells, config) > 0)


def _config_of(run: str) -> Path:
    """Return the config of a run, which is the file of that name in config/.

    Raises:
        ConfigError: The run has no tables; the message lists the runs that have some.
    """
    tables_of(run)
    return Path("config", f"{run}.yaml")


def _seed_of(options) -> int:
    return secrets.randbelow(2**32) if options.seed is None else options.seed


def _wrong(run: str, cells: list[CellSpec], config: dict) -> int:
    """Recompute cells of a run, print how they compare, and return how many disagree."""
    wrong = 0
    for cell in cells:
        with tempfile.TemporaryDirectory() as folder:
            recomputed = frame_of(read_cell(_measure(cell, config, Path(folder)))[0])
            found = rerun.compare(rerun.stored_rows(run, cell), recomputed, cell)
        wrong += bool(found.problems)
        print(f"{'differs' if found.problems else 'agrees':<8} {cell.stem}: {found}", flush=True)
    if wrong:
        print(f"{wrong} of {len(cells)} cells lie outside the tolerances of their studies")
    return wrong


def _restore(options) -> int:
    config = read_config(_config_of(options.name))
    current, cells = restore(config, results_folder(config))
    print(
        f"{options.name}: {current} of {cells} cells are current; "
        f"snakemake --cores N --configfile {_config_of(options.name)} measures the others"
    )
    return 0


def _adopt(options) -> int:
    config, seed = read_config(_config_of(options.name)), _seed_of(options)
    commit = commit_of_tree()
    if not commit or commit.endswith("-dirty"):
        raise ConfigError("adopt notes a commit in the manifests: commit the code first")
    require_known("study", options.study, config["studies"], options.name)
    found = rerun.adoptions(
        config,
        options.name,
        options.sample,
        seed,
        studies=options.study,
        seconds=options.seconds,
    )
    if not found:
        print(
            f"{options.name}: no cell with a value, and within --seconds, is stale by its code "
            "alone"
        )
        return 0
    cells = [cell for adoption in found for cell in adoption.sample]
    stale = sum(len(adoption.cells) for adoption in found)
    print(f"{options.name}: {len(cells)} of {stale} cells again, --seed {seed}", flush=True)
    if _wrong(options.name, cells, config):
        print("nothing was adopted")
        return 1
    for adoption in found:
        rerun.adopt(adoption, commit, seed)
    print(
        f"{stale} cells of {options.name} now belong to {commit}; "
        f"`restore {options.name}` brings them into the store"
    )
    return 0


def _run(options) -> int:
    config = read_config(options.config)
    # This command runs all trials and epsilons in one cell, even if the config splits them.
    for name, settings in config["studies"].items():
        config["studies"][name] = settings.model_copy(
            update={"split_trials": False, "split_epsilons": False}
        )
    cells, place = cells_of(config), options.config
    for name in CELL:
        given = getattr(options, name)
        known = list(dict.fromkeys(getattr(cell, name) for cell in cells))
        require_known(name, [given], known, place)
        cells = [cell for cell in cells if getattr(cell, name) == given]
        place = f"{place}, {name} {given}"
    (cell,) = cells
    path = _measure(cell, config, results_folder(config))
    rows = frame_of(read_cell(path)[0])
    print(_cell_table(rows, all_studies()[cell.study]))
    print(f"rows, seconds and memory in {path}")
    return int(rows["status"].isin(FAILURES).any())


def _cell_table(rows: pd.DataFrame, study: Study) -> str:
    """Format a cell's means over trials, the meanings of its metrics and the points without values.

    Args:
        rows: The rows of one cell, in the order of the store.
        study: The study of the cell; its metrics have the units.
    """
    coordinates = [each.name for each in study.coordinates]
    measured = rows[(rows["status"] == OK) & ~rows["metric"].isin(study.maps)]
    groups = measured.groupby(
        ["shape", "epsilon", "metric", *coordinates], sort=False, dropna=False
    )
    means = groups.agg(mean=("value", "mean"), trials=("trial", "nunique")).reset_index()
    means["unit"] = [study.metric(metric).unit or None for metric in means["metric"]]
    shown = means.dropna(axis="columns", how="all").astype(object).fillna("-")
    table = shown.to_string(index=False, float_format="{:.5g}".format)
    meanings = [
        f"{metric}: {study.metric(metric).meaning}" for metric in measured["metric"].unique()
    ]
    points = rows[rows["status"] != OK].drop_duplicates(["shape", "epsilon", "status", "message"])
    reasons = [
        f"{row.status}: {row.shape}, epsilon {row.epsilon:g}: {row.message}"
        for row in points.itertuples()
    ]
    return "\n".join([table if len(means) else "no numbers:", *meanings, *reasons])


def _redo(options) -> int:
    wanted = {name: getattr(options, name) for name in ("study", "dataset", "mechanism", "status")}
    stems = redo(RESULTS / options.name, wanted, other_packages=options.other_packages)
    print("\n".join(stems))
    print(f"cells of {options.name} that its next run will measure again: {len(stems)}")
    return 0


def _measure(cell: CellSpec, config: dict, run: Path) -> Path:
    """Measure a cell unless its rows are current, and return its file."""
    for name in cell.reads:
        fetch(name, Path(config["data"]["folder"]), mirror=config["data"]["mirror"])
    run_cells([cell], run, limits=config["limits"], commit=commit_of_tree())
    return cell_file(run, cell.stem)


def _add_choice(command: argparse.ArgumentParser) -> None:
    """Add the options that choose a sample of cells."""
    command.add_argument(
        "--seed",
        type=reading.whole_number(0, 2**64 - 1),
        help="seed of the sample (default: a new one each time)",
    )
    command.add_argument(
        "--seconds",
        type=reading.whole_number(1, 10**6),
        default=math.inf,
        help="only cells whose processor time in the run is known and at most this",
    )


def _parser() -> reading.Parser:
    parser = reading.Parser(
        prog="python -m runs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def add(name: str, words: str, run: Callable) -> argparse.ArgumentParser:
        command = reading.add_command(commands, name, words)
        command.set_defaults(run=run)
        return command

    def add_for_run(name: str, words: str, run: Callable) -> argparse.ArgumentParser:
        command = add(name, words, run)
        command.add_argument("name", metavar="run", help="a folder of results/, like reference")
        return command

    check = add("check", "check a config, or the numbers of a run", _check)
    check.add_argument(
        "what",
        metavar="CONFIG or RUN",
        help="a YAML file, or a folder of results/ such as reference",
    )
    check.add_argument(
        "--sample",
        type=reading.whole_number(1, 10**6),
        help=f"number of cells of a run to recompute (default: {SAMPLE})",
    )
    _add_choice(check)
    add_for_run("restore", "copy the current cells out of the tables of a run", _restore)
    adopting = add_for_run("adopt", "note that a change of code changes no number of a run", _adopt)
    adopting.add_argument(
        "--sample",
        type=reading.whole_number(1, 10**6),
        required=True,
        help="number of cells of each study to recompute",
    )
    adopting.add_argument("--study", nargs="+", default=(), help="studies (default: all)")
    _add_choice(adopting)
    starting = add(
        "start",
        "run a config with Snakemake",
        lambda options: start(options.config, options.cores),
    )
    starting.add_argument(
        "--config", default="config/quick.yaml", help="default: config/quick.yaml"
    )
    starting.add_argument("--cores", default="all", help="default: all")
    run = add("run", "run one cell, without Snakemake", _run)
    run.add_argument("study", metavar="STUDY", help="a study of the config")
    run.add_argument("--dataset", required=True, help="a data set of that study")
    run.add_argument("--mechanism", required=True, help="a mechanism or variant of the config")
    run.add_argument(
        "--calibration",
        default="published",
        choices=CALIBRATIONS,
        help="noise as published, or rescaled to the budget's true privacy (default: published)",
    )
    run.add_argument("--config", default="config/quick.yaml", help="default: config/quick.yaml")
    redoing = add_for_run(
        "redo",
        "remove results of cells (default: all), so that the next run measures them again",
        _redo,
    )
    redoing.add_argument(
        "--status",
        nargs="+",
        default=(),
        choices=STATUSES,
        help="cells with a row of this status, such as error or timeout",
    )
    for option, what in (
        ("--study", "cells of these studies"),
        ("--dataset", "cells on these data sets"),
        ("--mechanism", "cells of these mechanisms or variants"),
    ):
        redoing.add_argument(option, nargs="+", default=(), help=what)
    redoing.add_argument(
        "--other-packages",
        action="store_true",
        help="cells that were measured with other versions of the packages",
    )
    return parser


if __name__ == "__main__":
    sys.exit(reading.run(main))
