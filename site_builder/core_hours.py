"""The measured core-hours of the reference run, for a table of config/README.md.

The hours come from the manifests and the memory from the timings.
"""

from pathlib import Path

import pandas as pd
from pandas.api.typing import SeriesGroupBy

from claims.markdown import markdown_table
from runs.frames import read_frame
from runs.manifest import ENDING
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
        cells = pd.read_csv(timings.with_name(study + ENDING))
        beside = cells["machine"].map({GPU: " beside a GPU"}).fillna("")
        place = cells["cell"].str.split("/").str[1] + beside
        hours = (cells["seconds"] / 3600).groupby(place, sort=False)
        row = {
            "study": f"`{study}`",
            "core-hours by data set": _describe_hours(hours),
            "memory, GiB": f"{_peak_gib(timings):.1f}",
        }
        found.append((hours.sum().sum(), row))
    found.sort(key=lambda each: each[0], reverse=True)
    return markdown_table(pd.DataFrame([row for _, row in found]))


def _describe_hours(hours: SeriesGroupBy) -> str:
    """Describe the hours of processor time by data set; cells that used a GPU are apart.

    The hours of some cells are not known.
    """
    spent = hours.sum().sort_values(ascending=False, kind="stable")
    untimed = hours.count() < hours.size()
    words = [
        f"{place} {'over ' if untimed[place] else ''}{number:.2g}"
        for place, number in spent[spent >= SHOWN].items()
    ]
    rest = [place for place in hours.groups if spent[place] < SHOWN]
    for told, places in (
        (f"under {SHOWN:g}", [place for place in rest if not untimed[place]]),
        ("unknown", [place for place in rest if untimed[place]]),
    ):
        if places:
            words.append(f"{told}: {', '.join(places)}")
    return ", ".join(words)


def _peak_gib(timings: Path) -> float:
    rows = read_frame(timings)
    return rows[rows["metric"] == PEAK_MEMORY]["value"].max() / 2**30
