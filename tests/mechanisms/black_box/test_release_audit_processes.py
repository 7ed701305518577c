"""Audits of a black box in several processes: the same numbers, and no process is left."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from black_boxes import run

from mechanisms.__main__ import main
from mechanisms.black_box import forked_work, output_slices, plans
from mechanisms.black_box.forked_work import in_order, usable_cores
from mechanisms.black_box.release_audit import OneProcessOnly, audit_release
from mechanisms.cli import audit_command

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


def test_the_command_uses_the_cores_that_it_may_use(black_box, monkeypatch, capsys):
    assert usable_cores() == len(os.sched_getaffinity(0))
    module, pair = black_box
    told = []
    for cores in (1, 3):
        monkeypatch.setattr(audit_command, "usable_cores", lambda cores=cores: cores)
        Path("other.process").unlink(missing_ok=True)
        status = run(module, "leaves_a_file", pair, "--epsilon", "2", "--json", samples=2000)
        told.append((status, *capsys.readouterr(), Path("other.process").exists()))
    (status, shown, complaint, forked), (_, again, _, forked_again) = told
    assert (status, complaint) == (0, "") and shown == again
    assert (forked, forked_again) == (False, True)


@pytest.mark.parametrize(
    ("function", "words"),
    [("forgets_the_generator", "with an equal rng"), ("starts_a_thread", "starts threads")],
)
def test_a_function_that_must_not_be_shared_is_drawn_in_one_process(
    black_box, monkeypatch, capsys, function, words
):
    """Told with two processes, and done without being asked where none were asked for."""
    module, pair = black_box
    # A test before this one may have left a thread.
    before = threading.active_count()
    assert run(module, function, pair, "--epsilon", "1", "--processes", "2") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: the release takes one process") and words in line
    monkeypatch.setattr(audit_command, "usable_cores", lambda: 2)
    wait_until(lambda: threading.active_count() <= before)
    assert run(module, function, pair, "--epsilon", "1") == 0
    shown, complaint = capsys.readouterr()
    assert complaint == line.replace("error", "warning", 1) + "\n" and "refuted" in shown
    with pytest.raises(OneProcessOnly):
        own = np.random.default_rng(0)
        audit_release(lambda value, rng: own.random(2), *np.eye(2), 1.0, processes=2)


def test_tasks_keep_their_order_and_a_slow_one_holds_up_no_other():
    """The first takes longer than the rest: another process does most of the rest."""

    def work(task):
        time.sleep(0.5 if task == 0 else 0.01)
        return task, os.getpid()

    done = list(in_order(work, range(30), 2))
    assert [task for task, _ in done] == list(range(30))
    ahead = [who for _, who in done[1 : 2 * forked_work.AHEAD]]
    assert len(set(ahead)) == 1 and ahead[0] != done[0][1] != os.getpid()


def test_results_that_wait_for_a_slow_task_are_few(tmp_path):
    """Only so many tasks are begun before the first is done."""

    def work(task):
        if task == 0:
            time.sleep(0.5)
            return len(list(tmp_path.iterdir()))
        (tmp_path / str(task)).touch()
        return 0

    assert next(in_order(work, range(200), 2)) == 2 * forked_work.AHEAD - 1


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


@pytest.mark.slow
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
