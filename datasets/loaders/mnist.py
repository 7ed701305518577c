"""MNIST: 60,000 + 10,000 grey images of handwritten digits, from the four idx files.

One record is one image. Each writer wrote many digits, and the files do not name the writers:
adjacency by image does not protect a writer.
"""

import gzip
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.data_error import reading, wrong_file
from datasets.formats.arrays import Images, Part, labelled_images
from datasets.formats.columns import Numbers

# yann.lecun.com, the address of record, has often refused downloads since 2023. The other two are
# copies that PyTorch and TensorFlow keep; the checksums are those of the original files.
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
    """uint8 images (n, 1, 28, 28) and int64 labels 0..9 from the four gzipped idx files.

    Raises:
        DataError: a file is not the published one.
    """
    train, test = _part(train_images, train_labels), _part(test_images, test_labels)
    require_rows(ENTRY, train=len(train[1]), test=len(test[1]))
    return Images(*train, *test)


def _part(images: Path, labels: Path) -> Part:
    pixels = read_idx(images, (28, 28))[:, None]
    return labelled_images(pixels, read_idx(labels, ()), Numbers(0, 9, whole=True), images)


def read_idx(path: Path, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The values (n, *shape) of a gzipped idx file of unsigned bytes.

    The file has two zero bytes, the type 8, the number of axes, their lengths as big-endian 32-bit
    integers, and the values in row-major order.

    Raises:
        DataError: the file is damaged, too long, or of another shape or type.
    """
    most = 16 + max(ENTRY.rows.values()) * math.prod(shape)
    with reading(path, "truncated or damaged idx file"), gzip.open(path) as stream:
        content = stream.read(most + 1)
        if len(content) > most or content[:4] != bytes([0, 0, 8, 1 + len(shape)]):
            found = f"it starts with {content[:4]!r} and has at least {len(content):,} bytes"
            raise wrong_file(path, f"not an idx file of bytes of this data set ({found})")
        header = np.frombuffer(content, ">u4", count=1 + len(shape), offset=4).tolist()
        values = np.frombuffer(content[8 + 4 * len(shape) :], np.uint8)
    if header[1:] != list(shape) or values.size != math.prod(header):
        raise wrong_file(path, f"{values.size:,} values, but its header states {tuple(header)}")
    return values.reshape(header).copy()  # a view of bytes is read-only
