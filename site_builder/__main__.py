"""Build the site of a run: pages, figures and downloads in one folder, without a server.

python -m site_builder build RUN [--out FOLDER]
    Build the site of results/RUN, by default into results/RUN/site. Open its index.html.
"""

import argparse
import sys
from pathlib import Path

from mechanisms.cli.arguments import Parser, run
from mechanisms.query.words import in_one_line
from runs.result_table import DamagedTable
from runs.results import tables_of
from site_builder.build import build
from studies.base.settings import ConfigError


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = Parser(
        prog="python -m site_builder",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("build",))
    parser.add_argument("run", help="name of a folder of results/")
    parser.add_argument("--out", type=Path, help="folder of the site")
    options = parser.parse_args(arguments)
    folder = Path("results", options.run)
    out = options.out or folder / "site"
    try:
        tables_of(options.run)
        pages = build(folder, out)
    except (ConfigError, DamagedTable) as error:
        print(in_one_line(error), file=sys.stderr)
        return 2
    print(f"{len(pages)} pages; open {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
