"""The provenance of a cell: digests that decide if it is current, and facts noted beside them."""

import functools
import importlib.metadata
import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from datasets import checksums_of
from runs.cell_spec import CellSpec
from runs.sources import digest_of_text

CPU, GPU = "CPU", "GPU"
# This stands for the data of a cell whose files are absent and have no published checksum.
UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The code, settings, data and machine behind the rows of a cell.

    Args:
        code, asked: See `CellSpec`.
        data: A hash of the checksums of its data; empty if it reads none.
        commit: The commit of the code, followed by `-dirty` if the tree differed; empty outside of
            git.
        adopted: A later commit, for which a sample of cells has reproduced the numbers; empty if
            there is none. `code` is then the hash of the code at this commit.
        sample: A description of that sample.
        packages: The versions of the packages that its code imports, such as "numpy 2.1.0, scipy
            1.15.1".
        machine: CPU or GPU.
    """

    code: str
    asked: str
    data: str
    commit: str
    packages: str
    machine: str
    adopted: str = ""
    sample: str = ""

    @property
    def digest(self) -> str:
        """The digest of the `CellSpec` that it was measured with."""
        return f"{self.code}-{self.asked}"

    def to_json(self) -> str:
        """Serialise to text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self | None:
        """Parse the text that `to_json` wrote; return None for any other text."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def differs(self, cell: CellSpec) -> list[str]:
        """Name what has changed since: "code", "settings" or "data"; empty if it is current.

        Absent data never count as changed; they are compared once they have been downloaded.
        """
        data = data_of(cell)
        return [
            name
            for name, then, now in (
                ("code", self.code, cell.code),
                ("settings", self.asked, cell.asked),
                ("data", self.data, self.data if data == UNKNOWN else data),
            )
            if then != now
        ]

    def other_packages(self) -> list[str]:
        """Name the packages whose installed version has changed, as "numpy 2.1.0 -> 2.2.0"."""
        then = [each.rsplit(" ", 1) for each in self.packages.split(", ") if each]
        return [
            f"{name} {version} -> {_version(name)}"
            for name, version in then
            if version != _version(name)
        ]


def provenance_now(cell: CellSpec, commit: str) -> Provenance:
    """Return the provenance of a cell that is measured now, by the code of a commit."""
    return Provenance(
        code=cell.code,
        asked=cell.asked,
        data=data_of(cell),
        commit=commit,
        packages=", ".join(f"{name} {_version(name)}" for name in cell.packages),
        machine=_machine_of(cell),
    )


def data_of(cell: CellSpec) -> str:
    """Hash the checksums of the files that a cell reads; the result is empty if it reads none."""
    checksums = [checksums_of(name, Path(cell.data_folder)) for name in cell.reads]
    if any(of_one is None for of_one in checksums):
        return UNKNOWN
    return digest_of_text(json.dumps(checksums)) if checksums else ""


@functools.cache
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def _machine_of(cell: CellSpec) -> str:
    if cell.settings.get("device") != "auto":
        return CPU
    import torch

    return GPU if torch.cuda.is_available() else CPU


def commit_of_tree() -> str:
    """Return the commit of this code, followed by `-dirty` if files in the tree differ or are new.

    It is empty outside of git, even if an unpacked copy lies inside another repository.
    """
    if _git("ls-files", "--error-unmatch", "Snakefile") is None:
        return ""
    # Results are excluded because a run changes them.
    clean = _git("status", "--porcelain", "--", ".", ":(exclude)results") == ""
    return f"{_git('rev-parse', 'HEAD')}{'' if clean else '-dirty'}"


def _git(*words: str) -> str | None:
    try:
        ended = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ended.stdout.strip()
