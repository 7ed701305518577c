"""Run Snakemake on a config with one line of progress; its output goes to a log."""

import contextlib
import re
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path

from runs.cells import results_folder
from runs.config import read_config

# The workflow writes the closing text of a run to this file in results/<run>/.
END = "end.txt"
# The number of lines of the log that are shown if a run fails.
SHOWN = 20
_DONE = re.compile(r"\d+ of \d+ steps \(")


def start(config: str, cores: str) -> int:
    """Run a config, print its closing text and return Snakemake's exit status.

    Raises:
        ConfigError: The config is wrong; see `read_config`.
    """
    run = results_folder(read_config(config))
    print(f"{config}: planning", file=sys.stderr, flush=True)
    log, end = run / "logs" / "snakemake.log", run / END
    log.parent.mkdir(parents=True, exist_ok=True)
    end.unlink(missing_ok=True)
    command = [sys.executable, "-m", "snakemake", "--cores", cores, "--configfile", config]
    last = deque(maxlen=SHOWN)
    # A second run of the config, which Snakemake refuses, adds to the log of the first.
    with (
        log.open("ab", buffering=0) as out,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as snakemake,
    ):
        # Snakemake gets Ctrl-C too, and says what is left.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for line in snakemake.stdout:
            last.append(line)
            if _DONE.match(line):
                # A terminal shows one line that changes; a log gets a line for each step.
                begin, after = ("\r", "") if sys.stderr.isatty() else ("", "\n")
                print(f"{begin}{line.rstrip()}", end=after, file=sys.stderr, flush=True)
            # Go on reading even if the disk of the log is full, because Snakemake would hang.
            with contextlib.suppress(OSError):
                out.write(line.encode())
    print(file=sys.stderr)
    if end.exists():
        print(end.read_text(encoding="utf-8"), end="")
    elif snakemake.returncode:
        print("".join(last), end="", file=sys.stderr)
    print(f"log: {log}")
    return snakemake.returncode


def write_end(run: Path, summary: str, lines: list[str]) -> str:
    """Write the closing text of a run to its folder, and return it."""
    text = summary + "".join(f"{line}\n" for line in lines)
    (run / END).write_text(text, encoding="utf-8")
    return text
