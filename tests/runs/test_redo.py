"""`redo` makes cells stale, and a summary describes a run."""

import pytest

from runs.__main__ import main
from runs.result_table import to_table, write_table
from runs.results import summary_of
from runs.travel import redo

CELLS = {
    "counts/city/good--published": ["ok", "ok"],
    "counts/city/half--published": ["ok", "error"],
    "counts/uber/good--exact": ["ok"],
    "counts/uber/slow--exact": ["timeout", "timeout", "timeout", "inconsistent"],
    "noise/none/good--exact": ["unsupported"],
}
COMBINATIONS = "combinations of study, data set, mechanism and calibration"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of five cells in a folder "results"."""
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "results" / "mine"
    tables = {}
    for stem, statuses in CELLS.items():
        study, dataset, last = stem.split("/")
        mechanism, calibration = last.split("--")
        rows = [
            {
                "study": study, "dataset": dataset, "mechanism": mechanism,
                "calibration": calibration, "shape": "1", "epsilon": float(i // 2), "delta": 0.0,
                "trial": i % 2, "status": status, "message": "" if status == "ok" else "on purpose",
            }
            for i, status in enumerate(statuses)
        ]  # fmt: skip
        write_table(to_table(rows), run / "cells" / f"{stem}.parquet", "digest")
        tables.setdefault(study, []).extend(rows)
    for study, rows in tables.items():
        write_table(to_table(rows), run / "studies" / f"{study}.parquet")
    return run


def left(run):
    cells = run / "cells"
    return {str(path.relative_to(cells).with_suffix("")) for path in cells.rglob("*.parquet")}


@pytest.mark.parametrize(
    ("wanted", "removed"),
    [
        ({"status": ["error"]}, {"counts/city/half--published"}),
        (
            {"status": ["error", "timeout"]},
            {"counts/city/half--published", "counts/uber/slow--exact"},
        ),
        ({"mechanism": ["good"], "study": ["noise"]}, {"noise/none/good--exact"}),
        ({"dataset": ["uber"]}, {"counts/uber/good--exact", "counts/uber/slow--exact"}),
        ({"status": ["error"], "dataset": ["uber"]}, set()),
        ({}, set(CELLS)),
    ],
)
def test_the_cells_that_are_wanted_go(run, wanted, removed):
    assert set(redo(run, wanted)) == removed
    assert left(run) == set(CELLS) - removed
    studies = {stem.split("/")[0] for stem in removed}
    for study in ("counts", "noise"):
        assert (run / f"studies/{study}.parquet").exists() == (study not in studies)


def test_damaged_cells_are_always_among_them(run):
    damaged = run / "cells/counts/city/good--published.parquet"
    damaged.write_bytes(damaged.read_bytes()[:50])
    assert redo(run, {"status": ["timeout"]}) == [
        "counts/city/good--published", "counts/uber/slow--exact"
    ]  # fmt: skip


def test_from_the_command_line(run, capsys):
    assert main(["redo", "mine", "--status", "error", "--study", "counts"]) == 0
    assert capsys.readouterr().out == (
        "counts/city/half--published\ncells of mine that its next run will measure again: 1\n"
    )
    assert main(["redo", "yours"]) == 2
    assert "results has no run with cells 'yours'; it has mine" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["redo", "mine", "--status", "eror"])
    assert "invalid choice: 'eror' (choose from 'ok'," in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        ("study", "count", "did you mean 'counts'? it has counts, noise"),
        ("dataset", "ubr", "did you mean 'uber'? it has city, none, uber"),
        ("mechanism", "typo", "it has good, half, slow"),
        ("mechanism", "goood", "did you mean 'good'? it has good, half, slow"),
    ],
)
def test_a_name_that_no_cell_has_is_refused(run, capsys, option, name, words):
    assert main(["redo", "mine", f"--{option}", name]) == 2
    assert capsys.readouterr().err == f"error: results/mine has no {option} {name!r}; {words}\n"
    assert left(run) == set(CELLS)


def test_a_trial_is_no_part_of_a_mechanisms_name(run):
    folder = run / "cells/noise/none"
    (folder / "good--exact.parquet").rename(folder / "good--exact--3.parquet")
    assert redo(run, {"mechanism": ["good"], "study": ["noise"]}) == ["noise/none/good--exact--3"]


def test_a_summary_counts_and_gives_reasons(run):
    files = [run / "studies/counts.parquet", run / "studies/noise.parquet"]
    text, failed = summary_of(run, files)
    lines = text.splitlines()
    assert (lines[0], failed) == (f"{run}: 5 {COMBINATIONS}, 2 ok, 1 unsupported, 2 failed", 2)
    assert set(lines) > {
        "  counts/city/half--published: error at 1 grid point: on purpose",
        "  counts/uber/slow--exact: timeout at 2 grid points: on purpose",
        "  counts/uber/slow--exact: inconsistent at 1 grid point: on purpose",
    }
    assert lines[-1].endswith("python -m runs redo mine --status error timeout inconsistent")


def test_a_summary_without_failures_is_one_line(run):
    text, failed = summary_of(run, [run / "studies/noise.parquet"])
    assert (text, failed) == (f"{run}: 1 {COMBINATIONS}, 0 ok, 1 unsupported, 0 failed\n", 0)
