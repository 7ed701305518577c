"""SVHN, cropped digits: 73,257 + 26,032 colour images, from the two MATLAB files.

One record is one digit. Adjacency by digit does not protect a house number of several digits.
"""

from pathlib import Path

import numpy as np
import scipy

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.data_error import reading
from datasets.formats.arrays import Images, Part

ENTRY = Dataset(
    name="svhn",
    title="Street View House Numbers, cropped digits",
    source="official",
    licence="non-commercial use only",
    citation="Netzer, Wang, Coates, Bissacco, Wu, Ng. Reading digits in natural images with "
    "unsupervised feature learning. NIPS workshop 2011",
    record="one image of a digit",
    rows={"train": 73_257, "test": 26_032},
    # The publisher gives no checksums; these are from torchvision's prototype of its data sets.
    files=(
        RemoteFile(
            name="train_32x32.mat",
            urls=("http://ufldl.stanford.edu/housenumbers/train_32x32.mat",),
            bytes=182040794,
            sha256="435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
        ),
        RemoteFile(
            name="test_32x32.mat",
            urls=("http://ufldl.stanford.edu/housenumbers/test_32x32.mat",),
            bytes=64275384,
            sha256="cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
        ),
    ),
)


def parse(train: Path, test: Path) -> Images:
    """Return uint8 images (n, 3, 32, 32) and int64 labels 0..9, where 10 in the files becomes 0.

    Raises:
        DataError: a file cannot be read, or has the wrong number of records.
    """
    images = Images(*_read_part(train), *_read_part(test))
    require_rows(ENTRY, train=len(images.train_labels), test=len(images.test_labels))
    return images


def _read_part(path: Path) -> Part:
    """Read images from `X` (height, width, channel, image), and labels from `y`, 10 as 0."""
    with reading(path, "not a MATLAB file of SVHN"):
        content = scipy.io.loadmat(path, variable_names=("X", "y"))
        pixels = np.ascontiguousarray(content["X"].transpose(3, 2, 0, 1))
        return pixels, content["y"].ravel().astype(np.int64) % 10
