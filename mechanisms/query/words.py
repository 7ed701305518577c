"""Text for readers: the name that was meant, tables, bounds rounded safely, minus signs."""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

# A hyphen before a number that is not part of a name, a range or an exponent.
_HYPHEN = re.compile(r"(?<![\w.)\]<-])-(?=[\d.]*\d)")


def nearest(
    name: Any, known: Iterable[Any], words: str = "did you mean {!r}? ", most: int = 1
) -> str:
    """Return `words` with up to `most` known names that resemble `name`, nearest first, or "".

    Case is ignored.
    """
    written = {str(other).casefold(): str(other) for other in known}
    near = difflib.get_close_matches(str(name).casefold(), written, n=most)
    return words.format(" or ".join(map(written.get, near))) if near else ""


def query_in_words(fields: Mapping[str, Any]) -> str:
    """Return shape, size, sensitivities and adjacency of a query, given as its fields, as text.

    "120x400, M = 48,000, l2 sensitivity 1, add-remove"; l1 and linf follow l2 if they are known.
    """
    axes, size = "x".join(map(str, fields["shape"])), math.prod(fields["shape"])
    known = {norm: fields[f"{norm}_sensitivity"] for norm in ("l1", "linf")}
    others = "".join(f", {norm} {value:g}" for norm, value in known.items() if value is not None)
    l2 = f"l2 sensitivity {fields['l2_sensitivity']:g}"
    return f"{axes}, M = {size:,}, {l2}{others}, {fields['adjacency']}"


def in_one_line(error: object) -> str:
    """Return `error: ...` in one line; what cannot be printed is escaped, such as line breaks."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(error))
    return f"error: {text}"


def aligned(lines: Iterable[Sequence[str]]) -> str:
    """Return a table with aligned columns; raise ValueError unless all lines have as many cells."""
    columns = [
        [cell.ljust(max(map(len, column))) for cell in column]
        for column in zip(*lines, strict=True)
    ]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def rounded_down(value: float, digits: int = 3) -> str:
    """Write a lower bound: the largest number of `digits` significant digits not above it.

    0.0042667 is 0.00426, and -0.0042667 is -0.00427.
    """
    return _rounded(value, digits, ROUND_FLOOR)


def rounded_up(value: float, digits: int = 3) -> str:
    """Write an upper bound: the smallest number of `digits` significant digits not below it.

    0.0042612 is 0.00427.
    """
    return _rounded(value, digits, ROUND_CEILING)


def with_minus(text: str) -> str:
    """Write minus signs for the hyphens of numbers, not of names, ranges and exponents."""
    return _HYPHEN.sub("\N{MINUS SIGN}", text)


def _rounded(value: float, digits: int, direction: str) -> str:
    # Rounds the shortest decimal of the float: 0.1 rounded up is 0.1, though its bits exceed it.
    rounded = Context(prec=digits, rounding=direction).create_decimal(repr(float(value)))
    return f"{float(rounded):.{digits}g}"
