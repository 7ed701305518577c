"""Words in a panel at a place where they hide no line."""

from collections.abc import Iterable
from typing import NamedTuple

from paper_figures import pyplot as plt

# Points around words that stay free: half of a marker.
_MARGIN = 3.0
# What words cover stays readable.
LOOK = {
    "fontsize": 6,
    "zorder": 6,
    "bbox": {"facecolor": "white", "alpha": 0.8, "pad": 0.5, "edgecolor": "none"},
}


class Place(NamedTuple):
    """Where words may stand: a point of the panel, as shares of its sides, and their alignment."""

    x: float
    y: float
    ha: str = "right"
    va: str = "bottom"


def write_clear(axis: plt.Axes, words: str, places: Iterable[Place], **look) -> None:
    """Write words at the first of some places in the panel that hide no line, bar or words.

    Where there is none, the last one is taken. To be called when all else is drawn.
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
    # Error bars.
    drawn += [(each.get_transform(), each.get_paths()) for each in axis.collections]
    paths = (transform.transform_path(path) for transform, own in drawn for path in own)
    return any(path.intersects_bbox(box, filled=False) for path in paths) or any(
        box.overlaps(other.get_window_extent()) for other in others
    )
