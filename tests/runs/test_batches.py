"""Batches of cells: a job runs one batch by its plan, and notices when that is out of date."""

from dataclasses import replace

import pytest

from runs.aggregation import points_of
from runs.batches import PlanError, batches_of, plan_file, read_plan, write_plan
from runs.cells import cells_of
from runs.runner import run_cells
from runs.sources import current_digest_of
from runs.store import cells_to_run


def test_batches_hold_every_cell_once_and_one_study_each(make_config):
    config = make_config("linear_queries", mechanisms=["gaussian", "laplace", "l2"])
    config["studies"] |= make_config("noise_only", mechanisms=["gaussian"])["studies"]
    config["cells_per_job"] = 8
    batches = batches_of(config)
    assert [cell for batch in batches for cell in batch.cells] == cells_of(config)
    sizes = {batch.stem: len(batch.cells) for batch in batches}
    assert sizes == {"linear_queries/0": 6, "linear_queries/1": 6, "noise_only/0": 2}


def test_a_batch_waits_for_no_file_that_one_of_its_cells_does_not_need(make_config):
    """If the official data of one data set are missing, the cells of the others still run."""
    datasets = ["city-grid", "uber-grid", "adult-age", "adult-hours", "city-longitude"]
    config = make_config("linear_queries", datasets=datasets, mechanisms=["gaussian"])
    config["cells_per_job"] = 100
    batches = batches_of(config)
    needs = {batch.stem: (len(batch.cells), batch.downloads) for batch in batches}
    assert needs == {
        "linear_queries/0": (4, []), "linear_queries/1": (2, ["uber"]),
        "linear_queries/2": (4, ["adult"]),
    }  # fmt: skip


def test_split_trials_are_jobs_of_their_own_unless_the_study_says_how_many(make_config):
    settings = {"mechanisms": ["tldp-l", "wishart"], "calibrations": ["published"]}
    split = make_config("private_data", split_trials=True, **settings)
    assert [len(batch.cells) for batch in batches_of(split)] == [1, 1, 1, 1]
    grouped = make_config("private_data", split_trials=True, cells_per_job=3, **settings)
    assert [len(batch.cells) for batch in batches_of(grouped)] == [2, 2]


def test_the_size_of_batches_changes_no_cell(make_config):
    one, eight = (make_config(cells_per_job=size) for size in (1, 8))
    assert len(batches_of(one)) > len(batches_of(eight))
    assert cells_of(one) == cells_of(eight)


def test_cells_to_run_are_those_without_a_result_of_this_code_and_config(make_config, tmp_path):
    config = make_config(mechanisms=["gaussian", "laplace"], calibrations=["published"])
    first, second = cells_of(config)
    assert cells_to_run([first, second], tmp_path) == [first, second]
    run_cells([first], tmp_path, limits=config["limits"], commit="")
    assert cells_to_run([first, second], tmp_path) == [second]
    config["seed"] += 1
    assert cells_to_run(cells_of(config), tmp_path) == cells_of(config)


@pytest.fixture
def planned(make_config, tmp_path):
    config = make_config(mechanisms=["mvg", "udn"], epsilons=[1, 2], split_epsilons=True)
    batches = batches_of(config)
    write_plan(tmp_path, batches)
    return batches


def test_a_job_gets_the_cells_of_its_batch(planned, tmp_path):
    cells = []
    for batch in planned:
        found = read_plan(tmp_path, batch.stem, batch.digest)
        found.require_code()
        assert found.batch == batch
        cells += found.batch.cells
    points = points_of(cells)
    assert len(points) < len(cells), "cells of one epsilon each share a mechanism"
    assert sum(points.values()) == sum(len(cell.points) for cell in cells)


def test_another_plan_is_refused(planned, tmp_path):
    batch, *_ = planned
    with pytest.raises(PlanError, match="belongs to another run: start the run again"):
        read_plan(tmp_path, batch.stem, "digest of another plan")
    path = plan_file(tmp_path, batch.stem)
    for text in ("{", "[]", "{}", '{"batch": 1}'):
        path.write_text(text)
        with pytest.raises(PlanError, match="missing or damaged: start the run again"):
            read_plan(tmp_path, batch.stem, batch.digest)
    path.unlink()
    with pytest.raises(PlanError, match="missing or damaged"):
        read_plan(tmp_path, batch.stem, batch.digest)


def test_code_that_changes_while_a_run_waits_ends_it(planned, tmp_path):
    source = tmp_path / "source.py"
    source.write_text("x = 1\n")
    found = read_plan(tmp_path, planned[0].stem, planned[0].digest)
    found = replace(found, sources=[str(source)], bytes=current_digest_of([str(source)]))
    found.require_code()
    source.write_text("x = 2\n")
    with pytest.raises(PlanError, match="the code has changed since this run began"):
        found.require_code()
    source.unlink()
    with pytest.raises(PlanError, match="the code has changed"):
        found.require_code()
