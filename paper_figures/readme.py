"""The parts of README.md and config/README.md that are generated from code and results.

``python -m paper_figures.readme`` rewrites them; a test compares.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mechanisms import all_mechanisms
from paper_figures.ledger import findings
from runs.config import describe_keys

ROOT = Path(__file__).parents[1]
LEDGER = ROOT / "results" / "reference" / "claims.csv"


def mechanism_table() -> str:
    """Every registered mechanism, in Markdown."""
    lines = ["| key | mechanism | claims | source |", "| --- | --- | --- | --- |"]
    for key, cls in all_mechanisms().items():
        source = cls.paper if cls.theorem == "none" else f"{cls.paper}, {cls.theorem}"
        lines.append(f"| `{key}` | {cls.title} | {cls.guarantee} DP | {source} |")
    return "\n".join(lines).replace("none DP", "nothing")


def generated_blocks() -> dict[tuple[str, str], str]:
    """(file, name of a block in it) and the block's text."""
    ledger = pd.read_csv(LEDGER, keep_default_na=False)
    return {
        ("README.md", "findings"): findings(ledger),
        ("README.md", "mechanisms"): mechanism_table(),
        ("config/README.md", "keys"): describe_keys(),
    }


def replaced(text: str, name: str, block: str) -> str:
    """`text` with the block between its two markers replaced.

    Raises:
        ValueError: The markers are not there exactly once.
    """
    begin, end = f"<!-- {name}: generated -->", f"<!-- {name}: end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the file must hold {begin} and {end} exactly once")
    before, rest = text.split(begin)
    return f"{before}{begin}\n{block.strip()}\n{end}{rest.split(end)[1]}"


def main() -> None:
    """Rewrite the generated blocks."""
    for (file, name), block in generated_blocks().items():
        path = ROOT / file
        path.write_text(replaced(path.read_text(), name, block))


if __name__ == "__main__":
    main()
