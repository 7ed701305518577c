"""The formula of a mechanism as one SVG path, so that it needs no font and no script."""

import functools
from pathlib import Path

import yaml
from markupsafe import Markup
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextPath

SIZE = 20
_LETTERS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}


@functools.cache
def formulas() -> dict[str, str]:
    """Formulas by key of the mechanism."""
    text = (Path(__file__).parent / "formulas.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def typeset(formula: str) -> Markup:
    """A formula as SVG in the colour of the text around it; hidden from screen readers.

    The text that says the same has to stand beside it.
    """
    outline = TextPath((0, 0), formula, size=SIZE, prop=FontProperties(math_fontfamily="cm"))
    x0, y0 = outline.vertices.min(axis=0)
    x1, y1 = outline.vertices.max(axis=0)
    steps = []
    for points, code in outline.iter_segments(curves=True, simplify=False):
        if code == Outline.CLOSEPOLY:
            steps.append("Z")
        else:
            # SVG's y grows downwards.
            pairs = zip(points[::2], points[1::2], strict=True)
            steps.append(_LETTERS[code] + " ".join(f"{x:.1f} {-y:.1f}" for x, y in pairs))
    left, top, width, height = x0 - 1, -y1 - 1, x1 - x0 + 2, y1 - y0 + 2
    return Markup(
        f'<svg class="formula" aria-hidden="true" focusable="false" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}">'
        f'<path fill="currentColor" d="{"".join(steps)}"/></svg>'
    )
