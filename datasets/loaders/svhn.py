"""SVHN, cropped digits: 73,257 + 26,032 colour images, from the two MATLAB files.

One record is one digit; a house number has several, which adjacency by digit does not protect.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError
from datasets.formats.arrays import Images

ENTRY = Dataset(
    name="svhn",
    title="Street View House Numbers, cropped digits",
    source="official",
    licence="non-commercial use only",
    citation="Netzer, Wang, Coates, Bissacco, Wu, Ng. Reading digits in natural images with "
    "unsupervised feature learning. NIPS workshop 2011",
    record="one image of a digit",
    rows={"train": 73_257, "test": 26_032},
    # The publisher gives no checksum; these are the ones that torchvision checks.
    files=(
        RemoteFile(
            name="train_32x32.mat",
            urls=("http://ufldl.stanford.edu/housenumbers/train_32x32.mat",),
            bytes=182040794,
            sha256="435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
            md5="e26dedcc434d2e4c54c9b2d4a06d8373",
        ),
        RemoteFile(
            name="test_32x32.mat",
            urls=("http://ufldl.stanford.edu/housenumbers/test_32x32.mat",),
            bytes=64275384,
            sha256="cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
            md5="eb5a983be6a315427106f1b164d9cef3",
        ),
    ),
)


def load(folder: Path) -> Images:
    """SVHN as `Images`: uint8 images (n, 3, 32, 32), int64 labels 0..9 (10 in the files is 0).

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: files missing or changed, or not 73,257 + 26,032 images.
    """
    files = local_files(ENTRY, folder)
    images = parse(files["train_32x32.mat"], files["test_32x32.mat"])
    require_rows(ENTRY, train=len(images.train_labels), test=len(images.test_labels))
    return images


def parse(train: Path, test: Path) -> Images:
    """The two MATLAB files."""
    train_images, train_labels = _part(train)
    test_images, test_labels = _part(test)
    return Images(
        train_images=train_images,
        train_labels=train_labels,
        test_images=test_images,
        test_labels=test_labels,
    )


def _part(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """`X` is stored as (height, width, channel, image), `y` as a column of 1..10."""
    try:
        content = scipy.io.loadmat(path, variable_names=("X", "y"))
        pixels, labels = content["X"], content["y"].ravel().astype(np.int64)
    except (ValueError, KeyError, EOFError, TypeError) as error:
        raise DataError(f"{path}: not the MATLAB file of SVHN ({error})") from error
    if pixels.dtype != np.uint8 or pixels.shape != (32, 32, 3, len(labels)):
        raise DataError(f"{path}: X is {pixels.dtype} {pixels.shape} for {len(labels):,} labels")
    if labels.size and not 1 <= labels.min() <= labels.max() <= 10:
        raise DataError(f"{path}: labels {labels.min()}..{labels.max()}, expected 1..10")
    return np.ascontiguousarray(pixels.transpose(3, 2, 0, 1)), labels % 10
