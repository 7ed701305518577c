"""A misbehaving cell does limited harm; `make soak` has many more of this kind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from one_cell import ended

from runs.descendants import adopt_orphans, descendants, end_descendants
from runs.parts import MOST_CHARACTERS, _select_trial, clean
from runs.warm_process import MOST_BYTES, CellLog


@pytest.mark.parametrize("trial", [None, 0, 2])
def test_a_cell_of_one_trial_keeps_failures_seconds_and_its_own_numbers(trial):
    """Numbers of no trial belong to the cell of trial 0."""
    of_a_trial = {"trial": 2, "timing": False, "status": "ok"}
    seconds, failed = of_a_trial | {"timing": True}, of_a_trial | {"status": "error"}
    values = [of_a_trial, of_a_trial | {"trial": None}, seconds | {"trial": None}, failed]
    own = [value | {"trial": trial} for value in (seconds, failed)]
    kept = {None: values, 0: [*values[:2], *own], 2: [values[0], *own]}
    assert _select_trial(trial, values) == kept[trial]


class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (
            "plain \N{GREEK SMALL LETTER EPSILON}\nlines",
            "plain \N{GREEK SMALL LETTER EPSILON}\\nlines",
        ),
        ("a\udcffb\0c\u202e\x1b", "a\\udcffb\\x00c\\u202e\\x1b"),
        (Unreadable(), "a message that cannot be read, of the class Unreadable"),
        ("x" * MOST_CHARACTERS, "x" * MOST_CHARACTERS),
    ],
)
def test_a_message_is_text(said, stored):
    assert clean(said) == stored == clean(clean(said))


@pytest.mark.parametrize("middle", ["x", "\udc00", "\n"])
def test_a_long_message_keeps_its_ends(middle):
    text = clean("begin" + middle * 10**7 + "end")
    assert MOST_CHARACTERS - 1 <= len(text) <= MOST_CHARACTERS
    assert text.startswith("begin") and text.endswith("end") and " [...] " in text


def test_a_log_keeps_the_beginning_and_the_end(tmp_path, capfd):
    path = tmp_path / "logs/cell.log"
    with CellLog(path) as log:
        log.add(b"begin\n")
        for _ in range(100):
            log.add(b"x" * 65536)
        log.add(b"\nend \xff")
    content = path.read_bytes()
    assert len(content) <= MOST_BYTES
    assert content.startswith(b"begin\n") and content.endswith(b"\nend \xff")
    assert b" bytes left out ...\n" in content
    assert len(capfd.readouterr().err) <= MOST_BYTES


def test_the_log_of_an_earlier_run_is_added_to(tmp_path):
    for run in range(2):
        with CellLog(tmp_path / "log") as log:
            log.add(b"run %d\n" % run)
    assert (tmp_path / "log").read_text() == "run 0\nrun 1\n"


COPIES = """
import sys
from pathlib import Path
from runs.warm_process import CellLog
with CellLog(Path(sys.argv[1])) as log:
    log.add(b"at work")
"""


def test_a_terminal_that_was_closed_ends_no_cell(tmp_path):
    """The log is whole, and the process that copies it to stderr ends with status 0."""
    ends, held = os.pipe()
    os.close(ends)
    with os.fdopen(held) as broken, open("/dev/full", "w") as full:
        for stderr in (broken, full):
            path = tmp_path / "log"
            subprocess.run([sys.executable, "-c", COPIES, path], stderr=stderr, check=True)
            assert path.read_text() == "at work"
            path.unlink()


def test_a_log_that_takes_nothing_is_said_at_the_end():
    with pytest.raises(OSError, match="No space left"), CellLog(Path("/dev/full")) as log:
        log.add(b"x")
    with pytest.raises(KeyError), CellLog(Path("/dev/full")) as log:
        log.add(b"x")
        raise KeyError


DAEMON = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(4242)"


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
def test_daemons_end_and_others_are_spared():
    adopt_orphans()
    with subprocess.Popen(["sleep", "60"]) as spared:
        before = {process.pid for process in descendants()}
        subprocess.run([sys.executable, "-c", DAEMON], check=True)
        (daemon,) = descendants(before)
        assert os.getsid(daemon.pid) == daemon.pid
        end_descendants(before)
        assert descendants(before) == [] and ended(daemon.pid)
        assert spared.poll() is None
        spared.kill()
    adopt_orphans(False)


def test_one_batch_of_bad_points(odd_cell, run, tmp_path):
    """Tests leaked files, a surrogate, a changed mask and folder, a forged answer, an interrupt."""
    happen = """
        if epsilon == 2:
            while True:
                LEAKED.append(os.dup(0))
        if epsilon == 3:
            raise ValueError("bad \\udcff text")
        if epsilon == 4:
            os.chdir("/"), os.umask(0o777), os.closerange(0, 3)
        if epsilon == 5:
            for number in range(3, 30):
                try:
                    os.write(number, b'{"ended": 0}\\\\n')
                except OSError:
                    pass
        if epsilon == 6:
            raise KeyboardInterrupt("mine")
    """
    cell, config, folder = odd_cell(happen, [1, 2, 3, 4, 5, 6, 7])
    with open(folder / "odd_mechanism.py", "a") as file:
        file.write("\nLEAKED = []\n")
    frame = run(cell, config).drop_duplicates("epsilon").set_index("epsilon")
    assert frame["status"].to_dict() == {
        1: "ok", 2: "error", 3: "error", 4: "ok", 5: "ok", 6: "error", 7: "ok"
    }  # fmt: skip
    assert "Too many open files" in frame["message"][2]
    assert frame["message"][3] == "ValueError: bad \\udcff text"
    assert frame["message"][6] == "KeyboardInterrupt: mine"
