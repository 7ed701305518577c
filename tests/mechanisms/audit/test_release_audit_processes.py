"""Audits of a black box in several processes: the same numbers, and no process is left."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from black_boxes import run

from mechanisms.__main__ import main
from mechanisms.audit import output_slices, plans
from mechanisms.audit.release_audit import audit_release

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("score", [None, "spread"])
def test_the_number_of_processes_changes_nothing(score, monkeypatch):
    """Enough to choose by are held after the first epochs, and the rest is shared."""
    # As for 50,000 elements, which take long to draw: so many are held, and in a slice.
    values = np.zeros((2, 500))
    monkeypatch.setattr(plans, "CHOICE_NUMBERS", plans.CHOICE_NUMBERS // 100)
    monkeypatch.setattr(output_slices, "BLOCK_NUMBERS", output_slices.BLOCK_NUMBERS // 100)
    values[0, 0] = 1.0

    def release(value, rng):
        return value + rng.standard_normal(value.shape)

    alone, shared = (
        audit_release(
            release, *values, 0.1, score=score, samples=1500, whole_budget=True, processes=count
        ).to_dict()
        for count in (1, 3)
    )
    assert alone == shared
    assert alone["samples"] == 1500


def test_a_classifier_takes_one_process():
    with pytest.raises(ValueError, match="in one process, got processes = 2"):
        audit_release(
            lambda value, rng: value + rng.laplace(size=value.shape),
            np.zeros(2), np.ones(2), 1.0, score="boosting", processes=2,
        )  # fmt: skip


def test_files_and_programs_take_one_process(black_box, capsys):
    for source in (["--outputs", "a.npy", "b.npy"], ["--program", "./none", "--pair", "pair.npz"]):
        assert main(["audit", *source, "--epsilon", "1", "--processes", "2"]) == 2
        assert "one process" in capsys.readouterr().err


def test_an_exception_in_another_process_is_told_alike(black_box, capsys):
    module, pair = black_box
    told = []
    for processes in ("1", "2"):
        arguments = ["--epsilon", "2", "--whole-budget", "--processes", processes]
        assert run(module, "late", pair, *arguments, samples=4000) == 2
        told += capsys.readouterr().err.splitlines()
    assert told[0] == told[1] and "in late): rare" in told[0]
    assert Path("other.process").exists()
    assert not multiprocessing.active_children()


def test_a_process_that_dies_is_told(black_box, capsys):
    module, pair = black_box
    arguments = ["--epsilon", "2", "--whole-budget", "--processes", "2"]
    assert run(module, "dies", pair, *arguments, samples=4000) == 2
    assert "a process ended with status 3" in capsys.readouterr().err
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_audit(black_box, sign):
    module, pair = black_box
    command = [sys.executable, "-m", "mechanisms", "audit", f"{module}:slow", "--pair", pair]
    command += ["--epsilon", "1", "--samples", "4000", "--whole-budget", "--processes", "2"]
    env = os.environ | {"PYTHONPATH": f"{Path.cwd()}:{ROOT}"}
    with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as audit:
        wait_until(lambda: len(list(Path.cwd().glob("*.worker"))) == 2)
        audit.send_signal(sign)
    workers = [int(path.stem) for path in Path.cwd().glob("*.worker")]
    wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def wait_until(holds, seconds=30):
    """Wait for what must hold soon."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
