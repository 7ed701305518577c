"""CIFAR-10: 50,000 + 10,000 colour images of ten classes, from the seven python batches.

One record is one image.
"""

from pathlib import Path

import numpy as np

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.data_error import reading
from datasets.formats.arrays import Images, Part
from datasets.formats.pickles import read_pickle

ENTRY = Dataset(
    name="cifar10",
    title="CIFAR-10 (python version)",
    source="official",
    licence="no licence stated",
    citation="Krizhevsky. Learning multiple layers of features from tiny images. 2009",
    record="one image",
    rows={"train": 50_000, "test": 10_000},
    files=(
        RemoteFile(
            name="data_batch_1",
            bytes=31035704,
            sha256="54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd",
        ),
        RemoteFile(
            name="data_batch_2",
            bytes=31035320,
            sha256="766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8",
        ),
        RemoteFile(
            name="data_batch_3",
            bytes=31035999,
            sha256="0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9",
        ),
        RemoteFile(
            name="data_batch_4",
            bytes=31035696,
            sha256="3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b",
        ),
        RemoteFile(
            name="data_batch_5",
            bytes=31035623,
            sha256="d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154",
        ),
        RemoteFile(
            name="test_batch",
            bytes=31035526,
            sha256="f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831",
        ),
        RemoteFile(
            name="batches.meta",
            bytes=158,
            sha256="f962466ef690d46b226450fb9aadc74ba4bc64a76aa526b5827fe4bc5c7125cb",
        ),
    ),
    archive=RemoteFile(
        name="cifar-10-python.tar.gz",
        urls=("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",),
        bytes=170498071,
        sha256="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    ),
)


def parse(*files: Path) -> Images:
    """Return uint8 images (n, 3, 32, 32) in red, green, blue, and int64 labels 0..9.

    The files are the training batches in order, the test batch, and `batches.meta`, not read.

    Raises:
        DataError: a file is not the published one.
    """
    images, labels = zip(*map(_batch, files[:5]), strict=True)
    test = _batch(files[5])
    require_rows(ENTRY, train=sum(map(len, labels)), test=len(test[1]))
    return Images(np.concatenate(images), np.concatenate(labels), *test)


def _batch(path: Path) -> Part:
    content = read_pickle(path)
    with reading(path, "not a batch of CIFAR-10"):
        return content["data"].reshape(-1, 3, 32, 32), np.array(content["labels"], np.int64)
