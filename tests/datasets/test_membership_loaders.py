"""Loaders of the binary records of Shokri et al., on small files in the official formats."""

import numpy as np
import pytest
from loader_contract import LoaderContract
from official_formats import tar_of

from datasets import DataError
from datasets.loaders import location30


def bits(rows, columns):
    return np.random.default_rng(columns).integers(0, 2, (rows, columns))


def lines(table):
    return [",".join(map(str, row)) for row in table.tolist()]


def write_location30(folder):
    rows = [
        f'"{label}",{line}' for label, line in zip((13, 1, 30), lines(bits(3, 446)), strict=True)
    ]
    tar_of(folder / "dataset_location.tgz", {"bangkok": "\n".join(rows).encode()})
    return {"records": 3}


def check_location30(data):
    assert np.array_equal(data.features, bits(3, 446))
    assert data.labels.tolist() == [12, 0, 29]


def write_purchase100(folder):
    rows = [f"{label},{line}\n" for label, line in zip((100, 1), lines(bits(2, 600)), strict=True)]
    tar_of(folder / "dataset_purchase.tgz", {"dataset_purchase": "".join(rows).encode()})
    return {"records": 2}


def check_purchase100(data):
    assert np.array_equal(data.features, bits(2, 600))
    assert data.labels.tolist() == [99, 0]


def write_texas100(folder):
    members = {
        "texas/100/feats": "".join(f"{line}\r\n" for line in lines(bits(2, 6169))).encode(),
        "texas/100/labels": b"100\n7\n",
        "texas/100/readme": b"text",
    }
    tar_of(folder / "dataset_texas.tgz", members)
    return {"records": 2}


def check_texas100(data):
    assert np.array_equal(data.features, bits(2, 6169))
    assert data.features.dtype == np.uint8
    assert data.labels.tolist() == [99, 6]


CASES = {
    "location30": (write_location30, check_location30),
    "purchase100": (write_purchase100, check_purchase100),
    "texas100": (write_texas100, check_texas100),
}


@pytest.mark.parametrize("name", CASES)
class TestContract(LoaderContract):
    cases = CASES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row[:-2], "line 2 has 445 features"),
        (lambda row: row[:-1] + b"2", "line 2 has other features"),
        (lambda row: row[:-2] + b";1", "line 2 has other features"),
        (lambda row: row[:-3] + b"010", "line 2 has other features"),
        (lambda row: b"31" + row[1:], "record 2 has '31', allowed are whole numbers 1..30"),
        (lambda row: b"a" + row[1:], "record 2 has 'a'"),
    ],
)
def test_binary_rows_of_another_form(tmp_path, change, message):
    first, second = (b"5," + line.encode() for line in lines(bits(2, 446)))
    path = tmp_path / "location.tgz"
    tar_of(path, {"bangkok": first + b"\n" + change(second) + b"\n"})
    with pytest.raises(DataError, match=message):
        location30.parse(path)
