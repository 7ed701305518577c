"""The output of a run on its way and at its end."""

import os
import signal
from pathlib import Path

import pytest

from runs.__main__ import main
from runs.start import start
from site_builder.insight import insight

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"


def test_a_run_ends_with_what_its_rows_show(tmp_path):
    run = tmp_path / "mine"
    (run / "studies").mkdir(parents=True)
    for name in ("count_query", "guarantee"):
        os.symlink(REFERENCE / f"studies/{name}.parquet", run / f"studies/{name}.parquet")
    os.symlink(REFERENCE / "claims.csv", run / "claims.csv")
    false, ranking, judged, against, where, pages = insight(run)
    assert "published claims are false at a setting of this run: " in false and "R1SMG" in false
    assert "count_query on " in ranking and "at equal true privacy" in ranking
    assert "(pickups): " in ranking and "non-private" not in ranking.lower()
    assert judged.startswith("claims that this run decides: ") and "confirmed" in judged
    assert against.startswith("contradicted: ") and "more" in against
    assert f"{run}/claims.md" in where and pages.endswith("site_builder build mine")


@pytest.fixture
def started(tmp_path, monkeypatch):
    """A function that runs `start` on config/tiny.yaml with a program in place of Snakemake."""
    (tmp_path / "results/tiny/logs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    handler = signal.getsignal(signal.SIGINT)

    def run(program: str) -> int:
        (tmp_path / "snakemake.py").write_text(program)
        return start(str(REFERENCE.parents[1] / "config/tiny.yaml"), "1")

    yield run
    signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize(("terminal", "begin"), [(True, "\r"), (False, "")])
def test_progress_is_a_line_and_the_rest_is_in_the_log(
    started, capsys, monkeypatch, terminal, begin
):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    assert (
        started("print('Finished jobid: 3\\n30 of 40 steps (75%) done\\nhalf 3 of 4 steps (')") == 0
    )
    shown, told = capsys.readouterr()
    assert told.rstrip("\n").endswith(f"tiny.yaml: planning\n{begin}30 of 40 steps (75%) done")
    assert shown == "log: results/tiny/logs/snakemake.log\n"
    assert "Finished jobid: 3\n" in Path("results/tiny/logs/snakemake.log").read_text()


def test_snakemake_is_read_to_its_end_where_its_log_has_no_room(started, capsys):
    """Snakemake hangs if nobody reads its output, and then nobody hears of the full disk."""
    os.symlink("/dev/full", "results/tiny/logs/snakemake.log")
    assert started("print('a line\\n' * 100_000 + 'no space'); exit(1)") == 1
    assert capsys.readouterr().err.endswith("a line\nno space\n")


def test_after_ctrl_c_a_run_says_what_is_left(started, capsys):
    """A terminal sends it to Snakemake too, whose last words the run waits for."""
    program = (
        "import os, pathlib, signal, time\n"
        "time.sleep(0.2)\n"
        "os.kill(os.getppid(), signal.SIGINT)\n"
        "time.sleep(0.2)\n"
        "pathlib.Path('results/tiny/end.txt').write_text('3 cells are left\\n')\n"
        "exit(1)\n"
    )
    assert started(program) == 1
    assert capsys.readouterr().out.startswith("3 cells are left\n")


def test_a_run_that_cannot_start_is_told_in_one_line(tmp_path, capsys):
    config = tmp_path / "bad.yaml"
    config.write_text("run: bad\nseeed: 1\n")
    assert main(["start", "--config", str(config)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and "seeed" in line
