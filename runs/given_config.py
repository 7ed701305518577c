"""The first thing of a run: the config that a command line names, looked at before Snakemake.

Snakemake reads it before the Snakefile and shows where in its own code it failed. The default
profile calls `look` while it is read.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from studies.base.yaml_file import ConfigError, read_yaml

DEFAULT = "config/quick.yaml"
_OPTIONS = ("--configfile", "--configfiles")


def look(arguments: Sequence[str]) -> None:
    """Say on stderr which config is read; end with one line where there is none in a file."""
    paths = list(named(arguments)) or [DEFAULT]
    for path in paths:
        if fault := _fault(path):
            sys.exit(f"error: {fault}")
    # Each job has a Snakemake of its own.
    if "--mode" not in arguments:
        print(f"reading {' '.join(paths)} and what it needs: some seconds", file=sys.stderr)


def named(arguments: Sequence[str]) -> Iterator[str]:
    """The paths of configs among the arguments; an option takes all words up to the next one."""
    taking = False
    for argument in arguments:
        option, equals, path = argument.partition("=")
        if argument.startswith("-"):
            taking = option in _OPTIONS and not equals
            if option in _OPTIONS and equals:
                yield path
        elif taking:
            yield argument


def _fault(path: str) -> str:
    """Why a file cannot be a config, in one line; "" where it may be one."""
    try:
        content = read_yaml(path)
    except ConfigError as error:
        if not Path(path).suffix:
            return f"{path} is read as a config; write targets before --configfile"
        return " ".join(str(error).split())
    if isinstance(content, dict):
        return ""
    return f"{path} must hold the keys of a config, see config/README.md"
