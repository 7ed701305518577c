"""Modules that are found, not listed: a broken one is named and left out, and stops nothing."""

import importlib
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType

from mechanisms.query.named_code import error_line

_left_out: dict[str, str] = {}


def modules_of(names: Iterable[str]) -> Iterator[ModuleType]:
    """Import and yield the modules of these names but for those that fail, see `leave_out`."""
    for name in names:
        if name not in _left_out:
            try:
                module = importlib.import_module(name)
            except (Exception, SystemExit) as error:
                leave_out(name, error_line(error))
            else:
                yield module


def leave_out(name: str, why: str) -> None:
    """Name a module on stderr, once in a process, and leave it out from now on."""
    if name not in _left_out:
        _left_out[name] = why
        print(f"warning: {name} is left out: {why}", file=sys.stderr)


def left_out(package: str) -> dict[str, str]:
    """Return the modules below a package that were left out so far, with the reasons."""
    return {name: why for name, why in _left_out.items() if name.startswith(package)}
