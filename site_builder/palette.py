"""Colours of the site: every mechanism has the colour that it has in the figures, in both themes.

A swatch has a ring, so that it is seen on every background, and stands beside a name.
"""

import re
from collections.abc import Iterable

from paper_figures.style import look


def css_name(mechanism: str) -> str:
    """Turn a mechanism's key into part of a CSS name: a-z, 0-9 and hyphens only."""
    return re.sub(r"[^a-z0-9]+", "-", mechanism.lower()).strip("-")


def stylesheet(mechanisms: Iterable[str]) -> str:
    """Return CSS: a class `m-KEY` for each mechanism, which gives a swatch in it the colour."""
    return "".join(
        f".m-{css_name(name)}{{--swatch:{look(name).colour}}}\n" for name in sorted(mechanisms)
    )
