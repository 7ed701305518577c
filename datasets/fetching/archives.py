"""Reading tar and zip archives from the network safely.

No file is written to a path that an archive chooses. Every member is checked, wanted or not: an
archive with an absolute path, a "..", a link, a device or two members of one path is refused as a
whole, since no publisher of data needs one. Every wanted file has a size limit, known beforehand.
`Untar` and `Unzip` of pooch extract to the archive's own paths, refuse no archive as a whole and
know no limits, so this module does not use them.
"""

import gzip
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from datasets.fetching.data_error import DataError, reading, wrong_file

MAX_UNPACKED_BYTES = 4 << 30
MAX_MEMBERS = 1 << 18
_CHUNK = 1 << 16
_DAMAGED = "truncated or damaged archive"
_SPECIAL = "a link or a special file"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others unpack without a limit of memory
_OTHER_METHODS = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "xz", 98: "PPMd"}
_ENCRYPTED = 1  # bit of a member's flags


def is_archive(name: str) -> bool:
    """Whether `members` reads files of this name."""
    return name.endswith((".zip", ".tar", ".tar.gz", ".tgz"))


def members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    """The regular files of a tar (also gzipped) or zip archive, in stored order.

    Args:
        archive: a zip archive by its name, also one of PyTorch (.pth), else a tar.

    Yields:
        (path inside the archive, bytes, open binary stream); the stream is valid until the next.

    Raises:
        DataError: truncated, damaged or encrypted archive, unsafe member, two members of the same
            path, more than `MAX_UNPACKED_BYTES` or `MAX_MEMBERS` in total.
    """
    read = _zip_members if archive.name.endswith((".zip", ".pth")) else _tar_members
    total, paths = 0, set()
    with reading(archive, _DAMAGED):
        for name, size, wrong, opened in read(archive):
            path = PurePosixPath(name)
            twice = "there twice" if opened and path in paths else ""
            if wrong := wrong or _path_error(name) or twice:
                raise DataError(
                    f"{archive}: its member {name!r} is {wrong}, so the archive was not unpacked; "
                    f"do not use the place it came from"
                )
            paths.add(path)
            total += size
            if total > MAX_UNPACKED_BYTES or len(paths) > MAX_MEMBERS:
                most = f"{MAX_UNPACKED_BYTES:,} bytes or {MAX_MEMBERS:,} members"
                raise wrong_file(archive, f"unpacks to more than {most}")
            if opened:
                yield name, size, opened()


def named_members(archive: Path, most: Mapping[str, int]) -> Iterator[tuple[str, IO[bytes]]]:
    """The members whose last path component is in `most`, by that name, in stored order.

    Args:
        archive: a tar or zip archive.
        most: the largest allowed number of bytes of each.

    Raises:
        DataError: as `members`; also if a name is missing (after the last one), occurs twice or
            has more bytes than allowed.
    """
    found: set[str] = set()
    for path, size, stream in members(archive):
        name = PurePosixPath(path).name
        if name not in most:
            continue
        if name in found:
            raise wrong_file(archive, f"it has two files {name}")
        if size > most[name]:
            too_many = f"its {name} has {size:,} bytes, expected at most {most[name]:,}"
            raise wrong_file(archive, too_many)
        found.add(name)
        yield name, stream
    if missing := [name for name in most if name not in found]:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise wrong_file(archive, f"it has no {', '.join(missing[:3])}{more}")


def read_members(archive: Path, most: Mapping[str, int]) -> dict[str, bytes]:
    """The contents of the members of `named_members`, by name; DataError as there."""
    return {
        name: b"".join(chunks(archive, stream)) for name, stream in named_members(archive, most)
    }


def extract(archive: Path, destination: Path, most: Mapping[str, int]) -> None:
    """Write the members of `named_members` into `destination`; DataError as there.

    The folders inside the archive are dropped. An interrupted call leaves a partial file, so
    `destination` should be a temporary folder.
    """
    for name, stream in named_members(archive, most):
        with (destination / name).open("wb") as out:
            out.writelines(chunks(archive, stream))


def check_intact(archive: Path) -> None:
    """DataError unless every member can be read to its end (its own CRC included)."""
    for _, _, stream in members(archive):
        for _ in chunks(archive, stream):
            pass


def chunks(archive: Path, stream: IO[bytes]) -> Iterator[bytes]:
    """The bytes of a member, its own CRC checked at the end; DataError for a damaged one."""
    with reading(archive, _DAMAGED):
        while chunk := stream.read(_CHUNK):
            yield chunk


class _ShortReads:
    """A stream that gives at most `_CHUNK` bytes at once.

    tarfile reads a member's long name and its extended header at once, however long they say they
    are; no publisher of data has one of 64 KiB.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.seek, self.tell, self._read = stream.seek, stream.tell, stream.read

    def read(self, size: int) -> bytes:
        if size > _CHUNK:
            raise ValueError(f"it has a header of {size:,} bytes")
        return self._read(size)


# Path, bytes, what is wrong with it, and what opens it (None for a folder).
_Member = tuple[str, int, str, Callable[[], IO[bytes]] | None]


def _tar_members(archive: Path) -> Iterator[_Member]:
    unzip = partial(open, mode="rb") if archive.suffix == ".tar" else gzip.open
    with unzip(archive) as unzipped, tarfile.open(fileobj=_ShortReads(unzipped), mode="r:") as tar:
        for member in tar:
            # `tarfile.data_filter` would refuse no more, and doubles the time for many members.
            wrong = "" if member.isreg() or member.isdir() else _SPECIAL
            opened = None if member.isdir() else partial(tar.extractfile, member)
            yield member.name, member.size, wrong, opened
        unzipped.seek(MAX_UNPACKED_BYTES)  # to the end, where gzip has its checksum


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as container:
        for member in container.infolist():
            mode = stat.S_IFMT(member.external_attr >> 16)
            wrong = "" if mode in (0, stat.S_IFREG, stat.S_IFDIR) else _SPECIAL
            _require_readable(archive, member)
            opened = None if member.is_dir() else partial(container.open, member)
            yield member.filename, member.file_size, wrong, opened


def _require_readable(archive: Path, member: zipfile.ZipInfo) -> None:
    name = f"its member {member.filename!r}"
    if member.flag_bits & _ENCRYPTED or member.compress_type == 99:
        raise wrong_file(archive, f"{name} is encrypted")
    if member.compress_type not in _METHODS:
        number = member.compress_type
        method = _OTHER_METHODS.get(number, f"method {number}")
        raise DataError(
            f"{archive}: {name} is compressed by {method}, and only Deflate is read: unpack it and "
            f"pack it again with `zip`, or get the published file"
        )


def _path_error(name: str) -> str:
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        return "an absolute path"
    return "a path that leaves the folder" if ".." in re.split(r"[/\\]", name) else ""
