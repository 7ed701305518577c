"""Command line: `python -m datasets list | fetch NAME... [--folder] [--mirror]`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from datasets import DATASETS, DataError, fetch
from datasets.fetching.checksums import present_form


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 0 if all went well, 1 after a DataError."""
    options = _parser().parse_args(arguments)
    if options.command == "list":
        _list(Path(options.folder))
        return 0
    failed = False
    for name in options.names:
        try:
            print(f"{name}: verified in {fetch(name, options.folder, mirror=options.mirror)}")
        except DataError as error:
            print(f"error: {error}", file=sys.stderr)
            failed = True
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m datasets", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="the table of data sets and what is there")
    fetching = commands.add_parser("fetch", help="download or copy, and verify")
    fetching.add_argument("names", metavar="NAME", nargs="+", help="data set, see list")
    for command in (listing, fetching):
        command.add_argument("--folder", default="data", help="data folder (default: data)")
    fetching.add_argument(
        "--mirror",
        default=os.environ.get("DATA_MIRROR"),
        help="folder or URL tried first (default: the environment variable DATA_MIRROR)",
    )
    return parser


def _list(folder: Path) -> None:
    line = "{:<18}{:<11}{:<11}{:<65}{}"
    print(line.format("name", "source", "in folder", "title", "records"))
    for dataset in DATASETS.values():
        rows = ", ".join(f"{part} {count:,}" for part, count in dataset.rows.items())
        there = "no" if dataset.source == "official" else "-"
        if dataset.files and present_form(dataset, folder / dataset.name) is not None:
            there = "yes"
        print(line.format(dataset.name, dataset.source, there, dataset.title, rows).rstrip())


if __name__ == "__main__":
    sys.exit(main())
