"""Provide matplotlib.pyplot in the suite's style, imported when the first figure is drawn.

The import is lazy because planning a run imports the modules of all figures, and importing pyplot
takes a second.
"""

import functools
from types import ModuleType

STYLE = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "mathtext.fontset": "dejavusans",
}


@functools.cache
def _styled() -> ModuleType:
    import matplotlib

    matplotlib.use("Agg")

    import matplotlib.pyplot

    matplotlib.pyplot.rcParams.update(STYLE)
    return matplotlib.pyplot


def __getattr__(name: str):
    return getattr(_styled(), name)
