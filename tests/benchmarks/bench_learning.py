"""Compare a clipped step with a plain step and with opacus, in time and in memory."""

import subprocess
import sys
from pathlib import Path

import pytest
from bench_speed import least_seconds, milliseconds, show_and_check
from clipped_step import CASES, steps

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("case", CASES)
def test_a_clipped_step_against_a_plain_one_and_that_of_opacus(case):
    """Both clipped steps give the same sum; they run on one thread."""
    tasks = steps(case)
    expected = tasks["opacus"]()
    assert (tasks["ours"]() - expected).norm() < 1e-4 * expected.norm()
    ours, opacus, plain = least_seconds(tasks["ours"], tasks["opacus"], tasks["plain"])
    details = milliseconds(ours=ours, plain=plain, opacus=opacus)
    show_and_check(f"clipped step against opacus: {case}", ours / opacus, 0.5, "x", details)
    # A second pass back costs two thirds of a plain step, of one pass forward and one back.
    show_and_check(f"clipped step against plain: {case}", ours / plain, 1.8, "x", details)


@pytest.mark.parametrize("case", CASES)
def test_a_clipped_step_needs_no_more_memory_than_opacus(case):
    """Compares how far a first step raises the peak once everything else is loaded."""
    ours, opacus = (_peak(way, case) for way in ("ours", "opacus"))
    show_and_check(
        f"memory of a clipped step: {case}",
        ours / opacus,
        1.2,
        "x",
        f"ours {ours / 1024:.0f} MiB, opacus {opacus / 1024:.0f} MiB",
    )


def _peak(way: str, case: str) -> float:
    found = subprocess.run(
        [sys.executable, "tests/benchmarks/clipped_step.py", way, case],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(found.stdout)
