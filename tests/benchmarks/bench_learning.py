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
    missed = []
    for other, ratio, limit in (("plain", ours / plain, 1.3), ("opacus", ours / opacus, 0.7)):
        try:
            show_and_check(f"clipped step against {other}: {case}", ratio, limit, "x", details)
        except AssertionError as error:
            missed.append(str(error))
    assert not missed, missed


@pytest.mark.parametrize("case", CASES)
def test_a_clipped_step_needs_no_more_memory_than_opacus(case):
    """Compares how far a first step raises the peak once everything else is loaded."""
    ours, opacus = (_peak(way, case) for way in ("ours", "opacus"))
    details = f"ours {ours / 1024:.0f} MiB, opacus {opacus / 1024:.0f} MiB"
    show_and_check(f"memory of a clipped step: {case}", ours / opacus, 1.2, "x", details)


def _peak(way: str, case: str) -> float:
    script = ROOT / "tests/benchmarks/clipped_step.py"
    found = subprocess.run(
        [sys.executable, script, way, case],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(found.stdout)
