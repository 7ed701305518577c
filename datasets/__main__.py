"""List the data sets, or fetch official ones: `python -m datasets list | fetch NAME...`."""

import os
import sys
from pathlib import Path

from datasets import DATASETS, DataError, fetch
from datasets.catalogue import require_known
from datasets.fetching.checksums import present_form
from mechanisms.cli.arguments import Parser, add_command, run
from mechanisms.query.words import in_one_line


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0, 1 after a DataError, or 2 if a name is unknown."""
    options = _parser().parse_args(arguments)
    if options.command == "list":
        return _list(options.folder)
    try:
        for name in options.names:
            require_known(name)
    except DataError as error:
        print(in_one_line(error), file=sys.stderr)
        return 2
    failed = False
    for name in options.names:
        try:
            print(f"{name}: verified in {fetch(name, options.folder, mirror=options.mirror)}")
        except DataError as error:
            print(in_one_line(error), file=sys.stderr)
            failed = True
    return int(failed)


def _parser() -> Parser:
    parser = Parser(prog="python -m datasets", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = add_command(commands, "list", "show all data sets and which files are present")
    fetching = add_command(commands, "fetch", "download or copy official files and verify them")
    fetching.add_argument("names", metavar="NAME", nargs="+", help="a name that `list` shows")
    for command in (listing, fetching):
        command.add_argument(
            "--folder", type=Path, default="data", help="data folder (default: data)"
        )
    fetching.add_argument(
        "--mirror",
        default=os.environ.get("DATA_MIRROR"),
        help="folder or URL tried first (default: the environment variable DATA_MIRROR)",
    )
    return parser


def _list(folder: Path) -> int:
    layout = "{:<18}{:<11}{:<11}{:<65}{}"
    rows = [layout.format("name", "source", "in folder", "title", "records")]
    for dataset in DATASETS.values():
        counts = ", ".join(f"{part} {count:,}" for part, count in dataset.rows.items())
        present = "-"
        if dataset.source == "official":
            present = "yes" if present_form(dataset, folder / dataset.name) else "no"
        rows.append(layout.format(dataset.name, dataset.source, present, dataset.title, counts))
    print("\n".join(row.rstrip() for row in rows))
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
