"""Place text in a panel where it hides no line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from paper_figures import pyplot as plt

# Free space around text, in points: half of a marker.
_MARGIN = 3.0
# The white box is translucent, so that whatever it covers stays readable.
LOOK = {
    "fontsize": 6,
    "zorder": 6,
    "bbox": {"facecolor": "white", "alpha": 0.8, "pad": 0.5, "edgecolor": "none"},
}


class Place(NamedTuple):
    """A place for text: a point of the panel, as shares of its sides, and the text's alignment."""

    x: float
    y: float
    ha: str = "right"
    va: str = "bottom"


def write_clear(axis: plt.Axes, words: str, places: Iterable[Place], **look) -> None:
    """Write text at the first of the places where it hides no line, error bar or other text.

    If there is no such place, the last one is used. Call this after everything else is drawn.
    """
    axis.figure.draw_without_rendering()
    others = [*axis.texts]
    text = axis.text(0, 0, words, transform=axis.transAxes, **LOOK | look)
    for place in places:
        text.set(position=(place.x, place.y), ha=place.ha, va=place.va)
        box = text.get_window_extent()
        inside = axis.bbox.contains(*box.min) and axis.bbox.contains(*box.max)
        if inside and not _hides(box.padded(_MARGIN * axis.figure.dpi / 72), axis, others):
            return


def _hides(box, axis: plt.Axes, others: Iterable) -> bool:
    drawn = [(line.get_transform(), [line.get_path()]) for line in axis.lines]
    # The collections are error bars.
    drawn += [(each.get_transform(), each.get_paths()) for each in axis.collections]
    paths = (transform.transform_path(path) for transform, own in drawn for path in own)
    return any(path.intersects_bbox(box, filled=False) for path in paths) or any(
        box.overlaps(other.get_window_extent()) for other in others
    )
