"""A report as one HTML page: it needs no other file, and a browser prints it or makes it a PDF."""

import html
import math
import re
from collections.abc import Iterable, Sequence

from mechanisms.query.words import rounded_down
from mechanisms.report.report import Report
from mechanisms.report.subject import MECHANISM
from mechanisms.report.words import (
    MEANING,
    cell_words,
    certificate,
    summary,
    sureness,
    undecided,
)

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem;
  overflow-wrap: anywhere }
h1 { line-height: 1.2 }
table { overflow-wrap: normal }
h2 { margin-top: 2rem; border-bottom: 1px solid #8888 }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { border: 1px solid #8888; padding: .3rem .5rem; text-align: left; vertical-align: top }
td small { display: block }
.holds, .loose { background: #2a7d4f33 }
.refuted { background: #b3261e33 }
.undecided, .inconsistent { background: #b8860033 }
.own { font-weight: 600 }
.scroll { overflow-x: auto }
pre { font-size: .9rem; white-space: pre-wrap }
pre span { white-space: nowrap }
@media print { body { max-width: none; font-size: 10pt } h2 { break-after: avoid }
  table, li { break-inside: avoid } * { print-color-adjust: exact } }
"""


def page(report: Report, command: str) -> str:
    """The page; `command` is what repeats it."""
    about = report.about
    parts = [
        f"<h1>Report on {_text(about['title'])}</h1>",
        _of_the_subject(report),
        "<h2>What was found</h2>",
        _list(summary(report)),
        f"<h2>True privacy of its claim: {_text(report.query)}</h2>",
        _cells(report),
        f"<p>{_text(sureness())} "
        + "; ".join(f"<b>{name}</b>: {words}" for name, words in MEANING.items())
        + ".</p>",
        *_warnings(report),
        *_families(report),
        *_comparisons(report),
        "<h2>Certificate</h2>",
        f"<p>{_text(certificate(report))}</p>",
        "<h2>What has no verdict, and why</h2>",
        _list(undecided(report)) or "<p>Nothing.</p>",
        "<h2>Repeat it</h2>",
        # A narrow screen does not break an option after its hyphens.
        re.sub(r"(?<!\S)--[\w-]+", r"<span>\g<0></span>", f"<pre>{_text(command)}</pre>"),
        f"<p>It took {report.seconds:.0f} s. The browser's print command makes a PDF of this page."
        "</p>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Report on {_text(about['title'])}</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _text(value: object) -> str:
    return html.escape(str(value))


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _table(head: Sequence[str], rows: Iterable[str]) -> str:
    cells = "".join(f"<th>{_text(each)}</th>" for each in head)
    return f'<div class="scroll"><table><tr>{cells}</tr>{"".join(rows)}</table></div>'


def _of_the_subject(report: Report) -> str:
    about = report.about
    lines = [f"{report.subject.given}, a {about['kind']}"]
    if about["kind"] == MECHANISM:
        lines.append(f"claims {about['guarantee']} privacy by {about['theorem']}, {about['paper']}")
    if report.digest:
        lines.append(f"SHA-256 of the file: {report.digest}")
    first = about["about"].split("\n\n")[0]
    return f"<p>{_text(first)}</p>{_list(lines)}" if first else _list(lines)


def _cells(report: Report) -> str:
    head = ["epsilon", *(f"M = {size:,}" for size in report.sizes)]
    rows = []
    for epsilon in report.epsilons:
        cells = (report.cells[epsilon, size] for size in report.sizes)
        row = "".join(
            f'<td class="{cell["verdict"]}">{cell["verdict"]}<small>{_text(cell_words(cell))}'
            f"</small></td>"
            for cell in cells
        )
        rows.append(f"<tr><th>{epsilon:g}</th>{row}</tr>")
    return _table(head, rows)


def _warnings(report: Report) -> list[str]:
    told = sorted({cell["warning"] for cell in report.cells.values() if cell.get("warning")})
    if not told:
        return []
    return ["<p>Outside the range that it states for itself:</p>", _list(told)]


def _families(report: Report) -> list[str]:
    if not report.families:
        return []
    rows = [
        f'<tr><td>{_text(words)}</td><td class="{cell["verdict"]}">{cell["verdict"]}'
        f"<small>{_text(cell_words(cell) or cell.get('why', ''))}</small></td></tr>"
        for words, cell in report.families.items()
    ]
    return ["<h2>Standard queries, M = 64</h2>", _table(("query", "claim"), rows)]


def _comparisons(report: Report) -> list[str]:
    parts = []
    for words, found in report.comparisons.items():
        parts.append(f"<h2>Error at equal true privacy: {_text(words)}</h2>")
        if "fault" in found:
            parts.append(f"<p>There is no comparison: it {_text(found['fault'])}.</p>")
        elif "rows" in found:
            head = ("rank", "mechanism", "noise", "RMSE", "of best", "of the limit")
            parts.append(_table(head, map(_ranked_row, found["rows"])))
            parts.append(f"<p>{_text(found['conclusion'])} RMSE of one element.</p>")
            parts.append(_list(f"It {note}." for note in found["notes"]))
        else:
            parts.append(_list(_of_the_claim(report, found)))
    return parts


def _ranked_row(row: dict) -> str:
    numbers = "".join(
        f"<td>{'-' if row[name] is None else format(row[name], '.5g')}</td>"
        for name in ("rmse", "times_best", "of_limit")
    )
    rank = "-" if row["rank"] is None else row["rank"]
    rescaled = "rescaled, refuted as published" if row["refuted"] else "rescaled"
    noise = rescaled if row["calibration"] == "exact" else f"as published, {row['verdict']}"
    css = ' class="own"' if row["own"] else ""
    return (
        f"<tr{css}><td>{rank}</td><td>{_text(row['title'])}</td><td>{_text(noise)}</td>"
        f"{numbers}</tr>"
    )


def _of_the_claim(report: Report, found: dict) -> list[str]:
    """What is known of the claim; the noise of outputs alone cannot be rescaled."""
    lines = []
    (cell,) = report.cells.values()
    if "measured" in cell:
        rmse, error = cell["measured"]
        lines.append(f"Measured at one value: RMSE {rmse:.4g} +- {error:.1g} of one element.")
    if found["best"] is not None:
        title, rmse = found["best"]
        lines.append(f"Least of the package at this claim: {title}, RMSE {rmse:.5g}.")
    if found["limit"] is not None and math.isfinite(found["limit"]):
        lines.append(
            f"No mechanism with this claim has an RMSE below {rounded_down(found['limit'], 5)} at "
            "all values."
        )
    return lines
