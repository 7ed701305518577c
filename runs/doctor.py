"""What this machine has of what the suite can use, and what to do where something is missing."""

import importlib
import importlib.metadata
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from datasets import DATASETS
from datasets.fetching.checksums import present_form
from mechanisms import all_mechanisms
from mechanisms.query.extensions import left_out
from runs.sources import ROOT
from studies.base.study import all_studies

REQUIREMENTS = ROOT / "envs" / "requirements.txt"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# GB that a run may need beside its environment.
FREE = 2
NAMES = 5
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;\\]+)")


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it is, and what to do; `needed` if nothing works without it."""

    name: str
    state: str
    to_do: str = ""
    needed: bool = False

    def __str__(self) -> str:
        mark = "ok  " if not self.to_do else "MISS" if self.needed else "-   "
        return f"{mark} {self.name:<12} {self.state}" + (
            f"\n                  {self.to_do}" if self.to_do else ""
        )


def findings(data: Path) -> Iterator[Finding]:
    """Everything that is looked at, what a run needs first."""
    yield _python()
    yield _packages()
    yield _extensions()
    yield _disk()
    yield _cache()
    yield from _data(data)
    yield _browser()
    yield _slurm()


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info < (3, 11)
    return Finding("Python", version, "install Python 3.11 or newer" if old else "", True)


def _packages() -> Finding:
    """The installed versions against the pinned ones."""
    pinned: dict[str, set[str]] = {}
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        # Versions for several Pythons; what is for Windows alone is left out.
        if (found := _PIN.match(line)) and "sys_platform" not in line:
            pinned.setdefault(found[1], set()).add(found[2])
    wrong = [name for name, versions in pinned.items() if _installed(name) not in versions]
    if not wrong:
        return Finding("packages", f"all {len(pinned)} as pinned")
    more = f" and {len(wrong) - NAMES} more" if len(wrong) > NAMES else ""
    return Finding(
        "packages",
        f"{len(wrong)} of {len(pinned)} are missing or have other versions: "
        f"{', '.join(wrong[:NAMES])}{more}",
        "use .venv/bin/python, which `make lint` builds; other versions may give other digits",
        needed=any(_installed(name) is None for name in wrong),
    )


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _extensions() -> Finding:
    # The claims stand above this room: they are looked up by name.
    above = importlib.import_module("claims.claim")
    found = {
        "mechanisms": all_mechanisms(), "studies": all_studies(), "claims": above.all_claims()
    }  # fmt: skip
    broken = left_out()
    if not broken:
        counted = ", ".join(f"{len(each)} {name}" for name, each in found.items())
        return Finding("extensions", f"{counted}; none is left out")
    return Finding("extensions", f"left out: {', '.join(broken)}", "mend the lines named above")


def _disk() -> Finding:
    free = shutil.disk_usage(ROOT).free / 1e9
    low = f"a run needs about {FREE} GB" if free < FREE else ""
    return Finding("disk", f"{free:.0f} GB free", low, True)


def _cache() -> Finding:
    """Snakemake keeps its cache there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    there = next(path for path in (cache, *cache.parents) if path.exists())
    writable = os.access(there, os.W_OK)
    to_do = "" if writable else "set XDG_CACHE_HOME to a folder that you can write to"
    return Finding("cache", f"{cache}{'' if writable else ' cannot be written to'}", to_do, True)


def _data(folder: Path) -> Iterator[Finding]:
    official = [entry for entry in DATASETS.values() if entry.source == "official"]
    absent = [each.name for each in official if not present_form(each, folder / each.name)]
    state = f"{len(official) - len(absent)} of {len(official)} official data sets in {folder}/"
    more = " ..." if len(absent) > NAMES else ""
    fetch = f"python -m datasets fetch {' '.join(absent[:NAMES])}{more}; make run needs none"
    yield Finding("data", state, fetch if absent else "")
    mirror = os.environ.get("DATA_MIRROR")
    if mirror is None:
        yield Finding("mirror", "none", "DATA_MIRROR=FOLDER is tried before the publishers, if set")
    elif "://" in mirror or Path(mirror).is_dir():
        yield Finding("mirror", mirror)
    else:
        yield Finding("mirror", f"{mirror} is no folder", "correct DATA_MIRROR, or unset it")


def _browser() -> Finding:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    to_do = "" if found else "install chromium, for the tests of the site alone"
    return Finding("browser", found or "none", to_do)


def _slurm() -> Finding:
    found = shutil.which("sbatch")
    to_do = "" if found else "only a cluster needs it: docs/run_on_a_cluster.md"
    return Finding("Slurm", found or "none", to_do)
