"""A black box to audit."""

import numpy as np
import pytest
from black_boxes import CODE


@pytest.fixture
def black_box(tmp_path, monkeypatch):
    """The module's name and the file of a pair at l1 distance 1."""
    (tmp_path / "black_box_under_audit.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    np.savez("pair.npz", first=np.zeros(3), second=np.eye(3)[0])
    return "black_box_under_audit", "pair.npz"
