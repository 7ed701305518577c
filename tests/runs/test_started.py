"""The record of what computed a run, in a small tree under git."""

import json
import subprocess

import numpy as np
import pytest

from runs.started import RECORD, commit_of_tree, read_starts, record_start
from studies.base.yaml_file import ConfigError


@pytest.fixture
def git(tmp_path, monkeypatch):
    """Runs git in a new tree that has a Snakefile."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Snakefile").write_text("")
    (tmp_path / ".gitignore").write_text("results/*\n!results/small/\n")

    def run(*words):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    run("init", "--quiet")
    run("add", ".")
    run("commit", "--quiet", "--message", "first")
    return run


def test_every_start_that_differs_is_recorded(git, tmp_path):
    run, first = tmp_path / "results/small", git("rev-parse", "HEAD")
    assert read_starts(run) == []
    record_start(run)
    record_start(run)
    (start,) = read_starts(run)
    assert start["commit"] == commit_of_tree() == first
    assert start["packages"]["numpy"] == np.__version__
    (tmp_path / "new.py").write_text("")
    record_start(run)
    git("add", ".")
    git("commit", "--quiet", "--message", "second")
    record_start(run)
    commits = [each["commit"] for each in read_starts(run)]
    assert commits == [first, f"{first}-dirty", git("rev-parse", "HEAD")]
    assert len(set(commits)) == 3


@pytest.mark.parametrize("rows", ["studies", "cells"])
def test_rows_that_are_older_stay_not_recorded(git, tmp_path, rows):
    run = tmp_path / "results/small"
    (run / rows).mkdir(parents=True)
    assert read_starts(run) == [None]
    record_start(run)
    before, start = json.loads((run / RECORD).read_text())
    assert before is None and start["commit"] == git("rev-parse", "HEAD")


def test_a_damaged_record_is_told_and_kept(git, tmp_path):
    run = tmp_path / "results/small"
    run.mkdir(parents=True)
    (run / RECORD).write_text('[{"commit": ')
    with pytest.raises(ConfigError, match=r"started\.json is damaged .*; remove it"):
        record_start(run)
    assert (run / RECORD).read_text() == '[{"commit": '


def test_a_copy_in_the_tree_of_something_else_has_no_commit(git, tmp_path, monkeypatch):
    copy = tmp_path / "unpacked"
    copy.mkdir()
    (copy / "Snakefile").write_text("")
    monkeypatch.chdir(copy)
    assert commit_of_tree() is None
    record_start(copy / "results/small")
    assert [each["commit"] for each in read_starts(copy / "results/small")] == [None]
