"""Draw the figures and tables of a run, or judge the papers' claims by its results.

python -m paper_figures draw RUN [NAME...]
    Draw the named figures and tables from the stored results of the run; without names, draw all.
    If the run lacks the data for a drawing, the drawing's files and stderr say so.
python -m paper_figures judge RUN
    Judge the claims of the papers by the stored results, and write the ledger.
python -m paper_figures show RUN CLAIM [--all]
    Judge one claim, such as r1-thm5, and print its numbers; --all adds how it was judged.
"""

import argparse
import sys
import textwrap
from pathlib import Path

from claims.claim import all_claims
from claims.judges import all_judges
from claims.ledger import IMPLIED, evaluate, implied_epsilons, write_ledger
from claims.ledger_pages import claim_lines
from mechanisms.cli.arguments import Parser, add_command, run
from mechanisms.query.words import in_one_line, with_minus
from paper_figures.drawings import draw_or_explain, drawings_for
from runs.provenance import ENDING, origins_in
from runs.result_table import DamagedTable
from runs.results import RESULTS, read_results, require_known, tables_of
from studies.base.settings import ConfigError, nearest

LEDGER = "claims.md"


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _options(arguments)
    folder = RESULTS / options.run
    try:
        stored = tables_of(options.run)
        if options.command == "show":
            _show(folder, options.claim, whole=options.all)
        elif options.command == "judge":
            write_ledger(folder)
            print(f"ledger   {folder / LEDGER}")
        else:
            _draw(folder, stored, options.names)
    except (ConfigError, DamagedTable) as error:
        print(in_one_line(error), file=sys.stderr)
        return 2
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(
        prog="python -m paper_figures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    draw = add_command(commands, "draw", "draw figures and tables")
    judge = add_command(commands, "judge", "judge all claims")
    show = add_command(commands, "show", "judge one claim and print its numbers")
    for command in (draw, judge, show):
        command.add_argument("run", help=f"name of a folder of {RESULTS}/")
    draw.add_argument("names", nargs="*", metavar="NAME", help="a figure or table; without it, all")
    show.add_argument("claim", help=f"the id of a claim, listed in {LEDGER} of the run")
    show.add_argument("--all", action="store_true", help="say how the claim was judged too")
    return parser.parse_args(arguments)


def _show(folder: Path, name: str, *, whole: bool) -> None:
    """Judge one claim and print its entry of the ledger."""
    claims = {claim.id: claim for claim in all_claims()}
    if name not in claims:
        suggestion = nearest(name, claims, " did you mean {!r}?")
        raise ConfigError(
            f"there is no claim {name!r};{suggestion} {folder / LEDGER} lists them all"
        )
    judged = evaluate(folder, name)
    if whole:
        judged[IMPLIED] = implied_epsilons(judged, folder)
    (claim,) = judged.to_dict("records")
    first, *lines = claim_lines(claim, whole=whole)
    print(f"{first}\n")
    for line in lines:
        print(textwrap.fill(with_minus(line), 99, subsequent_indent="    ", break_on_hyphens=False))
    tables = all_judges()[claims[name].judge].tables(claims[name].arguments)
    for study in sorted({table.partition(".")[0] for table in tables}):
        origins = origins_in(folder / "studies" / f"{study}{ENDING}")
        shown = origins if whole else origins[:1]
        more = [f"{len(origins) - 1} more commits"] * (len(origins) > len(shown))
        if origins:
            print(textwrap.fill(f"Rows of {study}: {'; '.join([*shown, *more])}.", 99))


def _draw(folder: Path, stored: list[Path], names: list[str]) -> None:
    """Draw the named figures and tables; without names, draw all whose studies the run has."""
    rows = read_results(path for path in stored if path.name.count(".") == 1).rows
    available = set(rows["study"]) | set(rows["study"] + "/" + rows["dataset"])
    drawings = drawings_for(available)
    require_known("figure or table", names, drawings, str(folder))
    for name in names or drawings:
        reason = draw_or_explain(drawings[name], folder / "studies", folder / drawings[name].kind)
        if reason is None:
            print(f"{name}: drawn")
        else:
            print(f"{name}: not drawn, {reason}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(run(main))
