"""Rewrite the generated files of the repository: ``python -m site_builder.readme``.

These are results/README.md, mechanisms/README.md, the standings of the mechanisms, codemeta.json,
.zenodo.json, config/schema.json and parts of config/README.md. A test checks that they are up to
date.
"""

import json
from pathlib import Path

import pandas as pd
from pandas.api.typing import SeriesGroupBy

from claims.markdown import markdown_table
from mechanisms import all_mechanisms
from mechanisms.cli.arguments import Parser
from runs.config import config_schema, describe_keys
from runs.data_dictionary import data_dictionary
from runs.provenance import ENDING, GPU
from runs.result_table import PEAK_MEMORY
from runs.results import REFERENCE, RESULTS, read_frame
from site_builder.citations import archive_metadata
from site_builder.site_data import SiteData

ROOT = Path(__file__).parents[1]
TIMINGS = ".timings.parquet"
# Data sets with fewer known hours than this are listed without a number.
SHOWN_HOURS = 0.01
_MECHANISMS = """# Mechanisms

One file per mechanism or family. `python -m mechanisms describe KEY` prints the options,
`calibrate` the noise for a query, `verify` the true privacy of a claim. The verdict is on the
claim at the settings of the papers; `refuted` means that it is false at one or more of them.
"""


def mechanism_table() -> str:
    """Return the table of every registered mechanism, in Markdown."""
    standings = standings_table().set_index("mechanism")["verdict"]
    rows = [
        {
            "key": f"`{key}`",
            "mechanism": cls.title,
            "claims": "nothing" if cls.guarantee == "none" else f"{cls.guarantee} DP",
            "verdict": standings.get(key, "none"),
            "source": cls.paper if cls.theorem == "none" else f"{cls.paper}, {cls.theorem}",
        }
        for key, cls in all_mechanisms().items()
    ]
    return markdown_table(pd.DataFrame(rows), markup=["key"])


def standings_table() -> pd.DataFrame:
    """Return the standing of every mechanism in the reference run, for `mechanisms list`."""
    site = SiteData(ROOT / RESULTS / REFERENCE)
    return pd.DataFrame(
        {"mechanism": key, **vars(standing)}
        for key, standing in site.standings.items()
        if key in site.mechanisms
    )


def generated_pages() -> dict[str, str]:
    """Return the text of each file that is generated as a whole, by path."""
    return {
        "results/README.md": data_dictionary(),
        "mechanisms/README.md": f"{_MECHANISMS}\n{mechanism_table()}\n",
        "mechanisms/verification/standings.csv": standings_table().to_csv(index=False),
        **{
            file: f"{json.dumps(data, indent=2, ensure_ascii=False)}\n"
            for file, data in {**archive_metadata(), "config/schema.json": config_schema()}.items()
        },
    }


def generated_blocks() -> dict[tuple[str, str], str]:
    """Return the text of each generated block, by the path of its file and the block's name."""
    return {
        ("config/README.md", "keys"): describe_keys(),
        ("config/README.md", "core-hours"): core_hours(),
    }


def core_hours() -> str:
    """Return the table of the reference run's studies and their hours by data set, longest first.

    The hours are from the manifests, and the memory is from the timings.
    """
    found = []
    for timings in (ROOT / "results/reference/studies").glob(f"*{TIMINGS}"):
        study = timings.name.removesuffix(TIMINGS)
        cells = pd.read_csv(timings.with_name(study + ENDING))
        beside = cells["machine"].map({GPU: " beside a GPU"}).fillna("")
        place = cells["cell"].str.split("/").str[1] + beside
        rows = read_frame(timings)
        memory = rows[rows["metric"] == PEAK_MEMORY]["value"]
        hours = (cells["seconds"] / 3600).groupby(place, sort=False)
        row = {
            "study": f"`{study}`",
            "core-hours by data set": _describe_hours(hours),
            "memory, GiB": f"{memory.max() / 2**30:.1f}",
        }
        found.append((hours.sum().sum(), row))
    found.sort(key=lambda each: each[0], reverse=True)
    return markdown_table(pd.DataFrame([row for _, row in found]), markup=["study"])


def _describe_hours(hours: SeriesGroupBy) -> str:
    """Describe the hours of processor time by data set, longest first.

    The word "over" marks data sets for some of whose cells the hours are not known.

    Args:
        hours: The hours of each cell, NaN if unknown, grouped by data set and use of a GPU.
    """
    spent = hours.sum().sort_values(ascending=False, kind="stable")
    untimed = hours.count() < hours.size()
    words = [
        f"{place} {'over ' if untimed[place] else ''}{number:.2g}"
        for place, number in spent[spent >= SHOWN_HOURS].items()
    ]
    rest = [place for place in hours.groups if spent[place] < SHOWN_HOURS]
    for told, places in (
        (f"under {SHOWN_HOURS:g}", [place for place in rest if not untimed[place]]),
        ("unknown", [place for place in rest if untimed[place]]),
    ):
        if places:
            words.append(f"{told}: {', '.join(places)}")
    return ", ".join(words)


def replace_block(text: str, name: str, block: str) -> str:
    """Return a text with a new block between the two markers of a name.

    Raises:
        ValueError: A marker is missing or appears more than once.
    """
    begin, end = f"<!-- {name}: generated -->", f"<!-- {name}: end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the file must hold {begin} and {end} exactly once each")
    before, rest = text.split(begin)
    return f"{before}{begin}\n{block.strip()}\n{end}{rest.split(end)[1]}"


def main(arguments: list[str] | None = None) -> None:
    """Rewrite the generated pages and blocks."""
    Parser(prog="python -m site_builder.readme", description=__doc__).parse_args(arguments)
    for file, text in generated_pages().items():
        (ROOT / file).write_text(text, encoding="utf-8")
    for (file, name), block in generated_blocks().items():
        path = ROOT / file
        text = path.read_text(encoding="utf-8")
        path.write_text(replace_block(text, name, block), encoding="utf-8")


if __name__ == "__main__":
    main()
