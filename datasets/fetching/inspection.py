"""Recognising error pages and damaged files where no checksum is published."""

from pathlib import Path

from datasets.entry import RemoteFile
from datasets.fetching.archives import check_intact, is_archive
from datasets.fetching.data_error import DataError

_PAGES = (b"<!doctype html", b"<html")


def inspect(path: Path, file: RemoteFile) -> None:
    """Read the file at `path` and decide whether it can be `file`.

    Raises:
        DataError: the file is empty, an HTML page or a damaged archive, or `file.check` (for most
            data sets: their loader) does not accept it.
    """
    with path.open("rb") as stream:
        beginning = stream.read(512)
    if not beginning:
        raise DataError(f"{path}: the file is empty")
    if beginning.removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_PAGES):
        raise DataError(f"{path}: a web page (HTML) instead of {file.name}")
    if is_archive(file.name):
        check_intact(path)
    if file.check is not None:
        file.check(path)
