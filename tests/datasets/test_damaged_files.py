"""A loader names the file and the place of any damage, or returns what the file says."""

import gzip
import itertools
import re
import tarfile
import zipfile
from dataclasses import replace

import pytest
from test_loaders import OFFICIAL
from toy_data_set import tar_bytes

from datasets import DATASETS, DataError
from datasets.catalogue import loader

UNPUBLISHED = [
    name for name, entry in DATASETS.items() if not all(file.sha256 for file in entry.files)
]
WRONG = ("text", "True", "1_0", "\u0661")


def parse(name, folder):
    module = loader(name)
    return module.parse(*(folder / file.name for file in module.ENTRY.files))


@pytest.fixture
def small(name, tmp_path, monkeypatch):
    """The folder of a small data set of this name, whose entry states its numbers of rows."""
    rows = OFFICIAL[name][0](tmp_path)
    monkeypatch.setattr(loader(name), "ENTRY", replace(DATASETS[name], rows=rows))
    return tmp_path


def refused(name, folder, *places):
    """Assert that the loader refuses the files in one line with these words and the remedy."""
    with pytest.raises(DataError) as caught:
        parse(name, folder)
    (line,) = str(caught.value).splitlines()
    for place in places:
        assert re.search(place, line), line
    assert "delete it and get the published file again" in line or "wrong number of" in line


# Tables by data set: the file, its member, its separator, its lines before the first record.
TEXTS = {
    "adult": [("adult.data", None, ", ", 0), ("adult.test", None, ", ", 1)],
    "uber": [("uber-raw-data-apr14.csv", None, ",", 1)],
    "liver_disorders": [("bupa.data", None, ",", 0)],
    "swarm": [("swarm_behaviour.zip", "Swarm Behavior Data/Flocking.csv", ",", 1)],
    "darknet2020": [("Darknet.CSV", None, ",", 1)],
    "movement_aal": [("MovementAAL.zip", "dataset/MovementAAL_RSS_2.csv", ",", 1)],
    "location30": [("dataset_location.tgz", "bangkok", ",", 0)],
    "purchase100": [("dataset_purchase.tgz", "dataset_purchase", ",", 0)],
    "texas100": [
        ("dataset_texas.tgz", "texas/100/feats", ",", 0),
        ("dataset_texas.tgz", "texas/100/labels", ",", 0),
    ],
}


def contents(path):
    """The members of an archive by their paths; any other file has its text under None."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name).decode() for name in archive.namelist()}
    if path.suffix == ".tgz":
        with tarfile.open(path) as archive:
            return {member.name: archive.extractfile(member).read().decode() for member in archive}
    return {None: path.read_text()}


def write(path, parts):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in parts.items():
                archive.writestr(name, text)
    elif path.suffix == ".tgz":
        path.write_bytes(tar_bytes({name: text.encode() for name, text in parts.items()}))
    else:
        path.write_text(parts[None])


def cells_of(text, separator, skip):
    lines = text.split("\n")
    rows = [line.split(separator) for line in lines[skip:] if line.strip()]
    return lines[:skip], rows


def text_of(head, rows, separator):
    return "\n".join([*head, *(separator.join(row) for row in rows)]) + "\n"


def damaged_copies(rows):
    """Copies of a table with a wrong cell, or with too many or too few columns or records."""
    *most, last = rows
    yield from ([[*row, "1"] for row in rows], [*most, [*last, "1"]])
    yield from ([row[:-1] for row in rows], [*most, last[:-1]])
    yield from (most, [])
    # The first columns of darknet2020 hold any text.
    width = len(last)
    columns = range(width) if width < 20 else (2, width - 1)
    for column, cell in itertools.product(columns, WRONG):
        wrong = [[*row[:column], cell, *row[column + 1 :]] for row in rows]
        yield from (wrong, [*most, wrong[-1]])


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_damaged_table_is_refused(name, small):
    for file, member, separator, skip in TEXTS[name]:
        parts = contents(small / file)
        head, rows = cells_of(parts[member], separator, skip)
        for damaged in damaged_copies(rows):
            write(small / file, parts | {member: text_of(head, damaged, separator)})
            refused(name, small, re.escape(file), "record|line|row|column|bytes")
        write(small / file, parts)


@pytest.mark.parametrize(
    ("name", "place", "old", "new", "words"),
    [
        ("adult", 0, "<=50K\n", "50K\n", "income: record 1 has '50K', allowed are <=50K >50K"),
        (
            "adult",
            0,
            "^39",
            "39.5",
            r"age: record 1 has 39\.5, allowed are whole numbers 0\.\.120",
        ),
        ("adult", 0, "^39", "?", "age: record 1 has nan, allowed"),
        ("adult", 0, "Male", "?", "sex: record 1 has nan, allowed are Female Male;"),
        ("adult", 0, "<=50K\n", "<=50K, 1\n", "16 columns, expected 15"),
        ("uber", 0, "4/1/2014 0:11:00", "", "Date/Time: record 1 has ''"),
        (
            "uber",
            0,
            "4/1/2014 0",
            "4/31/2014 0",
            "'4/31/2014 0:11:00', allowed are times in April 2014",
        ),
        ("uber", 0, "4/1/2014 0", "4/1/2013 0", "record 1 has '4/1/2013 0:11:00'"),
        ("uber", 0, "4/1/2014 0", "2014-04-01 00", "record 1 has '2014-04-01 00:11:00'"),
        *(
            ("darknet2020", 0, ",Chat\n", f",{label}\n", r"Darknet\.CSV: application: record 2 has")
            for label in ("", "None", "NA", "NaN", "Chat room", "1")
        ),
        ("location30", 0, ",[01]$", "", "number of columns changed from 447 to 446 at row 3"),
        ("location30", 0, "[01]$", "2", "features: record 3 has 2, allowed are 0 and 1"),
        ("location30", 0, "[01],[01]$", "a,0", "could not convert string 'a' .* column 446"),
        ("location30", 0, '^"13"', '"31"', r"labels: record 1 has 31, allowed are 1\.\.30"),
        ("swarm", 0, r"\n0\.5", "\n1e30", "feature 1: record 1 has"),
    ],
)
def test_what_is_allowed_is_told(small, name, place, old, new, words):
    file, member, *_ = TEXTS[name][place]
    parts = contents(small / file)
    damaged = re.sub(old, new, parts[member], count=1)
    assert damaged != parts[member]
    write(small / file, parts | {member: damaged})
    refused(name, small, words)


@pytest.mark.parametrize("name", ["uber", "swarm", "movement_aal"])
def test_columns_that_changed_places_with_their_names(name, small):
    """Such a file looks intact: it has the right numbers of columns and records."""
    # The names of swarm's columns are read from the first 12.
    one = 24 if name == "swarm" else 0
    for file, member, separator, _ in TEXTS[name]:
        parts = contents(small / file)
        _, rows = cells_of(parts[member], separator, 0)
        said = re.escape(rows[0][one + 1].strip('#" '))
        for row in rows:
            row[one], row[one + 1] = row[one + 1], row[one]
        write(small / file, parts | {member: text_of([], rows, separator)})
        refused(name, small, file, f"its header has '{said}' in column {one + 1}, not '")
        write(small / file, parts)


@pytest.mark.parametrize("name", UNPUBLISHED)
def test_truncated_and_foreign_files(name, small):
    """Files without a checksum may come from another publisher or a broken download."""
    foreign = [b"", b"\0" * 3000, b"<html></html>", b"PK\3\4", bytes(range(256))]
    for path in list(small.iterdir()):
        whole = path.read_bytes()
        shares = [whole[: int(share * len(whole))] for share in (0.01, 0.2, 0.5, 0.8, 0.97)]
        for content in (*foreign, gzip.compress(b""), *shares):
            path.write_bytes(content)
            refused(name, small, re.escape(path.name))
        path.write_bytes(whole)
