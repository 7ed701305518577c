"""A loader names the file and the place of any damage, or returns what the file says."""

import dataclasses
import gzip
import itertools
import pickle
import re
import tarfile
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.io
import torch
from official_formats import python2_pickle, tar_of
from test_loaders import COLOURS, OFFICIAL, ctg_rows, idx, write_workbook

from datasets import DATASETS, DataError
from datasets.catalogue import loader
from datasets.formats import bundled
from datasets.formats.pickles import read_pickle

BUNDLED = {
    "wine": "wine_data.csv",
    "breast_cancer": "breast_cancer.csv",
    "diabetes": "diabetes_data_raw.csv.gz",
}
WRONG = ("", "1\0", "nan", "1e30", "text", "0.5", "True", "1_0", "\u0661")
# Not whole numbers, but float64 rounds them to 1 and 0.
WRONG += ("0.99999999999999999999", "1e-400", '"1"9', '"1', '1"', '""1"')


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
        for file in (BUNDLED[name], *(["diabetes_target.csv.gz"] * (name == "diabetes"))):
            with monkeypatch.context():
                package = bundled.importlib.util.find_spec("sklearn").origin
            source = bundled.Path(package).parent / "datasets" / "data" / file
            (carried / file).write_bytes(source.read_bytes())
        found = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
        monkeypatch.setattr(bundled.importlib.util, "find_spec", lambda package: found)
        return carried
    rows = OFFICIAL[name][0](tmp_path)
    monkeypatch.setattr(loader(name), "ENTRY", replace(DATASETS[name], rows=rows))
    return tmp_path


def plain(data):
    """Format the data that a loader returns."""
    if dataclasses.is_dataclass(data):
        data = vars(data)
    if isinstance(data, dict):
        return str({name: plain(value) for name, value in data.items()})
    if isinstance(data, tuple):
        return str([plain(value) for value in data])
    return str(
        data.to_numpy().tolist()
        if hasattr(data, "to_numpy")
        else getattr(data, "tolist", lambda: data)()
    )


def refused_or_the_same(name, folder, whole, place):
    """Assert that the files are refused or read as before: a cut may take only padding."""
    try:
        assert plain(parse(name, folder)) == whole
    except DataError as error:
        check_message(error, place)


def refused(name, folder, *places):
    """Assert that the loader refuses the files in one line with these words and the remedy."""
    with pytest.raises(DataError) as caught:
        parse(name, folder)
    check_message(caught.value, *places)


def check_message(error, *places):
    (line,) = str(error).splitlines()
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
        tar_of(path, {name: text.encode() for name, text in parts.items()})
    else:
        content = parts[None].encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def stated(name, data, file, column):
    """The values that the loader returns for a column that may contain any number, else None."""
    if name == "liver_disorders" and column < 6:
        return [*data.features.T, data.drinks][column]
    if name == "swarm" and column < 2400:
        return data.features[:, column]
    if name == "darknet2020" and column < 83:
        return data.flows.iloc[:, column]
    if name == "movement_aal" and "RSS" in file:
        return data.sequences[1][:, column]
    if name in ("wine", "breast_cancer", "diabetes") and "target" not in file:
        return data.features[:, column] if column < data.features.shape[1] else None
    return None


def cells_of(text, separator, skip):
    lines = text.split("\n")
    rows = [line.split(separator) for line in lines[skip:] if line.strip()]
    return lines[:skip], rows


def text_of(head, rows, separator):
    return "\n".join([*head, *(separator.join(row) for row in rows)]) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_every_column_of_a_table(name, small):
    """All cells of a column are replaced, or only the cell of the last record."""
    for file, member, separator, skip in TEXTS[name]:
        path = small / file
        parts = contents(path)
        head, rows = cells_of(parts[member], separator, skip)
        width, place = len(rows[0]), re.escape((member or file).rsplit("/", 1)[-1])
        place = file if name == "texas100" else place
        columns = range(width) if width < 20 else (0, 2, width - 2, width - 1)
        for number, (column, cell) in enumerate(itertools.product(columns, WRONG)):
            damaged = [list(row) for row in rows]
            for row in damaged if number % 2 else damaged[-1:]:
                row[column] = cell
            write(path, parts | {member: text_of(head, damaged, separator)})
            try:
                data = parse(name, small)
            except DataError as error:
                # A line with one empty cell is no record; a longer cell may exceed the size limit.
                named = f"{place}|{re.escape(file)}|that brings it|its feats has .* bytes"
                check_message(error, named, "record|line|columns|features|wrong number|bytes")
                continue
            found = stated(name, data, member or file, column)
            assert found is not None, (file, column, cell)
            said = [value_of(row[column]) for row in damaged]
            assert [value_of(value) for value in found] == said, (file, column, cell)
        write(path, parts)


@pytest.mark.parametrize(
    ("name", "place", "old", "new", "words"),
    [
        ("adult", 0, "<=50K\n", "50K\n", "income: record 1 has '50K', allowed are <=50K >50K"),
        (
            "adult",
            0,
            "^39",
            "39.5",
            r"age: record 1 has '39\.5', allowed are whole numbers 0\.\.120",
        ),
        ("adult", 0, "^39", "?", "age: record 1 has nan, allowed"),
        ("adult", 0, "^39", "9" * 400, r"adult\.data: age: record 1 has '999"),
        ("adult", 0, "Male", "?", "sex: record 1 has nan, allowed are Female Male;"),
        ("adult", 0, "<=50K\n", "<=50K, 1\n", "16 fields in line 2, saw 15|not a table|16 columns"),
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
        ("location30", 0, ",[01]$", "", "line 3 has 445 features"),
        ("location30", 0, "[01]$", "2", "line 3 has other features"),
        ("location30", 0, ",[01]$", ";1", "line 3 has other features"),
        ("location30", 0, "[01],[01]$", "010", "line 3 has other features"),
        ("location30", 0, '^"13"', '"31"', r"record 1 has '31', allowed are whole numbers 1\.\.30"),
        ("location30", 0, '^"13"', '"a"', "record 1 has 'a'"),
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


def value_of(cell):
    """The value that a loader may return for a cell: a number, None if it is empty, or the text."""
    try:
        value = float(cell)
    except ValueError:
        return cell.strip() or None
    if value != value or "_" in str(cell) or cell == "\u0661":
        return None
    return value


@pytest.mark.parametrize("name", TEXTS)
def test_shapes_of_a_table(name, small):
    """A column is missing or added, in all records or in the last; a record is missing or cut."""
    whole = plain(parse(name, small))
    for file, member, separator, skip in TEXTS[name]:
        path = small / file
        parts = contents(path)
        head, rows = cells_of(parts[member], separator, skip)
        shapes = [
            [[*row, "1"] for row in rows],
            [*rows[:-1], [*rows[-1], "1"]],
            [row[:-1] for row in rows],
            [*rows[:-1], rows[-1][:-1]],
            rows[:-1],
            [],
        ]
        for damaged in shapes:
            write(path, parts | {member: text_of(head, damaged, separator)})
            refused(name, small, f"{re.escape(file)}|that brings it")
        text = parts[member]
        for share in (0.0, 0.3, 0.6, 0.9):
            write(path, parts | {member: text[: int(share * len(text))]})
            refused_or_the_same(name, small, whole, f"{re.escape(file)}|that brings it")
        write(path, parts)


@pytest.mark.parametrize("name", ["uber", "swarm", "movement_aal"])
def test_columns_that_changed_places_with_their_names(name, small):
    """Such a file looks intact: it has the right numbers of columns and records."""
    for file, member, separator, _ in TEXTS[name]:
        path = small / file
        parts = contents(path)
        _, rows = cells_of(parts[member], separator, 0)
        last = len(rows[0]) - 1
        # The names of swarm's columns are read from the first 12.
        first = 24 if name == "swarm" else 0
        for one, other in {(first, first + 1), (last - 1, last), (0, last)}:
            swapped = [list(row) for row in rows]
            for row in swapped:
                row[one], row[other] = row[other], row[one]
            write(path, parts | {member: text_of([], swapped, separator)})
            said = re.escape(rows[0][other].strip('#" '))
            place = re.escape((member or file).rsplit("/", 1)[-1])
            refused(name, small, f"{place}: its header has '{said}' in column {one + 1}, not '")
        write(path, parts)


@pytest.mark.parametrize("name", ["swarm"])
def test_the_first_boid_has_the_columns_of_the_others(name, small):
    path = small / "swarm_behaviour.zip"
    parts = contents(path)
    place = "Swarm Behavior Data/Flocking.csv"
    _, rows = cells_of(parts[place], ",", 0)
    for row in rows:
        row[0], row[1] = row[1], row[0]
    write(path, parts | {place: text_of([], rows, ",")})
    refused(name, small, r"Flocking\.csv: its header has 'x2' in column 13, not 'y2'")


@pytest.mark.parametrize("name", ["cardiotocography"])
def test_columns_of_the_workbook_that_changed_places(name, small):
    rows = ctg_rows()
    for row in rows:
        row[10], row[11] = row[11], row[10]
    write_workbook(small / "CTG.xls", rows)
    refused(
        name, small, r"CTG\.xls: sheet Data, from LB: its header has 'AC' in column 1, not 'LB'"
    )


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
    path = small / BUNDLED[name]
    head, rows = cells_of(path.read_text(), ",", 1)
    first = head[0].split(",")
    path.write_text(text_of([",".join([*first[:2], *first[:1:-1]])], rows, ","))
    refused(name, small, rf"{path.name}, .*: its header has '{first[-1]}' in column 3, not '")


@pytest.mark.parametrize("name", [*OFFICIAL, *BUNDLED])
def test_truncated_and_foreign_files(name, small):
    """Files may come from another publisher, a broken download or a bad disk."""
    unread = {"adult.names", "batches.meta"}
    foreign = [b"", b"\0" * 3000, b"<html></html>", b"PK\3\4", bytes(range(256)), b"\x80\x04."]
    foreign += [gzip.compress(b""), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600]
    whole_data = plain(parse(name, small))
    for path in [path for path in small.iterdir() if path.is_file() and path.name not in unread]:
        whole = path.read_bytes()
        shares = [whole[: int(share * len(whole))] for share in (0.01, 0.2, 0.5, 0.8, 0.97)]
        for content in (*foreign, *shares):
            path.write_bytes(content)
            place = f"{re.escape(path.name)}|{name}|{re.escape(str(small))}"
            refused_or_the_same(name, small, whole_data, place)
        path.unlink()
        refused_or_the_same(name, small, whole_data, place)
        path.mkdir()
        refused_or_the_same(name, small, whole_data, place)
        path.rmdir()
        path.write_bytes(whole)


# Other formats


@pytest.mark.parametrize("name", ["cardiotocography"])
def test_every_cell_of_the_workbook(name, small):
    header = ctg_rows()[1]
    classes = {header.index("CLASS"), header.index("NSP")}
    for column in (*range(10, 31), *classes):
        for cell in ("text", "0x1", " ", 1e30, float("nan"), 0.5, -7.0):
            rows = ctg_rows()
            rows[3][column] = cell
            write_workbook(small / "CTG.xls", rows)
            if cell == 0.5 and column not in classes:
                assert parse(name, small).features[1, column - 10] == 0.5
            else:
                refused(
                    name,
                    small,
                    rf"CTG\.xls: {header[column]}: record 2 has ",
                    re.escape(repr(cell)),
                )


@pytest.mark.parametrize("name", ["mnist"])
def test_idx_files(name, small):
    labels, images = small / "train-labels-idx1-ubyte.gz", small / "train-images-idx3-ubyte.gz"
    for path in (labels, images):
        whole = gzip.decompress(path.read_bytes())
        for size in (*range(17), len(whole) - 1):
            if size < len(whole):
                path.write_bytes(gzip.compress(whole[:size]))
                refused(name, small, re.escape(path.name))
        path.write_bytes(gzip.compress(whole + b"\0"))
        refused(name, small, re.escape(path.name))
        path.write_bytes(gzip.compress(whole[:4] + b"\xff" * 12 + whole[16:]))
        refused(name, small, re.escape(path.name))
        path.write_bytes(gzip.compress(whole))
    labels.write_bytes(idx(np.array([5, 10, 9], np.uint8)))
    refused(name, small, r"labels: record 2 has 10, allowed are whole numbers 0\.\.9")
    labels.write_bytes(idx(np.array([5, 1], np.uint8)))
    refused(name, small, "for 2 labels")


@pytest.mark.parametrize("name", ["cifar10"])
def test_cifar_batches(name, small):
    path = small / "data_batch_2"
    for label in (10, -1, 1.5, float("nan"), 1e30, True, "text", None, 10**400, [1]):
        path.write_bytes(python2_pickle({"data": COLOURS[:2], "labels": [label, 9]}))
        refused(name, small, "data_batch_2", "record 1 has|not a batch")
    good = {"data": COLOURS[:2], "labels": [1, 9]}
    changes = [{"data": COLOURS[:2].astype(float)}, {"data": COLOURS[:2, :-1]}, {"data": None}]
    changes += [{"data": COLOURS[:2].reshape(1, -1)}, {"data": COLOURS[:3]}, {"labels": 3}]
    for change in changes:
        path.write_bytes(python2_pickle(good | change))
        refused(name, small, "data_batch_2")
    for other in ([], 3, {"data": COLOURS[:2]}):
        path.write_bytes(python2_pickle(other))
        refused(name, small, "data_batch_2: not a batch of CIFAR-10")


@pytest.mark.parametrize("name", ["svhn"])
def test_svhn_files(name, small):
    path = small / "train_32x32.mat"
    pixels = COLOURS[:3].reshape(-1, 3, 32, 32).transpose(2, 3, 1, 0)
    for label in (0.0, 11.0, 1.5, float("nan"), 1e30):
        scipy.io.savemat(path, {"X": pixels, "y": np.array([[10], [label], [9]])})
        refused(name, small, "labels: record 2 has", r"whole numbers 1\.\.10")
    labels = np.array([[10], [1], [9]])
    for part in ({"X": pixels[:-1]}, {"X": pixels.astype(float)}, {"X": pixels[..., :2]}, {"y": 1}):
        scipy.io.savemat(path, {"X": pixels, "y": labels} | part)
        refused(name, small, r"train_32x32\.mat")
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM"
    path.write_bytes(header.ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n" + b"\0" * 512)
    refused(name, small, r"train_32x32\.mat: not the MATLAB file of SVHN \(NotImplementedError")


def with_item(place, value, part=None):
    """A change that puts a value into a table, or into one of the arrays of a sparse one."""

    def change(table):
        array = table if part is None else getattr(table, part)
        array[place] = value
        return table

    return change


NO_BITS = (0.5, float("nan"), 1e30, 2)
NO_GRAPHS = ({0: [508]}, {0: [0.5]}, {"a": [1]}, {0: ["1"]}, {0: [-1]}, {0: 1}, [1], 3, {0: []})
NO_WORDS = [
    *(with_item(0, value, "data") for value in NO_BITS),
    *(with_item(0, place, "indices") for place in (-1, 1433, 1 << 30)),
    lambda table: table[:-1],
    lambda table: table[:, :-1],
    lambda table: {"a": 1},
]
NO_CLASSES = [
    with_item((0, slice(0, 2)), 1),
    with_item(0, 0),
    lambda table: np.where(table == 1, 2, table),
    lambda table: table * 0.5,
    lambda table: table[:-1],
    lambda table: table[:, :-1],
    lambda table: [1],
]
# The changes of each part of Cora.
CORA = {
    **dict.fromkeys(("x", "tx", "allx"), NO_WORDS),
    **dict.fromkeys(("y", "ty", "ally"), NO_CLASSES),
    "graph": [lambda table, graph=graph: graph for graph in NO_GRAPHS],
}


@pytest.mark.parametrize("name", ["cora"])
def test_cora_files(name, small):
    for part, changes in CORA.items():
        path = small / f"ind.cora.{part}"
        whole = path.read_bytes()
        for change in changes:
            path.write_bytes(python2_pickle(change(read_pickle(path))))
            refused(name, small, "cora")
            path.write_bytes(whole)
    for lines in ("", "505\n507\n", "505\n506\n507.5\n", "505\nnan\n507\n", "505,506\n507\n"):
        (small / "ind.cora.test.index").write_text(lines)
        refused(name, small, r"ind\.cora\.test\.index")


def test_a_pickle_of_an_impossible_size(tmp_path):
    """The pickle asks for a bytearray of 2^60 bytes."""
    path = tmp_path / "data_batch_1"
    path.write_bytes(b"\x80\x05\x96" + (1 << 60).to_bytes(8, "little") + b"a.")
    message = r"data_batch_1: the pickle cannot be opened(, or too little memory)? \(\w+"
    with pytest.raises(DataError, match=message):
        read_pickle(path)
    wide = pickle.dumps(np.zeros(3, np.uint8), protocol=2)
    shape = wide.index(b"K\x03\x85")
    for size in (1 << 40, 1 << 62):
        huge = b"\x8a\x08" + size.to_bytes(8, "little") + b"\x85"
        wrong = wide[:shape] + huge + wide[shape + 3 :]
        path.write_bytes(wrong.replace(b"cnumpy._core", b"cnumpy.core"))
        with pytest.raises(DataError, match=message):
            read_pickle(path)


@pytest.mark.parametrize("name", ["mobilenet_v2"])
def test_weights(name, small):
    path = small / "mobilenet_v2-b0353104.pth"
    good = torch.load(path, weights_only=True)
    for value in (float("nan"), float("inf")):
        torch.save(good | {"0.bias": torch.tensor([1.0, value])}, path)
        refused(name, small, r"\.pth: 0\.bias has a number that is not finite")
    for part in ({"0.bias": torch.ones(3)}, {"0.bias": [1.0]}, {0: torch.ones(2)}):
        torch.save(good | part, path)
        refused(name, small, "mobilenet_v2")
    torch.save(good, path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(archive.namelist()[0], b"another")
    with pytest.raises(DataError, match=r"\.pth: its member .* is there twice"):
        parse(name, small)


@pytest.mark.parametrize("name", ["imdb"])
def test_reviews(name, small):
    path = small / "aclImdb_v1.tar.gz"
    with tarfile.open(path) as tar:
        good = {member.name: tar.extractfile(member).read() for member in tar}
    for other, text in (
        ("aclImdb/train/neg/0_7.txt", b"text"),  # the same number twice
        ("aclImdb/train/neg/5_7.txt", b"text"),  # stars of the opposite mood
        ("aclImdb/train/pos/5_4.txt", b"text"),
        ("aclImdb/test/pos/5_11.txt", b"text"),
        ("aclImdb/test/pos/5_0.txt", b"text"),
        ("aclImdb/test/pos/5_7.txt", b""),
        ("aclImdb/test/pos/5_7.txt", b"a" * ((1 << 20) + 1)),
        ("elsewhere/test/pos/0_10.txt", b"text"),
    ):
        tar_of(path, good | {other: text})
        refused(name, small, re.escape(other), "each number once|allowed")
    tar_of(path, good | {"aclImdb/test/pos/5_7.txt": b"\xff"})
    refused(name, small, r"pos/5_7\.txt: not UTF-8 text")
    del good["aclImdb/test/pos/0_10.txt"]
    tar_of(path, good)
    refused(name, small, "test: found 0, expected 1")


def test_every_loader_of_files_is_here():
    files = {name for name, entry in DATASETS.items() if entry.source != "simulated"}
    others = {"cardiotocography", "mnist", "cifar10", "svhn", "cora", "mobilenet_v2", "imdb"}
    assert {*TEXTS, *others} == files == {*OFFICIAL, *BUNDLED}
