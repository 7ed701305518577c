"""MNIST: 60,000 + 10,000 grey images of handwritten digits, from the four idx files.

One record is one image. The files do not name the writers, and each wrote many digits: adjacency by
image does not protect a writer.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError
from datasets.formats.arrays import Images

# yann.lecun.com, the address of record, has often refused downloads since 2023. The other two are
# copies that PyTorch and TensorFlow keep; the checksums are those of the original files.
_PLACES = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
    "http://yann.lecun.com/exdb/mnist",
)


def _file(name: str, size: int, sha256: str, md5: str) -> RemoteFile:
    urls = tuple(f"{place}/{name}" for place in _PLACES)
    return RemoteFile(name=name, urls=urls, bytes=size, sha256=sha256, md5=md5)


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
            "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        ),
        _file(
            "train-labels-idx1-ubyte.gz",
            28881,
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "d53e105ee54ea40749a09fcbcd1e9432",
        ),
        _file(
            "t10k-images-idx3-ubyte.gz",
            1648877,
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "9fb629c4189551a2d022fa330f9573f3",
        ),
        _file(
            "t10k-labels-idx1-ubyte.gz",
            4542,
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            "ec29112dd5afa0611ce80d1b7f02629c",
        ),
    ),
)


FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


def load(folder: Path) -> Images:
    """MNIST as `Images`: uint8 images (n, 1, 28, 28), int64 labels 0..9.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: files missing or changed, or not 60,000 + 10,000 images.
    """
    files = local_files(ENTRY, folder)
    images = parse(*(files[name] for name in FILES))
    require_rows(ENTRY, train=len(images.train_labels), test=len(images.test_labels))
    return images


def parse(train_images: Path, train_labels: Path, test_images: Path, test_labels: Path) -> Images:
    """The four gzipped idx files, in the order of `FILES`."""
    return Images(
        train_images=read_idx(train_images)[:, None],
        train_labels=read_idx(train_labels).astype(np.int64),
        test_images=read_idx(test_images)[:, None],
        test_labels=read_idx(test_labels).astype(np.int64),
    )


def read_idx(path: Path) -> NDArray[np.uint8]:
    """A gzipped idx file of unsigned bytes: two zero bytes, the type 8, the number of axes,
    the lengths as big-endian 32-bit integers, the values in row-major order."""
    try:
        content = gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: truncated or damaged ({error}); fetch mnist again") from error
    if content[:3] != b"\0\0\x08" or len(content) < 4:
        raise DataError(f"{path}: not an idx file of bytes (it starts with {content[:4]!r})")
    axes = content[3]
    shape = np.frombuffer(content, ">u4", count=axes, offset=4).astype(int)
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * axes)
    if values.size != shape.prod():
        raise DataError(
            f"{path}: {values.size:,} values, but its header states {tuple(shape.tolist())}"
        )
    return values.reshape(shape).copy()  # a view of bytes is read-only
