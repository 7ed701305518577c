"""Putting the files of a data set into the data folder, verified."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from datasets.catalogue import Dataset, RemoteFile, find
from datasets.fetching.archives import check_intact, extract, is_archive
from datasets.fetching.checksums import (
    digest,
    mismatch,
    present_form,
    record,
    recorded,
    verify,
)
from datasets.fetching.data_error import DataError
from datasets.fetching.download import NotThereError, download


def fetch(dataset: str | Dataset, folder: Path | str, *, mirror: Path | str | None = None) -> Path:
    """Put verified files into `folder/<dataset>/` and return that folder.

    Files that are there already are verified and kept. Missing ones are taken from the mirror
    if it has them, else from the official addresses in order. What does not match its checksum
    is refused; what has no published checksum is printed and recorded in `SHA256SUMS`.

    Args:
        dataset: key in the table, or an entry of that shape.
        folder: the data folder, created if need be.
        mirror: folder or http(s) URL laid out as `<mirror>/<dataset>/<file>[.xz]`; None or an
            empty string for none.

    Raises:
        DataError: unknown data set or one that is not official, no place has the files, corrupted
            file, damaged archive, folder that cannot be written; the message says what to do.
    """
    if isinstance(dataset, str):
        dataset = find(dataset)
    if dataset.source != "official":
        raise DataError(f"{dataset.name} is {dataset.source}: there is nothing to fetch, load it")
    target = Path(folder) / dataset.name
    try:
        target.mkdir(parents=True, exist_ok=True)
        return _fetch_into(target, dataset, str(mirror) if mirror else None)
    except OSError as error:
        raise DataError(
            f"cannot read or write {target}: {error}; choose another folder with "
            f"--folder, or make this one writable"
        ) from error


def _fetch_into(target: Path, dataset: Dataset, mirror: str | None) -> Path:
    form = present_form(dataset, target)
    if form is not None:
        for file in form:
            _accept(target, file)
        return target
    for file in dataset.files:
        if (target / file.name).is_file():
            verify(target, file)
    failures: list[str] = []
    dead_hosts: set[str] = set()
    for files, origin in _ways(dataset, target, mirror):
        try:
            for file in files:
                places = _places(dataset, file, origin, mirror)
                downloaded = _obtain(target, file, places, dead_hosts)
                if file is dataset.archive:
                    _unpack(target, dataset, remove=downloaded)
                else:
                    _accept(target, file)
        except DataError as error:
            failures.append(str(error))
        else:
            if files == (dataset.repack,):
                note = "holds the content in another packaging than the official one"
                print(f"{dataset.name}: {files[0].name} {note}", file=sys.stderr)
            return target
    raise DataError(_advice(target, dataset, failures))


def _ways(
    dataset: Dataset, target: Path, mirror: str | None
) -> Iterator[tuple[tuple[RemoteFile, ...], str]]:
    """Sets of files that make up the data set, each with where to look for it, best first."""
    archive = () if dataset.archive is None else (dataset.archive,)
    repack = () if dataset.repack is None else (dataset.repack,)
    if archive and (target / archive[0].name).is_file():
        yield archive, "here"
    forms = [form for form in (dataset.files, archive, repack) if form]
    if mirror is not None:
        yield from ((form, "mirror") for form in forms)
    yield from ((form, "official") for form in forms if all(file.urls for file in form))


def _places(dataset: Dataset, file: RemoteFile, origin: str, mirror: str | None) -> list[str]:
    if origin == "mirror":
        place = f"{str(mirror).rstrip('/')}/{dataset.name}/{file.name}"
        return [place, f"{place}.xz"]
    return list(file.urls)


def _obtain(target: Path, file: RemoteFile, places: list[str], dead_hosts: set[str]) -> bool:
    """Download the file unless it is there; whether it was downloaded."""
    path = target / file.name
    if path.is_file():
        return False
    failures = []
    for place in places:
        try:
            download(place, file, target, dead_hosts)
            if file.sha256 is None and is_archive(file.name):
                check_intact(path)
        except NotThereError as error:
            failures.append(str(error))
        except DataError as error:
            path.unlink(missing_ok=True)
            print(error, file=sys.stderr)
            failures.append(str(error))
        else:
            return True
    raise DataError("\n".join(failures))


def _accept(target: Path, file: RemoteFile) -> None:
    """Verify a file; record the checksum of one that has none published."""
    verify(target, file)
    if file.sha256 is not None or recorded(target, file.name) is not None:
        return
    path = target / file.name
    if is_archive(file.name):
        check_intact(path)
    record(target, file.name, digest(path).sha256)


def _unpack(target: Path, dataset: Dataset, *, remove: bool) -> None:
    """Take the files of the data set out of its archive, each only if its checksum matches."""
    assert dataset.archive is not None
    archive = target / dataset.archive.name
    try:
        verify(target, dataset.archive)
        with tempfile.TemporaryDirectory(dir=target, prefix=".unpack-") as unpacked:
            extract(archive, Path(unpacked), {file.name for file in dataset.files})
            for file in dataset.files:
                difference = mismatch(file, digest(Path(unpacked) / file.name))
                if difference:
                    raise DataError(f"{archive}: its {file.name} is another one:\n{difference}")
            for file in dataset.files:
                os.replace(Path(unpacked) / file.name, target / file.name)
    finally:
        if remove:
            archive.unlink()


def _advice(target: Path, dataset: Dataset, failures: list[str]) -> str:
    lines = [f"{dataset.name}: its files could not be had"]
    lines += [f"  {line}" for failure in failures for line in failure.splitlines()]
    lines.append("What to do:")
    lines.append(
        f"- set data.mirror in the config, or the environment variable DATA_MIRROR, to a folder "
        f"or URL laid out as <mirror>/{dataset.name}/<file>[.xz]; or"
    )
    by_hand = dataset.manual or "download by hand"
    lines.append(f"- {by_hand}, put it at the path below, and run the fetch again:")
    wanted = dataset.files
    if dataset.archive is not None and not all(file.urls for file in wanted):
        wanted = (dataset.archive,)
    for file in wanted:
        lines.append(f"    {target / file.name}")
        lines += [f"      from {url}" for url in file.urls]
        lines.append(f"      sha256 {file.sha256 or 'not published: it will be recorded'}")
    return "\n".join(lines)
