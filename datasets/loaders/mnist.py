"""MNIST: 60,000 + 10,000 grey images of handwritten digits, from the four idx files.

One record is one image. Each writer wrote many digits, and the files do not name the writers:
adjacency by image does not protect a writer.
"""

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.data_error import reading
from datasets.formats.arrays import Images, Part

# yann.lecun.com, the address of record, has often refused downloads since 2023. The other two have
# copies that PyTorch and TensorFlow keep. The checksums are those of the original files.
_PLACES = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
    "http://yann.lecun.com/exdb/mnist",
)


def _file(name: str, size: int, sha256: str) -> RemoteFile:
    urls = tuple(f"{place}/{name}" for place in _PLACES)
    return RemoteFile(name=name, urls=urls, bytes=size, sha256=sha256)


ENTRY = Dataset(
    name="mnist",
    title="MNIST handwritten digits",
    source="official",
    licence="no licence file; commonly stated as CC BY-SA 3.0",
    citation="LeCun, Bottou, Bengio, Haffner. Gradient-based learning applied to document "
    "recognition. Proc. IEEE 86(11), 1998",
    record="one image of a digit",
    rows={"train": 60_000, "test": 10_000},
    files=(
        _file(
            "train-images-idx3-ubyte.gz",
            9912422,
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        _file(
            "train-labels-idx1-ubyte.gz",
            28881,
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        _file(
            "t10k-images-idx3-ubyte.gz",
            1648877,
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        _file(
            "t10k-labels-idx1-ubyte.gz",
            4542,
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ),
)


def parse(train_images: Path, train_labels: Path, test_images: Path, test_labels: Path) -> Images:
    """Read uint8 images (n, 1, 28, 28) and int64 labels 0..9 from the four gzipped idx files.

    Raises:
        DataError: a file is not the published one.
    """
    train, test = _part(train_images, train_labels), _part(test_images, test_labels)
    require_rows(ENTRY, train=len(train[1]), test=len(test[1]))
    return Images(*train, *test)


def _part(images: Path, labels: Path) -> Part:
    return _read_idx(images, 16).reshape(-1, 1, 28, 28), _read_idx(labels, 8).astype(np.int64)


def _read_idx(path: Path, header: int) -> NDArray[np.uint8]:
    """Return the bytes of a gzipped idx file after its header, which has `header` bytes."""
    with reading(path, "truncated or damaged idx file"), gzip.open(path) as stream:
        return np.frombuffer(bytearray(stream.read()), np.uint8, offset=header)
