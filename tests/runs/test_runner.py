"""Cells run in a child process: whatever a mechanism does, the rows tell the truth."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from runs.cells import Cell
from runs.frames import check_table, read_frame
from runs.result_table import read_table
from runs.runner import CellError, run_cell

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(tmp_path):
    """Runs a cell; returns its rows as a data frame."""

    def run_it(cell, config, sources=(), name="cell"):
        paths = tmp_path / f"{name}.parquet", tmp_path / f"{name}.timings.parquet"
        log = tmp_path / f"{name}.log"
        run_cell(
            cell.specification(config),
            [str(s) for s in sources],
            *paths,
            limits=config["limits"],
            log=log,
        )
        check_table(
            read_table(paths[0]),
            {
                (cell.experiment, cell.dataset, cell.mechanism, cell.calibration): len(
                    cell.points(config)
                )
            },
        )
        return read_frame(paths[0])

    return run_it


def outcomes(frame):
    """Status by epsilon."""
    return {epsilon: rows["status"].unique().tolist() for epsilon, rows in frame.groupby("epsilon")}


def message(frame, epsilon):
    return frame[frame["epsilon"] == epsilon]["message"].iloc[0]


def measured(folder):
    return [float(line) for line in (folder / "measured").read_text().split()]


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.05)


def ended(pid):
    """Whether a process is gone (or only waits for its parent to notice)."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_cell_that_works(odd_cell, run, tmp_path, capfd):
    cell, config, _ = odd_cell("pass", [1, 2])
    frame = run(cell, config)
    assert outcomes(frame) == {1.0: ["ok"], 2.0: ["ok"]}
    losses = frame[frame["metric"] == "expected_loss"].set_index("epsilon")["value"]
    assert losses.to_dict() == {1.0: 4.0, 2.0: 1.0}
    assert set(frame["shape"]) == {"2x2"}
    assert set(frame["mechanism"]) == {"odd"}
    timings = read_frame(tmp_path / "cell.timings.parquet")
    assert set(timings["metric"]) == {"calibrate_seconds", "peak_memory_bytes"}
    assert not set(timings["metric"]) & set(frame["metric"])
    # Progress is shown while the cell runs, and kept; nothing else is left behind.
    progress = "noise_only fixed-sensitivity odd published: point 2 of 2"
    assert progress in (tmp_path / "cell.log").read_text()
    assert progress in capfd.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {
        "cell.parquet", "cell.timings.parquet", "cell.log", "outside"
    }  # fmt: skip


def test_whatever_happens_at_a_point_the_others_are_measured(odd_cell, run, tmp_path):
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
            os.kill(os.getpid(), signal.SIGKILL)
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
    told = {
        2: "ZeroDivisionError: on purpose",
        3: "the process ended with status 0",
        4: "the process ended with status 0",
        5: "the process ended with status 7",
        6: "the process died of signal 9 (Killed)",
        7: "the process died of signal 11 (Segmentation fault)",
        8: "exceeded the memory limit of 0.6 GiB",
        9: "MemoryError: ",
        10: f"the process died of signal {signal.SIGRTMIN + 1} (Real-time signal 1)",
    }
    assert {epsilon: message(frame, epsilon) for epsilon in told} == told
    assert "ZeroDivisionError" in (tmp_path / "cell.log").read_text()


@pytest.mark.parametrize(
    ("value", "words"), [("nan", "expected_loss is nan"), ("inf", "expected_loss is inf")]
)
def test_numbers_that_are_not_finite_are_an_error_of_their_point(odd_cell, run, value, words):
    cell, config, folder = odd_cell("pass", [1, 2])
    module = folder / "odd_mechanism.py"
    module.write_text(
        module.read_text().replace("sigma=sigma", f"sigma=float('{value}') if epsilon < 2 else 1.0")
    )
    frame = run(cell, config)
    assert outcomes(frame) == {1.0: ["error"], 2.0: ["ok"]}
    assert message(frame, 1) == f"ArithmeticError: {words}"


def test_warnings_reach_the_rows_or_the_log(odd_cell, run, tmp_path):
    happen = """
        import warnings
        from mechanisms import OutOfRangeWarning
        warnings.warn("beyond the theorem", OutOfRangeWarning)
        warnings.warn("beyond the theorem", OutOfRangeWarning)
        np.array([1.0]) / np.array([0.0])
    """
    cell, config, _ = odd_cell(happen, [1])
    assert set(run(cell, config)["message"]) == {"beyond the theorem"}
    log = (tmp_path / "cell.log").read_text()
    assert "RuntimeWarning: divide by zero" in log
    assert "beyond" not in log


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
        import atexit
        atexit.register(os.kill, os.getpid(), signal.SIGKILL)
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


# Runs a cell in a process of its own, so that a test may kill that process.
PARENT = """
import json, sys
from pathlib import Path
from runs.runner import run_cell
specification, rows, timings, *sources = sys.argv[1:]
limits = {"seconds": 60, "memory_gib": 2}
run_cell(json.loads(specification), sources, Path(rows), Path(timings), limits=limits)
"""
# At epsilon 3 the first child kills the process that started it, and then hangs.
KILLS_ITS_RUN = """
    if epsilon == 3 and not (HERE / "killed").exists():
        (HERE / "killed").write_text(str(os.getpid()))
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3600)
"""


@pytest.fixture
def killed_run(odd_cell, tmp_path):
    """A cell whose first run was killed at the third of four points, and what is left of it."""

    cell, config, folder = odd_cell(KILLS_ITS_RUN, [1, 2, 3, 4])
    rows, timings = tmp_path / "cell.parquet", tmp_path / "cell.timings.parquet"
    command = [sys.executable, "-c", PARENT, json.dumps(cell.specification(config))]
    command += [str(rows), str(timings), str(folder / "odd_mechanism.py")]
    ended = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    assert ended.returncode == -signal.SIGKILL
    assert not rows.exists()
    assert measured(folder) == [1, 2, 3]
    return cell, config, folder


def test_a_hung_child_ends_with_the_run_that_started_it(killed_run):
    _, _, folder = killed_run
    wait_for(lambda: ended(int((folder / "killed").read_text())), seconds=10)


def test_a_killed_run_goes_on_where_it_stopped(killed_run, run, tmp_path):
    cell, config, folder = killed_run
    (tmp_path / "backup").mkdir()
    partial = tmp_path / ".cell.partial"
    shutil.copytree(partial, tmp_path / "backup/.cell.partial")
    source = folder / "odd_mechanism.py"

    assert set(run(cell, config, [source])["status"]) == {"ok"}
    assert measured(folder) == [1, 2, 3, 3, 4]
    assert not partial.exists()
    resumed = (tmp_path / "cell.parquet").read_bytes()

    run(cell, config, [source], name="uninterrupted")
    assert (tmp_path / "uninterrupted.parquet").read_bytes() == resumed
    assert measured(folder)[5:] == [1, 2, 3, 4]

    # The same leftovers are worth nothing once the source has changed.
    shutil.copytree(tmp_path / "backup/.cell.partial", partial)
    source.write_text(source.read_text() + "\n# a comment\n")
    run(cell, config, [source])
    assert measured(folder)[9:] == [1, 2, 3, 4]
    assert (tmp_path / "cell.parquet").read_bytes() == resumed


def test_other_settings_start_afresh(killed_run, run, tmp_path):
    cell, config, folder = killed_run
    config["seed"] += 1
    run(cell, config, [folder / "odd_mechanism.py"])
    assert measured(folder) == [1, 2, 3, 1, 2, 3, 4]


def test_missing_data_are_an_error_of_the_run_and_not_of_a_mechanism(
    make_config, run, tmp_path, capfd
):
    config = make_config("count_query", datasets=["uber"], mechanisms=["gaussian"])
    config["data"]["folder"] = str(tmp_path / "empty")
    names = {"experiment": "count_query", "dataset": "uber"}
    cell = Cell(**names, mechanism="gaussian", calibration="published")
    with pytest.raises(CellError, match="cell cell failed before its first grid point"):
        run(cell, config)
    assert not (tmp_path / "cell.parquet").exists()
    assert "uber-raw-data-apr14.csv" in capfd.readouterr().err


def test_a_cell_computes_on_one_thread_unless_told_otherwise(odd_cell, run, monkeypatch):
    happen = """
        (HERE / "threads").write_text(os.environ["OMP_NUM_THREADS"])
    """
    cell, config, folder = odd_cell(happen, [1])
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    run(cell, config)
    assert (folder / "threads").read_text() == "1"
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    run(cell, config)
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
    assert "the mechanism states" in message(frame, 1)
