"""CIFAR-10: 50,000 + 10,000 colour images of ten classes, from the seven python batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.catalogue import require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError
from datasets.formats.arrays import Images
from datasets.formats.pickles import read_pickle


def load(folder: Path) -> Images:
    """CIFAR-10 as `Images` with shape (n, 3, 32, 32), channels red, green, blue; labels 0..9.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: files missing or changed, or not 50,000 + 10,000 images.
    """
    files = local_files("cifar10", folder)
    images = parse([files[f"data_batch_{k}"] for k in range(1, 6)], files["test_batch"])
    require_rows("cifar10", train=len(images.train_labels), test=len(images.test_labels))
    return images


def parse(train_batches: Sequence[Path], test_batch: Path) -> Images:
    """The pickled batches, the training ones in their order."""
    train = [_batch(path) for path in train_batches]
    test_images, test_labels = _batch(test_batch)
    return Images(
        train_images=np.concatenate([images for images, _ in train]),
        train_labels=np.concatenate([labels for _, labels in train]),
        test_images=test_images,
        test_labels=test_labels,
    )


def class_names(folder: Path) -> tuple[str, ...]:
    """The names of the ten classes, in the order of the labels."""
    return tuple(read_pickle(local_files("cifar10", folder)["batches.meta"])["label_names"])


def _batch(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    content = read_pickle(path)
    images, labels = np.asarray(content["data"]), np.asarray(content["labels"], np.int64)
    if images.dtype != np.uint8 or images.shape != (len(labels), 3072):
        raise DataError(
            f"{path}: {images.dtype} data of shape {images.shape} for {len(labels):,} labels, "
            f"expected uint8 ({len(labels)}, 3072)"
        )
    return images.reshape(-1, 3, 32, 32), labels
