"""Adapt pages to phones: tables become cards, and command options stay in one piece.

In a card, every cell repeats the heading of its column.
"""

import re
from itertools import count

from markupsafe import Markup

# Tables of the leaderboard, `data-rows`, are excluded: a phone shows one of their columns.
_TABLE = re.compile(r"<table(?![^>]*data-rows)([^>]*)>(.*?)</table>", re.DOTALL)
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_CELL = re.compile(r"<(td|th)\b")
# Options in the text of an element, but not in tags, scripts or styles, which have hyphens of their
# own. Without this, browsers would break lines after every hyphen.
_OPTION = re.compile(r"<(script|style)\b.*?</\1>|(?<![\w-])--[a-z][\w-]*(?![^<>]*>)", re.DOTALL)


def add_cell_labels(page: str) -> str:
    """Add `data-label` to the table cells of an HTML page."""
    return _TABLE.sub(_label_table, page)


def keep_options_whole(page: str) -> str:
    """Wrap the command options of an HTML page in elements that browsers do not break."""
    return _OPTION.sub(
        lambda found: found[0] if found[1] else f'<span class="option">{found[0]}</span>', page
    )


def _label_table(found: re.Match) -> str:
    attributes, content = found.groups()
    head, body = content.split("<tbody>", 1)
    labels = [Markup(each).striptags().replace('"', "") for each in _HEAD.findall(head)]
    rows = "<tr".join(_label_row(row, labels) for row in body.split("<tr"))
    if "class=" not in attributes:
        attributes += ' class="stack"'
    return f"<table{attributes}>{head}<tbody>{rows}</table>"


def _label_row(row: str, labels: list[str]) -> str:
    column = count()
    return _CELL.sub(lambda cell: f'<{cell[1]} data-label="{labels[next(column)]}"', row)
