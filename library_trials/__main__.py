"""Try the noise of other libraries: python -m library_trials [KEY...]

A KEY is a library and a version, such as opendp-0.3.0; without one all are tried. Environments and
draws lie in build/library_trials, the table in results/library_trials. Needs uv. --pin resolves
requirements/KEY.in again.
"""

if __name__ == "__main__":
    from mechanisms.cli.interrupts import end_quietly

    end_quietly()

import argparse
import csv
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
from pathlib import Path

from library_trials.checks import COLUMNS, DIFFERS, NOT_RUN, Row, findings, table
from mechanisms.cli.arguments import Parser, run

HERE = Path(__file__).parent
BUILD = HERE.parent / "build/library_trials"
RESULTS = HERE.parent / "results/library_trials"
PYTHON = "3.11"


@dataclass(frozen=True)
class Library:
    """A version to be tried.

    noises: Of the driver. absent: Why there are none. count: Vectors drawn of each value.
    known: The report of a fault, by check.
    """

    driver: str = ""
    noises: tuple[str, ...] = ()
    absent: str = ""
    count: int = 10_000
    known: dict[str, str] = field(default_factory=dict)


OPENDP = (
    "Laplace, floats",
    "Laplace, whole numbers",
    "Gaussian, floats",
    "Gaussian, whole numbers",
)
OPACUS = Library(
    "opacus_noise",
    ("DPOptimizer", "DPOptimizer, secure_mode"),
    count=40_000,
    known={"bits": "meta-pytorch/opacus#616"},
)
DIFFPRIVLIB = Library(
    "diffprivlib_noise",
    ("Laplace", "Gaussian", "GaussianAnalytic", "Geometric"),
    count=4_000,
    known={"bits": "IBM/differential-privacy-library#94"},
)
LIBRARIES = {
    "opendp-0.16.0": Library("opendp_new", OPENDP),
    "opendp-0.14.1": Library("opendp_new", OPENDP[1::2], known={"law": "opendp/opendp#2638"}),
    "opendp-0.3.0": Library("opendp_old", OPENDP[::2], known={"bits": "opendp/opendp#414"}),
    "opacus-1.6.0": OPACUS,
    "opacus-1.4.0": OPACUS,
    "diffprivlib-0.6.6": DIFFPRIVLIB,
    "diffprivlib-0.6.4": DIFFPRIVLIB,
    "jax-privacy-2.0.0": Library("jax_privacy_noise", ("gaussian_privatizer",)),
    "python-dp-1.1.5": Library("pydp_noise", ("LaplaceMechanism", "GaussianMechanism")),
    "pipeline-dp-0.3.1": Library(
        "pipeline_dp_noise",
        ("Laplace, L1", "Laplace, Linf", "Gaussian, L2", "Gaussian, Linf"),
        count=2_500,
    ),
    "dp-accounting-0.6.0": Library(absent="its wheel has accountants and no sampler of noise"),
    "dp-recorder": Library(absent="the package registry has no package of this name"),
}


def uv(*arguments: str | Path) -> None:
    """Run uv; its last words are the error."""
    if shutil.which("uv") is None:
        raise SystemExit("library_trials needs uv: pip install uv")
    subprocess.run(["uv", *map(str, arguments)], check=True, stderr=subprocess.PIPE, text=True)


def pin(key: str) -> None:
    """Resolve the requirements of a library, with hashes and without the address of an index."""
    command = "pip compile --universal --generate-hashes --no-emit-index-url --no-annotate"
    source = HERE / "requirements" / f"{key}.in"
    options = ["--no-header", "--quiet", "--python-version", PYTHON]
    uv(*command.split(), *options, source, "-o", source.with_suffix(".txt"))


def environment(key: str) -> Path:
    """The Python of a library's environment, which is made where it is missing."""
    folder = BUILD / key / "environment"
    python, ready = folder / "bin/python", folder / "ready"
    if not ready.exists():
        uv("venv", "--quiet", "--clear", "--python", PYTHON, folder)
        options = ["--quiet", "--require-hashes", "--no-build", "--python", python]
        uv("pip", "install", *options, "-r", HERE / "requirements" / f"{key}.txt")
        ready.touch()
    return python


def trials(key: str) -> Iterator[Row]:
    """The rows of a library."""
    library = LIBRARIES[key]
    name, _, version = key.rpartition("-") if key[-1].isdigit() else (key, "", "")

    def row(noise: str, check: str, outcome: str, found: str, error: float) -> Row:
        known = library.known.get(check, "") if outcome == DIFFERS else ""
        return Row(name, version, noise, check, outcome, found, error, known, command(key))

    if library.absent:
        yield row("", "", NOT_RUN, library.absent, 0.0)
        return
    try:
        python = environment(key)
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:]
        yield row("", "", NOT_RUN, f"cannot be installed: {''.join(last)}", 0.0)
        return
    for noise in library.noises:
        folder = BUILD / key / noise
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        driver = HERE / "drivers" / f"{library.driver}.py"
        words = [python, HERE / "trial.py", driver, noise, folder, str(library.count)]
        ended = subprocess.run(words, capture_output=True, text=True)
        if ended.returncode:
            last = ended.stderr.strip().splitlines()[-1:]
            yield row(noise, "", NOT_RUN, f"the trial failed: {''.join(last)}", 0.0)
            continue
        for finding in findings(folder):
            yield row(noise, *finding)


def command(key: str) -> str:
    """What makes the rows of a library again."""
    return f"python -m library_trials {key}"


def write(key: str, rows: list[Row]) -> None:
    """The table, with the rows of other libraries as they were."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / "trials.csv"
    known: dict[str, list[Row]] = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as stream:
            for each in csv.DictReader(stream):
                known.setdefault(each["command"], []).append(Row(**each))
    known[command(key)] = rows
    rows = [row for each in LIBRARIES for row in known.get(command(each), [])]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([COLUMNS, *map(astuple, rows)])
    (RESULTS / "trials.md").write_text(table(rows), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Try libraries; returns the exit status."""
    parser = Parser(
        prog="python -m library_trials",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("keys", metavar="KEY", nargs="*", help=", ".join(LIBRARIES))
    parser.add_argument("--pin", action="store_true")
    options = parser.parse_args(arguments)
    if unknown := [key for key in options.keys if key not in LIBRARIES]:
        parser.error(f"unknown library {unknown[0]!r}; allowed are {', '.join(LIBRARIES)}")
    for key in options.keys or LIBRARIES:
        if options.pin:
            if not LIBRARIES[key].absent:
                pin(key)
            continue
        rows = list(trials(key))
        write(key, rows)
        for row in rows:
            print(f"{key} {row.noise} {row.check}: {row.outcome}: {row.found}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
