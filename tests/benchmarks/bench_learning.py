"""A clipped step against opacus: time within one process, peak memory in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest
from bench_speed import least_seconds, milliseconds, show_and_check
from clipped_step import CASES, steps

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("case", CASES)
def test_a_clipped_step_takes_no_longer_than_opacus(case):
    """256 examples, one thread; both give the same sum."""
    both = steps(case)
    expected = both["opacus"]()
    assert (both["ours"]() - expected).norm() < 1e-5 * expected.norm()
    ours, opacus = least_seconds(both["ours"], both["opacus"])
    details = milliseconds(ours=ours, opacus=opacus)
    show_and_check(f"clipped step: {case}", ours / opacus, 1.0, "x", details)


@pytest.mark.parametrize("case", CASES)
def test_a_clipped_step_needs_no_more_memory_than_opacus(case):
    """By how much a first step raises the peak, all else being loaded on both sides."""
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
