"""The whole ledger in one picture: every claim of every paper as a square in its verdict's colour.

It reads the ledger, which is judged from all studies, so it is drawn where the ledger is written.
"""

from pathlib import Path

import pandas as pd

from claims.ledger import read_ledger
from claims.verdicts import VERDICTS
from paper_figures import pyplot as plt
from paper_figures.drawings import Drawn, write_drawn
from paper_figures.style import PAGE

NAME = "suite_ledger"
# Colour of the square, and the sign in it, for readers and printers without colours.
LOOKS = {
    "confirmed": ("#0072B2", ""),
    "partly": ("#9ACBEB", "/"),
    "contradicted": ("#D55E00", "x"),
    "not found": ("#F0C060", "o"),
    "depends": ("#CC79A7", "?"),
    "inconclusive": ("#BBBBBB", "~"),
    "not run": ("#FFFFFF", "-"),
}
SIDE = 0.86


def draw_ledger(folder: Path) -> None:
    """Write the picture of `folder`/claims.csv to `folder`/figures/."""
    write_drawn(NAME, ledger_picture(read_ledger(folder)), folder / "figures")


def ledger_picture(ledger: pd.DataFrame) -> Drawn:
    """A row of squares per paper, the paper with most claims first."""
    counts = ledger.groupby(["paper", "verdict"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    counts = counts.loc[counts.sum(axis=1).sort_values(kind="stable", ascending=False).index]
    longest = counts.sum(axis=1).max()
    side = (PAGE - 1.2) / longest
    figure, axis = plt.subplots(figsize=(PAGE, side * len(counts) + 0.7))
    for row, paper in enumerate(counts.index):
        verdicts = [verdict for verdict in VERDICTS for _ in range(counts.loc[paper, verdict])]
        for column, verdict in enumerate(verdicts):
            _square(axis, column, row, verdict)
    axis.set_yticks([row + SIDE / 2 for row in range(len(counts))], counts.index)
    axis.set(xlim=(-0.2, longest), ylim=(len(counts), -0.2), xticks=[], aspect="equal")
    axis.spines[:].set_visible(False)
    axis.tick_params(length=0)
    axis.grid(False)
    totals = counts.sum()
    shown = [verdict for verdict in VERDICTS if totals[verdict]]
    figure.legend(
        [plt.Rectangle((0, 0), 1, 1, facecolor=LOOKS[v][0], edgecolor="#555555") for v in shown],
        [f"{v} {LOOKS[v][1]} {totals[v]}".replace("  ", " ") for v in shown],
        loc="outside lower center",
        ncols=len(shown),
        fontsize=6.5,
        handlelength=1,
        columnspacing=1.2,
    )
    caption = (
        f"The ledger: {len(ledger)} claims of {len(counts)} papers, a square for each, by verdict. "
        "Signs repeat the colours. The five papers with most claims are those whose experiments "
        "the suite runs again."
    )
    note = "What the verdicts mean and the claims behind the squares: claims.md."
    return Drawn(caption, counts.reset_index(), figure, note)


def _square(axis: plt.Axes, column: int, row: int, verdict: str) -> None:
    colour, sign = LOOKS[verdict]
    box = {"facecolor": colour, "edgecolor": "#555555", "linewidth": 0.4}
    axis.add_patch(plt.Rectangle((column, row), SIDE, SIDE, **box))
    centre = (column + SIDE / 2, row + SIDE / 2)
    axis.text(*centre, sign, fontsize=6, ha="center", va="center")
