"""Check the config files on a command line before Snakemake reads them.

Snakemake reads them before the Snakefile and answers a bad one with its own traceback. The
default profile calls `check_configs` while it is parsed.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

DEFAULT = "config/quick.yaml"


def check_configs(arguments: Sequence[str]) -> None:
    """Print the paths on stderr, or exit with one line if a file is not a config."""
    # Jobs on a cluster start a Snakemake with --mode; the main process has checked the config.
    if "--mode" in arguments:
        return
    paths = config_paths(arguments) or [DEFAULT]
    for path in paths:
        _require_keys(path)
    print(f"reading {' '.join(paths)} and what it needs: some seconds", file=sys.stderr)


def config_paths(arguments: Sequence[str]) -> list[str]:
    """Return the config paths; an option takes all words up to the next option."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument(
        "--configfile", "--configfiles", dest="paths", nargs="*", action="extend", default=[]
    )
    return parser.parse_known_args(arguments)[0].paths


def _require_keys(path: str) -> None:
    """Exit with one line if a file cannot be read as YAML or does not hold keys."""
    # This import takes a third of a second, which jobs do not spend.
    from studies.base.yaml_file import ConfigError, read_yaml

    try:
        content = read_yaml(path)
    except ConfigError as error:
        fault = " ".join(str(error).split())
        if not Path(path).suffix:
            fault = f"{path} was read as a config; write targets before --configfile"
        sys.exit(f"error: {fault}")
    if not isinstance(content, dict):
        sys.exit(f"error: {path} must hold the keys of a config, see config/README.md")
