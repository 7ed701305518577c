"""Entries of a legend, and its place."""

from collections.abc import Iterable

from paper_figures import pyplot as plt

# Points from the axis down to its legend. Tick labels and the axis label lie in between.
BELOW_LABEL = 29.0


def entries_of(axes: Iterable[plt.Axes]) -> dict:
    """What is drawn, by its label: one entry for all axes, from the first that has it."""
    entries = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return entries


def legend_below(axis: plt.Axes) -> None:
    """A legend below an axis and its label.

    The distance is in points. As a share of the axis it would shrink with it, and the layout makes
    room for legends by shrinking the axes.
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
