"""Redraw a figure for a narrow screen: panels one below the other, each with its own labels."""

from __future__ import annotations

import itertools
import textwrap
from typing import TYPE_CHECKING

from paper_figures.legends import entries_of

if TYPE_CHECKING:
    # Planning a run imports this module, and importing matplotlib takes a second.
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase
    from matplotlib.legend import Legend
    from matplotlib.transforms import Bbox

# The width of the figure and the gap between panels, in inches. At this width a phone shows a
# letter of 8 points with 10 pixels.
WIDTH = 3.7
GAP = 0.12
# The most letters in a line of a legend or a label.
LETTERS = 46


def stack_panels(figure: Figure) -> bool:
    """Stack the panels of a figure that has been laid out, in place.

    Panels keep their height. Each panel gets the titles and labels that it shared with others, and
    a legend stands below its panels.

    Returns:
        Whether the panels were stacked. Figures with other parts are left alone, such as maps with
        a colour bar, which readers compare side by side.
    """
    grids = {
        part: [axis for axis in figure.axes if axis.figure is part]
        for part in (figure, *figure.subfigs)
    }
    specs = [axis.get_subplotspec() for axis in figure.axes]
    if not specs or None in specs:
        return False
    for grid in grids.values():
        for axis in grid:
            _label(axis, grid)
    for part in reversed(grids):
        _give_titles(part)
    boxes = {axis: _inches(axis.get_window_extent(), figure) for axis in figure.axes}
    tight = {axis: _inches(axis.get_tightbbox(for_layout_only=True), figure) for axis in boxes}
    left = max(boxes[axis].x0 - tight[axis].x0 for axis in boxes)
    right = max(tight[axis].x1 - boxes[axis].x1 for axis in boxes) + GAP / 2
    legends = {part: [_narrow(each, figure) for each in list(part.legends)] for part in grids}
    below = [_height(legend, figure) + GAP for legend in itertools.chain(*legends.values())]
    height = GAP + sum(each.height + GAP for each in tight.values()) + sum(below)
    figure.set_size_inches(WIDTH, height)
    top = height - GAP
    for part, grid in grids.items():
        for axis in grid:
            low = top - (tight[axis].y1 - boxes[axis].y0)
            place = boxes[axis].from_bounds(left, low, WIDTH - left - right, boxes[axis].height)
            axis.set_position(place.transformed(figure.dpi_scale_trans - part.transSubfigure))
            top -= tight[axis].height + GAP
        for legend in legends[part]:
            legend.set_bbox_to_anchor((0.5, top / height), figure.transFigure)
            top -= _height(legend, figure) + GAP
    return True


def _narrow(legend: Legend, figure: Figure) -> Legend:
    """Replace a legend by one with as many columns as fit."""
    texts = [text.get_text() for text in legend.get_texts()]
    known = entries_of(legend.figure.axes)
    handles = [known.get(t, h) for t, h in zip(texts, legend.legend_handles, strict=True)]
    wrapped = [textwrap.fill(text, LETTERS) for text in texts]
    for columns in (2, 1):
        legend.remove()
        legend = figure.legend(handles, wrapped, loc="upper center", ncols=columns, fontsize=7)
        if _inches(legend.get_window_extent(), figure).width <= WIDTH:
            break
    return legend


def _height(legend: Legend, figure: Figure) -> float:
    return _inches(legend.get_window_extent(), figure).height


def _give_titles(part: FigureBase) -> None:
    """Give every panel the title and the label of its figure or subfigure."""
    for axis in part.axes:
        if part.get_supxlabel():
            axis.set_xlabel(textwrap.fill(part.get_supxlabel(), LETTERS))
        if part.get_suptitle():
            axis.set_title(f"{part.get_suptitle()}\n{axis.get_title()}".strip())
    part.supxlabel("")
    part.suptitle("")


def _label(axis: Axes, grid: list[Axes]) -> None:
    """Give a panel the title, axis labels and tick labels that it shared with its neighbours."""
    own = axis.get_subplotspec()
    axis.tick_params(labelleft=True, labelbottom=True)
    row = [each for each in grid if each.get_subplotspec().rowspan == own.rowspan]
    column = [each for each in grid if each.get_subplotspec().colspan == own.colspan]
    titles = (each.get_title() for each in itertools.chain([axis], column))
    axis.set_title(next(filter(None, titles), ""))
    labels = (each.get_ylabel() for each in itertools.chain([axis], row))
    axis.set_ylabel(next(filter(None, labels), ""))
    labels = (each.get_xlabel() for each in itertools.chain([axis], reversed(column)))
    axis.set_xlabel(next(filter(None, labels), ""))


def _inches(box: Bbox, figure: Figure) -> Bbox:
    return box.transformed(figure.dpi_scale_trans.inverted())
