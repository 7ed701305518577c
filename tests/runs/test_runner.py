"""Cells run in a child process; whatever a mechanism does, the rows tell the truth."""

import math
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from one_cell import ended, measured, wait_for

from runs import worker
from runs.cells import cells_of
from runs.machine import fault_of_machine
from runs.runner import CellError, run_cells
from runs.store import cells_to_run, read_cell
from studies.base.study import Value

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def log(tmp_path):
    """The output that the cell named "cell" printed."""
    return lambda: (tmp_path / "logs/cells/cell.log").read_text()


def outcomes(frame):
    """The status by epsilon."""
    return {epsilon: rows["status"].unique().tolist() for epsilon, rows in frame.groupby("epsilon")}


def message(frame, epsilon):
    return frame[frame["epsilon"] == epsilon]["message"].iloc[0]


def test_a_cell_that_works(odd_cell, run, log, tmp_path, capfd):
    # Pretend that it took longer than a minute; in its process, runs.worker is the program.
    told = "import __main__; __main__.TOLD_SECONDS = 0.0"
    cell, config, _ = odd_cell(told, [1, 2])
    frame = run(cell, config)
    assert outcomes(frame) == {1.0: ["ok"], 2.0: ["ok"]}
    losses = frame[frame["metric"] == "expected_loss"].set_index("epsilon")["value"]
    assert losses.to_dict() == {1.0: 4.0, 2.0: 1.0}
    assert set(zip(frame["shape"], frame["mechanism"], strict=True)) == {("2x2", "odd")}
    timings = read_cell(tmp_path / "cells/cell.parquet")[1]["metric"].to_pylist()
    assert set(timings) == {"calibrate_seconds", "peak_memory_bytes", "cpu_seconds"}
    assert not set(timings) & set(frame["metric"])
    # Progress is shown while the cell runs, and kept; nothing else is left behind.
    progress = "noise_only fixed-sensitivity odd published: point 2 of 2"
    assert progress in log()
    assert progress in capfd.readouterr().err
    assert [path.name for path in (tmp_path / "cells").iterdir()] == ["cell.parquet"]


def test_whatever_happens_at_a_point_the_others_are_measured(odd_cell, run, log):
    happen = """
        if epsilon == 2:
            raise ZeroDivisionError("on purpose")
        if epsilon == 3:
            sys.exit(0)
        if epsilon == 4:
            os._exit(0)
        if epsilon == 5:
            os._exit(7)
        if epsilon == 6:
            os.kill(os.getpid(), signal.SIGABRT)
        if epsilon == 7:
            os.kill(os.getpid(), signal.SIGSEGV)
        if epsilon == 8:
            eaten = []
            while True:
                eaten.append(np.ones(1 << 21))
        if epsilon == 9:
            raise MemoryError
        if epsilon == 10:
            os.kill(os.getpid(), signal.SIGRTMIN + 1)
    """
    cell, config, folder = odd_cell(happen, list(range(1, 12)), memory_gib=0.6)
    frame = run(cell, config)
    status = outcomes(frame)
    assert status.pop(1.0) == status.pop(11.0) == ["ok"]
    assert set(map(tuple, status.values())) == {("error",)}
    assert measured(folder) == list(range(1, 12))
    messages = {
        2: "ZeroDivisionError: on purpose",
        3: "the process ended with status 0",
        4: "the process ended with status 0",
        5: "the process ended with status 7",
        6: "the process died of signal 6 (Aborted)",
        7: "the process died of signal 11 (Segmentation fault)",
        8: "exceeded the memory limit of 0.6 GiB",
        9: "MemoryError: ",
        10: f"the process died of signal {signal.SIGRTMIN + 1} (Real-time signal 1)",
    }
    assert {epsilon: message(frame, epsilon) for epsilon in messages} == messages
    assert "ZeroDivisionError" in log()


@pytest.mark.parametrize(
    ("value", "status", "words"),
    [
        ("nan", "error", "ReleaseError: odd: a release must be finite, got nan"),
        ("inf", "unsupported", "needs noise of scale inf; the moments of its squared norm stay"),
    ],
)
def test_a_scale_that_is_not_finite_costs_its_point_only(odd_cell, run, value, status, words):
    cell, config, folder = odd_cell("pass", [1, 2])
    module = folder / "odd_mechanism.py"
    module.write_text(
        module.read_text().replace("sigma=sigma", f"sigma=float('{value}') if epsilon < 2 else 1.0")
    )
    frame = run(cell, config)
    assert outcomes(frame) == {1.0: [status], 2.0: ["ok"]}
    assert words in message(frame, 1)


def test_a_value_that_is_not_finite_is_an_error():
    values = [Value("rmse", 1.0), Value("rmse", math.nan, trial=3)]
    with pytest.raises(ArithmeticError, match="rmse is nan in trial 3"):
        worker._require_finite(values)


def test_warnings_reach_the_rows_or_the_log(odd_cell, run, log):
    happen = """
        import warnings
        from mechanisms import OutOfRangeWarning
        warnings.warn("beyond the theorem", OutOfRangeWarning)
        warnings.warn("beyond the theorem", OutOfRangeWarning)
        np.array([1.0]) / np.array([0.0])
    """
    cell, config, _ = odd_cell(happen, [1])
    assert set(run(cell, config)["message"]) == {"beyond the theorem"}
    assert "RuntimeWarning: divide by zero" in log()
    assert "beyond" not in log()


def test_what_hangs_is_stopped_at_the_limit_and_told(odd_cell, run):
    happen = """
        if epsilon == 2:
            time.sleep(3600)
    """
    cell, config, folder = odd_cell(happen, [1, 2, 3], seconds=8)
    clock = time.monotonic()
    frame = run(cell, config)
    assert time.monotonic() - clock < 20
    assert outcomes(frame) == {1.0: ["ok"], 2.0: ["timeout"], 3.0: ["timeout"]}
    assert message(frame, 2) == message(frame, 3) == "stopped at the cell's limit of 8 s"
    assert measured(folder) == [1, 2]


def test_a_death_after_the_last_point_takes_nothing_away(odd_cell, run):
    happen = """
        import threading
        def kill():
            while not list(HERE.parent.glob("cells/.cell.partial/0001.json")):
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGSEGV)
        if epsilon == 2:
            threading.Thread(target=kill).start()
    """
    cell, config, _ = odd_cell(happen, [1, 2])
    assert outcomes(run(cell, config)) == {1.0: ["ok"], 2.0: ["ok"]}


def test_processes_that_a_mechanism_leaves_behind_are_ended(odd_cell, run):
    happen = """
        child = subprocess.Popen(["sleep", "3600"])
        (HERE / "child").write_text(str(child.pid))
    """
    cell, config, folder = odd_cell(happen, [1])
    assert outcomes(run(cell, config)) == {1.0: ["ok"]}
    wait_for(lambda: ended(int((folder / "child").read_text())))


@pytest.mark.slow
@pytest.mark.parametrize(
    "raised",
    [
        'OSError(errno.ENOSPC, "No space left on device")',
        # Some libraries report the system's error only as the context of their own.
        'RuntimeError("file write failed")',
    ],
)
def test_a_full_disk_is_no_failure_of_the_mechanism(odd_cell, run, tmp_path, monkeypatch, raised):
    happen = f"""
        import errno
        if epsilon == 2 and not (HERE / "space").exists():
            try:
                raise OSError(errno.ENOSPC, "No space left on device")
            except OSError:
                raise {raised}
    """
    cell, config, folder = odd_cell(happen, [1, 2, 3])
    full = lambda _: None if (folder / "space").exists() else "the disk is full"  # noqa: E731
    monkeypatch.setattr("runs.warm_process.full_disk", full)
    with pytest.raises(CellError, match=r"cell cell failed: .*No space left on device"):
        run(cell, config)
    assert not (tmp_path / "cells/cell.parquet").exists()
    (folder / "space").touch()
    assert set(run(cell, config)["status"]) == {"ok"}
    assert measured(folder) == [1, 2, 2, 3]


@pytest.fixture
def full_log(tmp_path):
    """A log for the cell named "cell" that accepts no output, as on a full disk."""
    (tmp_path / "logs/cells").mkdir(parents=True)
    (tmp_path / "logs/cells/cell.log").symlink_to("/dev/full")


@pytest.mark.parametrize(
    "raised", ['OSError(errno.ENOSPC, "No space left on device")', "ZeroDivisionError"]
)
def test_no_mechanism_is_blamed_where_its_traceback_cannot_be_printed(
    odd_cell, run, tmp_path, full_log, raised
):
    """The error may be one of the machine, or one of the mechanism that the log cannot hold."""
    happen = f"""
        import errno
        raise {raised}
    """
    cell, config, _ = odd_cell(happen, [1])
    with pytest.raises(CellError, match=r"^cell cell .*No space left on device$"):
        run(cell, config)
    assert not (tmp_path / "cells/cell.parquet").exists()


def test_any_error_on_a_full_disk_is_the_machines(tmp_path, monkeypatch):
    """Some libraries discard the system's error entirely."""
    error = RuntimeError("PytorchStreamWriter failed writing file")
    assert fault_of_machine(error, tmp_path) is None
    usage = shutil.disk_usage(tmp_path)._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    assert fault_of_machine(error, tmp_path) == f"the disk of {tmp_path} is full"


def test_a_cell_that_fails_leaves_the_others_of_its_batch(odd_cell, tmp_path):
    happen = """
        if epsilon == 2 and not (HERE / "read").exists():
            (HERE / "read").touch()
            next(HERE.parent.glob("cells/.first.partial/current")).unlink()
            os._exit(7)
    """
    cell, config, folder = odd_cell(happen, [1, 2])
    cells = [replace(cell, stem=name) for name in ("first", "second")]
    with pytest.raises(CellError, match="cell first failed"):
        run_cells(cells, tmp_path, limits=config["limits"], commit="")
    assert cells_to_run(cells, tmp_path) == cells[:1]
    run_cells(cells, tmp_path, limits=config["limits"], commit="")
    assert measured(folder) == [1, 2, 1, 2, 2]


@pytest.fixture
def without_data(make_config, run, tmp_path):
    """Returns a function that runs a cell whose data are missing."""
    config = make_config("count_query", datasets=["uber"], mechanisms=["gaussian"])
    config["data"]["folder"] = str(tmp_path / "empty")
    return lambda: run(cells_of(config)[0], config)


NO_DATA = r"uber is not in .*; run: python -m datasets fetch uber"


def test_missing_data_are_an_error_of_the_run_and_not_of_a_mechanism(without_data, tmp_path, capfd):
    with pytest.raises(CellError, match=NO_DATA):
        without_data()
    assert not (tmp_path / "cells/cell.parquet").exists()
    assert "uber-raw-data-apr14.csv" in capfd.readouterr().err


def test_missing_data_are_reported_where_the_traceback_cannot_be_printed(without_data, full_log):
    with pytest.raises(CellError, match=NO_DATA):
        without_data()


def test_a_cell_computes_on_one_thread_unless_told_otherwise(odd_cell, run, monkeypatch):
    happen = """
        (HERE / "threads").write_text(os.environ["OMP_NUM_THREADS"])
    """
    cell, config, folder = odd_cell(happen, [1])
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    run(cell, config)
    assert (folder / "threads").read_text() == "1"
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    run(cell, config, name="again")
    assert (folder / "threads").read_text() == "2"


def test_a_mechanism_that_contradicts_itself_is_inconsistent(odd_cell, run):
    happen = """
        IndependentGaussian.sample = lambda self, rng, trials, dtype=float: (
            np.zeros((trials, *self.shape), dtype)
        )
    """
    cell, config, _ = odd_cell(happen, [1, 2])
    frame = run(cell, config)
    assert outcomes(frame) == {1.0: ["inconsistent"], 2.0: ["inconsistent"]}
    assert "numbers that occurred more than once" in message(frame, 1)


@pytest.mark.slow
@pytest.mark.parametrize("study", ["pca", "private_data", "regression"])
def test_slow_modules_are_imported_before_the_first_cell(study):
    """Importing the study, as every plan of a run does, must not import them."""
    code = f"""
import sys
from studies.base.study import study_named
slow = set(study_named("{study}").slow_imports)
before = slow & set(sys.modules)
from runs.worker import import_study
import_study("{study}")
print(sorted(before), bool(slow) and slow <= set(sys.modules))
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[] True\n"
