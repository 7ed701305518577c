"""The comparison of two revisions shows every kind of difference."""

import json

import pandas as pd
import pytest

from tests.compare_revisions import compare_files, compare_ledgers, compare_tables
from tests.copied_project import Project

ROW = {
    "paper": "suite", "study": "noise_only", "dataset": "grid", "data_source": "none",
    "mechanism": "r1smg", "calibration": "exact", "shape": "2x2", "epsilon": 1.0, "delta": 1e-5,
    "trial": 0, "metric": "loss", "value": 1.5, "status": "ok", "message": "", "seed": 7,
}  # fmt: skip


def folder_with(path, rows):
    path.mkdir()
    pd.DataFrame(rows).to_parquet(path / "noise_only.parquet")
    # Seconds always differ between two runs.
    pd.DataFrame([ROW | {"value": float(len(path.name))}]).to_parquet(
        path / "noise_only.timings.parquet"
    )
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": -1.5}, "value 1.5 -> -1.5"),
        ({"value": 1.5000000000000002}, "value 1.5 -> 1.5000000000000002"),
        ({"value": None, "status": "error"}, "value 1.5 -> nan"),
        ({"seed": 8}, "seed 7 -> 8"),
        ({"epsilon": 2.0}, "1 rows of loss only before; 1 rows of loss only after"),
    ],
)
def test_a_changed_row_is_shown(tmp_path, change, words):
    other = ROW | {"mechanism": "mvg"}
    before = folder_with(tmp_path / "old", [ROW, other])
    after = folder_with(tmp_path / "newer", [ROW | change, other])
    report = compare_tables("cells", before, after)
    assert len(report.equal) == 1
    assert list(report.changed) == ["noise_only/grid/r1smg/exact"]
    assert words in report.changed["noise_only/grid/r1smg/exact"]
    assert report.differs


def test_rows_and_cells_that_one_side_lacks_are_shown(tmp_path):
    second = ROW | {"trial": 1}
    apart = ROW | {"metric": "quantile", "level": 0.5}
    before = folder_with(tmp_path / "old", [ROW, second, apart, ROW | {"mechanism": "mvg"}])
    after = folder_with(tmp_path / "newer", [ROW, ROW | {"mechanism": "mgm"}])
    report = compare_tables("cells", before, after)
    assert report.before == ["noise_only/grid/mvg/exact"]
    assert report.after == ["noise_only/grid/mgm/exact"]
    words = "1 rows of loss only before; 1 rows of quantile only before"
    assert report.changed == {"noise_only/grid/r1smg/exact": words}


def test_order_and_words_are_no_difference(tmp_path):
    second = ROW | {"trial": 1, "value": 2.5}
    before = folder_with(tmp_path / "old", [ROW, second])
    after = folder_with(tmp_path / "newer", [second, ROW | {"message": "as before"}])
    report = compare_tables("cells", before, after)
    assert (len(report.equal), report.differs) == (1, False)
    assert report.reworded == ["noise_only/grid/r1smg/exact"]


def test_claims_and_files_are_compared(tmp_path):
    for side, verdict, value in (("old", "confirmed", 1), ("new", "partly", 2)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "claims.csv").write_text(f"claim,verdict\na,{verdict}\nb,partly\n")
        (tmp_path / side / "x.json").write_text(json.dumps({"kept": 1, "value": value}))
    old, new = tmp_path / "old", tmp_path / "new"
    ledger = compare_ledgers(old / "claims.csv", new / "claims.csv")
    assert (len(ledger.equal), ledger.changed) == (1, {"a": "verdict: 'confirmed' -> 'partly'"})
    files = compare_files("certificates", old, new, "*.json")
    assert "1 -> " not in files.changed["x.json"] and "'value'" not in files.changed["x.json"]
    assert '"value": 1' in files.changed["x.json"] and '"value": 2' in files.changed["x.json"]


@pytest.mark.slow
def test_a_sign_error_in_a_study_shows_in_fresh_runs(tmp_path):
    table = "results/tiny/studies/noise_only.parquet"
    folders = []
    for side in ("right", "wrong"):
        project = Project(tmp_path / side)
        study = project.folder / "studies" / "noise_only.py"
        text = study.read_text()
        assert text.count('Value("sampled_loss", mean,') == 1
        if side == "wrong":
            study.write_text(text.replace('"sampled_loss", mean,', '"sampled_loss", -mean,'))
        project.snakemake(table)
        folders.append((project.folder / table).parent)
    report = compare_tables("cells", *folders)
    assert report.equal and report.changed
    for cell, words in report.changed.items():
        assert cell.startswith("noise_only/fixed-sensitivity/")
        assert "first sampled_loss at" in words
