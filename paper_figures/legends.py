"""Collect the entries of legends, and place legends below axes."""

from __future__ import annotations

from collections.abc import Iterable

from paper_figures import pyplot as plt

# The distance from the axes down to the legend, in points; tick and axis labels lie in between.
BELOW_LABEL = 29.0


def entries_of(axes: Iterable[plt.Axes]) -> dict:
    """Return the legend handles by label; the first axes that have a label give its handle."""
    entries = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return entries


def legend_below(ax: plt.Axes) -> None:
    """Put a legend below axes and their label.

    The distance is in points, because the layout makes room for legends by shrinking the axes. A
    distance relative to the axes would shrink with them.
    """
    from matplotlib.transforms import ScaledTranslation

    down = ScaledTranslation(0, -BELOW_LABEL / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0,
        fontsize=6,
    )
