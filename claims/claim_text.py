"""Format a claim of the ledger as lines of text, in at most MOST_WORDS unless all is wanted."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from claims.ledger_pages import MOST_WORDS, WrittenPart, all_sizes, limit_of, parts_of

WITH_ALL = "All parts with their numbers: the same command with --all."
_MORE = ((1, "..."), (0, WITH_ALL))


def is_long(claim: Mapping[str, Any]) -> bool:
    """Return whether `claim_lines` shortens the row of the ledger."""
    return bool(claim["parts"]) and _count_words(_result_lines(claim)) > MOST_WORDS


def claim_lines(claim: Mapping[str, Any], *, whole: bool) -> list[tuple[int, str]]:
    """Return the lines of a row of the ledger, each with its depth of indentation.

    Args:
        claim: The row.
        whole: Whether to include every number and reason, and how they were computed. Otherwise a
            long claim has only the verdicts of its parts or outcomes, as many as fit.
    """
    if whole:
        return [*_result_lines(claim), *_method_lines(claim)]
    if not is_long(claim):
        return _result_lines(claim)
    head, short = _head(claim), list(_lines(parts_of(claim), numbers=False))
    if _count_words([*head, *short, *_MORE]) > MOST_WORDS and claim["choice"]:
        short = [(depth, line) for depth, line in short if depth == 1]
    kept = len(short)
    while _count_words([*head, *short[:kept], *_MORE]) > MOST_WORDS:
        kept -= 1
    return [*head, *short[:kept], *(_MORE if kept < len(short) else _MORE[1:])]


def _result_lines(claim: Mapping[str, Any]) -> list[tuple[int, str]]:
    return [*_head(claim), *_lines(parts_of(claim), numbers=True), *_implied(claim)]


def _head(claim: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return lines on the name, the statement and the verdict of a claim."""
    single = claim["we find"] and not claim["parts"]
    said = {
        "claim": claim["statement"],
        "the paper": claim["paper says"],
        "we find": f"{claim['we find']}: {claim['verdict']}" if single else "",
        "verdict": claim["sentence"],
        "reply": claim["reply"],
        "left open": claim["choice"],
    }
    name = f"{claim['claim']} ({claim['paper']}, {claim['where']}): {claim['verdict']}"
    return [(0, name), *_titled_lines(said)]


def _method_lines(claim: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield lines on the method: its sizes, its limits and the computation."""
    yield from _titled_lines(
        {
            "sizes": "; ".join(filter(None, all_sizes(claim))),
            "limit": limit_of(claim),
            "scope": claim["scope"],
            "differs": claim["differs"],
            "computed": claim["detail"],
            "reason": claim["reason"],
        }
    )


def _titled_lines(said: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    return ((0, f"{title:<10} {text}") for title, text in said.items() if text)


def _lines(
    parts: Iterable[WrittenPart], *, numbers: bool, depth: int = 1
) -> Iterator[tuple[int, str]]:
    for part in parts:
        words = part.words if numbers or part.parts else part.words.partition(": ")[0]
        reason = f" ({part.reason})" if part.reason and numbers else ""
        yield depth, f"{words}: {part.verdict}{reason}"
        yield from _lines(part.parts, numbers=numbers, depth=depth + 1)


def _implied(claim: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return lines on the implied epsilons, if the row has any."""
    found = list(filter(None, claim.get("implied epsilon", "").split("\n")))
    return [(0, "implied epsilon")] * bool(found) + [(1, each) for each in found]


def _count_words(lines: Iterable[tuple[int, str]]) -> int:
    return sum(len(line.split()) for _, line in lines)
