"""The measured core-hours of the reference run, for a table of config/README.md.

The hours come from the manifests and the memory from the timings.
"""

from collections import Counter
from pathlib import Path

import pandas as pd

from claims.markdown import markdown_table
from runs.frames import read_frame
from runs.manifest import Entry, manifest_of, read_manifest
from runs.provenance import GPU
from runs.result_table import PEAK_MEMORY

ROOT = Path(__file__).parents[1]
TIMINGS = ".timings.parquet"
# Data sets that took fewer hours than this, as far as known, are listed without a number.
SHOWN = 0.01


def core_hours() -> str:
    """Tabulate the reference run's studies and their hours by data set, longest first."""
    found = []
    for timings in (ROOT / "results/reference/studies").glob(f"*{TIMINGS}"):
        study = timings.name.removesuffix(TIMINGS)
        entries = read_manifest(manifest_of(timings.with_name(f"{study}.parquet")))
        hours = hours_of(entries)
        row = {
            "study": f"`{study}`",
            "core-hours by data set": _describe_hours(hours, _untimed(entries)),
            "memory, GiB": f"{_peak_gib(timings):.1f}",
        }
        found.append((hours.total(), row))
    found.sort(key=lambda each: each[0], reverse=True)
    return markdown_table(pd.DataFrame([row for _, row in found]))


def hours_of(entries: dict[str, Entry]) -> Counter[str]:
    """Return the hours of processor time by data set, with cells that used a GPU counted apart."""
    hours: Counter[str] = Counter()
    for stem, entry in entries.items():
        hours[_place(stem, entry)] += (entry.seconds or 0) / 3600
    return hours


def _place(stem: str, entry: Entry) -> str:
    dataset = stem.split("/")[1]
    return f"{dataset} beside a GPU" if entry.provenance.machine == GPU else dataset


def _untimed(entries: dict[str, Entry]) -> set[str]:
    """Return the data sets some of whose cells have no known seconds."""
    return {_place(stem, entry) for stem, entry in entries.items() if entry.seconds is None}


def _describe_hours(hours: Counter[str], untimed: set[str]) -> str:
    long = [
        f"{place} {'over ' * (place in untimed)}{spent:.2g}"
        for place, spent in hours.most_common()
        if spent >= SHOWN
    ]
    rest = [place for place, spent in hours.items() if spent < SHOWN]
    for words, places in (
        (f"under {SHOWN:g}", [place for place in rest if place not in untimed]),
        ("unknown", [place for place in rest if place in untimed]),
    ):
        long += [f"{words}: {', '.join(places)}"] * bool(places)
    return ", ".join(long)


def _peak_gib(timings: Path) -> float:
    rows = read_frame(timings)
    return rows[rows["metric"] == PEAK_MEMORY]["value"].max() / 2**30
