"""Options and tables read a number exactly as written, or refuse it."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from mechanisms.cli import number_table
from mechanisms.cli.number_table import read_numbers
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


def test_random_numbers_are_exact_where_they_are_whole():
    """Tests decimal numbers of up to 25 digits against exact fractions."""
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(3000):
        digits = "".join(rng.choice(list("0999"), size=rng.integers(1, 26)))
        place = rng.integers(0, len(digits) + 1)
        text = f"{digits[:place] or 0}.{digits[place:]}" if rng.random() < 0.8 else digits
        exact = Decimal(text)
        try:
            value = number_in(text)
        except ValueError:
            refused += 1
            assert Decimal(float(text)) != exact
            continue
        whole = exact == exact.to_integral_value()
        assert value.is_integer() == whole or value != float(text)
        assert not whole or "." in text or value == exact
    assert refused > 100


def test_whole_numbers_have_any_length():
    for text in ("9007199254740993", "9007199254740993.0", "-5", "1e5", "1" * 300):
        assert whole_number_in(text) == int(Decimal(text))
    for text in ("0.99999999999999999999", "1e-400", "nan", "inf", "1e4001", "", "x", "1e99999999"):
        with pytest.raises(ValueError, match=r"whole number|no number"):
            whole_number_in(text)


@pytest.mark.parametrize("text", CHANGED)
def test_tables_and_options(text, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text(f"1,2\n3,{text}\n")
    with pytest.raises(ValueError, match=r"^line 2: .*(would be read as|too long)"):
        read_numbers(table)
    if "." in text:
        with pytest.raises(Exception, match="would be read as"):
            option_value(f"k={text}")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('1,2\n"1"9,3\n', "line 2 is not CSV .*put quotes around whole cells"),
        ('"1,2\n', "is not CSV"),
        ('1,2\n1",3\n', "line 2 has '1\"'"),
        ("1,2\n3\n", "line 2 has 1 cells, and the lines before it 2"),
        ("1,2\n3,\n", "line 2 has ''; write a number"),
        ("1,2\n3,1_0\n", "line 2 has '1_0'"),
        ("1,2\n3,4#5\n", "line 2 has '4#5'"),
        ("1,2\n3,0x1\n", "line 2 has '0x1'"),
        ("1,2\nnan,3\n", "line 2 has 'nan'"),
        ("1x,2\n1,3\n", "line 1 has '1x'"),
        ("1;2\n", "no line of numbers"),
        ("age;count\n20;5\n", "line 2 has ';' between its cells; write commas, as in 3,0.5"),
        ("20\t5\n21\t6\n", "line 2 has a tab between its cells; write commas"),
        ("0,5;1,5\n", "line 1 has ';' between its cells"),
        ("a\n", "no line of numbers"),
        ("age,count\n20,5\n21,6\n", r"line 1 names 2 columns \(age, count\); give one"),
        (",count\n0,5\n1,6\n", r"line 1 names 2 columns \(, count\)"),
        ("count\n20,5\n", "line 2 has 2 cells, and the lines before it 1"),
        ("", "no line of numbers"),
    ],
)
def test_a_table_says_which_line_is_wrong(content, words, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=words):
        read_numbers(path)


def test_a_table_is_read_with_its_quotes_names_and_blank_lines(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('\ufeff"a, b"\n\n"19"\r\n-3e0\n', encoding="utf-8")
    assert read_numbers(path).tolist() == [[19], [-3]]
    path.write_text('"19", 2\n\n-3e0,.5\n')
    assert read_numbers(path).tolist() == [[19, 2], [-3, 0.5]]


@pytest.mark.parametrize(
    "array", [np.array([2**53 + 1]), np.array([1j]), np.array(["1"]), np.array([True, False])]
)
def test_arrays_of_unsupported_numbers_are_refused(array, tmp_path):
    path = tmp_path / "table.npy"
    np.save(path, array)
    if array.dtype == bool:
        assert read_numbers(path).tolist() == [1, 0]
        return
    with pytest.raises(ValueError, match="it must hold"):
        read_numbers(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a file without an end")
def test_a_file_without_an_end(monkeypatch):
    monkeypatch.setattr(number_table, "_LONGEST", 1 << 20)
    with pytest.raises(ValueError, match="a line of more than 1,048,576 characters"):
        read_numbers("/dev/zero")
