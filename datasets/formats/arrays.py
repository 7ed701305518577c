"""Types of data that several loaders return."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# The images and labels of one part, training or test.
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


@dataclass(frozen=True, kw_only=True)
class BinaryRecords:
    """Records of binary features with a class.

    Attributes:
        features: uint8 (n, d), every entry 0 or 1.
        labels: int64 (n,), 0..classes-1 (the files count from 1).
    """

    features: NDArray[np.uint8]
    labels: NDArray[np.int64]
