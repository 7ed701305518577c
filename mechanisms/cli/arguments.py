"""Parses command lines: negative values, numbers with limits, and errors of one line."""

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Callable

from mechanisms.query.words import in_one_line, nearest
from mechanisms.query.written_numbers import number_in, whole_number_in

# Exit statuses, as of a program killed by a signal: 128 + SIGINT, 128 + SIGPIPE.
INTERRUPTED = 130
CLOSED_PIPE = 141


class Parser(argparse.ArgumentParser):
    """An argument parser that accepts negative values and reports an error in one line.

    The exit status of such an error is 2, as in argparse.
    """

    def __init__(self, **options) -> None:
        super().__init__(**options)
        # So that values such as -1e-5 and -0.5,1 are read: argparse takes them for options.
        self._negative_number_matcher = re.compile(r"-(\d|\.\d|inf|nan)")

    def error(self, message: str):
        unknown = re.match(r"unrecognized arguments: (--[^\s=]+)", message)
        if unknown:
            message += nearest(unknown[1], self._all_options(), "; did you mean {}?")
        self.exit(2, in_one_line(f"{message}; see {self.prog} --help") + "\n")

    def _all_options(self) -> set[str]:
        """Return the options of this parser and of all its commands."""
        found = set(self._option_string_actions)
        commands = [each.choices for each in self._actions if isinstance(each.choices, dict)]
        return found.union(*(each._all_options() for known in commands for each in known.values()))


def add_command(commands, name: str, about: str) -> Parser:
    """Add a command to subparsers; the overview and the command's own help both show `about`."""
    return commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Return a type for `add_argument`: a whole number from low to high; 1e5 counts as one."""

    def read(text: str) -> int:
        with contextlib.suppress(ValueError):
            value = whole_number_in(text)
            if low <= value <= high:
                return value
        raise argparse.ArgumentTypeError(
            f"must be a whole number from {low} to {high}, got {text!r}"
        )

    return read


def share(text: str) -> float:
    """Read a number between 0 and 1, both excluded, for `add_argument`."""
    with contextlib.suppress(ValueError):
        value = number_in(text)
        if 0 < value < 1:
            return value
    raise argparse.ArgumentTypeError(f"must be a number in (0, 1), got {text!r}")


def number(text: str) -> float:
    """Read a number such as 0.5 or 1e-5, for `add_argument`; whoever uses it checks its range."""
    try:
        return number_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a number such as 1e-5: {error}") from None


def run(main: Callable[[], int]) -> int:
    """Run `main` and return its exit status, even if its output cannot be written."""
    try:
        status = main()
        # Unlike sys.stdout.flush(), this does nothing if there is no standard output.
        print(end="", flush=True)
    except OSError as error:
        # Python flushes again on exit, which must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return CLOSED_PIPE
        # Not 1, which says that a mechanism contradicts itself.
        with contextlib.suppress(OSError):
            print(in_one_line(error), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return status
