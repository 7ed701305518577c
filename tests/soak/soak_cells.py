"""Cells that misbehave in every way end as rows and do not change the cells beside them.

`make soak` runs this file, which takes some minutes.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from bad_cells import ALL

from runs.cells import cells_of
from runs.descendants import descendants
from runs.parts import MOST_CHARACTERS
from runs.runner import run_cells
from runs.store import cell_file, read_cell
from runs.warm_process import MOST_BYTES

LIMITS = {"seconds": 6, "memory_gib": 0.6}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cells")


@pytest.fixture
def cell_of(make_config, monkeypatch):
    """Returns the cell of a class of bad_cells, by name."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    names = ["Fine", *ALL]
    config = make_config(
        variants={name.lower(): {"use": f"bad_cells:{name}"} for name in names},
        mechanisms=[name.lower() for name in names],
        calibrations=["published"],
        epsilons=[1, 2, 3],
    )
    cells = {cell.mechanism: cell for cell in cells_of(config)}
    return lambda name: cells[name.lower()]


def rows_of(folder, stem):
    return read_cell(cell_file(folder, stem))[0]


def test_every_misbehaving_cell_is_a_row(cell_of, folder):
    """All cells run in one batch, with a good cell after each."""
    assert len(ALL) >= 60
    fine = cell_of("Fine")
    batch = [replace(fine, stem="fine")]
    for name in ALL:
        batch += [replace(cell_of(name), stem=name), replace(fine, stem=f"after-{name}")]
    before = {process.pid for process in descendants()}
    run_cells(batch, folder, limits=LIMITS, commit="")
    assert descendants(before) == []
    for name in ALL:
        assert rows_of(folder, f"after-{name}").equals(rows_of(folder, "fine")), name


@pytest.mark.parametrize("name", ALL)
def test_the_row_of_a_misbehaving_cell_gives_the_reason(name, folder):
    status, words = ALL[name]
    frame = rows_of(folder, name).to_pandas().set_index("epsilon")
    assert set(frame.loc[[1], "status"]) == {"ok"}
    assert set(frame.loc[[2], "status"]) == {status}
    message = frame.loc[[2], "message"].iloc[0]
    assert words in message
    assert bool(message) == (status != "ok" or bool(words))
    assert len(message) <= MOST_CHARACTERS
    assert message.encode().decode() == message
    log = folder / f"logs/cells/{name}.log"
    assert log.stat().st_size <= MOST_BYTES
