"""The tiny config, and a run of one cell."""

from pathlib import Path

import pytest
import yaml
from one_cell import planned_as

from runs.frames import check_table, read_frame
from runs.result_table import read_table
from runs.runner import cell_files, run_cells

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def config():
    """config/tiny.yaml as YAML gives it, free to be changed."""
    return yaml.safe_load((ROOT / "config/tiny.yaml").read_text())


@pytest.fixture
def run(tmp_path):
    """Runs a cell; returns its rows as a data frame."""

    def run_it(cell, config, name="cell", digest=None):
        plan = planned_as(name, cell, config, digest)
        run_cells([plan], tmp_path, limits=config["limits"])
        rows = cell_files(plan, tmp_path)[0]
        named = (cell.study, cell.dataset, cell.mechanism, cell.calibration)
        check_table(read_table(rows), {named: len(cell.points(config))})
        return read_frame(rows)

    return run_it
