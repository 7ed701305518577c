"""Command line: ``python -m paper_figures draw RUN`` redraws every figure and table from the
stored results of a run; ``judge RUN`` judges the claims by them; ``where RUN`` says where all
that lies."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from paper_figures.drawings import DrawingError, draw, drawings_for
from paper_figures.ledger import write_ledger
from paper_figures.results import read_results


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m paper_figures", description=__doc__)
    parser.add_argument("command", choices=("draw", "judge", "where"))
    parser.add_argument("run", help="name of a folder of results/")
    options = parser.parse_args(arguments)
    folder = Path("results", options.run)
    stored = sorted((folder / "experiments").glob("*.parquet"))
    if not stored:
        print(f"error: {folder} holds no results; run `make run` first", file=sys.stderr)
        return 2
    if options.command == "draw":
        return _draw(folder, stored)
    if options.command == "judge":
        write_ledger(folder)
        print(f"ledger   {folder / 'claims.md'}")
        return 0
    places = ("figures", "tables", "claims.md", "results.csv")
    for name, path in zip(("figures", "tables", "ledger", "rows"), places, strict=True):
        if (folder / path).exists():
            print(f"{name:<8} {folder / path}")
    return 0


def _draw(folder: Path, stored: list[Path]) -> int:
    rows = read_results(stored).rows
    available = set(rows["experiment"]) | set(rows["experiment"] + "/" + rows["dataset"])
    failed = 0
    for name, drawing in drawings_for(available).items():
        files = [folder / "experiments" / file for file in drawing.files]
        try:
            draw(name, [str(path) for path in files], folder / drawing.kind)
        except DrawingError as error:
            print(f"{name}: not drawn, {error}", file=sys.stderr)
            failed = 1
            continue
        print(f"{name}: drawn")
    return failed


if __name__ == "__main__":
    sys.exit(main())
