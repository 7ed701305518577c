"""Arguments of a command line: negative values, numbers with limits, errors of one line."""

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Callable

from mechanisms.query.words import in_one_line, nearest
from mechanisms.query.written_numbers import number_in, whole_number_in

# Exit statuses: 128 + SIGINT, and of a program that wrote into a pipe nobody reads any more.
INTERRUPTED = 130
CLOSED_PIPE = 141


class Parser(argparse.ArgumentParser):
    """An argument parser that accepts negative values and reports an error in one line.

    The exit status of such an error is 2, as in argparse.
    """

    def __init__(self, **options) -> None:
        super().__init__(**options)
        # A value such as -1e-5 or -0.5,1: argparse takes all but plain numbers for options.
        self._negative_number_matcher = re.compile(r"-(\d|\.\d|inf|nan)")

    def error(self, message: str):
        unknown = re.match(r"unrecognized arguments: (--[^\s=]+)", message)
        if unknown:
            message += nearest(unknown[1], self._all_options(), "; did you mean {}?")
        self.exit(2, in_one_line(f"{message}; see {self.prog} --help") + "\n")

    def _all_options(self) -> set[str]:
        """The options of this parser and of its commands."""
        own = set(self._option_string_actions)
        commands = [each.choices for each in self._actions if isinstance(each.choices, dict)]
        return own.union(*(each._all_options() for known in commands for each in known.values()))


def add_command(commands, name: str, about: str) -> Parser:
    """A command of `add_subparsers`, with one sentence for the overview and for its own help."""
    return commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A type for `add_argument`: a whole number from low to high; 1e5 counts as one."""

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
    """A type for `add_argument`: a number between 0 and 1, both excluded."""
    with contextlib.suppress(ValueError):
        value = number_in(text)
        if 0 < value < 1:
            return value
    raise argparse.ArgumentTypeError(f"must be a number in (0, 1), got {text!r}")


def number(text: str) -> float:
    """A type for `add_argument`: a number as 0.5 or 1e-5; its range is checked where it is used."""
    try:
        return number_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a number such as 1e-5: {error}") from None


def run(main: Callable[[], int]) -> int:
    """The exit status of `main()`, also where what it prints cannot be written."""
    try:
        status = main()
        # Does nothing where there is no standard output.
        print(end="", flush=True)
    except OSError as error:
        # Python flushes once more on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return CLOSED_PIPE
        # Status 1 is that of a mechanism which contradicts itself.
        with contextlib.suppress(OSError):
            print(in_one_line(error), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return status
