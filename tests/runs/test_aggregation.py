"""Tables: what makes one complete, what is refused, and files that repeat byte by byte."""

import contextlib
import math
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from runs.aggregation import aggregate_maps, aggregate_results, aggregate_study
from runs.frames import TableError, check_table, read_frame
from runs.parts import failure
from runs.result_table import (
    BASE,
    DamagedTable,
    digest_in,
    read_table,
    to_table,
    write_table,
)
from studies.base.coordinates import COLUMN, ROW, Coordinate

ROOT = Path(__file__).resolve().parents[2]
CELL = {
    "paper": "p", "study": "e", "dataset": "d", "data_source": "none", "mechanism": "m",
    "calibration": "published", "shape": "2x2", "delta": 1e-5,
}  # fmt: skip
EPOCH = Coordinate("epoch", int, "epoch")
EXPECTED = {("e", "d", "m", "published"): 2}


def row(epsilon=1.0, metric="loss", value=1.0, status="ok", **more):
    return CELL | {
        "epsilon": epsilon, "metric": metric, "value": value, "status": status, "message": "",
    } | more  # fmt: skip


def failed(epsilon, status="error", message="on purpose"):
    (only,) = failure(status, message)
    only.pop("timing")
    return CELL | {"epsilon": epsilon} | only


def complete():
    """Two points: two trials and an exact value at the first, a failure at the second."""
    return [
        row(trial=0, seed=5),
        row(trial=1, seed=6),
        row(metric="expected_loss"),
        failed(2.0),
    ]


def test_a_complete_table_passes():
    check_table(to_table(complete()), EXPECTED)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (complete()[:3], "cell e/d/m/published has 1 of 2 grid points"),
        ([], "cell e/d/m/published has 0 of 2 grid points"),
        ([*complete(), row(epsilon=3.0)], "has 3 of 2 grid points"),
        ([*complete(), row(trial=1)], "1 duplicate rows, first .*trial=1.*metric=loss"),
        ([*complete(), row(metric="expected_loss")], "1 duplicate rows"),
        ([*complete(), failed(2.0, message="again")], "1 duplicate rows"),
        ([*complete(), row(trial=2, value=math.nan)], "1 values are not finite though ok"),
        ([*complete(), row(trial=2, value=-math.inf)], "1 values are not finite though ok"),
        ([*complete(), row(trial=2, value=None)], "1 values are not finite though ok"),
        ([*complete(), row(trial=2, status="fine")], r"unknown statuses \['fine'\]"),
        ([*complete(), failed(1.0)], "1 grid points have more than one status"),
        ([*complete(), row(mechanism="other")], "cell e/d/other/published was not asked for"),
    ],
)
def test_an_incomplete_or_wrong_table_is_refused(rows, words):
    with pytest.raises(TableError, match=words):
        check_table(to_table(rows), EXPECTED)


def test_a_trial_that_failed_may_stand_beside_the_others():
    check_table(to_table([*complete(), failed(1.0) | {"trial": 2}]), EXPECTED)


def test_all_problems_are_told_at_once():
    rows = [*complete()[:3], row(trial=1), row(trial=2, value=math.nan)]
    with pytest.raises(TableError, match=r"duplicate.*not finite.*1 of 2 grid points"):
        check_table(to_table(rows), EXPECTED)


def test_trials_and_coordinates_tell_rows_apart():
    rows = [row(trial=t, epoch=e) for t in (None, 0, 1) for e in (None, 0, 1)]
    table = to_table(rows, [EPOCH])
    check_table(table, {("e", "d", "m", "published"): 1})
    with pytest.raises(TableError, match="6 duplicate rows"):
        check_table(table.drop_columns(["epoch"]), {("e", "d", "m", "published"): 1})


def test_a_failure_needs_no_finite_value_but_ok_does():
    assert math.isnan(to_table([failed(1.0)]).to_pandas()["value"][0])
    check_table(to_table([failed(1.0), failed(2.0, "unsupported")]), EXPECTED)


MAPS = ("released_count",)


@pytest.fixture
def aggregate(tmp_path):
    """Aggregates rows written as one cell; returns the paths of rows and timings."""

    def run(rows, *, expected=EXPECTED):
        cell, timing = tmp_path / "cell.parquet", tmp_path / "cell.timings.parquet"
        write_table(to_table(rows, [ROW, COLUMN]), cell)
        timed = [row(metric="calibrate_seconds", value=0.1)]
        write_table(to_table(timed, [ROW, COLUMN]), timing)
        out = tmp_path / "e.parquet", tmp_path / "e.timings.parquet"
        aggregate_study([str(cell)], [str(timing)], expected, MAPS, *out)
        return out

    return run


def test_a_study_keeps_its_rows_in_order(aggregate):
    rows, timings = aggregate(complete())
    assert read_table(rows).equals(to_table(complete()))
    assert read_frame(timings)["metric"].tolist() == ["calibrate_seconds"]


def test_an_incomplete_study_writes_nothing(aggregate, tmp_path):
    with pytest.raises(TableError):
        aggregate(complete()[:3])
    assert not (tmp_path / "e.parquet").exists()


@pytest.fixture
def run_files(aggregate, tmp_path):
    """The four files of a run of one study."""
    rows, timings = aggregate([*complete()[:3], failed(2.0, "unsupported", "needs, a b")])

    def write(folder):
        names = {
            "parquet": "results.parquet",
            "csv": "results.csv",
            "timings_csv": "timings.csv",
            "failures_csv": "failures.csv",
        }
        (tmp_path / folder).mkdir()
        paths = {key: tmp_path / folder / name for key, name in names.items()}
        aggregate_results([str(rows)], [str(timings)], **paths)
        return paths

    return write


def test_a_run_has_all_rows(run_files):
    paths = run_files("one")
    assert len(read_table(paths["parquet"])) == 4
    csv = pd.read_csv(paths["csv"])
    assert csv["metric"].fillna("").tolist() == ["loss", "loss", "expected_loss", ""]
    assert list(csv.columns) == BASE
    assert pd.read_csv(paths["timings_csv"])["metric"].tolist() == ["calibrate_seconds"]


def test_maps_go_into_a_file_of_their_own(aggregate, tmp_path):
    cells = [row(metric=MAPS[0], trial=0, row=0, column=c, value=0.1 * c) for c in (0, 1)]
    rows, _ = aggregate([*complete(), *cells])
    assert set(read_frame(rows)["metric"]) == {"loss", "expected_loss", ""}
    assert not {"row", "column"} & set(read_frame(rows).columns)
    aggregate_maps([str(tmp_path / "cell.parquet")], MAPS, tmp_path / "maps.parquet")
    kept = read_frame(tmp_path / "maps.parquet")
    assert kept[["row", "column", "value"]].values.tolist() == [[0, 0, 0.0], [0, 1, 0.1]]


def test_failures_have_a_file_of_their_own(run_files):
    failures = pd.read_csv(run_files("one")["failures_csv"])
    assert len(failures) == 1
    found = failures.iloc[0]
    assert (found["epsilon"], found["status"], found["message"]) == (2, "unsupported", "needs, a b")


def test_files_repeat_byte_by_byte(run_files):
    first, second = run_files("one"), run_files("two")
    for key, path in first.items():
        assert path.read_bytes() == second[key].read_bytes(), key


def test_csv_keeps_every_digit(run_files, aggregate, tmp_path):
    rows, timings = aggregate([row(value=0.1 + 0.2, trial=0, seed=2**63 - 1), failed(2.0)])
    paths = {key: tmp_path / key for key in ("parquet", "csv", "timings_csv", "failures_csv")}
    aggregate_results([str(rows)], [str(timings)], **paths)
    csv = pd.read_csv(paths["csv"], dtype={"seed": "Int64"})
    assert csv["value"][0] == 0.1 + 0.2
    assert csv["seed"][0] == 2**63 - 1


def test_a_parquet_file_has_no_trace_of_its_time_and_folder(tmp_path):
    path = tmp_path / "a.parquet"
    table = to_table(complete()).replace_schema_metadata({"written": "today"})
    write_table(table, path)
    assert set(pq.read_schema(path).metadata) == {b"schema", b"file"}
    assert not list(tmp_path.glob("*.tmp"))


def test_a_renamed_table_is_found(tmp_path):
    path = tmp_path / "a.parquet"
    write_table(to_table(complete()), path, "digest")
    renamed = path.rename(tmp_path / "b.parquet")
    with pytest.raises(DamagedTable, match=r"b\.parquet is damaged: it was written as a\.parquet"):
        read_table(renamed)
    assert digest_in(renamed) is None


def test_a_changed_bit_in_the_schema_is_found(tmp_path):
    """Pages have checksums of their own; the footer, with the names of columns, has not."""
    path = tmp_path / "a.parquet"
    write_table(table := to_table([row(epoch=1)], [EPOCH]), path, "digest")
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for place in range(footer, len(whole), 8):
        changed = bytearray(whole)
        changed[place] ^= 1 << place // 8 % 8
        path.write_bytes(changed)
        with contextlib.suppress(DamagedTable):
            assert read_table(path).equals(table), place
    named = whole.replace(b"epoch", b"Epoch")
    assert named != whole
    path.write_bytes(named)
    assert digest_in(path) is None
    with pytest.raises(DamagedTable, match="its columns are not those that were written"):
        read_table(path)


THREADS = """
import sys
from pathlib import Path
import psutil
from runs.frames import read_frame
from runs.result_table import read_table, write_table
before = psutil.Process().num_threads()
write_table(read_table(sys.argv[1]), Path(sys.argv[1]))
read_frame(sys.argv[1])
print(psutil.Process().num_threads() - before)
"""


def test_tables_are_read_and_written_without_threads(tmp_path):
    """Threads of Arrow that live when a job ends may abort it with all of its work done."""
    write_table(to_table(complete()), path := tmp_path / "a.parquet")
    code = [sys.executable, "-c", THREADS, str(path)]
    ended = subprocess.run(code, cwd=ROOT, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("0\n", "")


def test_null_is_not_zero(tmp_path):
    path = tmp_path / "a.parquet"
    write_table(to_table([row(), row(trial=0, epoch=0, seed=0)], [EPOCH]), path)
    frame = read_frame(path)
    assert frame[["trial", "epoch", "seed"]].isna().all(axis=1).tolist() == [True, False]
    assert str(frame["seed"].dtype) == "Int64"


def test_large_seeds_survive(tmp_path):
    path = tmp_path / "a.parquet"
    write_table(to_table([row(trial=0, seed=2**63 - 1)]), path)
    assert read_frame(path)["seed"][0] == 2**63 - 1


def test_tables_are_read_in_the_order_given(tmp_path):
    paths = []
    for name in ("b", "a", "c"):
        paths.append(tmp_path / f"{name}.parquet")
        write_table(to_table([row(metric=name)]), paths[-1])
    assert read_table(*paths)["metric"].to_pylist() == ["b", "a", "c"]
    assert len(read_table()) == 0


def test_columns_that_a_study_does_not_have_are_null_in_its_rows(tmp_path):
    paths = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_table(to_table([row()]), paths[0])
    write_table(to_table([row(epoch=3)], [EPOCH]), paths[1])
    table = read_table(*paths)
    assert table["epoch"].to_pylist() == [None, 3]
    # A study's columns stand between the budget and the trial.
    names = table.column_names
    assert names.index("delta") < names.index("epoch") < names.index("trial")
