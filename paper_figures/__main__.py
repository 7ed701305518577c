"""Redraw the figures and tables of a run, or judge the papers' claims again.

python -m paper_figures draw RUN [NAME...]
    Draw the named figures and tables from the stored results of the run, or all of them. If the
    run lacks the data for a drawing, its files and stderr say so.
python -m paper_figures judge RUN
    Judge the claims of the papers by these results.
python -m paper_figures show RUN CLAIM [--all]
    Judge one claim, such as r1-thm5, by these results and print its numbers; --all adds how it
    was judged.
python -m paper_figures where RUN
    List the paths of the run's figures, tables, verdicts and rows.
"""

import argparse
import sys
import textwrap
from pathlib import Path

from claims.claim import all_claims
from claims.judges import all_judges
from claims.ledger import IMPLIED, evaluate, implied_epsilons, write_ledger
from claims.ledger_pages import claim_lines
from mechanisms.cli.arguments import Parser, run
from mechanisms.query.words import in_one_line, with_minus
from paper_figures.drawings import draw_or_explain, drawings_for
from runs.manifest import ENDING, origins_in
from runs.result_table import DamagedTable
from runs.results import read_results
from runs.stored import RESULTS, tables_of
from studies.base.settings import ConfigError, nearest

PLACES = {
    "figures": "figures",
    "tables": "tables",
    "ledger": "claims.md",
    "rows": "results.csv",
    "studies": "studies",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _options(arguments)
    folder = RESULTS / options.run
    try:
        stored = tables_of(options.run)
        if options.command == "show":
            return _show(folder, options.names[0], whole=options.all)
        if options.command == "judge":
            write_ledger(folder)
            print(f"ledger   {folder / 'claims.md'}")
        if options.command == "draw":
            _draw(folder, stored, options.names)
    except (ConfigError, DamagedTable) as error:
        print(in_one_line(error), file=sys.stderr)
        return 2
    if options.command == "where":
        for name, path in PLACES.items():
            if (folder / path).exists():
                print(f"{name:<8} {folder / path}")
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line and refuse what its command does not take."""
    parser = Parser(
        prog="python -m paper_figures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("draw", "judge", "show", "where"))
    parser.add_argument("run", help="name of a folder of results/")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a claim, for show; figures and tables, for draw"
    )
    parser.add_argument("--all", action="store_true", help="say how the claim was judged too")
    options = parser.parse_args(arguments)
    if options.command == "show" and len(options.names) != 1:
        parser.error(
            f"show takes a run and the id of one claim, got {len(options.names)}; "
            f"{RESULTS / options.run / PLACES['ledger']} lists the claims"
        )
    if options.command in ("judge", "where") and options.names:
        parser.error(
            f"{options.command} takes a run alone, got {options.names[0]!r} too: leave it out, or "
            "use show or draw"
        )
    if options.all and options.command != "show":
        parser.error(f"--all applies to show alone, got it with {options.command}: leave it out")
    return options


def _show(folder: Path, name: str, *, whole: bool) -> int:
    """Judge one claim and print its entry of the ledger."""
    claims = {claim.id: claim for claim in all_claims()}
    if name not in claims:
        near = nearest(name, claims, " did you mean {!r}?")
        raise ConfigError(
            f"there is no claim {name!r};{near} {folder / PLACES['ledger']} lists them all"
        )
    judged = evaluate(folder, name)
    if whole:
        judged[IMPLIED] = implied_epsilons(judged, folder)
    (claim,) = judged.to_dict("records")
    first, *lines = claim_lines(claim, whole=whole)
    print(f"{first}\n")
    for line in lines:
        print(textwrap.fill(with_minus(line), 99, subsequent_indent="    ", break_on_hyphens=False))
    declared = claims[name]
    tables = all_judges()[declared.judge].tables(declared.arguments)
    for study in sorted({table.partition(".")[0] for table in tables}):
        origins = origins_in(folder / "studies" / f"{study}{ENDING}")
        shown = origins if whole else origins[:1]
        more = [f"{len(origins) - 1} more commits"] * (len(origins) > len(shown))
        if origins:
            print(textwrap.fill(f"Rows of {study}: {'; '.join([*shown, *more])}.", 99))
    return 0


def _draw(folder: Path, stored: list[Path], names: list[str]) -> None:
    """Draw the named figures and tables, or all for which the run has the studies."""
    rows = read_results(path for path in stored if path.name.count(".") == 1).rows
    available = set(rows["study"]) | set(rows["study"] + "/" + rows["dataset"])
    drawings = drawings_for(available)
    for name in names:
        if name not in drawings:
            near = nearest(name, drawings, "; did you mean {!r}?") or "."
            has = ", ".join(sorted(drawings))
            raise ConfigError(f"{folder} has no figure or table {name!r}{near} It has {has}")
    for name in names or drawings:
        reason = draw_or_explain(drawings[name], folder / "studies", folder / drawings[name].kind)
        if reason is None:
            print(f"{name}: drawn")
        else:
            print(f"{name}: not drawn, {reason}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(run(main))
