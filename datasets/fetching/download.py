"""Getting one file from one place: a URL or a path, compressed with xz or not.

pooch transfers files, tries again after failures and computes checksums. This module adds what
pooch lacks: mirrors that are folders, the bytes as the server sent them, and one-line errors that
say what arrived. A partial download starts again; complete files are kept.
"""

import logging
import lzma
import os
import sys
import tempfile
from pathlib import Path

import pooch

from datasets.entry import RemoteFile
from datasets.fetching.checksums import check_new, mismatch, record
from datasets.fetching.data_error import DataError, beginning_of

TIMEOUT_SECONDS = 30.0
ATTEMPTS = 3
HEADERS = {
    "User-Agent": "matrix-noise-bench (research data fetch; pooch)",
    "Accept-Encoding": "identity",
}


class NotThereError(DataError):
    """The place can be read but does not have the file."""


def is_url(place: str) -> bool:
    """Whether `place` is an address rather than a path."""
    return place.lower().startswith(("http://", "https://"))


def download(place: str, file: RemoteFile, folder: Path) -> None:
    """Put the content of `place` into `folder / file.name`, after its checksum matched.

    A file without a published checksum is compared with the recorded one. If none is recorded yet,
    the file is checked and its checksum recorded. The file appears under its final name complete
    or not at all.

    Args:
        place: http(s) URL or path; if it ends in .xz, the content is decompressed.
        file: the file's entry.
        folder: existing folder of the data set.

    Raises:
        NotThereError: no such path, or HTTP 404 or 410.
        DataError: the connection fails or breaks off, or the content is damaged or wrong.
        OSError: the folder cannot be written.
    """
    # A hidden folder on the same file system. After a SIGKILL it stays, but no reader looks there.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as scratch:
        arrived = Path(place)
        if is_url(place):
            arrived = Path(scratch) / "transferred"
            _transfer(place, arrived)
        path = Path(scratch) / file.name
        # The new file gets the user's default permissions, which pooch's file lacks.
        path.write_bytes(_content(place, arrived))
        if different := mismatch(path, file, folder):
            raise DataError(f"{place}: wrong content, {different}")
        try:
            check_new(path, file, folder)
        except DataError as error:
            # The user knows the file by the place it came from, not by its temporary path.
            raise DataError(str(error).replace(str(path), place)) from error
        os.replace(path, folder / file.name)
    record(folder, file)


def _transfer(url: str, path: Path) -> None:
    """Download a file to `path` as the server sends it."""
    # Imported here, as in pooch, because the import is slow and loading data does not need it.
    import requests

    print(f"downloading {url}", file=sys.stderr)
    pooch.get_logger().setLevel(logging.WARNING)  # it logs temporary names
    depot = pooch.Pooch(
        path=path.parent,
        base_url="",
        registry={path.name: None},
        urls={path.name: url},
        retry_if_failed=ATTEMPTS - 1,
    )
    try:
        depot.fetch(path.name, downloader=_http)
    except requests.RequestException as error:
        raise DataError(f"{url}: {error}, {ATTEMPTS} attempts") from error


def _http(url: str, output_file: str, depot: pooch.Pooch) -> None:
    """Download for pooch, which tries again after a RequestException but not after a DataError."""
    import requests

    transfer = pooch.HTTPDownloader(
        timeout=TIMEOUT_SECONDS, headers=HEADERS, hooks={"response": _keep_as_sent}
    )
    try:
        transfer(url, output_file, depot)
    except requests.HTTPError as error:
        code = error.response.status_code
        status = f"HTTP {code} {error.response.reason}"
        if code >= 500 or code == 429:
            raise requests.RequestException(status) from error
        kind = NotThereError if code in (404, 410) else DataError
        raise kind(f"{url}: {status}") from error
    except requests.RequestException as error:
        cause = _innermost(error)
        ended = "stalled" if isinstance(cause, TimeoutError) else "failed"
        written = f"{Path(output_file).stat().st_size:,} bytes written"
        reason = f"the transfer {ended} with {written} ({cause})"
        raise requests.RequestException(reason) from error


def _keep_as_sent(response, **_) -> None:
    # Otherwise requests decodes an encoded content, even if it did not ask for the encoding.
    response.raw.headers.pop("Content-Encoding", None)


def _innermost(error: BaseException) -> BaseException:
    """Return the first cause; the errors that it led to print addresses of objects in memory."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return error


def _content(place: str, source: Path) -> bytes:
    """Return the content of `source`, unpacked if `place` ends in .xz; errors name `place`."""
    unpack = lzma.open if place.endswith(".xz") else open
    try:
        with unpack(source, "rb") as opened:
            return opened.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotThereError(f"{place}: no such file") from error
    except (OSError, EOFError, lzma.LZMAError, MemoryError) as error:
        raise DataError(f"{place}: cannot be read ({error}), {beginning_of(source)}") from error
