"""Options read a number exactly as written, or refuse it."""

import argparse
from decimal import Decimal

import pytest

from mechanisms.cli.query_arguments import option_value
from mechanisms.query.written_numbers import number_in, whole_number_in

# Numbers that float64 turns into something else: a whole number, 0, infinity or a neighbour.
CHANGED = (
    "0.99999999999999999999",
    "-3.00000000000000000001",
    "4503599627370497.5",
    "99999999999999999999e-20",
    "1e-400",
    "1e-99999999999999999999",
    "1e400",
    "9007199254740993",
    "-9007199254740993",
)
KEPT = ("3", "0.1", "1e30", "9007199254740994", "1.0", "-0", "1e-300", "0.9999999999999999", "1e5")


@pytest.mark.parametrize("text", CHANGED)
def test_a_number_that_float64_would_change_is_refused(text):
    with pytest.raises(ValueError, match=r"would be read as|exponent is too long"):
        number_in(text)


@pytest.mark.parametrize("text", KEPT)
def test_every_other_number_is_read(text):
    assert number_in(text) == float(text)


def test_whole_numbers_have_any_length():
    for text in ("9007199254740993", "9007199254740993.0", "-5", "1e5", "1" * 300):
        assert whole_number_in(text) == int(Decimal(text))
    for text in ("0.99999999999999999999", "1e-400", "nan", "inf", "1e4001", "", "x", "1e99999999"):
        with pytest.raises(ValueError, match=r"whole number|no number"):
            whole_number_in(text)


@pytest.mark.parametrize("text", [text for text in CHANGED if "." in text])
def test_options_of_mechanisms(text):
    with pytest.raises(argparse.ArgumentTypeError, match="would be read as"):
        option_value(f"k={text}")
