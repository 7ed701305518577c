"""Format tables in Markdown."""

import re
from collections.abc import Collection

import pandas as pd

# The characters to escape. A bar ends a cell. The others may begin a tag, code, strikethrough, a
# formula, a named character or emphasis, or end the text of a link. A star that ends a word is not
# escaped, because it can only end emphasis.
_SPECIAL = re.compile(
    r"[\\`<~|$]|&(?=#?\w+;)|(?<!\w)[*_]|\*(?=[\w*])|\](?=[(\[:])|(?<=:)(?=//)|(?<=www)(?=\.)"
)


def markdown_table(table: pd.DataFrame, markup: Collection[str] = ()) -> str:
    """Format a table without its index for GitHub's Markdown.

    Args:
        table: The table. Its cells and column names are escaped and so shown as plain text.
        markup: The columns whose cells are already Markdown, from trusted text.
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
    # An empty match is inside a web address; a comment keeps the address from becoming a link.
    return f"\\{found[0]}" if found[0] else "<!-- -->"
