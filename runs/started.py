"""What the rows of a run were computed with: the code and the packages at each of its starts.

Which of several starts computed a cell is not kept: a cell is current by the digest of its own code
and settings, wherever it was computed.
"""

import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

from runs.parts import write_at_once
from studies.base.yaml_file import ConfigError

RECORD = "started.json"


def record_start(run: Path) -> None:
    """Add what is there now to results/<run>/started.json, unless the last start had the same.

    Args:
        run: Folder of the run, which is made if it is missing.

    Raises:
        ConfigError: The record that is there is damaged.
    """
    starts, commit = read_starts(run), commit_of_tree()
    packages: dict[str, str] = {}
    for each in importlib.metadata.distributions():
        # Of two versions the first is imported; what was installed in part has no name.
        if each.name:
            packages.setdefault(each.name, each.version)
    # Without the results, of which this record is one.
    clean = _git("status", "--porcelain", "--", ".", ":(exclude)results") == ""
    now = {
        "commit": commit and commit + "-dirty" * (not clean),
        "python": platform.python_version(),
        "packages": dict(sorted(packages.items())),
    }
    if starts[-1:] != [now]:
        run.mkdir(parents=True, exist_ok=True)
        write_at_once(run / RECORD, json.dumps([*starts, now], indent=1) + "\n")


def read_starts(run: Path) -> list[dict[str, Any] | None]:
    """The starts of a run that differ from the one before, first to last.

    Each has `commit`, with `-dirty` behind it where files of the tree differed or were new, or None
    outside of git; `python`; and `packages`, versions by name. None in place of a start stands for
    rows that are older than the record.

    Raises:
        ConfigError: The record is damaged.
    """
    record = run / RECORD
    if record.exists():
        try:
            starts = json.loads(record.read_text(encoding="utf-8"))
            if not isinstance(starts, list) or not all(map(_is_start, starts)):
                raise ValueError("not a list of starts")
            return starts
        except ValueError as error:
            raise ConfigError(
                f"{record} is damaged ({error}); remove it: what was in it is then not recorded"
            ) from None
    return [None] * any((run / rows).exists() for rows in ("studies", "cells"))


def _is_start(each: Any) -> bool:
    return each is None or (isinstance(each, dict) and {"commit", "python", "packages"} <= {*each})


def commit_of_tree() -> str | None:
    """The commit of the code here.

    None outside of git, also in an unpacked copy that lies in the tree of something else.
    """
    if _git("ls-files", "--error-unmatch", "Snakefile") is None:
        return None
    return _git("rev-parse", "HEAD")


def _git(*words: str) -> str | None:
    try:
        ended = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ended.stdout.strip()
