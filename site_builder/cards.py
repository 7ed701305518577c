"""Tables that a phone shows as cards: every cell repeats the head of its column."""

import re
from itertools import count

from markupsafe import Markup

# Tables of the leaderboard have one column that a phone shows.
_TABLE = re.compile(r"<table(?![^>]*data-rows)([^>]*)>(.*?)</table>", re.DOTALL)
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_CELL = re.compile(r"<(td|th)\b")


def with_labels(page: str) -> str:
    """A page as HTML, with `data-label` on the cells of its tables."""
    return _TABLE.sub(_labelled, page)


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
