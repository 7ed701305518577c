"""Rewrite the generated files of the repository: ``python -m site_builder.readme``.

These are results/README.md, mechanisms/README.md, the standings of the mechanisms, codemeta.json,
.zenodo.json, config/schema.json and parts of config/README.md. A test checks that they are up to
date.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from claims.markdown import markdown_table
from mechanisms import all_mechanisms
from mechanisms.cli.arguments import Parser
from runs.config import describe_keys
from runs.config_schema import config_schema
from runs.data_dictionary import data_dictionary
from runs.stored import REFERENCE, RESULTS
from site_builder.citations import archive_metadata
from site_builder.core_hours import core_hours
from site_builder.run_folder import RunFolder
from site_builder.site_data import SiteData

ROOT = Path(__file__).parents[1]


_MECHANISMS = """# Mechanisms

One file per mechanism or family. `python -m mechanisms describe KEY` prints the options,
`calibrate` the noise for a query, `verify` the true privacy of a claim. The verdict is on the
claim at the settings of the papers; `refuted` means that it is false at one or more of them.
"""


def mechanism_table() -> str:
    """Tabulate every registered mechanism, in Markdown."""
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
    site = SiteData(RunFolder(ROOT / RESULTS / REFERENCE))
    return pd.DataFrame(
        {"mechanism": key, **vars(standing)}
        for key, standing in site.standings.items()
        if key in site.mechanisms
    )


def generated_pages() -> dict[str, str]:
    """Return the text of the files that are generated as a whole, by path."""
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
    """Return the text of the generated blocks, by file and name of the block."""
    return {
        ("config/README.md", "keys"): describe_keys(),
        ("config/README.md", "core-hours"): core_hours(),
    }


def replace_block(text: str, name: str, block: str) -> str:
    """Replace the block between its two markers in a text.

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
    parser = Parser(
        prog="python -m site_builder.readme",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args(arguments)
    for file, text in generated_pages().items():
        (ROOT / file).write_text(text, encoding="utf-8")
    for (file, name), block in generated_blocks().items():
        path = ROOT / file
        text = path.read_text(encoding="utf-8")
        path.write_text(replace_block(text, name, block), encoding="utf-8")


if __name__ == "__main__":
    main()
