"""Loaders of reviews, of a graph and of sequences, on small files in the official formats."""

import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from loader_contract import LoaderContract
from official_formats import python2_pickle, tar_of

from datasets import DataError
from datasets.loaders import movement_aal

KNOWN, UNKNOWN = 505, 3  # nodes in allx and in tx; the split takes 500 for validation


def movement_members(root):
    members = {f"{root}dataset_description.txt": b"text"}
    anchors = b"#RSS_anchor1, RSS_anchor2, RSS_anchor3, RSS_anchor4\n"
    for k in range(1, 12):
        steps = b"".join(b"-0.%d,0.5,0.25,0.%02d\n" % (step, k) for step in range(k))
        members[f"{root}dataset/MovementAAL_RSS_{k}.csv"] = anchors + steps
    for place, name, column in (
        ("dataset/MovementAAL_target", "class_label", [1, -1]),
        ("groups/MovementAAL_DatasetGroup", "dataset_ID", [1, 3]),
        ("groups/MovementAAL_Paths", "path_ID", [6, 2]),
    ):
        lines = [f"#sequence_ID, {name}\n", *(f"{k},{column[k % 2]}\n" for k in range(1, 12))]
        members[f"{root}{place}.csv"] = "".join(lines).encode()
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
    tar_of(folder / "aclImdb_v1.tar.gz", members)
    return {"train": 3, "test": 1}


def check_imdb(data):
    assert data.train.texts == ("Dreadful.", "Café.", "Splendid<br />film.")
    assert data.train.labels.tolist() == [0, 1, 1]
    assert data.train.ratings.tolist() == [3, 7, 9]
    assert data.test.texts == ("Good.",)
    assert data.test.ratings.tolist() == [10]


def write_movement_aal(folder):
    with zipfile.ZipFile(folder / "MovementAAL.zip", "w") as archive:
        for name, content in movement_members("").items():
            archive.writestr(name, content)
    return {"sequences": 11, "steps": 66}


def check_movement_aal(data):
    assert [len(sequence) for sequence in data.sequences] == list(range(1, 12))
    assert data.sequences[1].tolist() == [[0.0, 0.5, 0.25, 0.02], [-0.1, 0.5, 0.25, 0.02]]
    assert data.targets.tolist() == [-1, 1] * 5 + [-1]
    assert data.groups.tolist() == [3, 1] * 5 + [3]
    assert data.paths.tolist() == [2, 6] * 5 + [2]


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
    # Both directions, a repeated edge and a self-loop, as the real file has them.
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


CASES = {
    "cora": (write_cora, check_cora),
    "imdb": (write_imdb, check_imdb),
    "movement_aal": (write_movement_aal, check_movement_aal),
}


@pytest.mark.parametrize("name", CASES)
class TestContract(LoaderContract):
    cases = CASES


@pytest.fixture
def eleven(monkeypatch):
    rows = {"sequences": 11, "steps": 66}
    monkeypatch.setattr(movement_aal, "ENTRY", replace(movement_aal.ENTRY, rows=rows))


@pytest.mark.usefixtures("eleven")
def test_movement_aal_from_a_tar_with_a_root_folder(tmp_path):
    path = tmp_path / "MovementAAL.tar"
    tar_of(path, movement_members("MovementAAL/"), mode="w")
    check_movement_aal(movement_aal.parse(path))


@pytest.mark.usefixtures("eleven")
def test_movement_aal_with_a_target_of_zero(tmp_path):
    members = movement_members("")
    targets = "".join(f"{k},{int(k > 1)}\n" for k in range(1, 12))
    members["dataset/MovementAAL_target.csv"] = f"#sequence_ID, class_label\n{targets}".encode()
    path = tmp_path / "MovementAAL.tar"
    tar_of(path, members, mode="w")
    with pytest.raises(DataError, match=r"target\.csv: class_label: record 1 has 0.*1 and -1"):
        movement_aal.parse(path)
