"""Lay out a figure for a narrow screen: panels one below the other, each with its own labels."""

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

# The width of the figure and the gap between panels, in inches. At this width, 8-point type has 10
# pixels on a phone.
WIDTH = 3.7
GAP = 0.12
# The largest number of letters in a line of a legend or a label.
LETTERS = 46


def stack_panels(figure: Figure) -> bool:
    """Stack the panels of a figure that has been laid out, in place.

    Panels keep their height. Each panel gets the titles and labels that it shared with others, and
    each legend stands below its panels.

    Returns:
        Whether the panels were stacked. A figure with other parts is left alone: readers compare
        maps with a colour bar, for example, side by side.
    """
    grids = {
        part: [ax for ax in figure.axes if ax.figure is part] for part in (figure, *figure.subfigs)
    }
    specs = [ax.get_subplotspec() for ax in figure.axes]
    if not specs or None in specs:
        return False
    for grid in grids.values():
        for ax in grid:
            _label(ax, grid)
    for part in reversed(grids):
        _give_titles(part)
    boxes = {ax: _inches(ax.get_window_extent(), figure) for ax in figure.axes}
    tight = {ax: _inches(ax.get_tightbbox(for_layout_only=True), figure) for ax in boxes}
    left = max(boxes[ax].x0 - tight[ax].x0 for ax in boxes)
    right = max(tight[ax].x1 - boxes[ax].x1 for ax in boxes) + GAP / 2
    legends = {part: [_narrow(each, figure) for each in list(part.legends)] for part in grids}
    below = [_height(legend, figure) + GAP for legend in itertools.chain(*legends.values())]
    height = GAP + sum(each.height + GAP for each in tight.values()) + sum(below)
    figure.set_size_inches(WIDTH, height)
    top = height - GAP
    for part, grid in grids.items():
        for ax in grid:
            low = top - (tight[ax].y1 - boxes[ax].y0)
            place = boxes[ax].from_bounds(left, low, WIDTH - left - right, boxes[ax].height)
            ax.set_position(place.transformed(figure.dpi_scale_trans - part.transSubfigure))
            top -= tight[ax].height + GAP
        for legend in legends[part]:
            legend.set_bbox_to_anchor((0.5, top / height), figure.transFigure)
            top -= _height(legend, figure) + GAP
    return True


def _narrow(legend: Legend, figure: Figure) -> Legend:
    """Replace a legend with one of two columns, or of one column if two are too wide."""
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
    """Move the title and the x label of a figure or subfigure to its panels."""
    for ax in part.axes:
        if part.get_supxlabel():
            ax.set_xlabel(textwrap.fill(part.get_supxlabel(), LETTERS))
        if part.get_suptitle():
            ax.set_title(f"{part.get_suptitle()}\n{ax.get_title()}".strip())
    part.supxlabel("")
    part.suptitle("")


def _label(ax: Axes, grid: list[Axes]) -> None:
    """Give a panel the title, axis labels and tick labels that its row or column shares."""
    spec = ax.get_subplotspec()
    ax.tick_params(labelleft=True, labelbottom=True)
    row = [each for each in grid if each.get_subplotspec().rowspan == spec.rowspan]
    column = [each for each in grid if each.get_subplotspec().colspan == spec.colspan]
    titles = (each.get_title() for each in itertools.chain([ax], column))
    ax.set_title(next(filter(None, titles), ""))
    labels = (each.get_ylabel() for each in itertools.chain([ax], row))
    ax.set_ylabel(next(filter(None, labels), ""))
    labels = (each.get_xlabel() for each in itertools.chain([ax], reversed(column)))
    ax.set_xlabel(next(filter(None, labels), ""))


def _inches(box: Bbox, figure: Figure) -> Bbox:
    return box.transformed(figure.dpi_scale_trans.inverted())
