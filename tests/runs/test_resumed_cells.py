"""The leftovers of killed or damaged cells are used if they are whole and current."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from one_cell import ended, measured, wait_for

from runs.parts import part_path
from runs.runner import CellError
from runs.store import is_current, read_cell

ROOT = Path(__file__).resolve().parents[2]

# A script that runs a cell in its own process, so that a test may kill that process.
PARENT = """
import sys
from pathlib import Path
from runs.cell_spec import CellSpec
from runs.runner import run_cells
spec, folder = sys.argv[1:]
limits = {"seconds": 60, "memory_gib": 2}
run_cells([CellSpec.from_json(spec)], Path(folder), limits=limits, commit="")
"""


# At epsilon 3 the first child kills a process and then continues in one of several ways.
KILLS_ITS_RUN = """
    if epsilon == 3 and not (HERE / "killed").exists():
        import psutil
        (HERE / "killed").write_text(str(os.getpid()))
        psutil.Process().parents()[{generation}].kill()
        while True:
            {then}
"""
HANGS, PRINTS = "time.sleep(3600)", "os.write(2, b'at work')"
# A command that prints dies of SIGPIPE.
STARTS = "__import__('subprocess').run('yes', stdout=2, check=True)"


@pytest.fixture(params=[HANGS])
def killed_run(odd_cell, tmp_path, request):
    """A cell whose first run was killed at the third of four points, with its leftovers."""

    happen = KILLS_ITS_RUN.format(generation=1, then=request.param)
    cell, config, folder = odd_cell(happen, [1, 2, 3, 4])
    named = replace(cell, stem="cell")
    command = [sys.executable, "-c", PARENT, named.to_json(), str(tmp_path)]
    ended = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    assert ended.returncode == -signal.SIGKILL
    assert not is_current(named, tmp_path)
    assert measured(folder) == [1, 2, 3]
    return cell, config, folder


def test_a_hung_child_ends_with_the_run_that_started_it(killed_run):
    _, _, folder = killed_run
    wait_for(lambda: ended(int((folder / "killed").read_text())), seconds=10)


@pytest.mark.parametrize("killed_run", [HANGS, PRINTS, STARTS], indirect=True)
def test_a_killed_run_goes_on_where_it_stopped(killed_run, run, tmp_path):
    """A cell that prints to a run that is gone is not blamed for its broken pipe.

    Neither is one whose commands print.
    """
    cell, config, folder = killed_run
    partial, kept = tmp_path / "cells/.cell.partial", tmp_path / "backup"
    shutil.copytree(partial, kept)

    assert set(run(cell, config)["status"]) == {"ok"}
    assert measured(folder) == [1, 2, 3, 3, 4]
    assert not partial.exists()
    written = tmp_path / "cells/cell.parquet"
    resumed, _ = read_cell(written)

    written.unlink()
    run(cell, config)
    assert read_cell(written)[0].equals(resumed)
    assert measured(folder)[5:] == [1, 2, 3, 4]

    # The same leftovers are worthless once the code has changed.
    shutil.copytree(kept, partial)
    run(cell, config, code="other code")
    assert measured(folder)[9:] == [1, 2, 3, 4]
    assert read_cell(written)[0].equals(resumed)


def damaged_parts(partial):
    part_path(partial, 0).write_bytes(part_path(partial, 0).read_bytes()[:-20])
    part_path(partial, 1).write_bytes(part_path(partial, 1).read_bytes().replace(b"4", b"5"))


def swapped_parts(partial):
    first, second = (part_path(partial, index) for index in (0, 1))
    one, two = first.read_bytes(), second.read_bytes()
    first.write_bytes(two)
    second.write_bytes(one)


def damaged_digest(partial):
    (partial / "digest").write_bytes(b"\xff\xfe")


@pytest.mark.parametrize("harm", [damaged_parts, swapped_parts, damaged_digest])
def test_leftovers_that_are_not_intact_are_measured_again(killed_run, run, tmp_path, harm):
    cell, config, folder = killed_run
    harm(tmp_path / "cells/.cell.partial")
    assert set(run(cell, config)["status"]) == {"ok"}
    assert measured(folder) == [1, 2, 3, 1, 2, 3, 4]


@pytest.mark.parametrize("left", [b"", b"\xff"])
def test_a_damaged_note_of_the_point_blames_none(odd_cell, run, left):
    """The process dies at the second point, and its note on that point is lost."""
    happen = f"""
        if epsilon == 2 and not (HERE / "died").exists():
            (HERE / "died").touch()
            next(HERE.parent.glob("cells/.cell.partial/current")).write_bytes({left})
            os._exit(7)
    """
    cell, config, folder = odd_cell(happen, [1, 2])
    with pytest.raises(
        CellError, match=r"failed before its first grid point: .* status 7; .* has what it printed"
    ):
        run(cell, config)
    assert set(run(cell, config)["status"]) == {"ok"}
    assert measured(folder) == [1, 2, 2]


@pytest.mark.parametrize("generation", [0, None])
def test_a_kill_from_outside_is_no_failure_of_the_mechanism(odd_cell, run, generation):
    """If the measuring process or its parent is killed, the point is measured again."""
    happen = KILLS_ITS_RUN.format(generation=generation, then=HANGS)
    if generation is None:
        happen = happen.replace("psutil.Process().parents()[None]", "psutil.Process()")
    cell, config, folder = odd_cell(happen, [1, 2, 3, 4])
    assert set(run(cell, config)["status"]) == {"ok"}
    assert measured(folder) == [1, 2, 3, 3, 4]
    wait_for(lambda: ended(int((folder / "killed").read_text())), seconds=10)


@pytest.mark.parametrize(
    "act",
    [
        "os.kill(os.getpid(), 9)",
        "os.kill(os.getpid(), signal.SIGINT)",
        "os.kill(os.getppid(), 9); time.sleep(9)",
        "raise OSError(28, 'mine')",
    ],
)
def test_twice_at_the_same_point_is_the_fault_of_the_cell(odd_cell, run, monkeypatch, act):
    """Unless the system says that it kills for memory, or does not say whether it does."""
    cell, config, folder = odd_cell(f"if epsilon == 2: {act}", [1, 2, 3])
    monkeypatch.setattr("runs.warm_process.kills_for_memory", lambda: None)
    with pytest.raises(CellError, match="cell cell failed: "):
        run(cell, config)
    monkeypatch.setattr("runs.warm_process.kills_for_memory", lambda: 5)
    frame = run(cell, config)
    assert dict(zip(frame["epsilon"], frame["status"], strict=True)) == {
        1: "ok",
        2: "error",
        3: "ok",
    }
    (message,) = frame[frame["epsilon"] == 2]["message"]
    assert message.startswith("twice at this grid point: ")
    assert measured(folder) == [1, 2, 2, 2, 3]
