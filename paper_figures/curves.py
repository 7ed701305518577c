"""Curves of mechanisms: identical ones are drawn once, and labels stand at their right ends."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from paper_figures import pyplot as plt
from paper_figures.style import in_order, look, mechanism_title

# Curves whose values differ by less than this, relatively, lie on each other in print.
SAME = 1e-2
GAUSSIAN = "gaussian-analytic"
# No line crosses a longer step of the horizontal axis, as a factor: nothing was measured there.
# Sizes that are squares are not exactly tenfold: 99,856 and 1,000,000.
LONGEST_STEP = 10.1
# Points and characters of the labels at the ends of curves.
FONT, WIDTH = 6.5, 24


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a panel and every mechanism whose numbers lie on it.

    Args:
        mechanisms: In the order of legends.
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

        It is the analytic Gaussian among others, so that Gaussian noise looks alike in all panels.
        """
        return GAUSSIAN if GAUSSIAN in self.mechanisms else self.mechanisms[0]

    def table(self, x: str, y: str) -> pd.DataFrame:
        """Its points in columns `curve`, `x` and `y`."""
        return pd.DataFrame({"curve": self.title, x: self.x, y: self.y})


def merged(rows: pd.DataFrame, x: str, y: str) -> list[Curve]:
    """The curves of all mechanisms in `rows`, those that agree within SAME as one.

    A mechanism with fewer points than another belongs to it if it agrees at all of its own.

    Args:
        rows: Columns mechanism, x and y; one row per mechanism and x.
    """
    curves: list[Curve] = []
    lines = {
        name: rows[rows["mechanism"] == name].sort_values(x, kind="stable")
        for name in set(rows["mechanism"])
    }
    for name in in_order(lines):
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
        points = with_gaps(pd.DataFrame({"x": curve.x, "y": curve.y}), "x")
        axis.plot(
            points["x"], points["y"], **look(curve.drawn_as).line | {"label": curve.title} | kind
        )


def with_gaps(line: pd.DataFrame, x: str) -> pd.DataFrame:
    """The points of a line in ascending x > 0, with an empty row in each step above LONGEST_STEP.

    Matplotlib draws no line to or from an empty row.
    """
    ordered = line.sort_values(x, kind="stable").reset_index(drop=True)
    long = ordered[x] > ordered[x].shift() * LONGEST_STEP
    empty = pd.DataFrame(np.nan, index=ordered.index[long], columns=ordered.columns)
    return pd.concat([empty, ordered.astype(float)]).sort_index(kind="stable")


def label_ends(axis: plt.Axes, curves: Sequence[Curve], height: float) -> None:
    """Write the title of every curve right of the axis, at the height of its last point.

    Labels that would overlap move apart. The limits and scales must be set before.

    Args:
        height: Of the axis, in inches.
    """
    texts = [textwrap.fill(curve.title, WIDTH, break_on_hyphens=False) for curve in curves]
    heights = [(text.count("\n") + 1.3) * 1.2 * FONT / 72 / height for text in texts]
    ends = [
        axis.transAxes.inverted().transform(axis.transData.transform((curve.x[-1], curve.y[-1])))[1]
        for curve in curves
    ]
    for curve, text, end, place in zip(curves, texts, ends, spread(ends, heights), strict=True):
        colour = look(curve.drawn_as).colour
        # A line from the end of the curve, which colours alone do not find in grey print.
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
    """The centres moved so that boxes of these heights neither overlap nor leave 0 to 1.

    Their order stays, and they move as little as they must, in the sum of squares. Boxes that are
    higher than 1 together stand out at the bottom.
    """
    order = np.argsort(centres, kind="stable")
    sizes = np.asarray(heights, dtype=float)[order]
    # Less the room that the boxes below need, the centres only have to ascend.
    room = np.cumsum(sizes) - sizes / 2
    free = scipy.optimize.isotonic_regression(np.asarray(centres, dtype=float)[order] - room).x
    placed = np.empty(len(sizes))
    placed[order] = np.minimum(np.maximum(free, 0.0), 1.0 - sizes.sum()) + room
    return placed.tolist()
