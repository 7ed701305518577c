"""IMDB: 25,000 + 25,000 film reviews, positive or negative, read straight from the tar.

One record is one review; an author may have written several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.archives import members
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError

ENTRY = Dataset(
    name="imdb",
    title="Large Movie Review Data set (IMDB), the 50,000 labelled reviews",
    source="official",
    licence="no licence stated",
    citation="Maas, Daly, Pham, Huang, Ng, Potts. Learning word vectors for sentiment "
    "analysis. ACL 2011",
    record="one review",
    rows={"train": 25_000, "test": 25_000},
    files=(
        RemoteFile(
            name="aclImdb_v1.tar.gz",
            urls=("https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",),
            bytes=84125825,
            sha256="c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
            md5="7c2ac02c03563afcf9b574c7e56c153a",
        ),
    ),
    # The labelled reviews without the unlabelled ones and the bag-of-words files. That they are
    # the official ones follows from their number, total size and a second copy, not from a
    # published checksum.
    repack=RemoteFile(
        name="aclImdb_v1_labeled.tar",
        bytes=108206080,
        sha256="ff8464a8086e80ccc096a156d9c952575083c17bc395af697eb0f428dbb08734",
    ),
)


_PATH = re.compile(r"(?:.*/)?(train|test)/(neg|pos)/(\d+)_(\d+)\.txt")


class Review(NamedTuple):
    """One review: its split and number, its stars (1..4 or 7..10) and its text."""

    split: str
    positive: bool
    number: int
    rating: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Reviews:
    """One split, the negative reviews first, each by number.

    Attributes:
        texts: the reviews as published, with their `<br />`.
        labels: int64 (n,), 1 positive, 0 negative.
        ratings: int64 (n,), stars, 1..4 or 7..10.
    """

    texts: tuple[str, ...]
    labels: NDArray[np.int64]
    ratings: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Imdb:
    """The official split."""

    train: Reviews
    test: Reviews


def load(folder: Path) -> Imdb:
    """Both splits, from the official archive or its repack.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: archive missing or changed, or not 25,000 + 25,000 reviews.
    """
    (archive,) = local_files(ENTRY, folder).values()
    imdb = parse(archive)
    require_rows(ENTRY, train=len(imdb.train.texts), test=len(imdb.test.texts))
    return imdb


def parse(source: Path) -> Imdb:
    """A tar of the data set, or a folder into which it was unpacked."""
    ordered = sorted(reviews(source), key=lambda review: review[:3])
    return Imdb(train=_split(ordered, "train"), test=_split(ordered, "test"))


def reviews(source: Path) -> Iterator[Review]:
    """The labelled reviews of a tar or of an unpacked folder, in stored order.

    Unlabelled reviews (train/unsup) and other files are skipped.

    Raises:
        DataError: damaged archive, or a review that is not UTF-8 text.
    """
    contents = _in_folder(source) if source.is_dir() else _in_archive(source)
    for path, match, content in contents:
        split, sentiment, number, rating = match.groups()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{source}: {path} is not UTF-8 text ({error})") from error
        yield Review(split, sentiment == "pos", int(number), int(rating), text)


def _in_archive(archive: Path) -> Iterator[tuple[str, re.Match[str], bytes]]:
    for path, stream in members(archive):
        if match := _PATH.fullmatch(path):
            yield path, match, stream.read()


def _in_folder(folder: Path) -> Iterator[tuple[str, re.Match[str], bytes]]:
    for path in sorted(folder.rglob("*.txt")):
        if match := _PATH.fullmatch(path.as_posix()):
            yield str(path), match, path.read_bytes()


def _split(ordered: list[Review], split: str) -> Reviews:
    chosen = [review for review in ordered if review.split == split]
    return Reviews(
        texts=tuple(review.text for review in chosen),
        labels=np.array([review.positive for review in chosen], np.int64),
        ratings=np.array([review.rating for review in chosen], np.int64),
    )
