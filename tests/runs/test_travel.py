"""Cells restored from tables or taken from another machine, and rows adopted by new code."""

import shutil
from dataclasses import replace

import pyarrow as pa
import pytest
from finished_run import finish, join, measure

from runs.batches import batches_of, stamp_file
from runs.cells import cells_of
from runs.provenance import manifest_of, read_manifest
from runs.rerun import adopt, adoptions
from runs.result_table import DamagedTable, read_file, write_table
from runs.store import cell_file, cells_to_run, read_cell
from runs.travel import restore

SPLITS = [{}, {"split_epsilons": True}]


@pytest.fixture
def clone(tmp_path):
    """Copy the committed part of a finished run, its tables and manifests, to another folder."""

    def copied(run):
        shutil.copytree(run / "studies", tmp_path / "clone" / "studies")
        return tmp_path / "clone"

    return copied


@pytest.fixture
def config(make_config):
    return make_config(mechanisms=["mvg", "udn"], epsilons=[1, 2])


@pytest.mark.parametrize("split", SPLITS)
def test_a_clone_has_every_cell_of_its_tables(make_config, tmp_path, clone, split):
    config = make_config(mechanisms=["mvg", "udn"], epsilons=[1, 2], **split)
    before = finish(config, tmp_path / "run")
    run = clone(before)
    assert len(cells_to_run(cells_of(config), run)) == len(cells_of(config))
    assert restore(config, run) == (len(cells_of(config)),) * 2
    assert cells_to_run(cells_of(config), run) == []
    for cell in cells_of(config):
        for old, new in zip(
            *(read_cell(cell_file(f, cell.stem)) for f in (before, run)), strict=True
        ):
            assert new.equals(old)
    table = before / "studies" / "noise_only.parquet"
    manifest = manifest_of(table).read_text()
    assert join(config, run) == table.read_bytes()
    assert manifest_of(run / "studies" / "noise_only.parquet").read_text() == manifest
    # No file made from the tables is older than they are.
    assert len({path.stat().st_mtime for path in run.glob("studies/*.timings.parquet")}) == 1


def test_a_clone_measures_what_is_new_and_nothing_else(make_config, tmp_path, clone):
    settings = {"epsilons": [1], "split_epsilons": True}
    small = make_config(mechanisms=["mvg", "udn"], **settings)
    run = clone(finish(small, tmp_path / "run"))
    large = make_config(mechanisms=["mvg", "udn", "idn"], **settings | {"epsilons": [1, 2]})
    restore(large, run)
    assert not (run / "studies" / "noise_only.joined").exists()
    new = {cell.stem for cell in cells_to_run(cells_of(large), run)}
    assert new == {
        cell.stem
        for cell in cells_of(large)
        if cell.mechanism == "idn" or cell.stem.endswith("--epsilon-2.0")
    }


def test_a_further_trial_is_only_that_trial(make_config, tmp_path, clone):
    settings = {"mechanisms": ["gaussian"], "calibrations": ["published"], "split_trials": True}
    run = clone(finish(make_config("private_data", trials=1, **settings), tmp_path / "run"))
    more = make_config("private_data", trials=2, **settings)
    restore(more, run)
    (cell,) = cells_to_run(cells_of(more), run)
    assert cell.trial == 1


def test_what_is_not_in_the_table_of_its_batch_is_joined_again(config, tmp_path, clone):
    run = clone(finish(config, tmp_path / "run"))
    restore(config, run)
    mark = run / "studies" / "noise_only.joined"
    assert mark.exists()
    (batch,) = batches_of(config)
    stamp = stamp_file(run, batch.stem)
    cell_file(run, batch.cells[0].stem).unlink()
    stamp.unlink()
    measure(batch, config, run, "second")
    stamp.unlink()
    mark.unlink()
    restore(config, run)
    assert not stamp.exists(), "a cell is newer than the table, so the table has to be made again"
    assert not mark.exists()


def test_rows_that_are_not_those_of_the_manifest_are_refused(config, tmp_path, clone):
    run = clone(finish(config, tmp_path / "run"))
    table = run / "studies" / "noise_only.parquet"
    rows = read_file(table)
    changed = rows["value"].to_pylist()
    changed[3] = 2 * changed[3]
    at = rows.schema.get_field_index("value")
    for wrong in (rows.set_column(at, "value", pa.array(changed, pa.float64())), rows[:-1]):
        write_table(wrong, table)
        with pytest.raises(DamagedTable, match=r"the rows of .* are not those of its manifest"):
            restore(config, run)


def test_a_restore_that_was_killed_is_done_again_by_the_same_command(config, tmp_path, clone):
    run = clone(finish(config, tmp_path / "run"))
    restore(config, run)
    whole = {path: path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}
    # The state after a kill before the stamps: some cells are missing, and a table is cut short.
    (run / "studies" / "noise_only.joined").unlink()
    missing, damaged, *_ = (cell_file(run, cell.stem) for cell in cells_of(config))
    missing.unlink()
    # Its first page is zero; the footer, with its provenance, is whole.
    damaged.write_bytes(b"PAR1" + bytes(60) + damaged.read_bytes()[64:])
    (run / "results.csv").write_text("paper,stu")
    (run / "summary.txt").unlink()
    restore(config, run)
    again = {path: path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}
    assert again == whole


def test_a_damaged_table_or_manifest_restores_nothing(config, tmp_path, clone):
    run = clone(finish(config, tmp_path / "run"))
    table = run / "studies" / "noise_only.parquet"
    table.write_bytes(table.read_bytes()[:-40])
    with pytest.raises(DamagedTable, match=r"noise_only\.parquet"):
        restore(config, run)
    manifest_of(table).write_text("cell,code\n")
    with pytest.raises(DamagedTable, match=r"noise_only\.manifest\.csv is damaged: its columns"):
        restore(config, run)


@pytest.fixture
def other_code(monkeypatch):
    """Change all digests as a change of every module would."""

    def change(only=""):
        def cells_now(config):
            return [
                replace(cell, code="new code") if only in cell.mechanism else cell
                for cell in cells_of(config)
            ]

        for module in ("rerun", "batches"):
            monkeypatch.setattr(f"runs.{module}.cells_of", cells_now)

    return change


@pytest.fixture
def mine(tmp_path, monkeypatch, clone):
    """The committed part of a run called "mine", where commands look for runs."""

    def made(config):
        run = clone(finish(config, tmp_path / "run"))
        (tmp_path / "results").mkdir()
        run = run.rename(tmp_path / "results" / "mine")
        monkeypatch.chdir(tmp_path)
        return run

    return made


def test_a_sample_that_agrees_makes_rows_those_of_todays_code(config, mine, other_code):
    run = mine(config)
    other_code("mvg")
    assert restore(config, run) == (2, 4)
    (found,) = adoptions(config, "mine", count=1, seed=3)
    assert [cell.mechanism for cell in found.cells] == ["mvg", "mvg"]
    assert len(found.sample) == 1
    adopt(found, "second", seed=3)
    entries = read_manifest(found.manifest)
    for stem, entry in entries.items():
        assert entry.provenance.commit == "first"
        assert entry.provenance.adopted == ("second" if "/mvg--" in stem else "")
    words = [entry.provenance.sample for entry in entries.values()]
    assert sorted(words)[2:] == ["1 of 2 agree, --seed 3", "measured again; 1 of 2 agree, --seed 3"]
    assert restore(config, run) == (4, 4)
    assert adoptions(config, "mine", count=1, seed=3) == []


def test_only_a_change_of_code_can_be_adopted(config, make_config, mine, other_code):
    mine(config)
    longer = make_config(mechanisms=["mvg", "udn"], epsilons=[1, 2], trials=3)
    other_code()
    assert adoptions(longer, "mine", count=1, seed=3) == []
    assert adoptions(config, "mine", count=1, seed=3, seconds=1e-9) == []
    (found,) = adoptions(config, "mine", count=10, seed=3, seconds=1e9)
    assert len(found.sample) == len(found.cells) == 4
