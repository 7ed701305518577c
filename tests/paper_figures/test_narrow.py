"""On narrow screens the panels of a figure are stacked and labelled, and lose nothing."""

import itertools

import numpy as np
import pytest

from paper_figures import pyplot as plt
from paper_figures.narrow import WIDTH, stack_panels


@pytest.fixture
def grid():
    figure, axes = plt.subplots(2, 2, figsize=(7, 4), sharex=True, sharey="row", squeeze=False)
    for axis in axes.flat:
        axis.plot([1, 2], [3, 4], label="curve")
    for title, axis in zip(("published", "exact"), axes[0], strict=True):
        axis.set_title(title)
    for axis in axes[:, 0]:
        axis.set_ylabel("error")
    for axis in axes[1]:
        axis.set_xlabel("epsilon")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine(None)
    yield figure
    plt.close(figure)


def test_panels_stand_below_each_other_in_reading_order(grid):
    panels = grid.axes
    heights = [axis.get_window_extent().height for axis in panels]
    assert stack_panels(grid)
    assert grid.get_figwidth() == WIDTH
    ends = [axis.get_tightbbox(for_layout_only=True) for axis in panels]
    assert all(upper.y0 > lower.y1 for upper, lower in itertools.pairwise(ends))
    assert [axis.get_window_extent().height for axis in panels] == pytest.approx(heights)
    assert np.ptp([axis.get_position().x0 for axis in panels]) < 1e-9
    (legend,) = grid.legends
    assert 0 < legend.get_window_extent().y0 < legend.get_window_extent().y1 < ends[-1].y0
    assert min(end.x0 for end in ends) >= 0 and max(end.x1 for end in ends) <= grid.bbox.x1


def test_every_panel_has_the_labels_that_its_neighbours_had(grid):
    grid.suptitle("simulated data")
    assert stack_panels(grid)
    found = [axis.get_title() for axis in grid.axes]
    assert found == [f"simulated data\n{each}" for each in ("published", "exact")] * 2
    assert {axis.get_ylabel() for axis in grid.axes} == {"error"}
    assert {axis.get_xlabel() for axis in grid.axes} == {"epsilon"}
    assert grid.get_suptitle() == ""
    ticks = [axis.yaxis.get_ticklabels() + axis.xaxis.get_ticklabels() for axis in grid.axes]
    assert all(each.get_visible() for own in ticks for each in own)


def test_parts_of_a_figure_keep_their_own_legends():
    figure = plt.figure(figsize=(7, 4))
    for part, name in zip(figure.subfigures(2, 1), ("a", "b"), strict=True):
        for axis in part.subplots(1, 2):
            axis.plot([1, 2], label=name)
        part.suptitle(f"part {name}")
        part.legend(*axis.get_legend_handles_labels(), loc="outside lower center")
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine(None)
    assert stack_panels(figure)
    places = [axis.get_window_extent().y0 for axis in figure.axes]
    above, below = (legend.get_window_extent().y1 for legend in figure.legends)
    assert places[1] > above > places[2] and places[3] > below
    assert [axis.get_title() for axis in figure.axes] == ["part a"] * 2 + ["part b"] * 2
    plt.close(figure)


def test_maps_with_a_scale_of_colours_stay_side_by_side():
    figure, axes = plt.subplots(1, 2)
    shown = [axis.imshow(np.eye(2)) for axis in axes]
    figure.colorbar(shown[0], ax=axes)
    size = tuple(figure.get_size_inches())
    assert not stack_panels(figure) and tuple(figure.get_size_inches()) == size
    plt.close(figure)
