"""The time that a cell has left."""

import pytest

from runs import warm_process
from runs.warm_process import LONGEST_POLL_SECONDS, Allowance


def test_a_pause_of_the_run_is_not_the_time_of_a_cell(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(warm_process.time, "monotonic", lambda: now[0])
    allowance = Allowance(8.0)
    for _ in range(70):
        now[0] += 0.1
        assert not allowance.is_spent()
    # A night during which the run is suspended counts as the longest poll.
    now[0] += 36_000
    assert allowance.is_spent()
    assert allowance.left == pytest.approx(8.0 - 7.0 - LONGEST_POLL_SECONDS)


def test_answers_are_whole_lines_even_if_two_come_at_once(monkeypatch, tmp_path):
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\nprintf \'{"pid": 1}\\n{"ended": 0}\\nhalf\'; exec cat\n')
    program.chmod(0o755)
    monkeypatch.setattr(warm_process.sys, "executable", str(program))
    warm = warm_process.WarmProcess("noise_only")
    try:
        assert [warm._answer(20.0) for _ in range(2)] == [b'{"pid": 1}\n', b'{"ended": 0}\n']
        # Half a line hangs nobody, and is kept.
        assert [warm._answer(0.01), warm._answer(0.01)] == [None, None]
        warm.process.stdin.write(b" a line\n")
        assert warm._answer(20.0) == b"half a line\n"
        warm.process.stdin.close()
        assert warm._answer(20.0) == b""
    finally:
        warm.close()
