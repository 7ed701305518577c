"""The tiny config, and a run of one cell."""

from pathlib import Path

import pytest
import yaml
from one_cell import spec_as

from runs.frames import StudyCheck, frame_of
from runs.runner import run_cells
from runs.store import cell_file, read_cell

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def config():
    """config/tiny.yaml as parsed YAML, which a test may change."""
    return yaml.safe_load((ROOT / "config/tiny.yaml").read_text())


@pytest.fixture
def run(tmp_path):
    """Returns a function that runs a cell and returns its rows as a data frame."""

    def run_it(cell, config, name="cell", code=None):
        run_cells([spec_as(name, cell, config, code)], tmp_path, limits=config["limits"], commit="")
        rows, _ = read_cell(cell_file(tmp_path, name))
        named = (cell.study, cell.dataset, cell.mechanism, cell.calibration)
        check = StudyCheck({named: len(cell.points(config))})
        check.add(rows)
        check.end()
        return frame_of(rows)

    return run_it
