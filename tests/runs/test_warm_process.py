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


def test_two_answers_that_come_at_once_are_both_seen(monkeypatch, tmp_path):
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\nprintf \'{"pid": 1}\\n{"ended": 0}\\n\'; exec cat\n')
    program.chmod(0o755)
    monkeypatch.setattr(warm_process.sys, "executable", str(program))
    warm = warm_process.WarmProcess("noise_only")
    try:
        assert [warm._answers.line(20) for _ in range(2)] == [b'{"pid": 1}\n', b'{"ended": 0}\n']
    finally:
        warm.close()
