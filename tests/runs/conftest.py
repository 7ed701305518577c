"""The tiny config, and a run of one cell."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from runs.aggregation import points_of, require_complete
from runs.results import frame_of
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
        named = replace(cell, stem=name, code=code or cell.code)
        run_cells([named], tmp_path, limits=config["limits"], commit="")
        rows, _ = read_cell(cell_file(tmp_path, name))
        require_complete(rows, points_of([cell]))
        return frame_of(rows)

    return run_it
