"""Reading tar and zip archives from the network safely.

No file is written to a path that an archive chooses. Every member is checked, wanted or not: an
archive with an absolute path, a "..", a link or a device is refused as a whole, since no publisher
of data needs one. `Untar` and `Unzip` of pooch extract to the archive's own paths and refuse no
archive as a whole, so this module does not use them.
"""

from __future__ import annotations

import gzip
import re
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from datasets.fetching.data_error import DataError

MAX_UNPACKED_BYTES = 8 << 30
_CHUNK = 1 << 20
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error)


def is_archive(name: str) -> bool:
    """Whether `members` reads files of this name."""
    return name.endswith((".zip", ".tar", ".tar.gz", ".tgz"))


def members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The regular files of a tar (also gzipped) or zip archive, in stored order.

    Yields:
        (path inside the archive, open binary stream); the stream is valid until the next one.

    Raises:
        DataError: truncated or damaged archive, unsafe member, more than
            `MAX_UNPACKED_BYTES` in total.
    """
    read = _zip_members if archive.name.endswith(".zip") else _tar_members
    total = 0
    with _damage_reported(archive):
        for name, size, stream in read(archive):
            total += size
            if total > MAX_UNPACKED_BYTES:
                raise DataError(
                    f"{archive}: unpacks to more than {MAX_UNPACKED_BYTES:,} bytes, so it is not "
                    f"the expected archive"
                )
            yield name, stream


def read_members(archive: Path, names: Collection[str]) -> dict[str, bytes]:
    """The contents of the members whose last path component is in `names`, by that name.

    Raises:
        DataError: as `members`; also if a name is missing or occurs twice.
    """
    found: dict[str, bytes] = {}
    for path, stream in members(archive):
        name = PurePosixPath(path).name
        if name in names:
            _require_first(archive, name, found)
            with _damage_reported(archive):
                found[name] = stream.read()
    _require_all(archive, names, found)
    return found


def extract(archive: Path, destination: Path, names: Collection[str]) -> None:
    """Write the members whose last path component is in `names` into `destination`.

    The folders inside the archive are dropped. An interrupted call leaves a partial file, so
    `destination` should be a temporary folder.

    Raises:
        DataError: as `read_members`.
    """
    done: set[str] = set()
    for path, stream in members(archive):
        name = PurePosixPath(path).name
        if name not in names:
            continue
        _require_first(archive, name, done)
        with _damage_reported(archive), (destination / name).open("wb") as out:
            shutil.copyfileobj(stream, out, _CHUNK)
        done.add(name)
    _require_all(archive, names, done)


def check_intact(archive: Path) -> None:
    """DataError unless every member can be read to its end (its own CRC included)."""
    for _, stream in members(archive):
        with _damage_reported(archive):
            while stream.read(_CHUNK):
                pass


def _tar_members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with tarfile.open(archive, "r:*") as tar:
        for member in tar:
            _check_path(archive, member.name)
            if member.isdir():
                continue
            # `tarfile.data_filter` would refuse no more, and doubles the time for many members.
            if not member.isreg():
                raise _unsafe(archive, member.name, "a link or a special file")
            yield member.name, member.size, tar.extractfile(member)


def _zip_members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with zipfile.ZipFile(archive) as container:
        for member in container.infolist():
            _check_path(archive, member.filename)
            if member.is_dir():
                continue
            mode = stat.S_IFMT(member.external_attr >> 16)
            if mode not in (0, stat.S_IFREG):
                raise _unsafe(archive, member.filename, "a link or a special file")
            with container.open(member) as stream:
                yield member.filename, member.file_size, stream


def _check_path(archive: Path, name: str) -> None:
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        raise _unsafe(archive, name, "an absolute path")
    if ".." in re.split(r"[/\\]", name):
        raise _unsafe(archive, name, "a path that leaves the folder")


def _unsafe(archive: Path, name: str, what: str) -> DataError:
    return DataError(
        f"{archive}: its member {name!r} is {what}, so the archive was not unpacked; do not use "
        f"the place it came from"
    )


def _require_first(archive: Path, name: str, found: Collection[str]) -> None:
    if name in found:
        raise DataError(f"{archive}: it has two files {name}, so it is not the expected archive")


def _require_all(archive: Path, names: Collection[str], found: Collection[str]) -> None:
    missing = sorted(set(names) - set(found))
    if missing:
        raise DataError(
            f"{archive}: it has no {', '.join(missing)}, so it is not the expected archive"
        )


@contextmanager
def _damage_reported(archive: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise DataError(f"{archive}: truncated or damaged archive ({error})") from error
