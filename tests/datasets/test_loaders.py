"""Every loader of official data reads small files in the official formats."""

import gzip
import io
import pickle
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.io
import scipy.sparse
import torch
from sklearn import datasets as oracle
from toy_data_set import sha256, tar_bytes

import datasets
from datasets import DATASETS, DataError
from datasets.catalogue import loader
from datasets.entry import RemoteFile
from datasets.formats.pickles import read_pickle
from datasets.loaders import (
    adult,
    cardiotocography,
    mobilenet_v2,
    movement_aal,
)


class _Python2Pickler(pickle._Pickler):
    """Writes bytes as the plain strings of Python 2."""

    dispatch = pickle._Pickler.dispatch.copy()

    def save_bytes(self, value):
        self.write(pickle.BINSTRING + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes


def python2_pickle(value):
    """Pickle a value as Python 2 did with the numpy and scipy of 2015, like these files."""
    buffer = io.BytesIO()
    _Python2Pickler(buffer, protocol=2).dump(value)
    return (
        buffer.getvalue()
        .replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
        .replace(b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n")
    )


PERSON = "Bachelors, 13, Never-married, {}, Not-in-family, White, Male, 2174, 0, 40, United-States"


def ctg_rows():
    """The cells of the sheet `Data`: numbering, header, records, and summary rows at the end."""
    header = ["b", "e", "AC", "FM", "UC", "DL", "DS", "DP", "DR", "", *cardiotocography.FEATURES]
    header += ["", "A", "B", "C", "D", "E", "AD", "DE", "LD", "FS", "SUSP", "", "CLASS", "", "NSP"]
    first = [240.0, 357.0] + [7.0] * 7 + [""] + [k + 0.5 for k in range(21)]
    first += [""] + [-1.0] * 10 + ["", 9.0, "", 2.0]
    second = [*first[:-3], 6.0, "", 1.0]
    blank = [""] * len(header)
    return [blank, header, first, second, blank, [*blank[:12], 564.0, *blank[13:]]]


def write_adult(folder):
    train = f"39, State-gov, 77516, {PERSON.format('Sales')}, <=50K\n"
    train += f"50, ?, 83311, {PERSON.format('?')}, >50K\n\n"
    (folder / "adult.data").write_text(train)
    test = f"|1x3 Cross validator\n25, Private, 226802, {PERSON.format('Sales')}, >50K.\n\n"
    (folder / "adult.test").write_text(test)
    (folder / "adult.names").write_text("| a description\n")
    return {"train": 2, "test": 1}


def check_adult(data):
    assert list(data.train.columns) == list(adult.COLUMNS)
    assert data.train["age"].tolist() == [39, 50]
    assert data.train["capital-gain"].dtype == np.int64
    assert data.train["workclass"].isna().tolist() == [False, True]
    assert data.train["occupation"].isna().tolist() == [False, True]
    assert data.train["income"].tolist() == ["<=50K", ">50K"]
    assert data.test["income"].tolist() == [">50K"]
    assert data.test.loc[0, "native-country"] == "United-States"


def write_uber(folder):
    (folder / "uber-raw-data-apr14.csv").write_text(
        '"Date/Time","Lat","Lon","Base"\n"4/1/2014 0:11:00",40.769,-73.9549,"B02512"\n'
        '"4/30/2014 23:48:00",40.688,-73.9608,"B02764"\n'
    )
    return {"pickups": 2}


def check_uber(data):
    assert data.time.dtype == "datetime64[s]"
    assert data.time.astype(str).tolist() == ["2014-04-01T00:11:00", "2014-04-30T23:48:00"]
    assert data.latitude.tolist() == [40.769, 40.688]
    assert data.longitude.tolist() == [-73.9549, -73.9608]


def write_liver_disorders(folder):
    (folder / "bupa.data").write_text("85,92,45,27,31,0.0,1\n91,68,27,26,14,16.5,2\n")
    return {"records": 2}


def check_liver_disorders(data):
    assert data.features.tolist() == [[85, 92, 45, 27, 31], [91, 68, 27, 26, 14]]
    assert data.targets.tolist() == [0.0, 16.5]


def write_cardiotocography(folder):
    write_workbook(folder / "CTG.xls", ctg_rows())
    return {"records": 2}


def write_workbook(path, rows):
    """Write an Excel 97 workbook (BIFF8) with the sheet Data, record by record."""

    def record(kind, content=b""):
        return struct.pack("<HH", kind, len(content)) + content

    def text(value):
        return struct.pack("<HB", len(value), 0) + value.encode("latin1")

    start = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 1997, 0, 6))
    sheet = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 1997, 0, 6))
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            place = struct.pack("<HHH", i, j, 0)
            if isinstance(cell, float):
                sheet += record(0x0203, place + struct.pack("<d", cell))
            elif cell:
                sheet += record(0x0204, place + text(cell))
    name = struct.pack("<BB", 4, 0) + b"Data"
    offset = len(start) + 4 + 6 + len(name) + 4
    bound = record(0x0085, struct.pack("<IBB", offset, 0, 0) + name)
    path.write_bytes(start + bound + record(0x000A) + sheet + record(0x000A))


def check_cardiotocography(data):
    assert data.features.tolist() == [[k + 0.5 for k in range(21)]] * 2
    assert data.targets.tolist() == [2, 1]


def write_swarm(folder):
    of_a_boid = "x{0},y{0},xVel{0},yVel{0},xA{0},yA{0},xS{0},yS{0},xC{0},yC{0},nAC{0},nS{0}"
    header = ",".join([*(of_a_boid.format(boid) for boid in range(1, 201)), "Class "])
    first = ",".join([f"{k}.5" for k in range(2400)] + ["1"])
    last = ",".join([" "] + [f"-{k}" for k in range(1, 2400)] + ["0"])
    with zipfile.ZipFile(folder / "swarm_behaviour.zip", "w") as archive:
        archive.writestr("Swarm Behavior Data/Aligned.csv", "other")
        archive.writestr("Swarm Behavior Data/Flocking.csv", f"{header}\n{first}\n{last}\n")
    return {"flocking": 2}


def check_swarm(data):
    assert data.features[0].tolist() == [k + 0.5 for k in range(2400)]
    assert np.isnan(data.features[1, 0])
    assert data.features[1, 1:].tolist() == [-k for k in range(1, 2400)]
    assert data.targets.tolist() == [1, 0]


def write_darknet2020(folder):
    header = ["Flow ID", "Src IP", *(f"F{k}" for k in range(80)), "Idle Min", "Label", "Label"]
    first = ["a-b", "10.0.0.1", "Infinity", "", *["0"] * 78, "1", "Non-Tor", "AUDIO-STREAMING"]
    second = ["c-d", "10.0.0.2", *["2.5"] * 80, "1", "VPN", "Chat"]
    rows = [",".join(row) for row in (header, first, second)]
    (folder / "Darknet.CSV").write_text("\n".join(rows) + "\n")
    return {"flows": 2}


def check_darknet2020(data):
    assert data.flows.shape == (2, 83)
    assert np.isinf(data.flows.loc[0, "F0"])
    assert np.isnan(data.flows.loc[0, "F1"])
    assert data.traffic.tolist() == ["Non-Tor", "VPN"]
    assert data.application.tolist() == ["AUDIO-STREAMING", "Chat"]


# Loaders of images and of network weights, on small files in the official formats.


RNG = np.random.default_rng(7)


DIGITS = RNG.integers(0, 256, (5, 28, 28), np.uint8)


COLOURS = RNG.integers(0, 256, (12, 3072), np.uint8)


def idx(values):
    header = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    return gzip.compress(header + values.tobytes())


def write_mnist(folder):
    (folder / "train-images-idx3-ubyte.gz").write_bytes(idx(DIGITS[:3]))
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(idx(np.array([5, 0, 9], np.uint8)))
    (folder / "t10k-images-idx3-ubyte.gz").write_bytes(idx(DIGITS[3:]))
    (folder / "t10k-labels-idx1-ubyte.gz").write_bytes(idx(np.array([7, 1], np.uint8)))
    return {"train": 3, "test": 2}


def check_mnist(data):
    assert np.array_equal(data.train_images[:, 0], DIGITS[:3])
    assert np.array_equal(data.test_images[:, 0], DIGITS[3:])
    assert data.train_images.flags.writeable
    assert data.train_labels.tolist() == [5, 0, 9]
    assert data.test_labels.tolist() == [7, 1]


def write_cifar10(folder):
    for k in range(1, 7):
        rows = slice(2 * k - 2, 2 * k)
        batch = {"data": COLOURS[rows], "labels": [k % 10, 9], "filenames": ["a.png", "b.png"]}
        name = "test_batch" if k == 6 else f"data_batch_{k}"
        (folder / name).write_bytes(python2_pickle(batch))
    names = ["airplane", "automobile", "bird", "cat", "deer"]
    names += ["dog", "frog", "horse", "ship", "truck"]
    (folder / "batches.meta").write_bytes(python2_pickle({"label_names": names}))
    return {"train": 10, "test": 2}


def check_cifar10(data):
    assert np.array_equal(data.train_images.reshape(10, 3072), COLOURS[:10])
    assert np.array_equal(data.test_images[1, 2, 0], COLOURS[11, 2048:2080])  # blue, first line
    assert data.train_labels.tolist() == [1, 9, 2, 9, 3, 9, 4, 9, 5, 9]
    assert data.test_labels.tolist() == [6, 9]


def write_svhn(folder):
    for name, rows in (("train", slice(0, 3)), ("test", slice(3, 5))):
        pixels = COLOURS[rows].reshape(-1, 3, 32, 32).transpose(2, 3, 1, 0)
        labels = np.array([[10], [1], [9]])[: len(COLOURS[rows])]
        scipy.io.savemat(folder / f"{name}_32x32.mat", {"X": pixels, "y": labels})
    return {"train": 3, "test": 2}


def check_svhn(data):
    assert np.array_equal(data.train_images.reshape(3, 3072), COLOURS[:3])
    assert np.array_equal(data.test_images.reshape(2, 3072), COLOURS[3:5])
    assert data.train_labels.tolist() == [0, 1, 9]
    assert data.test_labels.tolist() == [0, 1]


def write_mobilenet_v2(folder):
    tensors = {"0.weight": torch.arange(6.0).view(2, 3), "0.bias": torch.ones(2)}
    tensors["0.running_mean"] = torch.zeros(4)  # not a parameter
    torch.save(tensors, folder / "mobilenet_v2-b0353104.pth")
    return {"parameters": 8}


def check_mobilenet_v2(weights):
    assert list(weights) == ["0.weight", "0.bias", "0.running_mean"]
    assert weights["0.weight"].tolist() == [[0, 1, 2], [3, 4, 5]]


class _Evil:
    def __reduce__(self):
        return eval, ("1/0",)


def test_pickles_call_nothing_but_the_allowed_names(tmp_path):
    path = tmp_path / "evil"
    path.write_bytes(pickle.dumps({"data": _Evil()}, protocol=2))
    with pytest.raises(DataError, match="eval, which is not allowed"):
        read_pickle(path)
    path.write_bytes(pickle.dumps([1, 2], protocol=2)[:-2])
    with pytest.raises(DataError, match="the pickle cannot be opened"):
        read_pickle(path)


@pytest.mark.parametrize("content", [b"", b"no zip file", [1.0], {"a": print}])
def test_files_that_are_no_weights(content, tmp_path):
    path = tmp_path / "weights.pth"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        torch.save(content, path)
    with pytest.raises(DataError, match="not a file of named tensors"):
        mobilenet_v2.parse(path)


# Loaders of the binary records of Shokri et al., on small files in the official formats.


def bits(rows, columns):
    return np.random.default_rng(columns).integers(0, 2, (rows, columns))


def lines(table):
    return [",".join(map(str, row)) for row in table.tolist()]


def write_location30(folder):
    rows = [
        f'"{label}",{line}' for label, line in zip((13, 1, 30), lines(bits(3, 446)), strict=True)
    ]
    (folder / "dataset_location.tgz").write_bytes(tar_bytes({"bangkok": "\n".join(rows).encode()}))
    return {"records": 3}


def check_location30(data):
    assert np.array_equal(data.features, bits(3, 446))
    assert data.labels.tolist() == [12, 0, 29]


def write_purchase100(folder):
    rows = [f"{label},{line}\n" for label, line in zip((100, 1), lines(bits(2, 600)), strict=True)]
    (folder / "dataset_purchase.tgz").write_bytes(
        tar_bytes({"dataset_purchase": "".join(rows).encode()})
    )
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
    (folder / "dataset_texas.tgz").write_bytes(tar_bytes(members))
    return {"records": 2}


def check_texas100(data):
    assert np.array_equal(data.features, bits(2, 6169))
    assert data.features.dtype == np.uint8
    assert data.labels.tolist() == [99, 6]


# Loaders of reviews, of a graph and of sequences, on small files in the official formats.


KNOWN, UNKNOWN = 505, 3  # nodes in allx and tx; the split takes 500 for validation


def movement_members(root):
    members = {f"{root}dataset_description.txt": b"text"}
    anchors = b"#RSS_anchor1, RSS_anchor2, RSS_anchor3, RSS_anchor4\n"
    for k in range(1, 12):
        steps = b"".join(b"-0.%d,0.5,0.25,0.%02d\n" % (step, k) for step in range(k))
        members[f"{root}dataset/MovementAAL_RSS_{k}.csv"] = anchors + steps
    return members


def write_imdb(folder):
    members = {
        "aclImdb/README": b"text",
        "aclImdb/train/urls_pos.txt": b"http://www.imdb.com/title/tt0453418/usercomments\n",
        "aclImdb/train/pos/10_9.txt": b"Splendid<br />film.",
        "aclImdb/train/pos/2_7.txt": "Café.".encode(),
        "aclImdb/train/unsup/0_0.txt": b"no stars",
        "aclImdb/train/neg/0_3.txt": b"Dreadful.",
        "aclImdb/test/pos/0_10.txt": b"Good.",
    }
    (folder / "aclImdb_v1.tar.gz").write_bytes(tar_bytes(members))
    return {"train": 3, "test": 1}


def check_imdb(data):
    assert data.train.texts == ("Dreadful.", "Café.", "Splendid<br />film.")
    assert data.train.labels.tolist() == [0, 1, 1]
    assert data.test.texts == ("Good.",)
    assert data.test.labels.tolist() == [1]


def write_movement_aal(folder):
    with zipfile.ZipFile(folder / "MovementAAL.zip", "w") as archive:
        for name, content in movement_members("").items():
            archive.writestr(name, content)
    return {"sequences": 11, "steps": 66}


def check_movement_aal(sequences):
    assert [len(sequence) for sequence in sequences] == list(range(1, 12))
    assert sequences[1].tolist() == [[0.0, 0.5, 0.25, 0.02], [-0.1, 0.5, 0.25, 0.02]]


def write_cora(folder):
    words = np.zeros((KNOWN + UNKNOWN, 1433), np.float32)
    words[np.arange(KNOWN + UNKNOWN), np.arange(KNOWN + UNKNOWN)] = 1
    classes = np.eye(7, dtype=np.int32)[np.arange(KNOWN + UNKNOWN) % 7]
    order = np.array([507, 505, 506])  # row k of tx is node order[k]
    parts = {
        "x": scipy.sparse.csr_matrix(words[:4]),
        "y": classes[:4],
        "allx": scipy.sparse.csr_matrix(words[:KNOWN]),
        "ally": classes[:KNOWN],
        "tx": scipy.sparse.csr_matrix(words[order]),
        "ty": classes[order],
    }
    for name, value in parts.items():
        (folder / f"ind.cora.{name}").write_bytes(python2_pickle(value))
    # Like the real file: both directions, a repeated edge and a self-loop.
    graph = b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R("
    for node, others in ((0, [507, 507, 1]), (1, [0]), (507, [0]), (3, [3])):
        graph += (
            b"J"
            + struct.pack("<i", node)
            + b"]("
            + b"".join(b"J" + struct.pack("<i", other) for other in others)
            + b"e"
        )
    (folder / "ind.cora.graph").write_bytes(graph + b"u.")
    (folder / "ind.cora.test.index").write_text("507\n505\n506\n")
    return {"nodes": 508, "edges": 2, "train": 4, "validation": 500, "test": 3}


def check_cora(data):
    assert np.array_equal(data.features.argmax(axis=1), np.arange(508))
    assert np.array_equal(data.labels, np.arange(508) % 7)
    assert data.edges.tolist() == [[0, 1], [0, 507]]
    assert data.train.tolist() == [0, 1, 2, 3]
    assert data.validation.tolist() == list(range(4, 504))
    assert data.test.tolist() == [505, 506, 507]


def test_movement_aal_from_a_tar_with_a_root_folder(tmp_path, monkeypatch):
    rows = {"sequences": 11, "steps": 66}
    monkeypatch.setattr(movement_aal, "ENTRY", replace(movement_aal.ENTRY, rows=rows))
    path = tmp_path / "MovementAAL.tar"
    path.write_bytes(tar_bytes(movement_members("MovementAAL/"), mode="w"))
    check_movement_aal(movement_aal.parse(path))


OFFICIAL = {
    "adult": (write_adult, check_adult),
    "uber": (write_uber, check_uber),
    "liver_disorders": (write_liver_disorders, check_liver_disorders),
    "cardiotocography": (write_cardiotocography, check_cardiotocography),
    "swarm": (write_swarm, check_swarm),
    "darknet2020": (write_darknet2020, check_darknet2020),
    "mnist": (write_mnist, check_mnist),
    "cifar10": (write_cifar10, check_cifar10),
    "svhn": (write_svhn, check_svhn),
    "mobilenet_v2": (write_mobilenet_v2, check_mobilenet_v2),
    "location30": (write_location30, check_location30),
    "purchase100": (write_purchase100, check_purchase100),
    "texas100": (write_texas100, check_texas100),
    "cora": (write_cora, check_cora),
    "imdb": (write_imdb, check_imdb),
    "movement_aal": (write_movement_aal, check_movement_aal),
}


@pytest.fixture
def small(name, tmp_path, monkeypatch):
    """The data folder of a small data set, whose entry states its files and numbers of rows."""
    folder = tmp_path / name
    folder.mkdir()
    write, _ = OFFICIAL[name]
    rows = write(folder)
    files = tuple(
        RemoteFile(name=file.name, sha256=sha256((folder / file.name).read_bytes()))
        for file in DATASETS[name].files
    )
    entry = replace(DATASETS[name], files=files, rows=rows)
    monkeypatch.setattr(loader(name), "ENTRY", entry)
    return tmp_path


@pytest.mark.parametrize("name", OFFICIAL)
def test_the_official_format_is_read(name, small):
    _, check = OFFICIAL[name]
    check(datasets.load(name, small))


@pytest.mark.parametrize("name", OFFICIAL)
def test_another_number_of_rows_is_refused(name, small, monkeypatch):
    entry = DATASETS[name]
    for part, count in entry.rows.items():
        other = replace(entry, rows=entry.rows | {part: count + 1})
        monkeypatch.setattr(loader(name), "ENTRY", other)
        found = f"{part}: found {count}, expected {count + 1}"
        missing = f"it has no MovementAAL_RSS_{count + 1}.csv"
        with pytest.raises(DataError, match=f"records .*{found}|{missing}"):
            datasets.load(name, small)


@pytest.mark.parametrize("name", OFFICIAL)
def test_a_changed_file_is_refused(name, small):
    path = small / name / DATASETS[name].files[0].name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"sha256 \w{64}, expected sha256 \w{64}"):
        datasets.load(name, small)


LOADERS = {
    "diabetes": oracle.load_diabetes,
    "wine": oracle.load_wine,
    "breast_cancer": oracle.load_breast_cancer,
}


@pytest.mark.parametrize("name", LOADERS)
def test_features_have_the_names_of_scikit_learn(name):
    expected = LOADERS[name]()
    assert list(loader(name).FEATURES) == list(expected.feature_names)
    assert datasets.load(name).features.shape == expected.data.shape


def test_diabetes_are_not_scaled():
    assert datasets.load("diabetes").features[0].tolist() == [
        59,
        2,
        32.1,
        101,
        157,
        93.2,
        38,
        4,
        4.8598,
        87,
    ]


def test_classes_and_numbers_to_predict_are_the_published_ones():
    assert np.bincount(datasets.load("breast_cancer").benign).tolist() == [212, 357]
    assert np.bincount(datasets.load("wine").targets).tolist() == [59, 71, 48]
    progression = datasets.load("diabetes").targets
    assert (progression.min(), progression.max()) == (25, 346)


@pytest.mark.parametrize("name", LOADERS)
def test_they_are_not_fetched(name, tmp_path):
    assert datasets.DATASETS[name].source == "bundled"
    with pytest.raises(DataError, match=f"{name} is bundled"):
        datasets.fetch(name, tmp_path)
