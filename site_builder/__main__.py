"""The site of a run: pages, charts and downloads in one folder, without a server.

python -m site_builder build RUN [--out FOLDER]
    Build the site of results/RUN, by default into results/RUN/site. Open its index.html.
python -m site_builder paper RUN [--out FILE.pdf]
    Write a paper on results/RUN, by default results/RUN/paper.pdf. Its numbers are read from rows.
"""

if __name__ == "__main__":
    from mechanisms.cli.interrupts import end_quietly

    end_quietly()

import argparse
import sys
from pathlib import Path

from mechanisms.cli.arguments import Parser, new_file, new_folder, run, writing
from mechanisms.query.words import in_one_line
from runs.stored import tables_of
from site_builder.build import ForeignFolder, build
from site_builder.paper import NoPaper, write_paper
from site_builder.run_folder import NoResults, RunFolder
from studies.base.settings import ConfigError


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = Parser(
        prog="python -m site_builder",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("build", "paper"))
    parser.add_argument("run", help="name of a folder of results/")
    parser.add_argument("--out", help="folder of the site, or file of the paper")
    options = parser.parse_args(arguments)
    folder = Path("results", options.run)
    out = folder / {"build": "site", "paper": "paper.pdf"}[options.command]
    if options.out is not None:
        try:
            out = {"build": new_folder, "paper": new_file}[options.command](options.out)
        except argparse.ArgumentTypeError as error:
            parser.error(f"argument --out: {error}")
    try:
        tables_of(options.run)
        with writing(out):
            if options.command == "paper":
                write_paper(options.run, out)
                print(out)
                return 0
            pages = build(RunFolder(folder), out)
    except (ConfigError, NoResults, NoPaper, ForeignFolder) as error:
        print(in_one_line(error), file=sys.stderr)
        return 2
    print(f"{len(pages)} pages; open {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
