"""Colours of the site: every mechanism keeps the colour that it has in the figures.

The stylesheet defines each as a CSS variable `--m-KEY`, which changes with the theme. For the dark
theme, a colour with too little contrast is mixed with white until it has enough.
"""

import re
from collections.abc import Iterable

from PIL.ImageColor import getrgb

from paper_figures.style import look

DARK_BACKGROUND = "#15171a"
# The least contrast ratio with the background; WCAG 2.2, 1.4.11, requires 3 for parts of graphics.
LEAST_CONTRAST = 4.5


def luminance(colour: str) -> float:
    """Return the relative luminance of "#rrggbb", in [0, 1] (WCAG 2.2)."""
    channels = (channel / 255 for channel in getrgb(colour))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, in [1, 21] (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lighten_for_dark(colour: str) -> str:
    """Mix "#rrggbb" with the least white, in steps of 5%, that reaches LEAST_CONTRAST."""
    mixed = (
        [round(c + (255 - c) * percent / 100) for c in getrgb(colour)]
        for percent in range(0, 101, 5)
    )
    shown = ("#{:02x}{:02x}{:02x}".format(*channels) for channels in mixed)
    return next(each for each in shown if contrast(each, DARK_BACKGROUND) >= LEAST_CONTRAST)


def css_name(mechanism: str) -> str:
    """Turn a mechanism's key into part of a CSS name: a-z, 0-9 and hyphens only."""
    return re.sub(r"[^a-z0-9]+", "-", mechanism.lower()).strip("-")


def stylesheet(mechanisms: Iterable[str]) -> str:
    """Return CSS: each mechanism's colour in both themes, and a class `m-KEY` that selects it."""
    light = {css_name(name): look(name).colour for name in sorted(mechanisms)}
    dark = {name: lighten_for_dark(colour) for name, colour in light.items()}
    classes = "".join(f".m-{name}{{--swatch:var(--m-{name})}}\n" for name in light)
    return (
        f":root{{{_variables(light)}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{_variables(dark)}}}}}"
        f"\n:root[data-theme=dark]{{{_variables(dark)}}}\n{classes}"
    )


def _variables(colours: dict[str, str]) -> str:
    return ";".join(f"--m-{name}:{colour}" for name, colour in colours.items())
