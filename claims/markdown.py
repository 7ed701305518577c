"""Format tables in Markdown."""

import re
from collections.abc import Collection

import pandas as pd

# A bar ends a cell. The other characters may begin a tag, code, strikethrough, a formula, a named
# character or emphasis, or end the text of a link. A star that ends a word can only end emphasis,
# so it is left as it is.
_SPECIAL = re.compile(
    r"[\\`<~|$]|&(?=#?\w+;)|(?<!\w)[*_]|\*(?=[\w*])|\](?=[(\[:])|(?<=:)(?=//)|(?<=www)(?=\.)"
)


def markdown_table(table: pd.DataFrame, markup: Collection[str] = ()) -> str:
    """Format a table without its index for GitHub's Markdown.

    Args:
        table: The table; every cell and column name is escaped, so that it is shown as plain text.
        markup: The columns that are already Markdown, from trusted text.
    """
    text = table.astype(str).apply(
        lambda column: column.map(_join_lines if column.name in markup else _escape)
    )
    shown = text.rename(columns=_escape)
    return shown.to_markdown(index=False, tablefmt="github", disable_numparse=True)


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    return _SPECIAL.sub(_escape_match, _join_lines(str(text)))


def _escape_match(found: re.Match) -> str:
    # An empty match is inside an address; a comment there keeps it from becoming a link.
    return f"\\{found[0]}" if found[0] else "<!-- -->"
