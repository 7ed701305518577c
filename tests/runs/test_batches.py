"""Batches of cells; a job runs one batch."""

from runs.batches import batches_of, cells_to_run
from runs.cells import cells_of
from runs.runner import run_cells


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
    needs = {batch.stem: (len(batch.cells), batch.downloads(config)) for batch in batches}
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
    specs = [[cell.spec(config) for cell in cells_of(config)] for config in (one, eight)]
    assert specs[0] == specs[1]


def test_cells_to_run_are_those_without_a_result_of_this_code_and_config(make_config, tmp_path):
    config = make_config(mechanisms=["gaussian", "laplace"], calibrations=["published"])
    first, second = cells_of(config)
    assert cells_to_run(config, tmp_path) == [first, second]
    run_cells([first.spec(config)], tmp_path, limits=config["limits"], commit="")
    assert cells_to_run(config, tmp_path) == [second]
    config["seed"] += 1
    assert cells_to_run(config, tmp_path) == [first, second]
