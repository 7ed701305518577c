"""The tiny config, for tests of runs."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def config():
    """config/tiny.yaml as YAML gives it, free to be changed."""
    return yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
