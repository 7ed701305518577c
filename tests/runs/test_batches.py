"""Batches of cells: what one job runs."""

from runs.batches import batches_of, cells_to_run
from runs.cells import cells_of
from runs.runner import run_cells


def test_batches_hold_every_cell_once_and_one_study_and_data_set_each(make_config):
    config = make_config("linear_queries", mechanisms=["gaussian", "laplace", "l2"])
    config["cells_per_job"] = 4
    batches = batches_of(config)
    assert [cell for batch in batches for cell in batch.cells] == cells_of(config)
    assert [len(batch.cells) for batch in batches] == [4, 2, 4, 2]
    assert [batch.stem for batch in batches] == [
        "linear_queries/city-grid--0", "linear_queries/city-grid--1",
        "linear_queries/city-longitude--0", "linear_queries/city-longitude--1",
    ]  # fmt: skip


def test_split_trials_are_jobs_of_their_own_unless_the_study_says_how_many(make_config):
    settings = {"mechanisms": ["tldp-l", "wishart"], "calibrations": ["published"]}
    split = make_config("private_data", split_trials=True, **settings)
    assert [len(batch.cells) for batch in batches_of(split)] == [1, 1, 1, 1]
    grouped = make_config("private_data", split_trials=True, cells_per_job=3, **settings)
    assert [len(batch.cells) for batch in batches_of(grouped)] == [3, 1]


def test_the_size_of_batches_changes_no_cell(make_config):
    one, eight = (make_config(cells_per_job=size) for size in (1, 8))
    assert len(batches_of(one)) > len(batches_of(eight))
    planned = [[cell.planned(config) for cell in cells_of(config)] for config in (one, eight)]
    assert planned[0] == planned[1]


def test_cells_to_run_are_those_without_a_result_of_this_code_and_config(make_config, tmp_path):
    config = make_config(mechanisms=["gaussian", "laplace"], calibrations=["published"])
    first, second = cells_of(config)
    assert cells_to_run(config, tmp_path) == [first, second]
    run_cells([first.planned(config)], tmp_path, limits=config["limits"])
    assert cells_to_run(config, tmp_path) == [second]
    config["seed"] += 1
    assert cells_to_run(config, tmp_path) == [first, second]
