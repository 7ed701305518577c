"""Typeset formulas of plain text, such as `sigma_1 >= s^2 / epsilon`, as HTML."""

import html
import re

_LETTERS = (
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|lambda|mu|pi|rho|sigma|tau|phi|psi"
    "|Gamma|Theta|Sigma|Phi|Psi"
)
# The names of Greek letters, except in the names of columns, mechanisms and distributions.
_LETTER = re.compile(
    rf"(?<!\w)(?<!\w-)(?<!pherical )(?<!eneralised )({_LETTERS})(?![A-Za-z]|_\w{{4}}| tails)"
)
_SIGNS = {"&gt;=": "\N{GREATER-THAN OR EQUAL TO}", "&lt;=": "\N{LESS-THAN OR EQUAL TO}",
          "sqrt(": "\N{SQUARE ROOT}(", "||": "\N{DOUBLE VERTICAL LINE}"}  # fmt: skip
# The exponent is in brackets, which may contain other brackets, or is one number, name or +.
_UP = re.compile(r"\^(?:\(((?:[^()]|\([^()]*\))*)\)|(\+|\N{MINUS SIGN}?-?\w+(?:\.\d+)?))")
# The index of a single letter or a norm; the names of columns have longer words.
_DOWN = re.compile(
    r"((?<!\w)[^\W\d_]|\N{DOUBLE VERTICAL LINE})_(?:\(([^()]*)\)|(\w{1,3})(?![\w.]))"
)


def typeset(text: str) -> str:
    """Set Greek letters, signs, powers and indices of escaped text as HTML."""
    shown = _LETTER.sub(lambda found: html.unescape(f"&{found[1]};"), text)
    for written, sign in _SIGNS.items():
        shown = shown.replace(written, sign)
    # The second pass is for powers within the brackets of another power.
    shown = _set_powers(_set_powers(shown))
    return _DOWN.sub(lambda found: f"{found[1]}<sub>{found[2] or found[3]}</sub>", shown)


def _set_powers(text: str) -> str:
    return _UP.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", text)
