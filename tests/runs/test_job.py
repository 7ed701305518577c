"""Messages and files of a workflow job whose files are at fault."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from runs.job import PLANNER, job
from runs.result_table import (
    DamagedTable,
    TableError,
    note_in,
    read_table,
    to_table,
    write_table,
)

ROOT = Path(__file__).resolve().parents[2]


def test_what_a_job_prints_is_in_its_log(tmp_path, capfd):
    with job(tmp_path / "log"):
        print("one")
        print("two", file=sys.stderr)
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kept", [slice(0, -9), slice(9, None), slice(0, 0)])
def test_a_damaged_table_is_named_and_removed(tmp_path, kept):
    path = tmp_path / "rows.parquet"
    write_table(to_table([{"metric": "rmse", "value": 1.0}] * 50), path)
    path.write_bytes(path.read_bytes()[kept])
    with pytest.raises(DamagedTable, match=r"rows\.parquet is damaged"):
        read_table(path)
    with pytest.raises(SystemExit), job(tmp_path / "log"):
        read_table(path)
    assert not path.exists()
    log = (tmp_path / "log").read_text()
    assert log.startswith(f"error: {path} is damaged: ")
    assert log.endswith("; it was removed: run again\n")


def test_a_table_that_cannot_be_read_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    write_table(to_table([]), path)
    read = Path.read_bytes

    def fails(file):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "read_bytes", fails)
    with pytest.raises(SystemExit), job(tmp_path / "log"):
        read_table(path)
    assert read(path)
    with pytest.raises(NotADirectoryError, match=r"rows\.parquet/below"):
        note_in(path / "below")
    assert (tmp_path / "log").read_text() == f"error: [Errno 5] Input/output error: '{path}'\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TableError("a cell is incomplete"), "error: a cell is incomplete\n"),
        (OSError(28, "No space left on device"), "error: [Errno 28] No space left on device\n"),
    ],
)
def test_faults_of_files_are_one_line(tmp_path, error, words):
    with pytest.raises(SystemExit) as ended, job(tmp_path / "log"):
        raise error
    assert ended.value.code == 1
    assert (tmp_path / "log").read_text() == words


@pytest.mark.parametrize("printed", ["", "some words\n"])
def test_a_full_disk_is_one_line_though_the_log_takes_no_more(capfd, printed):
    with pytest.raises(SystemExit) as ended, job("/dev/full"):
        print(printed, end="")
        raise OSError(28, "No space left on device")
    assert ended.value.code == 1
    assert capfd.readouterr().err == "error: [Errno 28] No space left on device\n"


def test_other_errors_keep_their_traceback(tmp_path):
    with pytest.raises(SystemExit), job(tmp_path / "log"):
        raise ZeroDivisionError("a mistake of ours")
    assert "Traceback" in (tmp_path / "log").read_text()


def test_a_job_ends_with_the_run_that_planned_it(tmp_path):
    code = "import time; from runs.job import *\nwith exit_with_planner(): time.sleep(60)"
    planner = subprocess.Popen(["sleep", "60"])
    environment = os.environ | {PLANNER: str(planner.pid)}
    started = subprocess.Popen([sys.executable, "-c", code], env=environment, cwd=ROOT)
    time.sleep(0.5)
    assert started.poll() is None
    planner.kill()
    planner.wait()
    assert started.wait(20) == 1


def test_nothing_of_a_job_is_alive_when_its_process_ends(tmp_path, monkeypatch):
    monkeypatch.setenv(PLANNER, str(os.getpid()))
    before = threading.active_count()
    with job(tmp_path / "log"):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    with pytest.raises(SystemExit), job(tmp_path / "log"):
        raise ZeroDivisionError("a mistake of ours")
    assert threading.active_count() == before
