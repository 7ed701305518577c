"""Loaders of images and of network weights, on small files in the official formats."""

import gzip
import pickle
import struct

import numpy as np
import pytest
import scipy.io
import torch
from loader_contract import LoaderContract
from official_formats import python2_pickle

import datasets
from datasets import DATASETS, DataError
from datasets.formats.pickles import read_pickle
from datasets.loaders import mobilenet_v2

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
    tensors["0.running_mean"] = torch.zeros(4)  # no parameter
    torch.save(tensors, folder / "mobilenet_v2-b0353104.pth")
    return {"parameters": 8}


def check_mobilenet_v2(weights):
    assert list(weights) == ["0.weight", "0.bias", "0.running_mean"]
    assert weights["0.weight"].tolist() == [[0, 1, 2], [3, 4, 5]]


CASES = {
    "mnist": (write_mnist, check_mnist),
    "cifar10": (write_cifar10, check_cifar10),
    "svhn": (write_svhn, check_svhn),
    "mobilenet_v2": (write_mobilenet_v2, check_mobilenet_v2),
}


@pytest.mark.parametrize("name", CASES)
class TestContract(LoaderContract):
    cases = CASES


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


@pytest.mark.parametrize("content", [b"", b"no zip file", {"a": 1}, [1.0], {"a": print}])
def test_files_that_are_no_weights(content, tmp_path):
    path = tmp_path / "weights.pth"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        torch.save(content, path)
    with pytest.raises(DataError, match="not a file of tensors by name"):
        mobilenet_v2.parse(path)


def test_weights_are_known_by_the_first_digits_of_their_checksum(tmp_path):
    digits = DATASETS["mobilenet_v2"].files[0].sha256
    assert digits in mobilenet_v2.FILE and len(digits) == 8
    (tmp_path / "mobilenet_v2").mkdir()
    write_mobilenet_v2(tmp_path / "mobilenet_v2")
    with pytest.raises(DataError, match=f"expected sha256 {digits}"):
        datasets.load("mobilenet_v2", tmp_path)
