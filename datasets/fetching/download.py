"""Getting one file from one place: a URL or a path, compressed with xz or not.

The content is decompressed and hashed while it streams into a temporary file, and takes its
final name only after its checksum matched.
"""

from __future__ import annotations

import contextlib
import lzma
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import IO

from datasets.catalogue import RemoteFile
from datasets.fetching.atomic_file import replacing
from datasets.fetching.checksums import Digest, check_record, mismatch
from datasets.fetching.data_error import DataError

TIMEOUT_SECONDS = 30.0
ATTEMPTS = 3
BACKOFF_SECONDS = 1.0
USER_AGENT = "matrix-noise-bench (research data fetch; python-urllib)"
_CHUNK = 1 << 18


class NotThereError(DataError):
    """The place answers and does not have the file."""


class _InterruptedError(Exception):
    """The connection failed in a way that another attempt may repair."""


class _UnreachableError(_InterruptedError):
    """There was no connection at all."""


def is_url(place: str) -> bool:
    """Whether `place` is an address rather than a path."""
    return "://" in place


def download(place: str, file: RemoteFile, folder: Path, dead_hosts: set[str]) -> None:
    """Put the content of `place` into `folder / file.name`.

    Args:
        place: http(s) URL or path; a name that ends in .xz is decompressed.
        file: its entry in the table; its checksums must match.
        folder: existing folder, where the temporary file lies as well.
        dead_hosts: hosts that did not answer before and are not asked again; added to here.

    Raises:
        NotThereError: no such path, or the server says so (404, 410).
        DataError: unreachable, cut short, corrupted, or not the file that was recorded.
    """
    host = urllib.parse.urlsplit(place).netloc if is_url(place) else ""
    if host in dead_hosts:
        raise DataError(f"{place}: unreachable (the host did not answer before)")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _save(place, file, folder)
            return
        except _InterruptedError as error:
            failure = error
        if attempt < ATTEMPTS:
            pause = BACKOFF_SECONDS * 2 ** (attempt - 1)
            print(f"{place}: {failure}; trying again in {pause:g} s", file=sys.stderr)
            time.sleep(pause)
    if isinstance(failure, _UnreachableError):
        dead_hosts.add(host)
    raise DataError(f"{place}: {failure} ({ATTEMPTS} attempts)")


def _save(place: str, file: RemoteFile, folder: Path) -> None:
    digest = Digest()
    path = folder / file.name
    with _opened(place) as (stream, size), replacing(path) as out:
        content = _counted(stream, size, place)
        if place.endswith(".xz"):
            content = _decompressed(content, place)
        for chunk in content:
            digest.update(chunk)
            out.write(chunk)
        difference = mismatch(file, digest)
        if difference:
            raise DataError(f"{place}: not the expected content of {path}:\n{difference}")
        if file.sha256 is None:
            check_record(folder, file.name, digest.sha256)


@contextmanager
def _opened(place: str) -> Iterator[tuple[IO[bytes], int | None]]:
    """The stream behind a place, and its length in bytes where it is told."""
    if not is_url(place):
        path = Path(place)
        if not path.is_file():
            raise NotThereError(f"{place}: no such file")
        with path.open("rb") as stream:
            yield stream, path.stat().st_size
        return
    if not place.startswith(("http://", "https://")):
        raise DataError(f"{place}: only http:// and https:// addresses and paths can be read")
    request = urllib.request.Request(place, headers={"User-Agent": USER_AGENT})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (404, 410):
            raise NotThereError(f"{place}: HTTP {error.code} {error.reason}") from error
        if error.code < 500 and error.code != 429:
            raise DataError(f"{place}: HTTP {error.code} {error.reason}") from error
        raise _InterruptedError(f"HTTP {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise _UnreachableError(f"unreachable: {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise _UnreachableError(f"unreachable: {error!r}") from error
    with contextlib.closing(response) as stream:
        length = stream.headers.get("Content-Length")
        yield stream, int(length) if length and length.isdigit() else None


def _counted(stream: IO[bytes], size: int | None, place: str) -> Iterator[bytes]:
    """The chunks of a stream; cut short is an error, and progress goes to stderr."""
    progress = _Progress(place, size)
    received = 0
    while True:
        try:
            chunk = stream.read(_CHUNK)
        except (OSError, HTTPException) as error:
            raise _InterruptedError(f"broke off after {received:,} bytes: {error!r}") from error
        if not chunk:
            break
        received += len(chunk)
        progress.show(received)
        yield chunk
    progress.close()
    if size is not None and received != size:
        raise _InterruptedError(f"cut short: {received:,} of {size:,} bytes")


def _decompressed(chunks: Iterator[bytes], place: str) -> Iterator[bytes]:
    decompressor = lzma.LZMADecompressor()
    try:
        for chunk in chunks:
            if not decompressor.eof:
                yield decompressor.decompress(chunk)
    except lzma.LZMAError as error:
        raise DataError(f"{place}: damaged xz file ({error})") from error
    if not decompressor.eof:
        raise DataError(f"{place}: truncated xz file")


class _Progress:
    """Bytes so far and time left, on stderr: a living line on a terminal, else every 10 s."""

    def __init__(self, place: str, size: int | None) -> None:
        self._name = place.rsplit("/", 1)[-1]
        self._size = size
        self._living = sys.stderr.isatty()
        self._start = self._last = time.monotonic()

    def show(self, received: int) -> None:
        now = time.monotonic()
        if now - self._last < (0.2 if self._living else 10.0):
            return
        self._last = now
        text = f"{self._name}: {_megabytes(received)}"
        if self._size:
            left = (now - self._start) * (self._size / received - 1)
            text += f" of {_megabytes(self._size)}, {left:.0f} s left"
        columns = shutil.get_terminal_size().columns - 1
        end = "\r" if self._living else "\n"
        print(text[:columns].ljust(columns if self._living else 0), end=end, file=sys.stderr)

    def close(self) -> None:
        if self._living:
            print(" " * (shutil.get_terminal_size().columns - 1), end="\r", file=sys.stderr)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
