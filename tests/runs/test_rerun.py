"""Cells of a finished run are computed again and compared, and the command reports the result."""

import dataclasses
import math

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml
from one_cell import made_up

from runs.__main__ import main
from runs.cells import cells_of
from runs.config import read_config
from runs.provenance import Entry, manifest_of, write_manifest
from runs.rerun import cells_with_values, compare, sample_of, stored_rows
from runs.result_table import BASE, read_file, to_table, write_table
from runs.store import provenance_in, read_cell, rows_in_table
from studies.base.case import Point
from studies.base.settings import ConfigError

NAMES = {
    "study": "pca", "dataset": "boids", "mechanism": "gaussian", "calibration": "published"
}  # fmt: skip
PCA = made_up(**NAMES)
CONFIG = {
    "run": "small",
    "studies": {
        "noise_only": {
            "datasets": ["fixed-sensitivity"],
            "mechanisms": ["gaussian", "non-private"],
            "calibrations": ["published"],
            "epsilons": [1],
            "delta": 1e-5,
            "sizes": ["2x2"],
            "growth_shapes": ["2x2"],
            "growth_epsilon": 1,
            "growth_delta": 1e-5,
            "gradient_shapes": ["2x2"],
            "trials": 20,
            "timed_draws": 1,
        }
    },
}


def rows(*values, metric="accuracy", status="ok", mechanism="gaussian"):
    """Rows of one grid point of pca, one for each trial."""
    frame = pd.DataFrame(
        [
            dict.fromkeys(BASE)
            | NAMES
            | {"shape": "2x2", "epsilon": 1.0, "delta": 1e-7, "trial": trial, "metric": metric}
            | {"value": value, "status": status, "message": "", "mechanism": mechanism}
            for trial, value in enumerate(values)
        ]
    ).drop(columns=["paper", "data_source"])
    return frame.astype({"trial": "Int64"})


def failed(status):
    return rows(None, metric="", status=status)


@pytest.mark.parametrize(
    ("before", "again", "words"),
    [
        (rows(0.5, 0.75), rows(0.5, 0.75), "2 values, all equal"),
        (
            rows(3.0, metric="variance"),
            rows(math.nextafter(3.0, 4.0), metric="variance"),
            "1 values, 0 equal, the others within 1e-16 of the value (variance)",
        ),
        (
            rows(3.0, metric="variance"),
            rows(3.0 + 1e-8, metric="variance"),
            "1 of 1 values outside their tolerance, first variance at 2x2, epsilon 1: 3 stored, "
            "3.00000001 now, allowed difference 3e-09",
        ),
        (rows(0.5), rows(math.inf), "1 of 1 values outside their tolerance"),
        (rows(0.5), rows(math.nan), "1 of 1 values outside their tolerance"),
        (
            rows(0.5, 0.5, 0.5),
            rows(0.5, 0.5),
            "1 rows are stored only, first shape 2x2, epsilon 1.0, delta 1e-07, trial 2, "
            "metric accuracy",
        ),
        (rows(0.5), rows(0.5, 0.5), "1 rows are new"),
        (rows(0.5), failed("timeout"), "1 rows are new"),
        (failed("error"), failed("timeout"), "status timeout in place of error ()"),
    ],
)
def test_a_comparison_tells_what_differs(before, again, words):
    assert words in str(compare(before, again, PCA))


@pytest.mark.parametrize(("again", "agrees"), [(0.589, True), (0.591, False)])
@pytest.mark.parametrize(("trial", "others"), [(None, [0.54]), (0, [])])
def test_a_score_may_differ_by_a_point_and_two_spreads_of_two_trials(again, agrees, trial, others):
    """The difference of trials like 0.5 and 0.54 has a standard deviation of 0.04."""
    cell = dataclasses.replace(PCA, trial=trial)
    found = compare(rows(0.5, 0.54), rows(again, *others), cell)
    assert (found.problems == []) == agrees


@pytest.mark.parametrize(("again", "agrees"), [(0.566, True), (0.567, False)])
def test_a_round_of_little_spread_has_that_of_all_rounds(again, agrees):
    """The root mean square of 0.04 and 0 is 0.0283."""
    first, second = rows(0.5, 0.54).assign(round=1), rows(0.5, 0.5).assign(round=2)
    found = compare(
        pd.concat([first, second]), pd.concat([first, rows(again, 0.5).assign(round=2)]), PCA
    )
    assert (found.problems == []) == agrees


def test_a_sample_is_the_same_for_a_seed_and_has_no_repetitions():
    cells = [dataclasses.replace(PCA, mechanism=f"m{i}") for i in range(50)]
    sample = sample_of(cells, 5, 1)
    assert sample == sample_of(cells, 5, 1) != sample_of(cells, 5, 2)
    assert len({cell.mechanism for cell in sample}) == 5
    assert sorted(sample_of(cells, 100, 1), key=cells.index) == cells


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with config/small.yaml and the results of its cells."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "config").mkdir()
        (folder / "config/small.yaml").write_text(yaml.safe_dump(CONFIG))
        arguments = ["run", "noise_only", "--dataset", "fixed-sensitivity", "--mechanism"]
        assert main([*arguments, "gaussian", "--config", "config/small.yaml"]) == 0
    (folder / "results/small/studies").mkdir()
    cell = folder / "results/small/cells/noise_only/fixed-sensitivity/gaussian--published.parquet"
    for ending, table in zip((".parquet", ".timings.parquet"), read_cell(cell), strict=True):
        write_table(table, folder / f"results/small/studies/noise_only{ending}")
    write_manifest(
        manifest_of(folder / "results/small/studies/noise_only.parquet"),
        {
            "noise_only/fixed-sensitivity/gaussian--published": Entry(
                provenance_in(cell), "", seconds=30.0
            )
        },
    )
    return folder


def test_cells_that_have_values(finished, monkeypatch):
    monkeypatch.chdir(finished)
    config = read_config("config/small.yaml")
    (cell,) = cells_with_values("small", cells_of(config), 30)
    assert cells_with_values("small", cells_of(config), 29) == []
    assert cell.mechanism == "gaussian"
    assert len(stored_rows("small", dataclasses.replace(cell, trial=1))) > 10
    settings = config["studies"]["noise_only"]
    config["studies"]["noise_only"] = settings.model_copy(
        update={"split_epsilons": True, "epsilons": [1.0, 2.0]}
    )
    (cell,) = cells_with_values("small", cells_of(config))
    assert cell.stem.endswith("--epsilon-1.0")
    config["studies"]["noise_only"] = settings.model_copy(update={"epsilons": [2.0]})
    (cell,) = cells_with_values("small", cells_of(config))
    assert set(stored_rows("small", cell)["epsilon"]) == {1.0}, "`check` calls them stored only"


@pytest.mark.parametrize(("trial", "own"), [(None, [None, 0, 1]), (0, [None, 0]), (1, [1])])
def test_rows_of_no_trial_belong_to_the_first(trial, own):
    points = (Point(shape=(2, 2), epsilon=1.0, delta=0.0),)
    cell = dataclasses.replace(PCA, trial=trial, points=points)
    table = to_table([NAMES | {"epsilon": 1.0, "trial": each} for each in (None, 0, 1)])
    assert rows_in_table(cell, table)["trial"].to_pylist() == own


def test_a_changed_number_of_a_run_is_found(finished, monkeypatch, capsys):
    monkeypatch.chdir(finished)
    path = finished / "results/small/studies/noise_only.parquet"
    kept = path.read_bytes()
    rows = read_file(path)
    factor = [1 + 1e-6 if name == "expected_loss" else 1.0 for name in rows["metric"].to_pylist()]
    at = rows.schema.get_field_index("value")
    write_table(rows.set_column(at, "value", pc.multiply(rows["value"], pa.array(factor))), path)
    try:
        assert main(["check", "small"]) == 1
    finally:
        path.write_bytes(kept)
    shown = capsys.readouterr().out
    assert "differs  noise_only/fixed-sensitivity/gaussian--published: " in shown
    assert "1 of 1 cells lie outside the tolerances of their studies" in shown
    assert not list(finished.rglob("*.partial"))


@pytest.mark.parametrize("name", ["noise_only.parquet", "noise_only.manifest.csv"])
def test_a_damaged_table_of_a_run_is_told_in_one_line(finished, monkeypatch, capsys, name):
    monkeypatch.chdir(finished)
    path = finished / "results/small/studies" / name
    kept = path.read_bytes()
    path.write_bytes(kept[:-9])
    try:
        assert main(["check", "small", "--seconds", "60"]) == 1
    finally:
        path.write_bytes(kept)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {path.relative_to(finished)} is damaged: ")
    assert line.endswith("; restore it, or remove it and run again")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            ["smal"],
            "results has no run with tables 'smal'; did you mean 'small'? it has small",
        ),
        (
            ["small", "--seconds", "29"],
            "small has no cell with a value and known seconds within 29; allow more or leave "
            "--seconds out",
        ),
    ],
)
def test_nothing_to_check_is_told_in_one_line(finished, monkeypatch, capsys, given, words):
    monkeypatch.chdir(finished)
    assert main(["check", *given]) == 2
    assert capsys.readouterr().err == f"error: {words}\n"
    with pytest.raises(ConfigError):
        cells_with_values("smal", [])


@pytest.mark.parametrize("option", ["--sample", "--seed", "--seconds"])
def test_what_is_for_a_run_is_refused_with_a_config(finished, monkeypatch, capsys, option):
    monkeypatch.chdir(finished)
    assert main(["check", "config/small.yaml", option, "3"]) == 2
    assert capsys.readouterr().err == (
        f"error: {option} is for a run, such as reference, and config/small.yaml is a config; "
        f"leave {option} out\n"
    )
