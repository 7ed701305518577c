"""Types of data that several loaders return."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datasets.fetching.data_error import wrong_file
from datasets.formats.columns import Numbers

Part = tuple[NDArray[np.uint8], NDArray[np.int64]]


@dataclass(frozen=True)
class Images:
    """Labelled images with an official split.

    Attributes:
        train_images, test_images: uint8 (n, channels, height, width), 0..255.
        train_labels, test_labels: int64 (n,), 0..classes-1.
    """

    train_images: NDArray[np.uint8]
    train_labels: NDArray[np.int64]
    test_images: NDArray[np.uint8]
    test_labels: NDArray[np.int64]


def labelled_images(
    pixels: NDArray[np.uint8], labels: ArrayLike, allowed: Numbers, place: Path | str
) -> Part:
    """Images (n, channels, height, width), as they are, and their n labels.

    Raises:
        DataError: the pixels are not bytes, a label is not allowed, or the images are not as many
            as the labels.
    """
    labels = allowed.read(labels, f"{place}: labels")
    if pixels.dtype != np.uint8 or len(pixels) != len(labels):
        found = f"{pixels.dtype} data of shape {pixels.shape} for {len(labels):,} labels"
        raise wrong_file(place, f"{found}, expected as many images of bytes")
    return pixels, labels


@dataclass(frozen=True, kw_only=True)
class BinaryRecords:
    """Records of binary features with a class.

    Attributes:
        features: uint8 (n, d), every entry 0 or 1.
        labels: int64 (n,), 0..classes-1 (the files count from 1).
    """

    features: NDArray[np.uint8]
    labels: NDArray[np.int64]
