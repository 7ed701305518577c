"""Facts about a data set that are known before it is read: addresses, checksums, licence, size.

Every loader in `datasets/loaders/` has one `ENTRY`. `Dataset.files` are the files that the loader
reads. An entry may name two other forms of the same content, because publishers and mirrors pack
it differently:

- `archive`: a download that contains `files`. They are unpacked from it, and each is checked
  against its own checksum (the seven files of CIFAR-10 are published in one tar.gz).
- `repack`: another package of the content that the loader uses, with its own checksum. The loader
  reads it too, and only a mirror serves it (the labelled IMDB reviews in a new tar).

A checksum refers to the content after a mirror's `.xz` is decompressed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from datasets.fetching.data_error import DataError

Source = Literal["official", "bundled", "simulated"]


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """One file to download.

    Attributes:
        name: file name in the data set's folder and in a mirror, which may have `<name>.xz`.
        urls: official addresses in order of preference; empty if there are none.
        bytes: size of the content, None if unknown; a larger member of an archive is refused.
        sha256: hex digest of the content, or its first digits if no more are published; None if
            no checksum is published.
        check: reads the file at a path and raises DataError unless it is the right one. A file
            without sha256 needs a check: the fetch accepts the file and records its checksum only
            after the check has passed.

    Raises:
        ValueError: `urls` has an http address and `sha256` is None.
    """

    name: str
    urls: tuple[str, ...] = ()
    bytes: int | None = None
    sha256: str | None = None
    check: Callable[[Path], object] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.sha256 is None and any(url.lower().startswith("http:") for url in self.urls):
            raise ValueError(
                f"{self.name} has an http address and no sha256, so anyone on the way can replace "
                f"it; state its sha256, or an https address"
            )


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One data set.

    Attributes:
        name: the name of the loader's module, of the files' folder, and in configs.
        source: `official` (downloaded), `bundled` (part of scikit-learn) or `simulated`; every
            row of results states it as `data_source`.
        record: what one record is. Adjacent data sets differ in one record.
        rows: number of records of each part; the loader refuses any other number.
        files: the files that the loader reads; empty unless the source is `official`.
        manual: what to do by hand if nothing can be downloaded directly.

    Raises:
        ValueError: a file has neither a checksum nor a check.
    """

    name: str
    title: str
    source: Source
    licence: str
    citation: str
    record: str
    rows: Mapping[str, int] = field(hash=False)
    files: tuple[RemoteFile, ...] = ()
    archive: RemoteFile | None = None
    repack: RemoteFile | None = None
    manual: str = ""

    def __post_init__(self) -> None:
        for file in self.files:
            if file.sha256 is None and file.check is None:
                raise ValueError(
                    f"data set {self.name}: {file.name} has neither sha256 nor check; state its "
                    f"sha256, or a check that reads the file and raises DataError if it is wrong"
                )


def require_rows(dataset: Dataset, **found: int) -> None:
    """Compare the number of records found in each part with `dataset.rows`.

    Raises:
        DataError: a part has another number of records.
    """
    wrong = [
        f"{part}: found {count:,}, expected {dataset.rows[part]:,}"
        for part, count in found.items()
        if count != dataset.rows[part]
    ]
    if wrong:
        files = ", ".join(file.name for file in dataset.files) or "the library that brings it"
        raise DataError(
            f"{dataset.name} ({files}): wrong number of records ({'; '.join(wrong)}); the file is "
            f"not the official one, or its publisher changed it"
        )
