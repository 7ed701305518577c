"""Putting the verified files of a data set into the data folder."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from datasets import catalogue
from datasets.entry import Dataset, RemoteFile
from datasets.fetching.archives import read_members
from datasets.fetching.checksums import check_new, mismatch, present_form, record, verify
from datasets.fetching.data_error import DataError, wrong_file
from datasets.fetching.download import NotThereError, download, is_url

_REASONS = 3  # given in an error, which counts the others
_MOST_BYTES = 1 << 30  # of an archive's member whose size is not published


def fetch(dataset: str | Dataset, folder: Path | str, *, mirror: Path | str | None = None) -> Path:
    """Put verified files into `folder/<dataset>/` and return that folder.

    Files already there are verified and kept. Missing files come from the mirror if it has them,
    else from the official addresses in order. A file that does not match its checksum is refused.
    If a file has no published checksum, its `check` reads it; then its sha256 is printed and
    recorded in `SHA256SUMS`.

    Args:
        dataset: a name, or an entry.
        folder: the data folder; created if it does not exist.
        mirror: existing folder or http(s) URL laid out as `<mirror>/<dataset>/<file>[.xz]`; None
            or an empty string for no mirror.

    Raises:
        DataError: the data set is unknown or not official; the mirror does not exist; no place has
            the right files; or the folder cannot be written. The message says what to do.
    """
    if isinstance(dataset, str):
        dataset = catalogue.loader(dataset).ENTRY
    if dataset.source != "official":
        raise DataError(
            f"{dataset.name} is {dataset.source}: it needs no files, "
            f"use datasets.load({dataset.name!r})"
        )
    place = str(mirror or "").rstrip("/")
    if place and not is_url(place) and not os.path.isdir(place):
        raise DataError(
            f"mirror {place} is not a folder: set --mirror, DATA_MIRROR or data.mirror to an "
            f"existing folder or an http(s) URL, or to nothing"
        )
    target = Path(folder) / dataset.name
    try:
        target.mkdir(parents=True, exist_ok=True)
        _fill(dataset, target, place)
    except OSError as error:
        raise DataError(
            f"cannot read or write {target}: {error}; make the folder writable and room in it, or "
            f"choose another one with --folder (data.folder in the config)"
        ) from error
    return target


def _fill(dataset: Dataset, target: Path, mirror: str) -> None:
    for file in present_form(dataset, target) or dataset.files:
        if (target / file.name).is_file():
            verify(target, file)
            check_new(target / file.name, file, target)
            record(target, file)
    if present_form(dataset, target) is not None:
        return
    archive = dataset.archive
    if archive is not None and (target / archive.name).is_file():
        verify(target, archive)
        _unpack(dataset, target / archive.name)
    else:
        _fetch_missing(dataset, target, mirror)


def _fetch_missing(dataset: Dataset, target: Path, mirror: str) -> None:
    failures: list[DataError] = []
    for form, places in _ways(dataset, mirror):
        if not all(_obtain(file, target, places[file.name], failures) for file in form):
            continue
        if form == (dataset.archive,):
            archive = target / form[0].name
            try:
                _unpack(dataset, archive)
            except DataError as error:
                failures.append(error)
                continue
            finally:
                archive.unlink()
        _report(dataset, form, failures)
        return
    raise DataError(_explanation(dataset, target, failures))


# Files that make up a data set, and the places of each file by its name, best first.
_Form = tuple[RemoteFile, ...]
_Places = dict[str, Sequence[str]]


def _ways(dataset: Dataset, mirror: str) -> Iterator[tuple[_Form, _Places]]:
    """Yield the forms of the data set, best first, with the places to look for their files."""
    packed = (dataset.archive, dataset.repack)
    forms = [dataset.files, *((file,) for file in packed if file is not None)]
    if mirror:
        for form in forms:
            paths = {file.name: f"{mirror}/{dataset.name}/{file.name}" for file in form}
            yield form, {name: (path, f"{path}.xz") for name, path in paths.items()}
    for form in forms:
        yield form, {file.name: file.urls for file in form}


def _obtain(
    file: RemoteFile, target: Path, places: Sequence[str], failures: list[DataError]
) -> bool:
    """Get the file if it is missing, and return whether it is there now; extend `failures`."""
    if (target / file.name).is_file():
        return True
    for place in places:
        try:
            download(place, file, target)
            return True
        except DataError as error:
            failures.append(error)
    return False


def _unpack(dataset: Dataset, archive: Path) -> None:
    """Take the files out of the archive: all of them, or none if one has other content."""
    most = {file.name: file.bytes or _MOST_BYTES for file in dataset.files}
    contents = read_members(archive, most)
    target = archive.parent
    with tempfile.TemporaryDirectory(dir=target, prefix=".unpack-") as scratch:
        for file in dataset.files:
            path = Path(scratch) / file.name
            path.write_bytes(contents[file.name])
            if different := mismatch(path, file, target):
                raise wrong_file(archive, f"its {file.name} has the wrong content, {different}")
        for file in dataset.files:
            os.replace(Path(scratch) / file.name, target / file.name)


def _report(dataset: Dataset, form: _Form, failures: list[DataError]) -> None:
    """Warn on stderr about places that failed, and say if the form is the repack."""
    for failure in failures:
        if not isinstance(failure, NotThereError):
            print(f"warning: {failure}; another place had the right file", file=sys.stderr)
    if form == (dataset.repack,):
        packaging = f"{form[0].name} is another packaging of the official content"
        print(f"{dataset.name}: {packaging}", file=sys.stderr)


def _explanation(dataset: Dataset, target: Path, failures: list[DataError]) -> str:
    """Say why nothing could be fetched, and what to do."""
    # Places without the file come last, because other failures say more.
    ordered = sorted(failures, key=lambda failure: isinstance(failure, NotThereError))
    reasons = [str(failure) for failure in ordered[:_REASONS]]
    if len(failures) > _REASONS:
        reasons.append(f"and {len(failures) - _REASONS} more failures")
    why = "; ".join(reasons) or "there is no address to download it from"
    return (
        f"{dataset.name} could not be fetched: {why}. "
        f"Set DATA_MIRROR (or data.mirror in the config) to a folder or URL laid out as "
        f"<mirror>/{dataset.name}/<file>[.xz], or {_by_hand(dataset, target)}; then fetch "
        f"{dataset.name} again"
    )


def _by_hand(dataset: Dataset, target: Path) -> str:
    wanted = dataset.files
    if dataset.archive is not None and not all(file.urls for file in wanted):
        wanted = (dataset.archive,)
    urls = ", ".join(file.urls[0] for file in wanted if file.urls) or "it"
    names = ", ".join(file.name for file in wanted)
    return f"{dataset.manual or f'download {urls}'} and save it as {names} in {target}"
