"""Putting the verified files of a data set into the data folder."""

import errno
import os
import sys
import tempfile
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from datasets import catalogue
from datasets.entry import Dataset, RemoteFile
from datasets.fetching.archives import extract
from datasets.fetching.checksums import mismatch, present_form, record, recorded, verify
from datasets.fetching.data_error import DataError
from datasets.fetching.download import DownloadError, NotThereError, download, is_url
from datasets.fetching.inspection import inspect

_SETTINGS = "--mirror, DATA_MIRROR or data.mirror"
_REASONS = 3  # in an error; more are counted


def fetch(dataset: str | Dataset, folder: Path | str, *, mirror: Path | str | None = None) -> Path:
    """Put verified files into `folder/<dataset>/` and return that folder.

    Files that are there are verified and kept. Missing ones come from the mirror if it has them,
    else from the official addresses in order. A file that does not match its checksum is refused.
    A file without a published checksum is inspected and read by its loader; then its sha256 is
    printed and recorded in `SHA256SUMS`.

    Args:
        dataset: a name, or an entry.
        folder: the data folder; created if it does not exist.
        mirror: existing folder or http(s) URL laid out as `<mirror>/<dataset>/<file>[.xz]`; None
            or an empty string for none.

    Raises:
        DataError: unknown data set, or one that is not official; the mirror does not exist; no
            place has the right files; the folder cannot be written. The message says what to do.
    """
    if isinstance(dataset, str):
        dataset = catalogue.loader(dataset).ENTRY
    if dataset.source != "official":
        raise DataError(
            f"{dataset.name} is {dataset.source}: it needs no files, "
            f"use datasets.load({dataset.name!r})"
        )
    checked_mirror = _checked(mirror)
    target = Path(folder) / dataset.name
    try:
        target.mkdir(parents=True, exist_ok=True)
        _Fetch(dataset, target, checked_mirror).run()
    except OSError as error:
        raise DataError(
            f"cannot read or write {target}: {error}; {_remedy(error)}, or choose another one with "
            f"--folder (data.folder in the config)"
        ) from error
    return target


def _remedy(error: OSError) -> str:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "make room in the folder" if full else "make the folder writable"


def _checked(mirror: Path | str | None) -> str | None:
    if mirror is None or str(mirror) == "":
        return None
    place = str(mirror)
    if is_url(place) and not _is_web_address(place):
        raise DataError(f"mirror {place}: set {_SETTINGS} to a folder or an http(s) URL")
    if not is_url(place) and not os.path.isdir(place):  # no error for a name that is too long
        raise DataError(
            f"mirror {place} is not a folder: set {_SETTINGS} to an existing folder or an http(s) "
            f"URL, or to nothing"
        )
    return place.rstrip("/") or place


def _is_web_address(place: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(place)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, or a port that is none
        return False


@dataclass
class _Fetch:
    """One call of `fetch`, with what it learned about the places so far."""

    dataset: Dataset
    target: Path
    mirror: str | None
    failures: list[DataError] = field(default_factory=list)
    dead_hosts: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        for file in present_form(self.dataset, self.target) or self.dataset.files:
            if (self.target / file.name).is_file():
                self._accept(file)
        if present_form(self.dataset, self.target) is not None:
            return
        archive = self.dataset.archive
        if archive is not None and (self.target / archive.name).is_file():
            verify(self.target, archive)
            try:
                self._unpack(archive)
            except DataError as error:
                raise self._refusal(error) from error
            return
        for files, places in self._ways():
            if self._try(files, places):
                self._report(files)
                return
        raise DataError(self._explanation())

    def _accept(self, file: RemoteFile) -> None:
        """Verify a file that is there; record the checksum of a right one that has none yet."""
        verify(self.target, file)
        if file.sha256 is not None or recorded(self.target, file.name) is not None:
            return
        try:
            inspect(self.target / file.name, file)
        except DataError as error:
            raise self._refusal(error) from error
        record(self.target, file)

    def _refusal(self, error: DataError) -> DataError:
        """The error about a file that somebody put into the folder, which only they delete."""
        return DataError(
            f"{error}. The file was not accepted. Delete it and fetch {self.dataset.name} again, "
            f"or put the right file in its place"
        )

    def _ways(self) -> Iterator[tuple[tuple[RemoteFile, ...], str]]:
        """Sets of files that make up the data set, each with where to look, best first."""
        archive = () if self.dataset.archive is None else (self.dataset.archive,)
        repack = () if self.dataset.repack is None else (self.dataset.repack,)
        forms = [form for form in (self.dataset.files, archive, repack) if form]
        if self.mirror is not None:
            yield from ((form, "mirror") for form in forms)
        yield from ((form, "official") for form in forms if all(file.urls for file in form))

    def _try(self, files: tuple[RemoteFile, ...], places: str) -> bool:
        """Whether all of these files are in the folder now."""
        try:
            for file in files:
                path = self.target / file.name
                if not path.is_file() and not self._download(file, places):
                    return False
                if file is not self.dataset.archive:
                    record(self.target, file)
                    continue
                try:
                    self._unpack(file)
                finally:
                    path.unlink()
        except DataError as error:
            self.failures.append(error)
            return False
        return True

    def _download(self, file: RemoteFile, places: str) -> bool:
        in_mirror = f"{self.mirror}/{self.dataset.name}/{file.name}"
        failures: list[DownloadError] = []
        for place in [in_mirror, f"{in_mirror}.xz"] if places == "mirror" else file.urls:
            try:
                download(place, file, self.target, self.dead_hosts)
            except DownloadError as error:
                failures.append(error)
            else:
                self.failures += failures
                return True
        wrong = [error for error in failures if not isinstance(error, NotThereError)]
        # An error from a file that the mirror has says more than that a file is not there.
        self.failures += (places == "mirror" and wrong) or failures
        return False

    def _unpack(self, archive: RemoteFile) -> None:
        """Take the files out of the archive: all of them, or none if one has other content."""
        path = self.target / archive.name
        most = {file.name: file.most_bytes for file in self.dataset.files}
        with tempfile.TemporaryDirectory(dir=self.target, prefix=".unpack-") as scratch:
            extract(path, Path(scratch), most)
            for file in self.dataset.files:
                if different := mismatch(Path(scratch) / file.name, file, self.target):
                    raise DownloadError(str(path), f"its {file.name} has {different}")
            for file in self.dataset.files:
                os.replace(Path(scratch) / file.name, self.target / file.name)

    def _report(self, files: tuple[RemoteFile, ...]) -> None:
        """Say on stderr what was wrong with places that were passed over."""
        for failure in self.failures:
            if not isinstance(failure, NotThereError):
                print(f"warning: {failure}; another place had the right file", file=sys.stderr)
        if files == (self.dataset.repack,):
            packaging = f"{files[0].name} is another packaging of the official content"
            print(f"{self.dataset.name}: {packaging}", file=sys.stderr)

    def _explanation(self) -> str:
        """Why nothing could be fetched, and what to do."""
        places: dict[str, dict[str, None]] = {}
        # Files that a place does not have come last: what went wrong elsewhere says more.
        for failure in sorted(self.failures, key=lambda error: isinstance(error, NotThereError)):
            if isinstance(failure, DownloadError):
                place = failure.place.removesuffix(".xz")
                places.setdefault(failure.reason, {})[place] = None
            else:
                places.setdefault(" ".join(str(failure).split()), {})
        reasons = [": ".join([", ".join(at), why] if at else [why]) for why, at in places.items()]
        if len(reasons) > _REASONS:
            left = len(reasons) - _REASONS + 1
            reasons = [*reasons[: _REASONS - 1], f"and {left} more failures"]
        why = "; ".join(reasons) or "there is no address to download it from"
        return (
            f"{self.dataset.name} could not be fetched: {why}. "
            f"Set DATA_MIRROR (or data.mirror in the config) to a folder or URL laid out as "
            f"<mirror>/{self.dataset.name}/<file>[.xz], or {self._by_hand()}; then fetch "
            f"{self.dataset.name} again"
        )

    def _by_hand(self) -> str:
        wanted = self.dataset.files
        if self.dataset.archive is not None and not all(file.urls for file in wanted):
            wanted = (self.dataset.archive,)
        missing = [file for file in wanted if not (self.target / file.name).is_file()]
        wanted = missing or wanted
        if len(wanted) > 1:
            names = ", ".join(file.name for file in wanted)
            urls = wanted[0].urls
            place = urls[0].rsplit("/", 1)[0] if urls else "their publisher"
            return f"download {names} from {place} into {self.target}"
        (file,) = wanted
        step = self.dataset.manual or f"download {file.urls[0] if file.urls else file.name}"
        checksum = f" (sha256 {file.sha256})" if file.sha256 else ""
        return f"{step} and save it as {self.target / file.name}{checksum}"
