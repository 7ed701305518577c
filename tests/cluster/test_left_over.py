"""`end_left_over` ends left-over processes and no others; no cluster is needed."""

import shutil
import subprocess

import psutil
import pytest
from left_over import at_work_in, end_left_over


@pytest.fixture
def started():
    """Start a shell in a folder; it ignores SIGTERM and reports when it is ready."""
    children = []

    def start(folder):
        folder.mkdir(parents=True)
        child = subprocess.Popen(
            ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.001; done"],
            cwd=folder,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        children.append(child)
        assert child.stdout.readline() == b"ready\n"
        return child

    yield start
    for child in children:
        child.kill()
        child.wait()
        child.stdout.close()


def test_a_process_in_a_deleted_folder_is_found_and_ended(started, tmp_path):
    child, other = started(tmp_path / "test/project"), started(tmp_path / "test2")
    shutil.rmtree(tmp_path / "test")
    child.terminate()
    assert child.pid in [process.pid for process in at_work_in(tmp_path / "test")]
    commands = end_left_over(tmp_path / "test", patience=0.1)
    assert any("trap" in command for command in commands)
    assert not psutil.pid_exists(child.pid)
    assert at_work_in(tmp_path / "test") == []
    assert other.poll() is None


def test_a_process_that_ends_in_time_is_not_left_over(tmp_path):
    with subprocess.Popen(["sleep", "0.5"], cwd=tmp_path) as child:
        assert end_left_over(tmp_path) == []
        assert child.wait(0) == 0
