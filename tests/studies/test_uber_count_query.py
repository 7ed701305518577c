"""The count query on the official Uber file: the window of the paper, its cells and boxes."""

import numpy as np
import pytest
from one_case import problem_of, setup_of

from datasets import load as load_dataset
from studies import count_query
from studies.count_query import in_window, map_edges


@pytest.fixture
def uber(official_data):
    return official_data("uber")


@pytest.fixture
def uber_settings(make_config):
    config = make_config("count_query", datasets=["uber"], cells_per_side=89)
    return config["studies"]["count_query"]


def test_the_window_of_the_paper_holds_52692_pickups(uber, uber_settings):
    pickups = load_dataset("uber", uber)
    assert len(pickups) == 564_516
    window = in_window(pickups.time, uber_settings)
    assert window.sum() == 52_692
    # Both ends are in it.
    moments = pickups.time[window]
    assert str(moments.min()) == uber_settings.start and str(moments.max()) == uber_settings.end


@pytest.mark.slow
def test_the_uber_problem(uber, uber_settings):
    problem = problem_of(setup_of("count_query", "uber", uber_settings), uber)
    pickups = load_dataset("uber", uber)
    window = in_window(pickups.time, uber_settings)
    box = uber_settings.bounding_box
    inside = window & (pickups.latitude >= box.south) & (pickups.latitude <= box.north)
    inside &= (pickups.longitude >= box.west) & (pickups.longitude <= box.east)
    assert problem.counts.sum() == inside.sum()
    assert 52_000 < problem.counts.sum() <= 52_692
    # Figure 4 of the paper says a maximum near 27.
    assert problem.counts.max() > 1000
    scanned = problem_of(
        setup_of("count_query", "uber", uber_settings.model_copy(update={"boxes": 4})), uber
    )
    assert scanned.positions.shape == (2, 52_692)
    assert min(count_query.largest_in_boxes(scanned.positions, scanned.boxes, 89)) > 100
    # A cell is known to be empty when no pickup outside the window lies in it.
    rows, columns = map_edges((box.south, box.north), (box.west, box.east), 89)
    outside = ~window
    assert outside.sum() == 564_516 - 52_692
    row = np.searchsorted(rows, pickups.latitude[outside], side="right") - 1
    column = np.searchsorted(columns, pickups.longitude[outside], side="right") - 1
    seen = np.zeros((90, 90), bool)
    on_map = (row >= 0) & (row < 89) & (column >= 0) & (column < 89)
    seen[row[on_map], column[on_map]] = True
    assert np.array_equal(problem.empty, ~seen[:89, :89])
    assert problem.counts[problem.empty].sum() < 0.01 * problem.counts.sum()
