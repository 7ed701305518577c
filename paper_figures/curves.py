"""Curves of mechanisms: draw identical ones once, and label them at their right ends."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from paper_figures import pyplot as plt
from paper_figures.style import legend_order, look, mechanism_title

# Curves cannot be told apart in print if their values differ by less than this (relative).
SAME = 1e-2
GAUSSIAN = "gaussian-analytic"
# A line is broken where x grows by more than this factor, because nothing was measured there.
# The factor is above 10 because square sizes grow by slightly more: from 99,856 to 1,000,000.
LONGEST_STEP = 10.1
# Font size in points and width in characters of the labels at the ends of curves.
FONT, WIDTH = 6.5, 24


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a panel, with every mechanism whose numbers lie on it.

    Args:
        mechanisms: The keys of the mechanisms, in the order of legends.
        x, y: The points, in ascending x.
        starts: The first x of each mechanism.
    """

    mechanisms: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray
    starts: tuple[float, ...]

    @property
    def title(self) -> str:
        """The titles of all its mechanisms: "Analytic Gaussian = TLDP-G (from 64)"."""
        return " = ".join(
            mechanism_title(name) + (f" (from {start:g})" if start > self.x[0] else "")
            for name, start in zip(self.mechanisms, self.starts, strict=True)
        )

    @property
    def drawn_as(self) -> str:
        """The mechanism that gives the colour and the marker.

        The analytic Gaussian takes precedence, so that Gaussian noise looks alike in all panels.
        """
        return GAUSSIAN if GAUSSIAN in self.mechanisms else self.mechanisms[0]

    def table(self, x: str, y: str) -> pd.DataFrame:
        """Return the points in the columns `curve`, `x` and `y`."""
        return pd.DataFrame({"curve": self.title, x: self.x, y: self.y})


def merge_curves(rows: pd.DataFrame, x: str, y: str) -> list[Curve]:
    """Return the curves of all mechanisms in `rows`; curves that agree within SAME become one.

    A curve joins one before it in legend order if they agree at all of its points.

    Args:
        rows: A table with the columns mechanism, x and y, one row per mechanism and x.
    """
    curves: list[Curve] = []
    lines = {
        name: rows[rows["mechanism"] == name].sort_values(x, kind="stable")
        for name in set(rows["mechanism"])
    }
    for name in legend_order(lines):
        places = lines[name][x].to_numpy()
        own = Curve((name,), places, lines[name][y].to_numpy(float), (places[0],))
        for index, curve in enumerate(curves):
            if _agrees(own, curve):
                names, starts = (*curve.mechanisms, name), (*curve.starts, places[0])
                curves[index] = Curve(names, curve.x, curve.y, starts)
                break
        else:
            curves.append(own)
    return curves


def _agrees(own: Curve, other: Curve) -> bool:
    known = dict(zip(other.x, other.y, strict=True))
    return set(own.x) <= set(known) and bool(
        np.allclose(own.y, [known[x] for x in own.x], rtol=SAME, atol=0)
    )


def draw_curves(axis: plt.Axes, curves: Iterable[Curve], **kind) -> None:
    """Draw every curve in the look of one of its mechanisms; `kind` goes to `Axes.plot`."""
    for curve in curves:
        points = break_gaps(pd.DataFrame({"x": curve.x, "y": curve.y}), "x")
        axis.plot(
            points["x"], points["y"], **look(curve.drawn_as).line | {"label": curve.title} | kind
        )


def break_gaps(line: pd.DataFrame, x: str) -> pd.DataFrame:
    """Sort the points of a line by x > 0 and put an empty row into each step above LONGEST_STEP.

    Matplotlib draws no line to or from an empty row.
    """
    ordered = line.sort_values(x, kind="stable").reset_index(drop=True)
    long = ordered[x] > ordered[x].shift() * LONGEST_STEP
    empty = pd.DataFrame(np.nan, index=ordered.index[long], columns=ordered.columns)
    return pd.concat([empty, ordered.astype(float)]).sort_index(kind="stable")


def label_ends(axis: plt.Axes, curves: Sequence[Curve], height: float) -> None:
    """Write the title of every curve to the right of the axis, level with its last point.

    Labels that would overlap move apart. Set the limits and scales before calling this.

    Args:
        height: The height of the axis, in inches.
    """
    texts = [textwrap.fill(curve.title, WIDTH, break_on_hyphens=False) for curve in curves]
    heights = [(text.count("\n") + 1.3) * 1.2 * FONT / 72 / height for text in texts]
    ends = [
        axis.transAxes.inverted().transform(axis.transData.transform((curve.x[-1], curve.y[-1])))[1]
        for curve in curves
    ]
    for curve, text, end, place in zip(curves, texts, ends, spread(ends, heights), strict=True):
        colour = look(curve.drawn_as).colour
        # A line links each label to its curve, because colours are lost in grey print.
        axis.plot(
            [1.0, 1.04], [end, place], color=colour, lw=0.7, transform=axis.transAxes,
            clip_on=False, scalex=False, scaley=False,
        )  # fmt: skip
        axis.text(
            1.05,
            place,
            text,
            transform=axis.transAxes,
            va="center",
            fontsize=FONT,
            color=colour,
            linespacing=1.1,
        )


def spread(centres: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Move the centres so that boxes of these heights neither overlap nor leave [0, 1].

    The boxes keep their order, and the sum of squared moves is the least possible. If the heights
    add up to more than 1, the boxes extend below 0.
    """
    order = np.argsort(centres, kind="stable")
    sizes = np.asarray(heights, dtype=float)[order]
    # After the room that the boxes below need is subtracted, the centres only have to ascend.
    room = np.cumsum(sizes) - sizes / 2
    free = scipy.optimize.isotonic_regression(np.asarray(centres, dtype=float)[order] - room).x
    placed = np.empty(len(sizes))
    placed[order] = np.minimum(np.maximum(free, 0.0), 1.0 - sizes.sum()) + room
    return placed.tolist()
