"""Format the ledger as a page, and its rows as lines for a terminal."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from claims.certificates import certificate_of, command, proof
from claims.markdown import markdown_table
from claims.paper import paper_of
from claims.verdicts import (
    CONFIRMED,
    DEPENDS,
    MEANING,
    NOT_RUN,
    PARTLY,
    count_of,
)
from datasets.titles import dataset_title
from mechanisms.query.words import with_minus

BRACKETS = (
    "Brackets are confidence intervals: the one that the verdict on that part rests on. What "
    "supports a claim needs 95%; what contradicts it needs 99.99%, so that of a claim with up to "
    "100 comparisons at most 1% is wrong."
)
# Verdicts that do not read well after a count, and the words in their place.
_COUNTED = {PARTLY: "partly confirmed", DEPENDS: "dependent on an open choice"}
SHOW = (
    "`python -m paper_figures show RUN CLAIM --all`, with the name of this folder and the id of a "
    "claim, judges it again and prints every number and what was computed."
)
# A title and a text; a fact with an empty text is not shown.
Fact = tuple[str, str]
# The most words of one claim on the page of claims; the command `show` prints the rest.
MOST_WORDS = 200
_FEW_WORDS = 4
_VERDICTS = "|".join(MEANING)
# A part with a verdict and a reason: on a line of its own, and among others between semicolons.
_OUTCOME = re.compile(rf"(.+?): ({_VERDICTS})(?: \((.+)\))?")
_PART = re.compile(rf"(.+?): ({_VERDICTS})(?: \((.+?)\))?(?:; |$)")


class WrittenPart(NamedTuple):
    """A part or an outcome of the ledger, such as "below JL: 0.01: confirmed (reason)".

    Args:
        words: The name and our number.
        verdict: The verdict.
        reason: The reason for the verdict; "" if there is none.
        parts: The parts of an outcome; empty for a part.
    """

    words: str
    verdict: str
    reason: str
    parts: tuple["WrittenPart", ...] = ()


def parts_of(claim: Mapping[str, Any]) -> list[WrittenPart]:
    """Parse the parts or outcomes of a row of the ledger; the list is empty for a single part."""
    found = []
    for line in items(claim["parts"]):
        words, verdict, rest = _OUTCOME.fullmatch(line).groups(default="")
        inner = [WrittenPart(*part.groups(default="")) for part in _PART.finditer(rest)]
        # The brackets hold the parts of an outcome, or the reason of a part without a choice.
        parts = tuple(inner) * bool(claim["choice"])
        found.append(WrittenPart(words, verdict, "" if parts else rest, parts))
    return found


def claims_page(ledger: pd.DataFrame) -> str:
    """Return the page claims.md: every claim with its verdict, parts and sizes."""
    counts = count_of(ledger["verdict"]).items()
    counted = ", ".join(f"{count} {_COUNTED.get(verdict, verdict)}" for verdict, count in counts)
    lines = ["# Claims ledger", "", f"{len(ledger)} claims: {counted}.", ""]
    for verdict, meaning in MEANING.items():
        is_named = verdict not in (CONFIRMED, NOT_RUN)
        named = ledger["claim"][is_named & (ledger["verdict"] == verdict)]
        links = ", ".join(f"[{name}](#{name})" for name in named)
        lines.append(f"- **{verdict}**: {meaning}{f' Claims: {links}.' if links else ''}")
    lines += ["", BRACKETS, "", SHOW]
    for paper, claims in ledger.groupby("paper", sort=False):
        links = [f"[{claim}](#{claim})" for claim in claims["claim"]]
        index = claims[["claim", "where", "statement", "verdict"]].assign(claim=links)
        lines += ["", f"## {paper}", ""]
        if about := paper_of(paper):
            lines += [about.read_words, ""]
        lines += [markdown_table(index, markup=["claim"])]
        for _, claim in claims.iterrows():
            lines += _section(claim)
    return with_minus("\n".join(lines) + "\n")


def size_words(claim: Mapping[str, Any]) -> str:
    """Format our sizes beside the paper's: "10,000 of 60,000 records; 5 of 100 epochs"."""
    words = []
    for name in ("records", "epochs", "rounds", "trials"):
        ours, theirs = claim[name], claim[f"paper {name}"]
        if pd.notna(ours):
            known = pd.notna(theirs)
            less, more = known and ours < theirs, known and ours > theirs
            text = f"{ours:,g}{f' of {theirs:,g}' if less else ''} {name}"
            words.append(f"{text} (paper: {theirs:,g})" if more else text)
    if words and _is_given(claim["dataset"]):
        words[0] += f" of {dataset_title(claim['dataset'])}"
    for name, before in (("network", ""), ("epsilons", "epsilon ")):
        ours, theirs = claim[name], claim[f"paper {name}"]
        if _is_given(ours):
            differs = _is_given(theirs) and theirs != ours
            words.append(f"{before}{ours}{f' (paper: {theirs})' if differs else ''}")
    return "; ".join(words)


def _is_given(value) -> bool:
    return isinstance(value, str) and value != ""


def claim_lines(claim: Mapping[str, Any], *, whole: bool) -> list[str]:
    """Format a row of the ledger as lines: the claim, the verdict and the parts.

    Args:
        claim: The row.
        whole: Whether to add the implied epsilons, and how the claim was judged.
    """
    verdict = claim["verdict"]
    facts = [*_said(claim, verdict), ("Left open", claim["choice"]), *_single_finding(claim)]
    parts = [f"  - {part}" for part in items(claim["parts"])]
    method = []
    if whole:
        implied = [("Implied epsilon", words) for words in items(claim["implied epsilon"])]
        method = [*implied, *how_judged(claim), ("Computed", claim["detail"])]
    return [
        f"{claim['claim']} ({claim['paper']}, {claim['where']}): {verdict}",
        *(f"{title}: {text}" for title, text in facts if text),
        *parts,
        *(f"{title}: {text}" for title, text in method if text),
    ]


def _single_finding(claim: Mapping[str, Any]) -> list[Fact]:
    """Return our number with the verdict, if the claim has a single part."""
    alone = claim["we find"] and not claim["parts"]
    return [("We find", f"{claim['we find']}: {claim['verdict']}")] if alone else []


def _said(claim: Mapping[str, Any], verdict: str) -> list[Fact]:
    """Return the claim, the paper's number, and the verdict with its sentence.

    Args:
        claim: The row.
        verdict: The verdict as it is printed.
    """
    return [
        ("Claim", claim["statement"]),
        ("The paper", claim["paper says"]),
        ("Its reservation", claim["reservation"]),
        ("Verdict", f"{verdict}. {claim['sentence']}".strip()),
        ("An author replies", claim["reply"]),
    ]


def how_judged(claim: Mapping[str, Any]) -> list[Fact]:
    """Return how the claim was judged, with the sizes on each data set."""
    limits = []
    if pd.notna(claim["tolerance"]):
        limits.append(f"tolerance {claim['tolerance']:g} (relative)")
    if pd.notna(claim["margin"]):
        limits.append(f"margin {claim['margin']:.3g}")
    return [
        ("Would be decided by", claim["decided by"]),
        *(("Sizes", sizes) for sizes in [size_words(claim), *items(claim["other sizes"])]),
        ("Threshold", "; ".join(limits)),
        ("Not the paper's method", claim["differs"]),
        ("Scope", claim["scope"]),
        ("Why this threshold" if limits else "Choices", claim["reason"]),
    ]


def _section(claim: pd.Series) -> list[str]:
    """Format a claim in at most MOST_WORDS words, if its claim, verdict and sizes allow it."""
    name = claim["claim"]
    lines = [f"### {name} ({claim['where']})", ""]
    lines += _bullets(_said(claim, f"**{claim['verdict']}**"))
    *facts, differs, scope, reason = how_judged(claim)
    for path in certificate_of(name):
        facts.append(("Proof", f"{proof(path)} Check it: `{command(path)}`"))
    tail = _bullets(facts)
    lines += _fit_parts(claim, MOST_WORDS - _words(lines + tail))
    for line in _bullets([differs, scope, reason]):
        if _words([*lines, *tail, line]) <= MOST_WORDS:
            tail.append(line)
    return ["", f'<a id="{name}"></a>', *lines, *tail]


def _fit_parts(claim: pd.Series, room: int) -> list[str]:
    """Format as many parts or outcomes as fit into `room` words, and the number of the others."""
    parts = [f"  - {line}" for line in items(claim["parts"])]
    if claim["choice"]:
        parts = [f"  - {outcome.words}: {outcome.verdict}" for outcome in parts_of(claim)]
    if only := _bullets(_single_finding(claim)):
        return only if _words(only) <= room else []
    if _words(parts) > room:
        # The parts that are not confirmed decide the verdict.
        parts.sort(key=lambda part: f": {CONFIRMED}" in part)
    kept = 0
    while kept < len(parts) and _words(parts[: kept + 1]) + _FEW_WORDS <= room:
        kept += 1
    left = len(parts) - kept
    return parts[:kept] + ([f"  - and {left} more"] if left and kept else [])


def items(text: str) -> list[str]:
    """Split the text of a column that has an item on each line."""
    return list(filter(None, text.split("\n")))


def _bullets(facts: Iterable[Fact]) -> list[str]:
    return [f"- **{title}:** {' '.join(text.split())}" for title, text in facts if text]


def _words(lines: list[str]) -> int:
    return sum(len(line.split()) for line in lines)
