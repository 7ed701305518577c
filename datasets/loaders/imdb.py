"""IMDB: 25,000 + 25,000 film reviews, positive or negative, read straight from the tar.

One record is one review; an author may have written several.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.archives import members
from datasets.fetching.data_error import reading

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
        ),
    ),
    # The labelled reviews without the unlabelled ones and the bag-of-words files. No published
    # checksum shows that they are the official ones; their number, total size and a second copy do.
    repack=RemoteFile(
        name="aclImdb_v1_labeled.tar",
        bytes=108206080,
        sha256="ff8464a8086e80ccc096a156d9c952575083c17bc395af697eb0f428dbb08734",
    ),
)


_PATH = re.compile(r"(?:.*/)?(train|test)/(neg|pos)/(\d+)_\d+\.txt")


@dataclass(frozen=True, kw_only=True)
class Reviews:
    """Labelled texts.

    Attributes:
        texts: the reviews.
        labels: int64 (n,), 1 positive, 0 negative.
    """

    texts: tuple[str, ...]
    labels: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Imdb:
    """The official split, with `<br />` as published, negative reviews first, then by number."""

    train: Reviews
    test: Reviews


def parse(archive: Path) -> Imdb:
    """Read both splits from the official tar or the repack.

    Unlabelled reviews (train/unsup) and other files are skipped.

    Raises:
        DataError: a file is not the published one.
    """
    found: dict[tuple[str, str, int], str] = {}
    for path, _, stream in members(archive):
        if not (match := _PATH.fullmatch(path)):
            continue
        split, mood, number = match.groups()
        with reading(f"{archive}: {path}", "not UTF-8 text"):
            found[split, mood, int(number)] = stream.read().decode()
    imdb = Imdb(train=_split(found, "train"), test=_split(found, "test"))
    require_rows(ENTRY, train=len(imdb.train.texts), test=len(imdb.test.texts))
    return imdb


def _split(found: dict[tuple[str, str, int], str], split: str) -> Reviews:
    chosen = sorted(review for review in found if review[0] == split)
    return Reviews(
        texts=tuple(found[review] for review in chosen),
        labels=np.array([mood == "pos" for _, mood, _ in chosen], np.int64),
    )
