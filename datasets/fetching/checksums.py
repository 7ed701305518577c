"""Comparing files with their checksums, and recording checksums that nobody publishes.

If a file has no published checksum, the sha256 of its first accepted copy is recorded in
`SHA256SUMS` beside it, in the format of `sha256sum -c`, so that a later change is detected.
pooch computes the digests but does not compare them, because it cannot match the first digits of a
sha256, which are all that PyTorch publishes.
"""

import os
import re
import sys
from pathlib import Path

from pooch import file_hash

from datasets.entry import Dataset, RemoteFile
from datasets.fetching.data_error import DataError, beginning_of, reading

RECORD = "SHA256SUMS"
_LINE = re.compile("([0-9a-fA-F]{64}) [ *](.+)")


def known_checksum(file: RemoteFile, folder: Path) -> str | None:
    """Return the published sha256 of a file, or else the one recorded in the data set's folder.

    Raises:
        DataError: a line of the record is no checksum.
    """
    return file.sha256 or _recorded(folder).get(file.name)


def known_checksums(dataset: Dataset, folder: Path) -> dict[str, str] | None:
    """Map the file names of a data set to their sha256, or return None if one is unknown.

    If all official files have published checksums, these are returned, whatever packaging is in
    the folder; otherwise the checksums, published or recorded, of the files in the folder.

    Args:
        dataset: the loader's `ENTRY`.
        folder: the data set's folder.

    Raises:
        DataError: a line of the record is no checksum.
    """
    files = dataset.files
    if not all(file.sha256 for file in files):
        files = present_form(dataset, folder) or files
    known = {file.name: known_checksum(file, folder) for file in files}
    return None if None in known.values() else known


def mismatch(path: Path, file: RemoteFile, folder: Path) -> str:
    """Say how the file at `path` begins and how it differs from its `known_checksum`.

    Returns "" if it does not differ, or if no checksum is known. `folder` is the data set's folder.
    """
    digits = known_checksum(file, folder) or ""
    with reading(path, "it cannot be read"):
        actual = file_hash(str(path))
    if actual.startswith(digits):
        return ""
    known = f"expected sha256 {digits}"
    if file.sha256 is None:
        accept = f"(to accept a new version, delete its line in {folder / RECORD})"
        known = f"recorded sha256 {digits} {accept}"
    return f"{beginning_of(path)}, sha256 {actual}, {known}"


def check_new(path: Path, file: RemoteFile, folder: Path) -> None:
    """Run `file.check` on `path` unless a checksum is known; it raises DataError if it fails."""
    if file.check is not None and known_checksum(file, folder) is None:
        file.check(path)


def record(folder: Path, file: RemoteFile) -> None:
    """Record the sha256 of a file in `folder` that passed its check, unless one is known."""
    if file.check is None or known_checksum(file, folder) is not None:
        return
    sums = _recorded(folder) | {file.name: file_hash(str(folder / file.name))}
    path = folder / RECORD
    part = path.with_name(f".{RECORD}.part")
    part.write_text("".join(f"{digits}  {name}\n" for name, digits in sums.items()))
    os.replace(part, path)
    print(
        f"{file.name}: no checksum is published; recorded sha256 {sums[file.name]} in {path}",
        file=sys.stderr,
    )


def _recorded(folder: Path) -> dict[str, str]:
    path = folder / RECORD
    content = path.read_text(errors="replace") if path.is_file() else ""
    sums = dict[str, str]()
    for line in filter(None, content.splitlines()):
        if not (match := _LINE.fullmatch(line)):
            raise DataError(
                f"{path} has the line {line!r:.99}, which is no checksum as sha256sum writes it; "
                f"repair or delete the line"
            )
        sums[match[2]] = match[1].lower()
    return sums


def verify(folder: Path, file: RemoteFile) -> None:
    """Compare a file with its `known_checksum`, if there is one.

    Raises:
        DataError: the file has another checksum; the message gives both.
    """
    if different := mismatch(folder / file.name, file, folder):
        raise DataError(
            f"{folder / file.name} has the wrong content: {different}. "
            f"Delete it, then fetch {folder.name} again: a file that is there is never replaced"
        )


def local_files(dataset: Dataset, folder: Path | str) -> dict[str, Path]:
    """Verify the files of a data set, and map their names to their paths for its loader.

    Every load hashes every file, which takes at most a second, so that a pickle is opened only
    after its checksum matched.

    Args:
        dataset: the loader's `ENTRY`.
        folder: the data folder; the files are in `folder/<name>/`.

    Raises:
        DataError: a file is missing, has the wrong content, or has neither a published nor a
            recorded checksum.
    """
    target = Path(folder) / dataset.name
    command = f"python -m datasets fetch {dataset.name} --folder {folder}"
    files = present_form(dataset, target)
    if files is None:
        missing = [file.name for file in dataset.files if not (target / file.name).is_file()]
        raise DataError(
            f"{dataset.name} is not in {target} (missing: {', '.join(missing)}); run: {command}"
        )
    for file in files:
        verify(target, file)
        if known_checksum(file, target) is None:
            raise DataError(
                f"{target / file.name} has no published and no recorded checksum; to check it and "
                f"record one, run: {command}"
            )
    return {file.name: target / file.name for file in files}


def present_form(dataset: Dataset, target: Path) -> tuple[RemoteFile, ...] | None:
    """Return the official files if `target` has all, or else the repack if it has that, or None."""
    forms = [dataset.files, *([(dataset.repack,)] if dataset.repack is not None else [])]
    there = (form for form in forms if all((target / file.name).is_file() for file in form))
    return next(there, None)
