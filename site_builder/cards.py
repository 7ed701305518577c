"""Adapt pages to phones, where a table row is a card and command options stay on one line.

In a card, every cell has the heading of its column.
"""

import re
from itertools import count

from markupsafe import Markup

# All tables but those of the leaderboard, `data-rows`, of which a phone shows one column.
_TABLE = re.compile(r"<table(?![^>]*data-rows)([^>]*)>(.*?)</table>", re.DOTALL)
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_CELL = re.compile(r"<(td|th)\b")
# Options in text. Tags, scripts and styles have hyphens of their own and are skipped.
_OPTION = re.compile(r"<(script|style)\b.*?</\1>|(?<![\w-])--[a-z][\w-]*(?![^<>]*>)", re.DOTALL)


def add_cell_labels(page: str) -> str:
    """Add `data-label` to the table cells of an HTML page."""
    return _TABLE.sub(_label_table, page)


def keep_options_whole(page: str) -> str:
    """Wrap command options in elements in which browsers do not break lines, even after hyphens."""
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
