"""A loader names the file and the place of any damage, or returns what the file says."""

import gzip
import itertools
import re
import shutil
import tarfile
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest
from test_loaders import OFFICIAL
from toy_data_set import tar_bytes

from datasets import DATASETS, DataError
from datasets.catalogue import loader
from datasets.formats import bundled

UNPUBLISHED = [
    name for name, entry in DATASETS.items() if not all(file.sha256 for file in entry.files)
]
BUNDLED = ("wine", "breast_cancer", "diabetes")
WRONG = ("text", "True", "1_0", "\u0661")


def parse(name, folder):
    module = loader(name)
    if name in BUNDLED:
        return module.load()
    return module.parse(*(folder / file.name for file in module.ENTRY.files))


@pytest.fixture
def small(name, tmp_path, monkeypatch):
    """The folder of a small data set of this name, whose entry states its numbers of rows."""
    if name in BUNDLED:
        carried = tmp_path / "datasets" / "data"
        carried.mkdir(parents=True)
        package = bundled.importlib.util.find_spec("sklearn").origin
        for file, *_ in TEXTS[name]:
            shutil.copy(bundled.Path(package).parent / "datasets" / "data" / file, carried)
        found = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
        monkeypatch.setattr(bundled.importlib.util, "find_spec", lambda package: found)
        return carried
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
    "movement_aal": [
        ("MovementAAL.zip", f"{place}.csv", ",", 1)
        for place in (
            "dataset/MovementAAL_RSS_2",
            "dataset/MovementAAL_target",
            "groups/MovementAAL_DatasetGroup",
            "groups/MovementAAL_Paths",
        )
    ],
    "location30": [("dataset_location.tgz", "bangkok", ",", 0)],
    "purchase100": [("dataset_purchase.tgz", "dataset_purchase", ",", 0)],
    "texas100": [
        ("dataset_texas.tgz", "texas/100/feats", ",", 0),
        ("dataset_texas.tgz", "texas/100/labels", ",", 0),
    ],
    "wine": [("wine_data.csv", None, ",", 1)],
    "breast_cancer": [("breast_cancer.csv", None, ",", 1)],
    "diabetes": [
        ("diabetes_data_raw.csv.gz", None, " ", 0),
        ("diabetes_target.csv.gz", None, " ", 0),
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
    content = path.read_bytes()
    return {None: (gzip.decompress(content) if path.suffix == ".gz" else content).decode()}


def write(path, parts):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in parts.items():
                archive.writestr(name, text)
    elif path.suffix == ".tgz":
        path.write_bytes(tar_bytes({name: text.encode() for name, text in parts.items()}))
    else:
        content = parts[None].encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


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
            refused(
                name, small, f"{re.escape(file)}|that brings it", "record|line|row|column|bytes"
            )
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
        ("wine", 0, "14.23", "1e30", r"alcohol: record 1 has 1e\+30, allowed are numbers 0\.\."),
        ("swarm", 0, "0.5", "1e30", "feature 1: record 1 has"),
        ("movement_aal", 1, "1,-1", "1,0", r"target\.csv: class_label: record 1 has 0.*1 and -1"),
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


@pytest.mark.parametrize("name", ["darknet2020"])
def test_columns_that_keep_their_names_where_they_are(name, small):
    """The order of named columns does not matter: all but the labels are returned by name."""
    whole = parse(name, small)
    path = small / "Darknet.CSV"
    head, rows = cells_of(path.read_text(), ",", 1)
    table = [head[0].split(","), *rows]
    for row in table:
        row[3], row[70] = row[70], row[3]
    path.write_text(text_of([], table, ","))
    assert parse(name, small).flows[whole.flows.columns].equals(whole.flows)
    for row in table:
        row[83], row[84] = row[84], row[83]
    path.write_text(text_of([], table, ","))
    refused(name, small, r"Darknet\.CSV: traffic: record 1 has 'AUDIO-STREAMING', allowed are")


@pytest.mark.parametrize("name", ["wine", "breast_cancer"])
def test_classes_that_changed_places(name, small):
    """The header of scikit-learn's files names no columns; it lists the classes in order."""
    path = small / TEXTS[name][0][0]
    head, rows = cells_of(path.read_text(), ",", 1)
    first = head[0].split(",")
    path.write_text(text_of([",".join([*first[:2], *first[:1:-1]])], rows, ","))
    refused(name, small, rf"{path.name}, .*: its header has '{first[-1]}' in column 3, not '")


@pytest.mark.parametrize("name", [*UNPUBLISHED, *BUNDLED])
def test_truncated_and_foreign_files(name, small):
    """Files without a checksum may come from another publisher or a broken download."""
    foreign = [b"", b"\0" * 3000, b"<html></html>", b"PK\3\4", bytes(range(256))]
    for path in list(small.iterdir()):
        whole = path.read_bytes()
        shares = [whole[: int(share * len(whole))] for share in (0.01, 0.2, 0.5, 0.8, 0.97)]
        for content in (*foreign, gzip.compress(b""), *shares):
            path.write_bytes(content)
            refused(name, small, f"{re.escape(path.name)}|that brings it")
        path.write_bytes(whole)
