"""Legends below an axis."""

from __future__ import annotations

from paper_figures import pyplot as plt

# Points from the axis down to its legend. Tick labels and the axis label lie in between.
BELOW_LABEL = 29.0


def legend_below(axis: plt.Axes, *entries, points: float = BELOW_LABEL) -> None:
    """A legend below an axis and its label.

    The distance is in points. As a share of the axis it would shrink with it, and the layout makes
    room for legends by shrinking the axes.

    Args:
        entries: Handles and labels; those of the axis by default.
        points: Distance from the axis, > 0.
    """
    from matplotlib.transforms import ScaledTranslation

    down = ScaledTranslation(0, -points / 72, axis.figure.dpi_scale_trans)
    axis.legend(
        *entries,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=axis.transAxes + down,
        borderaxespad=0,
        fontsize=6,
    )
