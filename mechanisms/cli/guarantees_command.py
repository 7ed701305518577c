"""The command `guarantees`: labelled true and false guarantees, to test a checker."""

import argparse
import json

from mechanisms.cli.arguments import whole_number
from mechanisms.verification.labelled_guarantees import labelled_guarantees

_DESCRIPTION = (
    "Prints guarantees with their labels, one JSON object in a line: noise in closed form, a "
    "claim, the exact delta, and whether the claim holds. Test a checker with a seed that its "
    "author has not seen."
)


def add_guarantees_command(commands, common: argparse.ArgumentParser) -> None:
    """Add the command to the subparsers `commands`."""
    parser = commands.add_parser(
        "guarantees",
        parents=[common],
        help="labelled true and false guarantees, to test a checker",
        description=_DESCRIPTION,
    )
    parser.add_argument("--seed", type=whole_number(0, 2**64 - 1), required=True, help="any number")
    parser.add_argument(
        "--count", type=whole_number(1, 10**6), default=100, help="how many (default: 100)"
    )
    parser.set_defaults(run=_run, show=lambda found: "\n".join(map(json.dumps, found)))


def _run(options: argparse.Namespace) -> list[dict]:
    return list(labelled_guarantees(options.seed, options.count))
