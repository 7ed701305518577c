"""The provenance of a cell: digests that keep it current, and facts that are noted beside them."""

import importlib.metadata
import json
import subprocess
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from datasets import checksums_of
from runs.cell_spec import CellSpec
from runs.sources import digest_of_text

CPU, GPU = "CPU", "GPU"
# The data of a cell whose files are not at hand and have no published checksum.
UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The code, settings, data and machine behind the rows of a cell.

    Args:
        code, asked: See `CellSpec`.
        data: Hash of the checksums of its data; empty where it reads none.
        commit: The commit of the code, `-dirty` behind it where the tree differed; empty outside of
            git.
        adopted: The commit with whose code, by a sample, the numbers are the same, in place of
            `commit`; empty where none was adopted. `code` is then that of this commit.
        sample: The sample, in words.
        packages: Versions of the packages that its code imports, "numpy 2.1.0, scipy 1.15.1".
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
        """That of the `CellSpec` it was measured with."""
        return f"{self.code}-{self.asked}"

    def to_json(self) -> str:
        """As text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self | None:
        """What `to_json` wrote; None for any other text."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def differs(self, cell: CellSpec) -> list[str]:
        """What is no longer as it was measured: "code", "settings" or "data"; none if current.

        Data that are not at hand differ from none: what reads them compares them.
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
        """The packages of which another version is installed now: "numpy 2.1.0 -> 2.2.0"."""
        then = [each.rsplit(" ", 1) for each in self.packages.split(", ") if each]
        return [
            f"{name} {version} -> {_version(name)}"
            for name, version in then
            if version != _version(name)
        ]

    def adopted_by(self, cell: CellSpec, commit: str, sample: str) -> Self:
        """The same rows, adopted by the code of a commit."""
        return replace(self, code=cell.code, adopted=commit, sample=sample)


def provenance_now(cell: CellSpec, commit: str) -> Provenance:
    """The provenance of a cell that is measured now, by the code of a commit."""
    return Provenance(
        code=cell.code,
        asked=cell.asked,
        data=data_of(cell),
        commit=commit,
        packages=", ".join(f"{name} {_version(name)}" for name in cell.packages),
        machine=_machine_of(cell),
    )


def data_of(cell: CellSpec) -> str:
    """A hash of the checksums of the files that a cell reads: empty where it reads none."""
    checksums = [checksums_of(name, Path(cell.data_folder)) for name in cell.reads]
    if any(of_one is None for of_one in checksums):
        return UNKNOWN
    return digest_of_text(json.dumps(checksums)) if checksums else ""


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
    """The commit of the code here, `-dirty` behind it where files of the tree differ or are new.

    Empty outside of git, also in an unpacked copy that lies in the tree of something else.
    """
    if _git("ls-files", "--error-unmatch", "Snakefile") is None:
        return ""
    # Without the results, which a run changes.
    clean = _git("status", "--porcelain", "--", ".", ":(exclude)results") == ""
    return f"{_git('rev-parse', 'HEAD')}{'' if clean else '-dirty'}"


def _git(*words: str) -> str | None:
    try:
        ended = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ended.stdout.strip()
