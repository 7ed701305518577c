"""Format numbers, sentences and formulas of the results as HTML, with links to claims."""

import functools
import html
import math
import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from mechanisms.query.words import with_minus

NONE = "\N{EM DASH}"
_POWER = re.compile(r"(?<![\w.])(?<!\w-)(\d+(?:\.\d+)?)e([+-]?)0*(\d+)(?![\w.]*\w)")
MINUS = "\N{MINUS SIGN}"
TIMES = "\N{NO-BREAK SPACE}\N{MULTIPLICATION SIGN}\N{NO-BREAK SPACE}"
# Formulas of plain text, such as `sigma_1 >= s^2 / epsilon`.
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
# A power. The exponent is in brackets, which may contain other brackets, or is a number, name or +.
_UP = re.compile(r"\^(?:\(((?:[^()]|\([^()]*\))*)\)|(\+|\N{MINUS SIGN}?-?\w+(?:\.\d+)?))")
# An index of a single letter or a norm. Longer words with underscores are names of columns.
_DOWN = re.compile(
    r"((?<!\w)[^\W\d_]|\N{DOUBLE VERTICAL LINE})_(?:\(([^()]*)\)|(\w{1,3})(?![\w.]))"
)


def number(value: object, digits: int = 4, *, zeros: bool = False) -> Markup:
    """Format a number with a few significant digits; large and small numbers have a power of ten.

    NaN becomes a dash. Text and booleans are escaped and not changed.

    Args:
        value: The number, or another value.
        digits: The significant digits; a power of ten has one fewer. The digits before the point of
            a number below 100,000 are never rounded.
        zeros: Whether to keep trailing zeros, as in a column of means.
    """
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return escape(value)
    if math.isnan(value):
        return Markup(NONE)
    size = abs(value)
    if math.isinf(size):
        shown = "\N{INFINITY}"
    elif size == 0:
        shown = "0"
    elif 1e-3 <= size < 1e5:
        decimals = max(0, digits - 1 - math.floor(math.log10(size)))
        shown = f"{size:,.{decimals}f}"
        if "." in shown and not zeros:
            shown = shown.rstrip("0").rstrip(".")
    else:
        shown = powers(escape(f"{size:.{digits - 1}g}"))
    return Markup(MINUS if value < 0 else "") + shown


def powers(text: Markup) -> Markup:
    """Replace numbers such as 2.17e+06 in escaped text by 2.17 x 10^6, except inside words."""

    def written(found: re.Match) -> str:
        mantissa, sign, exponent = found.groups()
        power = f"10<sup>{MINUS if sign == '-' else ''}{exponent}</sup>"
        return power if mantissa == "1" else f"{mantissa}{TIMES}{power}"

    return Markup(_POWER.sub(written, str(text)))


def prose(text: object, claims: Sequence[str] = (), root: str = "") -> Markup:
    """Format a text as HTML with formulas, minus signs, `code` and links to claims.

    Args:
        text: The text, which is escaped.
        claims: The ids of claims to link.
        root: The path from the page to the root of the site, with its slash.
    """
    # Every second piece is between backticks.
    pieces = enumerate(str(text).split("`"))
    shown = "".join(f"<code>{escape(p)}</code>" if i % 2 else _typeset(p) for i, p in pieces)
    if claims:
        link = rf'<a href="{escape(root)}claims/\1.html">\1</a>'
        shown = re.sub(rf"(?<![\w-])({_any_of(tuple(claims))})(?![\w-])", link, shown)
    return Markup(shown)


def insert_authors(text: str, authors: Mapping[str, str]) -> str:
    """Replace the keys of papers in a text by authors and year: "Ji and Li's (2024)".

    Keys within the names of files and drawings are kept.

    Args:
        text: The text.
        authors: The names of the authors by the key of the paper, which ends with the year.
    """
    return re.sub(
        rf"(?<![\w/.-])({_any_of(tuple(authors))})('s)?(?![\w/-])",
        lambda found: f"{authors[found[1]]}{found[2] or ''} ({found[1][-4:]})",
        text,
    )


def short_authors(authors: str) -> str:
    """Shorten names separated by commas to surnames: "Ji", "Ji and Li" or "Yuan et al."."""
    families = [name.split()[-1] for name in authors.split(", ")]
    return " and ".join(families) if len(families) < 3 else f"{families[0]} et al."


@functools.cache
def _any_of(names: tuple[str, ...]) -> str:
    """Return a regular expression for any name; the longest comes first, lest a prefix match."""
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def _typeset(text: str) -> str:
    """Escape a text, and set its minus signs, Greek letters, powers and indices as HTML."""
    escaped = str(powers(escape(with_minus(text))))
    shown = _LETTER.sub(lambda found: html.unescape(f"&{found[1]};"), escaped)
    for written, sign in _SIGNS.items():
        shown = shown.replace(written, sign)
    # The second pass is for powers within the brackets of another power.
    for _ in range(2):
        shown = _UP.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", shown)
    return _DOWN.sub(lambda found: f"{found[1]}<sub>{found[2] or found[3]}</sub>", shown)


def sentences(text: str) -> list[str]:
    """Split a text into sentences, at the space between a full stop and a capital letter."""
    return re.split(r"(?<=\.)\s+(?=[A-Z])", text.strip())


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    return sentences(text)[0]


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a docstring, each as one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
