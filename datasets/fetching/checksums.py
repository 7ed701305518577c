"""Checking files against the table, and remembering the checksum of those it has none for.

A file without a published checksum gets its first sha256 recorded in `SHA256SUMS` beside it
(the format of `sha256sum -c`), so that a later change is detected.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

from datasets.catalogue import Dataset, RemoteFile, find
from datasets.fetching.atomic_file import replacing
from datasets.fetching.data_error import DataError

RECORD = "SHA256SUMS"
_CHUNK = 1 << 20


class Digest:
    """sha256, md5 and length of a stream of bytes."""

    def __init__(self) -> None:
        self.bytes = 0
        self._sha256 = hashlib.sha256()
        self._md5 = hashlib.md5(usedforsecurity=False)

    def update(self, chunk: bytes) -> None:
        self.bytes += len(chunk)
        self._sha256.update(chunk)
        self._md5.update(chunk)

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()

    @property
    def md5(self) -> str:
        return self._md5.hexdigest()


def digest(path: Path) -> Digest:
    """The digest of a file on disk."""
    result = Digest()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            result.update(chunk)
    return result


def mismatch(file: RemoteFile, found: Digest) -> str | None:
    """What differs between the table and the digest, one line per checksum; None if nothing."""
    pairs = (("sha256", file.sha256, found.sha256), ("md5", file.md5, found.md5))
    lines = [
        f"  expected {kind} {expected}\n  actual   {kind} {actual}"
        for kind, expected, actual in pairs
        if expected is not None and not actual.startswith(expected)
    ]
    if not lines:
        return None
    size = "" if file.bytes is None else f" of {file.bytes:,} expected"
    return "\n".join([*lines, f"  size     {found.bytes:,} bytes{size}"])


def recorded(folder: Path, name: str) -> str | None:
    """The sha256 recorded for a file without a published one, None if there is no record."""
    record = folder / RECORD
    if not record.exists():
        return None
    for line in record.read_text().splitlines():
        sha256, _, recorded_name = line.partition("  ")
        if recorded_name == name:
            return sha256
    return None


def record(folder: Path, name: str, sha256: str) -> None:
    """Append the sha256 of a file without a published one to the record, and say so."""
    path = folder / RECORD
    lines = path.read_text() if path.exists() else ""
    with replacing(path) as stream:
        stream.write(f"{lines}{sha256}  {name}\n".encode())
    print(f"{name}: no checksum is published; sha256 {sha256} recorded in {path}", file=sys.stderr)


def check_record(folder: Path, name: str, sha256: str) -> None:
    """DataError if the record holds another sha256 for this file."""
    known = recorded(folder, name)
    if known is not None and known != sha256:
        raise DataError(
            f"{folder / name} is not the file that was fetched first:\n"
            f"  recorded sha256 {known}\n  actual   sha256 {sha256}\n"
            f"Delete the file and fetch it again; if the publisher changed it and you accept the "
            f"new one, delete its line in {folder / RECORD} as well"
        )


def verify(folder: Path, file: RemoteFile) -> None:
    """DataError unless `folder` holds the file with the right content."""
    path = folder / file.name
    if not path.is_file():
        raise DataError(f"{path} is missing; run: python -m datasets fetch {folder.name}")
    found = digest(path)
    difference = mismatch(file, found)
    if difference:
        raise DataError(
            f"{path} is corrupted or another version:\n{difference}\n"
            f"Delete it and fetch {folder.name} again, or set data.mirror (or the environment "
            f"variable DATA_MIRROR) to a folder with the right file"
        )
    if file.sha256 is None:
        check_record(folder, file.name, found.sha256)


def local_files(name: str, folder: Path | str) -> dict[str, Path]:
    """The verified files of a data set by name, for its loader.

    Every byte is checked at every load: it takes a second at most, and a pickle is opened only
    after its checksum matched.

    Args:
        name: key of the data set.
        folder: the data folder; the files lie in `folder/<name>/`.

    Raises:
        DataError: a file is missing, corrupted, or was never fetched (no recorded checksum).
    """
    dataset = find(name)
    target = Path(folder) / name
    files = present_form(dataset, target)
    if files is None:
        missing = [file.name for file in dataset.files if not (target / file.name).is_file()]
        raise DataError(
            f"{name} is not in {target} (missing: {', '.join(missing)}); "
            f"run: python -m datasets fetch {name} --folder {folder}"
        )
    for file in files:
        verify(target, file)
        if file.sha256 is None and recorded(target, file.name) is None:
            raise DataError(
                f"{target / file.name} has no published and no recorded checksum; run: python -m "
                f"datasets fetch {name} --folder {folder}, which records the one it has"
            )
    return {file.name: target / file.name for file in files}


def present_form(dataset: Dataset, target: Path) -> tuple[RemoteFile, ...] | None:
    """The official files or else the repack, whichever lies complete in `target`; or None."""
    forms: Iterable[tuple[RemoteFile, ...]] = (dataset.files,)
    if dataset.repack is not None:
        forms = (*forms, (dataset.repack,))
    for form in forms:
        if all((target / file.name).is_file() for file in form):
            return form
    return None
