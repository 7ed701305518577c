"""MNIST: 60,000 + 10,000 grey images of digits, from the four idx files."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.catalogue import require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError
from datasets.formats.arrays import Images

FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


def load(folder: Path) -> Images:
    """MNIST as `Images` with shape (n, 1, 28, 28) and labels 0..9.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: files missing or changed, or not 60,000 + 10,000 images.
    """
    files = local_files("mnist", folder)
    images = parse(*(files[name] for name in FILES))
    require_rows("mnist", train=len(images.train_labels), test=len(images.test_labels))
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
            f"{path}: {values.size:,} values where {tuple(shape.tolist())} were announced"
        )
    return values.reshape(shape).copy()  # the bytes that it views cannot be written
