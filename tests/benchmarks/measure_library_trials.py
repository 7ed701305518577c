"""How often the checks of library_trials accuse correct noise: library_trial_alarms.csv.

    python tests/benchmarks/measure_library_trials.py RUNS

A run draws 100 vectors of each value, as `library_trials.trial` does, and judges them. Run number i
has the seed i; runs that the table has are not repeated, so that it can be stopped at any time. A
thousand of each sampler take four minutes of one core.
"""

import csv
import itertools
import math
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from library_trials import trial
from library_trials.checks import AGREES, FRESH, findings
from mechanisms.verification.audit_statistics import clopper_pearson

TABLE = Path(__file__).with_name("library_trial_alarms.csv")
COUNT, SCALE = 100, 3.0
# The step between floats that the noise of floats adds.
GRID = 2.0**-10
# What a check finds in correct noise. The others judge nothing, or what must repeat.
RIGHT = {
    **dict.fromkeys(("law", "scale", "bias", "bits", "sensitivity", "large"), AGREES),
    **dict.fromkeys(("instances", "processes"), FRESH),
}
SAMPLERS = {"whole numbers": 1.0, "floats on a grid": GRID}
EVERY = 50


def sampler(grid: float, seed: int) -> Callable:
    """A driver's correct Laplace noise of scale 3 for l1 sensitivity 4; each instance is new."""
    streams = itertools.count()
    family = "discrete-laplace" if grid == 1 else "laplace"
    stated = {"family": family, "scale": SCALE, "epsilon": 4 / SCALE, "delta": 0, "norm": "l1"}

    def make():
        rng = np.random.default_rng([seed, next(streams)])

        def release(values):
            up, down = rng.geometric(-np.expm1(-grid / SCALE), (2, len(values))).tolist()
            number = int if grid == 1 else float
            return [v + number(grid * (u - d)) for v, u, d in zip(values, up, down, strict=True)]

        return release, stated

    return make


def checks_of(name: str) -> list[str]:
    """The checks that can accuse a sampler; that of large whole numbers judges no floats."""
    return [check for check in RIGHT if SAMPLERS[name] == 1 or check != "large"]


def accusing(name: str, seed: int) -> set[str]:
    """The checks that accuse a sampler in one run."""
    make = sampler(SAMPLERS[name], seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.multiple(
            trial,
            runpy=SimpleNamespace(run_path=lambda driver: {"NOISES": {name: make}}),
            # A new process has other noise, and costs half a second.
            in_process=lambda *_: trial.draws(make()[0], [0] * trial.SIZE, trial.FEW, int),
            # A fork has a copy of the generator, which is no fault to find.
            in_forks=lambda few: [few(), few()],
        ),
    ):
        trial.main("", name, Path(folder), str(COUNT))
        found = {check: outcome for check, outcome, _, _ in findings(Path(folder))}
    return {check for check in checks_of(name) if found[check] != RIGHT[check]}


def read() -> dict[tuple[str, str], list[int]]:
    """Runs and alarms by sampler and check; "any" counts the runs with an alarm."""
    found = {(name, check): [0, 0] for name in SAMPLERS for check in ("any", *checks_of(name))}
    if TABLE.exists():
        with TABLE.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found[row["sampler"], row["check"]] = [int(row["runs"]), int(row["alarms"])]
    return found


def measure(runs: int) -> None:
    """Extend the table to so many runs of each sampler."""
    table = read()
    for name in SAMPLERS:
        for seed in range(table[name, "any"][0], runs):
            alarms = accusing(name, seed)
            for check in ("any", *checks_of(name)):
                counted = table[name, check]
                counted[0] += 1
                counted[1] += bool(alarms) if check == "any" else check in alarms
            if (seed + 1) % EVERY == 0 or seed + 1 == runs:
                write(table)


def write(table: dict[tuple[str, str], list[int]]) -> None:
    """Write it whole, so that a stopped program leaves the last one."""
    new = TABLE.with_suffix(".tmp")
    with new.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["sampler", "check", "runs", "alarms"])
        out.writerows([*key, *counts] for key, counts in table.items())
    new.replace(TABLE)


def sentence() -> str:
    """What library_trials/README.md says of the table."""
    table = read()
    runs, alarms = (sum(table[name, "any"][i] for name in SAMPLERS) for i in (0, 1))
    # Of the share of such runs, one-sided and rounded up.
    upper = math.ceil(float(clopper_pearson(alarms, runs, 0.05)[1]) * 1e5) / 1e3
    return (
        f"In {runs:,} runs of {COUNT} vectors on correct samplers ({', '.join(SAMPLERS)}), "
        f"{alarms or 'none'} had a false alarm: with 95% confidence at most {upper:.3f}% have one."
    )


if __name__ == "__main__":
    measure(int(sys.argv[1]))
    print(sentence())
