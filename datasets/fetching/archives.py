"""Reading the members of tar and zip archives.

Unlike `Untar` and `Unzip` of pooch, this module writes no file to a path that an archive chooses.
A member is found by the last component of its path, and refused if it is larger than expected.
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
    """Yield the regular files of an archive in stored order.

    The archive is read as a zip if its name ends in .zip, as a plain tar if in .tar, and otherwise
    as a tar with gzip.

    Yields:
        (path in the archive, size in bytes, open binary stream); the stream is valid until the
            next file is yielded.

    Raises:
        DataError: the archive is truncated, damaged or encrypted, or compressed by a method that
            zipfile does not read.
    """
    read = _zip_members if archive.suffix == ".zip" else _tar_members
    with reading(archive, _DAMAGED):
        yield from read(archive)


def read_members(archive: Path, most: Mapping[str, int]) -> dict[str, bytes]:
    """Map each name in `most` to the content of the member of that name, in whatever folder.

    Args:
        archive: a tar or zip archive.
        most: the largest allowed size of each member, in bytes, by name.

    Raises:
        DataError: for the reasons of `members`, or a member is missing, occurs twice or has more
            bytes than allowed.
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
            pass  # read to the end, where gzip checks its checksum


def _zip_members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with zipfile.ZipFile(archive) as container:
        for member in container.infolist():
            if member.is_dir():
                continue
            try:
                stream = container.open(member)
            except RuntimeError as error:  # encrypted, or an unknown method of compression
                method = zipfile.compressor_names.get(member.compress_type, member.compress_type)
                raise DataError(
                    f"{archive}: its member {member.filename!r} (method {method}) cannot be read: "
                    f"{error}; unpack it and pack it again with `zip`, or get the published file"
                ) from error
            yield member.filename, member.file_size, stream
