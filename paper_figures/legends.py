"""Collect the entries of legends, and place legends."""

from __future__ import annotations

from collections.abc import Iterable

from paper_figures import pyplot as plt

# The distance from an axis down to its legend, in points; tick and axis labels lie in between.
BELOW_LABEL = 29.0


def entries_of(axes: Iterable[plt.Axes]) -> dict:
    """Return the legend handles of all axes by label; the first axis with a label provides it."""
    entries = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return entries


def legend_below(axis: plt.Axes) -> None:
    """Put a legend below an axis and its label.

    The distance is in points, because the layout makes room for legends by shrinking the axes: a
    distance relative to the axis would shrink with it.
    """
    from matplotlib.transforms import ScaledTranslation

    down = ScaledTranslation(0, -BELOW_LABEL / 72, axis.figure.dpi_scale_trans)
    axis.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=axis.transAxes + down,
        borderaxespad=0,
        fontsize=6,
    )
