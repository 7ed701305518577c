"""Arguments of a command line: negative values, numbers with limits, errors of one line."""

import argparse
import contextlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mechanisms.cli.interrupts import INTERRUPTED
from mechanisms.query.words import in_one_line, nearest
from mechanisms.query.written_numbers import number_in, whole_number_in

# A value such as -1e-5 or -0.5,1; argparse would take all but plain negative numbers for options.
_NEGATIVE = re.compile(r"-(\d|\.\d|inf|nan)")
# Exit status of a program that wrote into a pipe nobody reads any more: 128 + SIGPIPE.
CLOSED_PIPE = 141


class Parser(argparse.ArgumentParser):
    """An argument parser that accepts negative values and reports an error in one line.

    Where nothing is given and something is needed, it prints its help in place of that line. The
    exit status of such an error is 2, as in argparse.
    """

    def parse_known_args(self, args=None, namespace=None):
        given = list(sys.argv[1:] if args is None else args)
        self._bare = not given
        return super().parse_known_args(_with_negative_values(given), namespace)

    def error(self, message: str):
        if self._bare:
            self.print_help(sys.stderr)
            self.exit(2)
        unknown = re.match(r"unrecognized arguments: (--[^\s=]+)", message)
        if unknown:
            message += nearest(unknown[1], self._all_options(), "; did you mean {}?")
        wrong = re.search(r"invalid choice: '([^']+)'", message)
        if wrong:
            known = [name for each in self._actions for name in each.choices or ()]
            message += nearest(wrong[1], known, "; did you mean {}?")
        self.exit(2, in_one_line(f"{message}; see {self.prog} --help") + "\n")

    def _all_options(self) -> set[str]:
        """The options of this parser and of its commands."""
        own = set(self._option_string_actions)
        commands = [each.choices for each in self._actions if isinstance(each.choices, dict)]
        return own.union(*(each._all_options() for known in commands for each in known.values()))


def add_command(commands, name: str, about: str) -> Parser:
    """A command of `add_subparsers`, with one sentence for the overview and for its own help."""
    return commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")


def _with_negative_values(arguments: Sequence[str]) -> list[str]:
    """The arguments with every negative value joined to its option: --delta=-1e-5."""
    joined: list[str] = []
    for argument in arguments:
        option = joined[-1] if joined else ""
        if _NEGATIVE.match(argument) and option.startswith("--") and "=" not in option:
            joined[-1] = f"{option}={argument}"
        else:
            joined.append(argument)
    return joined


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


def new_file(text: str) -> Path:
    """A type for `add_argument`: a file to write, in a folder that exists."""
    path = Path(text)
    if text and os.path.isdir(path.parent) and not os.path.isdir(path):
        return path
    raise argparse.ArgumentTypeError(f"must be a file in a folder that exists, got {text!r}")


def new_folder(text: str) -> Path:
    """A type for `add_argument`: a folder to write into, made where it does not exist."""
    path = Path(text)
    there = next((each for each in (path, *path.parents) if os.path.lexists(each)), path)
    if text and os.path.isdir(there):
        return path
    raise argparse.ArgumentTypeError(f"must be a folder, not a file or below one, got {text!r}")


@contextlib.contextmanager
def writing(place: Path | str) -> Iterator[None]:
    """Name what is written in an error of the system that names no file, as a full disk's does."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(place)
        raise


def run(main: Callable[[], int]) -> int:
    """The exit status of `main()`, also where what it prints cannot be written."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = main()
        # Does nothing where there is no standard output.
        with writing("standard output"):
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
