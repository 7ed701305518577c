"""Tables in Markdown."""

import re
from collections.abc import Collection

import pandas as pd

# A bar ends a cell. The others may begin a tag, code, strikethrough, a formula, a character by its
# name, emphasis (a star behind a word and before none only ends it), or end the words of a link.
_SPECIAL = re.compile(
    r"[\\`<~|$]|&(?=#?\w+;)|(?<!\w)[*_]|\*(?=[\w*])|\](?=[(\[:])|(?<=:)(?=//)|(?<=www)(?=\.)"
)


def markdown_table(table: pd.DataFrame, markup: Collection[str] = ()) -> str:
    """A table as GitHub's Markdown shows it, without the index.

    Args:
        table: Every cell and every name of a column is shown as text.
        markup: Columns that are Markdown already, of trusted text.
    """
    text = table.astype(str).apply(
        lambda column: column.map(_in_one_line if column.name in markup else _escaped)
    )
    shown = text.rename(columns=_escaped)
    return shown.to_markdown(index=False, tablefmt="github", disable_numparse=True)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return _SPECIAL.sub(_of_special, _in_one_line(str(text)))


def _of_special(found: re.Match) -> str:
    # An empty comment breaks an address, which would become a link.
    return f"\\{found[0]}" if found[0] else "<!-- -->"
