"""Recognising what came in place of a file, and damaged files where no checksum is published."""

import json
import re
from pathlib import Path

from datasets.entry import RemoteFile
from datasets.fetching.archives import check_intact, is_archive
from datasets.fetching.data_error import DataError, reading

_BEGINNING = 4096
_MARKUP = re.compile(
    r"(<!--.*?-->\s*|<\?xml[^>]*>\s*)*<(!doctype html|html|head|body|title)\b", re.DOTALL
)
# The first bytes of files that are no data in any format that is read here.
_SIGNATURES = {
    b"version https://git-lfs.github.com/spec/": "a pointer of Git LFS",
    b"%PDF-": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x1f\x8b": "a gzip file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\0": "an xz file",
    b"PK\x03\x04": "a zip archive",
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
}


def recognised(path: Path) -> str:
    """A name for what a file is, if not the expected one; empty if it is not known."""
    with reading(path, "it cannot be read"), path.open("rb") as stream:
        beginning = stream.read(_BEGINNING)
    if not beginning.strip(b"\0"):
        return "nothing but zeros" if beginning else "an empty file"
    for signature, words in _SIGNATURES.items():
        if beginning.startswith(signature):
            return words
    return _recognised_text(_text(beginning), path.stat().st_size)


def _text(beginning: bytes) -> str:
    wide = beginning.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = beginning.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    return text.strip().lower()


def _recognised_text(text: str, size: int) -> str:
    if _MARKUP.match(text):
        return "a web page (HTML)"
    if text.startswith("<?xml"):
        return "an XML document"
    if re.fullmatch(r"\S*annex/objects/\S+", text):
        return "a pointer of git-annex"
    if size > _BEGINNING:
        return "JSON" if re.match(r'[{\[]\s*[{\["]', text) else ""
    try:
        return "JSON" if isinstance(json.loads(text), dict | list) else ""
    except RecursionError:
        return "JSON"
    except ValueError:
        return ""


def inspect(path: Path, file: RemoteFile) -> None:
    """Read the file at `path` and decide whether it can be `file`.

    Raises:
        DataError: the file is empty, an HTML page, a damaged archive or something else that is no
            data, or `file.check` (for most data sets: their loader) does not accept it.
    """
    what = recognised(path)
    archive = is_archive(file.name)
    if what and not (archive and what in _ARCHIVES):
        raise DataError(f"{path}: {what} instead of {file.name}")
    if archive:
        check_intact(path)
    if file.check is not None:
        file.check(path)


_ARCHIVES = {"a gzip file", "a zip archive"}
