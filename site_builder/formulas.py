"""The formula of a mechanism as SVG paths, so that it needs no font and no script."""

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml
from markupsafe import Markup
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextPath

# Units of a drawing in the height of a line.
EM = 20
_LETTERS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}


@functools.cache
def formulas() -> dict[str, list[str]]:
    """The statements of each formula, by key of the mechanism."""
    text = (Path(__file__).parent / "formulas.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def typeset(statements: Sequence[str]) -> Markup:
    """A formula as one SVG for each statement, in the size and colour of the text around them.

    All have one height, so that their lines of writing meet where they stand side by side; a narrow
    screen has them below each other. Hidden from screen readers: the text that says the same has to
    stand beside them.
    """
    ends = [","] * (len(statements) - 1) + [""]
    font = FontProperties(math_fontfamily="cm")
    outlines = [
        TextPath((0, 0), f"${statement}{end}$", size=EM, prop=font)
        for statement, end in zip(statements, ends, strict=True)
    ]
    heights = np.concatenate([outline.vertices[:, 1] for outline in outlines])
    return Markup("").join(_drawing(each, heights.min(), heights.max()) for each in outlines)


def _drawing(outline: TextPath, low: float, high: float) -> Markup:
    steps = []
    for points, code in outline.iter_segments(curves=True, simplify=False):
        if code == Outline.CLOSEPOLY:
            steps.append("Z")
        else:
            # SVG's y grows downwards.
            pairs = zip(points[::2], points[1::2], strict=True)
            steps.append(_LETTERS[code] + " ".join(f"{x:.1f} {-y:.1f}" for x, y in pairs))
    left, right = outline.vertices[:, 0].min() - 1, outline.vertices[:, 0].max() + 1
    width, height = right - left, high - low + 2
    box = f"{left:.1f} {-high - 1:.1f} {width:.1f} {height:.1f}"
    return Markup(
        f'<svg class="formula" aria-hidden="true" focusable="false" width="{width / EM:.3f}em" '
        f'height="{height / EM:.3f}em" viewBox="{box}">'
        f'<path fill="currentColor" d="{"".join(steps)}"/></svg>'
    )
