"""Reading the members of tar and zip archives.

No file is written to a path that an archive chooses, as `Untar` and `Unzip` of pooch would: members
are read by the last component of their paths, and no more bytes of each than are known beforehand.
"""

import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from datasets.fetching.data_error import DataError, reading, wrong_file

_CHUNK = 1 << 16
_DAMAGED = "truncated or damaged archive"


def members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    """The regular files of a zip archive (by its name) or of a tar, in stored order.

    Yields:
        (path inside the archive, bytes, open binary stream); the stream is valid until the next.

    Raises:
        DataError: a truncated, damaged or encrypted archive, or a method of compression that
            zipfile does not read.
    """
    read = _zip_members if archive.suffix == ".zip" else _tar_members
    with reading(archive, _DAMAGED):
        yield from read(archive)


def read_members(archive: Path, most: Mapping[str, int]) -> dict[str, bytes]:
    """The contents of the members whose last path component is in `most`, by that name.

    Args:
        archive: a tar or zip archive.
        most: the largest allowed number of bytes of each.

    Raises:
        DataError: as `members`; also if a name is missing, occurs twice or has more bytes than
            allowed.
    """
    found = dict[str, bytes]()
    for path, size, stream in members(archive):
        name = PurePosixPath(path).name
        if name not in most:
            continue
        if name in found:
            raise wrong_file(archive, f"it has two files {name}")
        if size > most[name]:
            too_many = f"its {name} has {size:,} bytes, expected at most {most[name]:,}"
            raise wrong_file(archive, too_many)
        with reading(archive, _DAMAGED):
            found[name] = stream.read()
    for name in most:
        if name not in found:
            raise wrong_file(archive, f"it has no {name}")
    return found


def _tar_members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with tarfile.open(archive, "r:" if archive.suffix == ".tar" else "r:gz") as tar:
        for member in tar:
            if member.isreg():
                yield member.name, member.size, tar.extractfile(member)
        while tar.fileobj.read(_CHUNK):
            pass  # to the end, where gzip has its checksum


def _zip_members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with zipfile.ZipFile(archive) as container:
        for member in container.infolist():
            if member.is_dir():
                continue
            try:
                stream = container.open(member)
            except RuntimeError as error:  # encrypted, or another method of compression
                method = zipfile.compressor_names.get(member.compress_type, member.compress_type)
                raise DataError(
                    f"{archive}: its member {member.filename!r} (method {method}) cannot be read: "
                    f"{error}; unpack it and pack it again with `zip`, or get the published file"
                ) from error
            yield member.filename, member.file_size, stream
