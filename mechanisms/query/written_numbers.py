"""Numbers from texts: a number that float64 would turn into another kind of number is refused.

0.99999999999999999999 would become 1, a whole number; 1e-400 would become 0, 1e400 infinite, and
9007199254740993 its neighbour.
"""

import re
from decimal import Decimal

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_DIGITS = re.compile(r"\s*[+-]?[\d_]+\s*")


def is_number(text: str) -> bool:
    """Return whether a text is a finite decimal number, such as 3, -0.5 or 1e-5."""
    return _NUMBER.fullmatch(text) is not None


def reads_as_float(text: str) -> bool:
    """Return whether Python reads a text as a float, nan and inf included."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def number_in(text: str) -> float:
    """Return the float64 nearest to the number that a text spells.

    Raises:
        ValueError: The text is not a number. Or its float64 is whole, 0 or infinite and the number
            is not. Or it is a whole number in digits, and its float64 is another number.
    """
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r:.60} is no number") from None
    if value.is_integer():
        exact = _decimal(text)
        kept = exact == value or (
            exact == exact.to_integral_value() and not _DIGITS.fullmatch(text)
        )
    else:
        kept = value - value == 0 or not is_number(text)
    if not kept:
        raise ValueError(
            f"{text.strip():.40} would be read as {value!r}; write a number that a float64 holds"
        )
    return value


def whole_number_in(text: str) -> int:
    """Return the whole number that a text spells, exactly; 1e5 is one.

    Raises:
        ValueError: The text is not a whole number, or one of more than 4,001 digits.
    """
    exact = _decimal(text)
    if not exact.is_finite() or exact.adjusted() > 4000 or exact != exact.to_integral_value():
        raise ValueError(f"{text.strip():.40} is not a whole number")
    return int(exact)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except ArithmeticError:
        raise ValueError(f"{text.strip():.40} is no number, or its exponent is too long") from None
