"""The output of a run on its way and at its end."""

import fcntl
import os
import sys
from pathlib import Path

import pytest

from runs.__main__ import main
from runs.start import _Progress, start
from site_builder.insight import insight

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"


def test_a_run_ends_with_what_its_rows_show(tmp_path):
    run = tmp_path / "mine"
    (run / "studies").mkdir(parents=True)
    for name in ("count_query", "guarantee"):
        os.symlink(REFERENCE / f"studies/{name}.parquet", run / f"studies/{name}.parquet")
    os.symlink(REFERENCE / "claims.csv", run / "claims.csv")
    false, ranking, judged, against, where = insight(run)
    assert "published claims are false at a setting of this run: " in false and "R1SMG" in false
    assert "count_query on " in ranking and "at equal true privacy" in ranking
    assert "(pickups): " in ranking and "non-private" not in ranking.lower()
    assert judged.startswith("claims that this run decides: ") and "confirmed" in judged
    assert against.startswith("contradicted: ") and "more" in against
    assert f"{run}/claims.md" in where


@pytest.mark.parametrize("other", ["Finished jobid: 3", "0 of 10 steps (", "loss 3 of 10 steps ("])
def test_progress_is_a_line_of_jobs_and_time(capsys, monkeypatch, other):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    progress = _Progress()
    progress.read(other)
    progress.read("30 of 40 steps (75%) done\n")
    shown = capsys.readouterr().err
    assert shown.startswith("\r30 of 40 jobs done, about 0 s left")
    assert "\n" not in shown


def test_snakemake_is_read_to_its_end_where_its_log_has_no_room(tmp_path, capsys, monkeypatch):
    """Snakemake hangs if nobody reads its output, and then nobody hears of the full disk."""
    logs = tmp_path / "results/tiny/logs"
    logs.mkdir(parents=True)
    os.symlink("/dev/full", logs / "snakemake.log")
    (tmp_path / "snakemake.py").write_text("print('a line\\n' * 100_000 + 'no space'); exit(1)")
    config = REFERENCE.parents[1] / "config/tiny.yaml"
    monkeypatch.chdir(tmp_path)
    assert start(str(config), "1") == 1
    assert capsys.readouterr().err.endswith("a line\nno space\n")


def test_after_ctrl_c_a_run_says_what_is_left(tmp_path, capsys, monkeypatch):
    """A terminal sends it to Snakemake too, whose last words the run waits for."""
    (tmp_path / "snakemake.py").write_text(
        "import os, pathlib, signal, time\n"
        "os.kill(os.getppid(), signal.SIGINT)\n"
        "time.sleep(0.2)\n"
        "pathlib.Path('results/tiny/end.txt').write_text('3 cells are left\\n')\n"
        "exit(1)\n"
    )
    monkeypatch.chdir(tmp_path)
    assert start(str(REFERENCE.parents[1] / "config/tiny.yaml"), "1") == 1
    assert capsys.readouterr().out.startswith("3 cells are left\n")


def test_a_second_start_leaves_the_log_of_the_first_alone(tmp_path, capsys, monkeypatch):
    logs = tmp_path / "results/tiny/logs"
    logs.mkdir(parents=True)
    (logs / "snakemake.log").write_text("of the first\n")
    (logs.parent / "end.txt").write_text("kept\n")
    monkeypatch.chdir(tmp_path)
    first = os.open(logs, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    assert main(["start", "--config", str(REFERENCE.parents[1] / "config/tiny.yaml")]) == 2
    os.close(first)
    line = capsys.readouterr().err.splitlines()[-1]
    assert line == ("error: another process is running results/tiny; wait for it, or stop it first")
    assert (logs / "snakemake.log").read_text() == "of the first\n"
    assert (logs.parent / "end.txt").read_text() == "kept\n"


def test_a_run_that_cannot_start_is_told_in_one_line(tmp_path, capsys):
    config = tmp_path / "bad.yaml"
    config.write_text("run: bad\nseeed: 1\n")
    assert main(["start", "--config", str(config)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and "seeed" in line
    for cores in ("0", "1.5", "1e400", "some"):
        with pytest.raises(SystemExit, match="2"):
            main(["start", "--cores", cores])
