"""Tables are complete or refused, and files repeat byte by byte."""

import contextlib
import math
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from one_cell import made_up

from runs.aggregation import join_study, require_complete, write_csv
from runs.parts import failure
from runs.provenance import provenance_now
from runs.result_table import (
    BASE,
    DamagedTable,
    TableError,
    note_in,
    read_file,
    read_table,
    to_table,
    write_table,
)
from runs.results import read_frame
from runs.store import cell_file, scan, write_cell
from studies.base import Point
from studies.base.coordinates import Coordinate

ROOT = Path(__file__).resolve().parents[2]
CELL = {
    "paper": "p", "study": "e", "dataset": "d", "data_source": "none", "mechanism": "m",
    "calibration": "published", "shape": "2x2", "delta": 1e-5,
}  # fmt: skip
POINTS = tuple(Point(shape=(2, 2), epsilon=epsilon, delta=1e-5) for epsilon in (1.0, 2.0))
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
    """A table with two points: two trials and an exact value at the first, then a failure."""
    return [
        row(trial=0, seed=5),
        row(trial=1, seed=6),
        row(metric="expected_loss"),
        failed(2.0),
    ]


def test_a_complete_table_passes():
    require_complete(to_table(complete()), EXPECTED)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (complete()[:3], "cell e/d/m/published has 1 of 2 grid points"),
        ([], "cell e/d/m/published has 0 of 2 grid points"),
        ([*complete(), row(epsilon=3.0)], "has 3 of 2 grid points"),
        ([*complete(), row(trial=1)], "1 duplicate rows, first .*trial=1.*metric=loss"),
        ([*complete(), row(metric="expected_loss")], "1 duplicate rows"),
        ([*complete(), failed(2.0, message="again")], "1 duplicate rows"),
        ([*complete(), row(trial=2, value=math.nan)], "1 values with status ok are not finite"),
        ([*complete(), row(trial=2, value=-math.inf)], "1 values with status ok are not finite"),
        ([*complete(), row(trial=2, value=None)], "1 values with status ok are not finite"),
        ([*complete(), failed(1.0)], "1 grid points have more than one status"),
        ([*complete(), row(mechanism="other")], "cell e/d/other/published was not asked for"),
    ],
)
def test_an_incomplete_or_wrong_table_is_refused(rows, words):
    with pytest.raises(TableError, match=words):
        require_complete(to_table(rows), EXPECTED)


def test_a_trial_that_failed_may_stand_beside_the_others():
    require_complete(to_table([*complete(), failed(1.0) | {"trial": 2}]), EXPECTED)


def test_all_problems_are_told_at_once():
    rows = [*complete()[:3], row(trial=1), row(trial=2, value=math.nan)]
    with pytest.raises(TableError, match=r"duplicate.*not finite.*1 of 2 grid points"):
        require_complete(to_table(rows), EXPECTED)


def test_trials_and_coordinates_tell_rows_apart():
    rows = [row(trial=t, epoch=e) for t in (None, 0, 1) for e in (None, 0, 1)]
    table = to_table(rows, [EPOCH])
    require_complete(table, {("e", "d", "m", "published"): 1})
    with pytest.raises(TableError, match="6 duplicate rows"):
        require_complete(table.drop_columns(["epoch"]), {("e", "d", "m", "published"): 1})


MAPS = ("released_count",)


def stored(rows, run, stem="cell"):
    """Write a cell of a run with these rows and one timing; return the cell."""
    names = {name: CELL[name] for name in list(CELL)[:6]}
    columns = {"row": "whole number", "column": "whole number"}
    cell = made_up(**names, stem=stem, columns=columns, points=POINTS, code="code")
    timed = row(metric="calibrate_seconds", value=0.1) | {"timing": True}
    written = [{"timing": False} | each for each in rows] + [timed]
    write_cell(cell, written, run, provenance_now(cell, "commit"))
    return cell


@pytest.fixture
def join(tmp_path):
    """Returns a function that joins rows stored as one cell and returns the paths of its tables."""

    def run(rows):
        join_study("e", [stored(rows, tmp_path)], tmp_path, MAPS)
        endings = (".parquet", ".timings.parquet", ".maps.parquet")
        return tuple(tmp_path / f"studies/e{ending}" for ending in endings)

    return run


def test_a_study_keeps_its_rows_in_order(join):
    rows, timings, _ = join(complete())
    assert read_table(rows).equals(to_table(complete()))
    assert read_frame(timings)["metric"].tolist() == ["calibrate_seconds"]


def test_an_incomplete_study_writes_nothing(join, tmp_path):
    with pytest.raises(TableError):
        join(complete()[:3])
    assert not (tmp_path / "studies").exists()


def test_maps_go_into_a_file_of_their_own(join):
    cells = [row(metric=MAPS[0], trial=0, row=0, column=c, value=0.1 * c) for c in (0, 1)]
    rows, _, maps = join([*complete(), *cells])
    assert set(read_frame(rows)["metric"]) == {"loss", "expected_loss", ""}
    assert not {"row", "column"} & set(read_frame(rows).columns)
    assert read_frame(maps)[["row", "column", "value"]].values.tolist() == [
        [0, 0, 0.0],
        [0, 1, 0.1],
    ]


@pytest.fixture
def written(join, tmp_path):
    """Returns a function that writes rows as CSV files: all rows, timings and failures."""

    def run(rows):
        join(rows)
        write_csv(tmp_path, ["e"])
        return tuple(tmp_path / f"{name}.csv" for name in ("results", "timings", "failures"))

    return run


def test_a_run_has_all_rows_as_csv_and_its_failures_apart(written):
    csv, timed, failures = written([*complete()[:3], failed(2.0, "error", "needs, a b")])
    frame = pd.read_csv(csv)
    assert frame["metric"].fillna("").tolist() == ["loss", "loss", "expected_loss", ""]
    assert list(frame.columns) == BASE
    assert pd.read_csv(timed)["metric"].tolist() == ["calibrate_seconds"]
    (found,) = pd.read_csv(failures).itertuples()
    assert (found.epsilon, found.status, found.message) == (2, "error", "needs, a b")
    _, _, failures = written([*complete()[:3], failed(2.0, "unsupported", "needs delta > 0")])
    assert pd.read_csv(failures).empty


def test_csv_keeps_every_digit(written):
    csv, *_ = written([row(value=0.1 + 0.2, trial=0, seed=2**63 - 1), failed(2.0)])
    frame = pd.read_csv(csv, dtype={"seed": "Int64"})
    assert frame["value"][0] == 0.1 + 0.2
    assert frame["seed"][0] == 2**63 - 1


def test_a_cell_that_is_not_as_it_was_measured_is_told(tmp_path):
    cells = [stored(complete(), tmp_path, stem) for stem in ("one", "two")]
    file = cell_file(tmp_path, "two")
    assert [len(rows) for *_, rows in scan(cells, tmp_path)] == 2 * [len(complete()) + 1]
    whole = file.read_bytes()
    changed = bytearray(whole)
    # Damage a page; the footer with the note is intact.
    changed[200] ^= 0x55

    def measured_again():
        write_table(read_file(file), file, "other")

    for harm, words in (
        (file.unlink, "two.parquet is missing: start the run again"),
        (measured_again, "two.parquet was measured with other code, settings or data: start"),
        (lambda: file.write_bytes(changed), "two.parquet is damaged"),
        (lambda: file.write_bytes(whole[:-9]), "two.parquet is damaged"),
    ):
        file.write_bytes(whole)
        harm()
        with pytest.raises(TableError, match=words):
            list(scan(cells, tmp_path))


def test_a_study_without_cells_has_no_rows(tmp_path):
    join_study("e", [], tmp_path, of_maps=())
    for name in ("e.parquet", "e.timings.parquet"):
        assert read_table(tmp_path / "studies" / name).equals(to_table([]))


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
    assert note_in(renamed) is None


def test_a_changed_bit_in_the_schema_is_found(tmp_path):
    """Pages have their own checksums; the footer, with the names of columns, has none."""
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
    assert note_in(path) is None
    with pytest.raises(DamagedTable, match="its columns are not those that were written"):
        read_table(path)


THREADS = """
import sys
from pathlib import Path
import psutil
from runs.results import read_frame
from runs.result_table import read_table, write_table
before = psutil.Process().num_threads()
write_table(read_table(sys.argv[1]), Path(sys.argv[1]))
read_frame(sys.argv[1])
print(psutil.Process().num_threads() - before)
"""


def test_tables_are_read_and_written_without_threads(tmp_path):
    """Arrow threads that outlive a job may abort it after all its work is done."""
    write_table(to_table(complete()), path := tmp_path / "a.parquet")
    code = [sys.executable, "-c", THREADS, str(path)]
    ended = subprocess.run(code, cwd=ROOT, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("0\n", "")


def test_null_is_not_zero_and_large_seeds_survive(tmp_path):
    path = tmp_path / "a.parquet"
    write_table(to_table([row(), row(trial=0, epoch=0, seed=2**63 - 1)], [EPOCH]), path)
    frame = read_frame(path)
    assert frame[["trial", "epoch", "seed"]].isna().all(axis=1).tolist() == [True, False]
    assert str(frame["seed"].dtype) == "Int64"
    assert frame["seed"][1] == 2**63 - 1


def test_tables_are_read_in_the_order_given_and_null_where_a_study_has_no_such_column(tmp_path):
    paths = tmp_path / "b.parquet", tmp_path / "a.parquet"
    write_table(to_table([row()]), paths[0])
    write_table(to_table([row(epoch=3)], [EPOCH]), paths[1])
    table = read_table(*paths)
    assert table["epoch"].to_pylist() == [None, 3]
    # The columns of a study stand between budget and trial.
    names = table.column_names
    assert names.index("delta") < names.index("epoch") < names.index("trial")
