"""A run looks for jobs when one has ended, repeats cells on request and mends damaged files."""

import pytest
import yaml

pytestmark = pytest.mark.slow
STUDY = {
    "mechanisms": ["non-private", "gaussian", "laplace"],
    "datasets": ["fixed-sensitivity", "growing-sensitivity"],
    "calibrations": ["published"],
    "epsilons": [1e-7],
    "delta": 1e-10,
    "sizes": ["4x4"],
    "growth_shapes": ["8x16"],
    "growth_epsilon": 1,
    "growth_delta": 1e-5,
    "gradient_shapes": ["10x12"],
    "trials": 20,
    "largest_draw": 1e5,
    "timed_draws": 2,
}
CONFIG = {"run": "small", "cells_per_job": 2, "studies": {"noise_only": STUDY}}
TARGETS = ("results", "mgm2021_table4", "tables")
# Results without the numbers that differ between any two runs.
SAME = ("results.csv", "studies/noise_only.parquet")


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory):
    project = new_project(tmp_path_factory.mktemp("again"))
    (project.folder / "small.yaml").write_text(yaml.safe_dump(CONFIG))
    options = {"cores": 1, "config": "small.yaml"}
    project.first = project.snakemake("results", "mgm2021_table4", "--verbose", **options)
    return project


def bytes_of(project):
    return [(project.folder / "results/small" / name).read_bytes() for name in SAME]


def test_a_run_looks_for_jobs_only_when_one_has_ended(finished):
    """Otherwise the scheduler takes more and more of a core."""
    shown = finished.first.stderr
    assert 4 < shown.count("Ready jobs: ") <= shown.count("Finished jobid: ") + 1


def test_cells_to_redo_run_again_for_every_target(finished):
    before = bytes_of(finished)
    finished.python("runs", "redo", "small", "--mechanism", "laplace")
    batches = {
        batch
        for batch, stems in finished.plan("small.yaml").items()
        if any("/laplace--" in stem for stem in stems)
    }
    assert batches
    for target in TARGETS:
        assert batches <= finished.planned_batches(target, config="small.yaml"), target
    finished.snakemake("results", "mgm2021_table4", config="small.yaml")
    assert not finished.cells_to_run("small.yaml")
    assert bytes_of(finished) == before
    assert not finished.planned_batches(*TARGETS, config="small.yaml")


@pytest.mark.parametrize(
    "name",
    [
        "cells/noise_only/fixed-sensitivity/gaussian--published.parquet",
        "studies/noise_only.parquet",
    ],
)
def test_a_damaged_file_is_named_and_made_again(finished, name):
    before = bytes_of(finished)
    run = finished.folder / "results/small"
    damaged = run / name
    # Damage a page; the footer of the cell's file still says that it is current.
    changed = bytearray(damaged.read_bytes())
    changed[60] ^= 0x55
    damaged.write_bytes(changed)
    if name.startswith("cells"):
        (run / "studies/noise_only.parquet").unlink()
    ended = finished.snakemake("results", config="small.yaml", check=False)
    assert ended.returncode
    shown = f"error: results/small/{name} is damaged: "
    assert shown in ended.stdout + ended.stderr
    assert ended.stderr.count("the same command resumes") == 1
    assert "Missing files" not in ended.stderr
    finished.snakemake("results", config="small.yaml")
    assert damaged.exists()
    assert bytes_of(finished) == before
