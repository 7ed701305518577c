"""What a phone needs of a page: tables as cards whose cells repeat the head of their column, and
options of commands in one piece."""

import re
from itertools import count

from markupsafe import Markup

# Tables of the leaderboard have one column that a phone shows.
_TABLE = re.compile(r"<table(?![^>]*data-rows)([^>]*)>(.*?)</table>", re.DOTALL)
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_CELL = re.compile(r"<(td|th)\b")
# In the text of an element, not in a tag; a browser breaks lines after each hyphen. Scripts and
# styles have hyphens of their own.
_OPTION = re.compile(r"<(script|style)\b.*?</\1>|(?<![\w-])--[a-z][\w-]*(?![^<>]*>)", re.DOTALL)


def with_labels(page: str) -> str:
    """A page as HTML, with `data-label` on the cells of its tables."""
    return _TABLE.sub(_labelled, page)


def with_whole_options(page: str) -> str:
    """A page as HTML, with options of commands as elements that are not broken."""
    return _OPTION.sub(
        lambda found: found[0] if found[1] else f'<span class="option">{found[0]}</span>', page
    )


def _labelled(found: re.Match) -> str:
    attributes, content = found.groups()
    head, body = content.split("<tbody>", 1)
    labels = [Markup(each).striptags().replace('"', "") for each in _HEAD.findall(head)]
    rows = "<tr".join(_row(row, labels) for row in body.split("<tr"))
    if "class=" not in attributes:
        attributes += ' class="stack"'
    return f"<table{attributes}>{head}<tbody>{rows}</table>"


def _row(row: str, labels: list[str]) -> str:
    column = count()
    return _CELL.sub(lambda cell: f'<{cell[1]} data-label="{labels[next(column)]}"', row)
