"""Draw the curves of mechanisms: coinciding curves once, each with a label at its right end."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from claims.judged_rows import select
from paper_figures import pyplot as plt
from paper_figures.style import legend_order, look, mechanism_title

# Readers cannot tell curves apart in print if their values agree within this relative tolerance.
TOLERANCE = 1e-2
GAUSSIAN = "gaussian-analytic"
# A line is broken wherever x grows by more than this factor between two measured points.
# The factor exceeds 10 because square sizes can grow by slightly more: from 99,856 to 1,000,000.
LONGEST_STEP = 10.1
# The labels at the ends of curves: the font size in points, and the width in characters.
FONT, WIDTH = 6.5, 24


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a panel, with every mechanism whose points lie on it.

    Args:
        mechanisms: The keys of the mechanisms, in the order of legends.
        x, y: The coordinates of the points, in ascending order of x.
        starts: The smallest x of each mechanism.
    """

    mechanisms: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray
    starts: tuple[float, ...]

    @property
    def title(self) -> str:
        """The titles of all mechanisms on the curve: "Analytic Gaussian = TLDP-G (from 64)"."""
        return " = ".join(
            mechanism_title(name) + (f" (from {start:g})" if start > self.x[0] else "")
            for name, start in zip(self.mechanisms, self.starts, strict=True)
        )

    @property
    def representative(self) -> str:
        """The mechanism whose colour and marker the curve has.

        The analytic Gaussian takes precedence, so that Gaussian noise looks the same in all panels.
        """
        return GAUSSIAN if GAUSSIAN in self.mechanisms else self.mechanisms[0]

    def table(self, x: str, y: str) -> pd.DataFrame:
        """Return a table of the points, with the title as `curve` and columns named by x and y."""
        return pd.DataFrame({"curve": self.title, x: self.x, y: self.y})


def merge_curves(rows: pd.DataFrame, x: str, y: str) -> list[Curve]:
    """Return one curve per mechanism in `rows`, with coinciding curves merged.

    A mechanism joins the first curve that agrees with it at all of its points.

    Args:
        rows: A table with the columns mechanism, x and y, one row per mechanism and x.
    """
    curves: list[Curve] = []
    for name in legend_order(rows["mechanism"]):
        line = select(rows, mechanism=name).sort_values(x, kind="stable")
        candidate = Curve((name,), line[x].to_numpy(), line[y].to_numpy(float), (line[x].iloc[0],))
        for index, curve in enumerate(curves):
            if _lies_on(candidate, curve):
                names = (*curve.mechanisms, name)
                curves[index] = Curve(names, curve.x, curve.y, curve.starts + candidate.starts)
                break
        else:
            curves.append(candidate)
    return curves


def _lies_on(candidate: Curve, curve: Curve) -> bool:
    known = dict(zip(curve.x, curve.y, strict=True))
    return set(candidate.x) <= set(known) and bool(
        np.allclose(candidate.y, [known[x] for x in candidate.x], rtol=TOLERANCE, atol=0)
    )


def draw_curves(ax: plt.Axes, curves: Iterable[Curve], **style) -> None:
    """Draw every curve in the look of its representative; `style` goes to `Axes.plot`."""
    for curve in curves:
        points = break_gaps(pd.DataFrame({"x": curve.x, "y": curve.y}), "x")
        ax.plot(
            points["x"],
            points["y"],
            **look(curve.representative).line | {"label": curve.title} | style,
        )


def break_gaps(line: pd.DataFrame, x: str) -> pd.DataFrame:
    """Sort the points of a line by x, and insert an empty row at every step above LONGEST_STEP.

    All x must be positive. Matplotlib draws no line to or from an empty row.
    """
    ordered = line.sort_values(x, kind="stable").reset_index(drop=True)
    is_gap = ordered[x] > ordered[x].shift() * LONGEST_STEP
    blanks = pd.DataFrame(np.nan, index=ordered.index[is_gap], columns=ordered.columns)
    return pd.concat([blanks, ordered.astype(float)]).sort_index(kind="stable")


def label_ends(ax: plt.Axes, curves: Sequence[Curve], height: float) -> None:
    """Write the title of every curve to the right of the axes, level with the last point.

    Labels that would overlap move apart. Set the limits and scales of the axes first.

    Args:
        height: The height of the axes, in inches.
    """
    texts = [textwrap.fill(curve.title, WIDTH, break_on_hyphens=False) for curve in curves]
    heights = [(text.count("\n") + 1.3) * 1.2 * FONT / 72 / height for text in texts]
    ends = [
        ax.transAxes.inverted().transform(ax.transData.transform((curve.x[-1], curve.y[-1])))[1]
        for curve in curves
    ]
    for curve, text, end, place in zip(curves, texts, ends, spread(ends, heights), strict=True):
        colour = look(curve.representative).colour
        # A short line leads from the end of the curve to its label: grey print loses the colours.
        ax.plot(
            [1.0, 1.04], [end, place], color=colour, lw=0.7, transform=ax.transAxes,
            clip_on=False, scalex=False, scaley=False,
        )  # fmt: skip
        ax.text(
            1.05,
            place,
            text,
            transform=ax.transAxes,
            va="center",
            fontsize=FONT,
            color=colour,
            linespacing=1.1,
        )


def spread(centres: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Move the centres of boxes so that the boxes neither overlap nor leave [0, 1].

    The boxes keep their order, and the sum of squared moves is the least possible. If the heights
    add up to more than 1, the boxes extend below 0.
    """
    order = np.argsort(centres, kind="stable")
    sizes = np.asarray(heights, dtype=float)[order]
    # Subtract the room that the boxes below need, so that the centres only have to ascend.
    room = np.cumsum(sizes) - sizes / 2
    free = scipy.optimize.isotonic_regression(np.asarray(centres, dtype=float)[order] - room).x
    placed = np.empty(len(sizes))
    placed[order] = np.minimum(np.maximum(free, 0.0), 1.0 - sizes.sum()) + room
    return placed.tolist()
