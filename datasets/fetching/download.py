"""Getting one file from one place: a URL or a path, compressed with xz or not.

pooch transfers URLs, tries again after failures and computes checksums. This module adds
what pooch lacks: mirrors that are folders, the detection of a web page sent in place of a file,
hosts that are not asked again, and errors of one line. A partial download starts again;
complete files are kept.
"""

import gzip
import logging
import lzma
import os
import stat
import sys
import tempfile
import time
import urllib.parse
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pooch

from datasets.entry import RemoteFile
from datasets.fetching.checksums import RECORD, mismatch, recorded
from datasets.fetching.data_error import DataError
from datasets.fetching.inspection import inspect, recognised

TIMEOUT_SECONDS = 30.0
ATTEMPTS = 3
HEADERS = {
    "User-Agent": "matrix-noise-bench (research data fetch; pooch)",
    # Otherwise a server may compress what it sends, or requests decompress a .gz file.
    "Accept-Encoding": "identity",
}
_CHUNK = 1 << 18
# So many of the last bytes may be missing from the count of a transfer that stalls.
_PACKET = 1 << 13


class DownloadError(DataError):
    """One place failed.

    Attributes:
        place: the URL or path.
        reason: what is wrong with it, in one line.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


class NotThereError(DownloadError):
    """The place can be read but does not have the file."""


def is_url(place: str) -> bool:
    """Whether `place` is an address rather than a path."""
    return "://" in place


def download(place: str, file: RemoteFile, folder: Path, dead_hosts: dict[str, str]) -> None:
    """Put the content of `place` into `folder / file.name`, after its checksum matched.

    A file without a published checksum is compared with the recorded one, or inspected if none is
    recorded yet. The file appears under its final name complete or not at all.

    Args:
        place: http(s) URL or path; the content of a name that ends in .xz is decompressed.
        file: its entry.
        folder: existing folder of the data set.
        dead_hosts: reasons by host of hosts that did not answer; they are not asked again. A host
            that does not answer now is added.

    Raises:
        NotThereError: no such path, or HTTP 404 or 410.
        DownloadError: no connection, broken off, damaged, or the wrong content.
        OSError: the folder cannot be written.
    """
    # A hidden folder on the same file system; after a SIGKILL it stays, and no reader looks there.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as scratch:
        path = Path(scratch) / file.name
        arrived, encoding = Path(place), ""
        if is_url(place):
            arrived = Path(scratch) / f"transferred{Path(place).suffix}"
            encoding = _transfer(place, arrived, file.most_bytes + _CHUNK, dead_hosts)
        try:
            _unpack_or_copy(place, arrived, path, file)
            _check(place, path, file, folder)
        except DownloadError as error:
            # Some servers state an encoding for a file that is itself compressed: the bytes as they
            # came are tried first.
            if not encoding:
                raise
            decoded = arrived.with_name(f"decoded{Path(place).suffix}")
            _decode(encoding, arrived, decoded, file.most_bytes, error)
            _unpack_or_copy(place, decoded, path, file)
            _check(place, path, file, folder)
        os.replace(path, folder / file.name)


def _transfer(url: str, path: Path, most: int, dead_hosts: dict[str, str]) -> str:
    """Download a file as it is sent; returns its Content-Encoding, mostly empty."""
    # Imported here, as pooch does: loading data does not need it, and it takes a while.
    import requests

    host = urllib.parse.urlsplit(url).netloc
    if host in dead_hosts:
        raise DownloadError(url, dead_hosts[host])
    # pooch logs temporary names; failures are reported by the caller, and progress below.
    pooch.get_logger().setLevel(logging.WARNING)
    depot = pooch.Pooch(
        path=path.parent,
        base_url="",
        registry={path.name: None},
        urls={path.name: url},
        retry_if_failed=ATTEMPTS - 1,
    )
    answers: list[requests.Response] = []
    try:
        depot.fetch(path.name, downloader=partial(_http, most, answers))
    except requests.HTTPError as error:
        raise DownloadError(url, f"{_status(error)} ({ATTEMPTS} attempts)") from error
    except (requests.ConnectionError, requests.Timeout) as error:
        if answers:
            arrived = max(answer.raw.tell() for answer in answers)
            where = f"after {arrived:,} bytes" if arrived else f"in its first {_PACKET:,} bytes"
            dead_hosts[host] = "not asked, as another transfer from this host stalled"
            reason = f"the transfer stalled {where} ({ATTEMPTS} attempts)"
            raise DownloadError(url, reason) from error
        dead_hosts[host] = f"no connection ({_cause(error)}; {ATTEMPTS} attempts)"
        raise DownloadError(url, dead_hosts[host]) from error
    except requests.RequestException as error:
        reason = f"the transfer broke off ({_cause(error)}; {ATTEMPTS} attempts)"
        raise DownloadError(url, reason) from error
    return answers[-1].headers.get("Content-Encoding", "").lower()


def _http(most: int, answers: list, url: str, output_file: str, depot: pooch.Pooch) -> None:
    """pooch's downloader; what another attempt cannot repair is raised as a DataError."""
    import requests

    def keep(response, **_) -> None:
        # Otherwise requests decodes the content, whether it asked for that or not.
        response.raw.headers.pop("Content-Encoding", None)
        answers.append(response)

    transfer = pooch.HTTPDownloader(
        progressbar=_Progress(url, Path(output_file), most),
        chunk_size=_PACKET,
        timeout=TIMEOUT_SECONDS,
        headers=HEADERS,
        hooks={"response": keep},
    )
    try:
        transfer(url, output_file, depot)
    except requests.HTTPError as error:
        code = error.response.status_code
        if code >= 500 or code == 429:
            raise
        kind = NotThereError if code in (404, 410) else DownloadError
        raise kind(url, _status(error)) from error


def _status(error) -> str:
    return f"HTTP {error.response.status_code} {error.response.reason}"


def _cause(error: BaseException) -> str:
    """The innermost error: the outer ones print addresses of objects in memory."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return getattr(error, "strerror", None) or str(error)


def _decode(encoding: str, source: Path, path: Path, most: int, refused: DownloadError) -> None:
    """Undo a Content-Encoding; `refused` says why the file was not accepted as it was sent."""
    if encoding not in ("gzip", "x-gzip"):
        sent = f"sent with Content-Encoding {encoding}, which was not asked for"
        raise DownloadError(refused.place, f"{refused.reason}, {sent}") from refused
    try:
        with gzip.open(source) as unzipped:
            path.write_bytes(unzipped.read(most + 1))
    except (OSError, EOFError, zlib.error):
        raise refused from None


def _unpack_or_copy(place: str, source: Path, path: Path, file: RemoteFile) -> None:
    # A copy gets the user's default permissions, which pooch's file lacks.
    with path.open("wb") as out:
        for chunk in _chunks(place, source):
            out.write(chunk)
            if out.tell() > file.most_bytes:
                out.flush()
                raise DownloadError(place, _too_much(path, file.most_bytes))


def _too_much(path: Path, most: int) -> str:
    what = recognised(path)
    return f"{what and what + ', '}wrong content, more than {most:,} bytes"


def _chunks(place: str, source: Path) -> Iterator[bytes]:
    """The content of a file; what is wrong with it is said of its place, not of the folder."""
    unpack = lzma.open if place.endswith(".xz") else partial(open, mode="rb")
    try:
        if not stat.S_ISREG(source.stat().st_mode):
            raise NotThereError(place, "no such file")
        with unpack(source) as opened:
            while chunk := opened.read(_CHUNK):
                yield chunk
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotThereError(place, "no such file") from error
    except OSError as error:
        raise DownloadError(place, f"cannot be read ({error.strerror})") from error
    except EOFError as error:
        raise DownloadError(place, "truncated xz file") from error
    except lzma.LZMAError as error:
        what = recognised(source)
        reason = f"{what} instead of an xz file" if what else f"damaged xz file ({error})"
        raise DownloadError(place, reason) from error
    except MemoryError as error:  # its header says how much memory its dictionary takes
        raise DownloadError(place, "damaged xz file, or too little memory") from error


def _check(place: str, path: Path, file: RemoteFile, folder: Path) -> None:
    if different := mismatch(path, file, folder):
        accept = f" (to accept a new version, delete its line in {folder / RECORD})"
        raise DownloadError(place, f"wrong content, {different}{accept * (not file.sha256)}")
    if file.sha256 is not None or recorded(folder, file.name) is not None:
        return
    try:
        inspect(path, file)
    except DataError as error:
        # The user knows the file by the place it came from, not by its temporary path.
        raise DownloadError(place, str(error).replace(f"{path}: ", "")) from error


class _Progress:
    """The methods that pooch asks of a progress bar (tqdm, its own choice, is not among the pins).

    It ends a download of too many bytes, and writes a line to stderr every 10 s.
    """

    total = 0  # set by pooch

    def __init__(self, url: str, path: Path, most: int) -> None:
        self._url, self._path, self._most = url, path, most
        self._start = self._last = time.monotonic()

    def update(self, count: int) -> None:
        # pooch counts whole chunks, however short they are.
        size, now = self._path.stat().st_size, time.monotonic()
        if size > self._most:
            raise DownloadError(self._url, _too_much(self._path, self._most))
        # At the end of an empty answer there is nothing to extrapolate.
        if size and now - self._last >= 10.0:
            self._last = now
            left = max((now - self._start) * (self.total / size - 1), 0.0)
            of = f" of {self.total / 1e6:.1f} MB, {left:.0f} s left" if self.total else ""
            print(f"{self._url.rsplit('/', 1)[-1]}: {size / 1e6:.1f} MB{of}", file=sys.stderr)

    def reset(self) -> None:
        """pooch counts again from 0 to the total at the end."""

    def close(self) -> None:
        """Nothing is open."""
