"""A spreadsheet computes no text of a CSV file; numbers and plain texts stay."""

import io

import pandas as pd
import pytest

from mechanisms.query.csv_cells import marked, unmarked

FORMULAS = ["=1+1", "+a", "-b", "@SUM(A1)", "\t=1", "\r=1", "- 1", "-", "'=1", "''@a"]
FORMULAS += ["\n=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201"]
PLAIN = ["", "text", " =1", "a-b", "'text'", "-1", "+1.5", "-1e-300", "-inf", "-nan"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text):
    frame = pd.DataFrame({"a": [text, "x"], text: [1, 2]})
    safe = marked(frame)
    assert list(safe.columns) == ["a", f"'{text}"]
    assert safe["a"].tolist() == [f"'{text}", "x"]
    pd.testing.assert_frame_equal(unmarked(safe), frame)
    assert frame["a"].tolist() == [text, "x"]


@pytest.mark.parametrize("text", PLAIN)
def test_numbers_and_plain_texts_stay(text):
    frame = pd.DataFrame({"a": [text], "b": [-1.5]})
    pd.testing.assert_frame_equal(marked(frame), frame)
    pd.testing.assert_frame_equal(unmarked(frame), frame)


def test_types_of_other_columns_stay():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], "Int64"),
            "mixed": pd.Series([1, None], dtype=object),
            "kind": pd.Categorical(["x", "y"]),
            "text": ["=1", None],
        }
    )
    safe = marked(frame)
    assert safe.to_csv(index=False) == "whole,mixed,kind,text\n1,1,x,'=1\n,,y,\n"
    pd.testing.assert_frame_equal(safe.drop(columns="text"), frame.drop(columns="text"))


def test_a_file_is_read_back():
    # pandas itself takes an unquoted carriage return for the end of a record.
    frame = pd.DataFrame({"text": [text for text in (*FORMULAS, *PLAIN) if "\r" not in text]})
    written = marked(frame).to_csv(index=False)
    read = pd.read_csv(io.StringIO(written, newline=""), dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(unmarked(read), frame)
