"""Totals of releases, bounded by prv_accountant and by this suite.

    python -m library_trials.compositions

prv_accountant 0.2.0 is by the authors of Gopi, Lee and Wutschitz 2021 (arXiv:2106.02848). It runs
in an environment of its own, made from the pins in requirements/; that needs uv. Writes
results/library_trials/compositions.csv and prints the table of docs/compose_and_plan.md. Takes two
minutes of one core. --pin resolves the requirements again.
"""

if __name__ == "__main__":
    from mechanisms.cli.interrupts import end_quietly

    end_quietly()

import argparse
import json
import math
import subprocess
import sys
import time

import pandas as pd

from library_trials.__main__ import HERE, RESULTS, environment, pin
from mechanisms.cli.arguments import run
from mechanisms.plans.plan import Release, compose
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile

KEY, DRIVER = "prv-accountant-0.2.0", HERE / "drivers/prv_accountant_bounds.py"
TABLE = RESULTS / "compositions.csv"
SUITE = "this suite"
# The accuracies that prv_accountant is asked for: that of its documentation, and a tenth of it.
ACCURACIES = (0.1, 0.01)
TIMES, DELTAS = (1, 100, 10_000), (1e-3, 1e-6, 1e-10)
# A kind, what its class in prv_accountant takes, and how often it is released.
Releases = list[tuple[str, dict[str, float], int]]


def plans(times: int) -> dict[str, Releases]:
    """What is composed: noise that grows with `times`, and a constant one on samples of 1%."""
    root = math.sqrt(times)
    sampled = ("sampled", {"noise_multiplier": 1.0, "sampling_probability": 0.01}, times)
    return {
        "Gaussian": [("Gaussian", {"noise_multiplier": root}, times)],
        "Laplace": [("Laplace", {"mu": 1 / root}, times)],
        "Gaussian on samples": [sampled],
        "all three": [
            ("Gaussian", {"noise_multiplier": 2 * root}, times),
            ("Laplace", {"mu": 1 / (2 * root)}, times),
            sampled,
        ],
    }


def ours(releases: Releases, delta: float) -> dict:
    """The suite's bounds of epsilon, and CPU seconds."""
    started = time.process_time()
    bounds = compose([_release(*each) for each in releases]).epsilon(delta)
    seconds = time.process_time() - started
    return {name: float(each) for name, each in bounds._asdict().items()} | {"seconds": seconds}


def _release(kind: str, arguments: dict[str, float], times: int) -> Release:
    if kind == "Laplace":
        return Release(of=LaplaceProfile(l1_sensitivity=arguments["mu"], scale=1.0), times=times)
    noise = GaussianProfile(mu=1 / arguments["noise_multiplier"])
    return Release(of=noise, times=times, rate=arguments.get("sampling_probability", 1.0))


def theirs(cases: list[dict]) -> list[dict]:
    """The answers of prv_accountant, see its driver."""
    words = [environment(KEY), DRIVER]
    done = subprocess.run(
        words, input=json.dumps(cases), check=True, stdout=subprocess.PIPE, text=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def measured() -> pd.DataFrame:
    """A row for each plan, number of releases, delta and program.

    times: Releases of each kind of the plan. lower, value, upper: Of epsilon at delta; NaN where
    `error` says why. seconds: Of CPU.
    """
    cases = [
        ({"releases": name, "times": times, "delta": delta}, releases)
        for times in TIMES
        for name, releases in plans(times).items()
        for delta in DELTAS
    ]
    # What is imported at the first use is not timed.
    ours(cases[-1][1], DELTAS[0])
    rows = [case | {"by": SUITE} | ours(releases, case["delta"]) for case, releases in cases]
    for accuracy in ACCURACIES:
        asked = [
            {"releases": releases, "delta": case["delta"], "eps_error": accuracy}
            for case, releases in cases
        ]
        by = {"by": f"prv_accountant, `eps_error` {accuracy}"}
        rows += [case | by | answer for (case, _), answer in zip(cases, theirs(asked), strict=True)]
    columns = ["releases", "times", "delta", "by", "lower", "value", "upper", "error", "seconds"]
    return pd.DataFrame(rows).reindex(columns=columns)


def summary(rows: pd.DataFrame) -> str:
    """A line of Markdown for each plan and program: how many intervals overlap, and the largest."""
    case = ["releases", "times", "delta"]
    pairs = rows.merge(rows[rows["by"] == SUITE], on=case, suffixes=("", "_ours"))
    overlap = (pairs["lower"] <= pairs["upper_ours"]) & (pairs["lower_ours"] <= pairs["upper"])
    pairs = pairs.assign(
        overlap=overlap,
        width=pairs["upper"] - pairs["lower"],
        apart=(pairs["value"] - pairs["value_ours"]).abs(),
    )
    lines = [
        "| releases | bounds by | overlap | width | estimates apart | CPU seconds |",
        "|---|---|---|---|---|---|",
    ]
    for releases, plan in pairs.groupby("releases", sort=False):
        for by, part in plan.groupby("by", sort=False):
            found = f"{part['overlap'].sum()} of {len(part)}"
            largest = [f"{part[name].max():.1g}" for name in ("width", "apart")]
            cells = [releases, by, found, *largest, f"{part['seconds'].max():.2f}"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Compare; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m library_trials.compositions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pin", action="store_true")
    if parser.parse_args(arguments).pin:
        pin(KEY)
        return 0
    rows = measured()
    rows.to_csv(TABLE, index=False, lineterminator="\n")
    print(summary(rows))
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
