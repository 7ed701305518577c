"""The command `report`: everything that can be said of anybody's noise, on one page."""

import argparse
import dataclasses
import shlex
from pathlib import Path
from typing import Any

from mechanisms.cli.arguments import new_folder, number, writing
from mechanisms.cli.compare_command import tell
from mechanisms.cli.query_arguments import (
    add_shape_and_sensitivities,
    in_options,
    option_value,
    query_of,
)
from mechanisms.query.query import Query
from mechanisms.report.page import page
from mechanisms.report.report import Report, report_on
from mechanisms.report.standard_queries import DELTA
from mechanisms.report.subject import program, subject_of
from mechanisms.report.words import summary, undecided

# Reasons that are printed; the page has all.
REASONS = 3
_DESCRIPTION = (
    "Checks a mechanism, a function or a program and writes report.html: its checks against "
    "itself, the true privacy of its claim over epsilon and M, its error at equal true privacy "
    "beside all others and the limit, and what has no verdict. It takes at most ten minutes. The "
    "code runs in child processes with limits of time and memory, but it can read and write what "
    "you can: report on no code that you do not trust."
)


def add_report_command(commands) -> None:
    """Add the command to the subparsers `commands`; its options are those of `verify`."""
    parser = commands.add_parser(
        "report", help="a page on anybody's noise: checks, true privacy, error, rank",
        description=_DESCRIPTION,
    )  # fmt: skip
    parser.add_argument(
        "what",
        nargs="?",
        metavar="FILE.py:NAME",
        help="a class or a function (value, rng); or module:NAME, or a mechanism's key",
    )
    parser.add_argument("--program", metavar="COMMAND", help="a program, as for audit")
    parser.add_argument(
        "--text", action="store_true", help="the program reads and writes lines of numbers"
    )
    parser.add_argument(
        "--out",
        type=new_folder,
        default=Path("report"),
        help="folder of the page (default: report)",
    )
    parser.add_argument(
        "--option", type=option_value, action="append", default=[], metavar="NAME=VALUE",
        help="an option of the mechanism; may be repeated",
    )  # fmt: skip
    add_shape_and_sensitivities(parser, required=False)
    parser.add_argument(
        "--epsilon", type=number, help="the claim of a function or program (default: six values)"
    )
    parser.add_argument(
        "--delta",
        type=number,
        help=f"delta of the claim (default: {DELTA:g}; 0 for a function or program)",
    )

    def run(options: argparse.Namespace) -> tuple[Report, Path]:
        if (options.what is None) == (options.program is None):
            given = "neither" if options.what is None else f"{options.what} and --program"
            raise ValueError(f"report needs one of FILE.py:NAME and --program, got {given}")
        if options.program is not None:
            subject = program(options.program, text=options.text)
        else:
            subject = subject_of(options.what, dict(options.option))
        stated = None
        if options.shape is not None:
            stated = _fields(query_of(options))
        claim = {"epsilon": options.epsilon, "delta": options.delta}
        found = _with_options(report_on(subject, stated=stated, **claim, tell=tell))
        command = shlex.join(["python", "-m", "mechanisms", *options.arguments])
        path = options.out / "report.html"
        with writing(path):
            options.out.mkdir(parents=True, exist_ok=True)
            path.write_text(page(found, command), encoding="utf-8")
        tell("")
        return found, path

    parser.set_defaults(run=run, show=_show, json=False)


def _show(written: tuple[Report, Path]) -> str:
    found, path = written
    lines = [f"{found.about['title']}, {found.query}", *summary(found), *undecided(found)[:REASONS]]
    return "\n".join([*lines, f"The page, for a browser: {path}"])


def _with_options(report: Report) -> Report:
    """The report, with the options of the command line where its reasons name fields of a query."""
    told = {name: getattr(report, name) for name in ("cells", "families", "comparisons")}
    return dataclasses.replace(report, **_in_options(told))


def _in_options(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _in_options(each) for key, each in value.items()}
    if isinstance(value, list):
        return list(map(_in_options, value))
    return in_options(value) if isinstance(value, str) else value


def _fields(query: Query) -> dict:
    fields = {each.name: getattr(query, each.name) for each in dataclasses.fields(query)}
    return {name: value for name, value in fields.items() if value is not None}
