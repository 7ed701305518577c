"""Run Snakemake on a config with one line of progress; its output goes to a log."""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

from runs.cells import results_folder
from runs.config import read_config
from studies.base.yaml_file import ConfigError

# The workflow writes the closing text of a run to this file in results/<run>/.
END = "end.txt"
# The number of lines of the log that are shown if a run fails.
SHOWN = 20
# Mechanisms print to the same pipe, in lines that may be similar.
_DONE = re.compile(r"([1-9]\d{0,8}) of ([1-9]\d{0,8}) steps \(")
# Seconds between lines of progress if the output is not a terminal.
EVERY = 60.0


def start(config: str, cores: str) -> int:
    """Run a config, print its closing text and return Snakemake's exit status.

    Raises:
        ConfigError: The config is wrong (see `read_config`), or another process is running it.
    """
    run = results_folder(read_config(config))
    print(f"{config}: planning", file=sys.stderr, flush=True)
    log = run / "logs" / "snakemake.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    _require_alone(run, log.parent)
    end = run / END
    end.unlink(missing_ok=True)
    command = [sys.executable, "-m", "snakemake", "--cores", cores, "--configfile", config]
    last: deque[str] = deque(maxlen=SHOWN)
    progress = _Progress()
    signal.signal(signal.SIGINT, _leave_to_snakemake)
    with (
        log.open("wb", buffering=0) as out,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as snakemake,
    ):
        for line in snakemake.stdout:
            last.append(line)
            progress.read(line)
            # Go on reading even if the disk of the log is full, as Snakemake hangs otherwise.
            with contextlib.suppress(OSError):
                out.write(line.encode())
    progress.clear()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if snakemake.returncode and not end.exists():
        print("".join(last), end="", file=sys.stderr)
    print(end.read_text(encoding="utf-8") if end.exists() else "", end="")
    print(f"log: {log}")
    return snakemake.returncode


def _leave_to_snakemake(number: int, frame: object) -> None:
    """Ignore the first Ctrl-C, which Snakemake gets and answers; the next ends this process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _require_alone(run: Path, folder: Path) -> None:
    """Lock the folder of the logs until this process ends.

    Raises:
        ConfigError: Another process holds the lock.
    """
    try:
        fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError(
            f"another process is running {run}; wait for it, or stop it first"
        ) from None


class _Progress:
    """Show progress: a line that is overwritten on a terminal, elsewhere a new line each minute."""

    def __init__(self) -> None:
        self._begun = self._told = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def read(self, line: str) -> None:
        """Show the progress that a line of Snakemake's output reports."""
        found = _DONE.match(line)
        now = time.monotonic()
        if found is None or not (self._terminal or now - self._told > EVERY):
            return
        self._told = now
        done, jobs = map(int, found.groups())
        left = (now - self._begun) * (jobs - done) / done
        words = f"{done} of {jobs} jobs done, about {_minutes(left)} left"
        print(f"\r{words:<60}" if self._terminal else words, end="" if self._terminal else "\n",
              file=sys.stderr, flush=True)  # fmt: skip

    def clear(self) -> None:
        """Erase the line."""
        if self._terminal:
            print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def write_end(run: Path, summary: str, lines: list[str]) -> str:
    """Write the closing text of a run to its folder, and return it."""
    text = summary + "".join(f"{line}\n" for line in lines)
    (run / END).write_text(text, encoding="utf-8")
    return text
