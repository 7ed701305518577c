"""Claims as data: the entries of paper_figures/<paper>/claims.yaml, checked when they are read."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel

from claims.discovery import HOMES
from claims.entries import Entry, entries, shown_path
from claims.judges import STRICT, Judge, all_judges
from claims.paper import Paper, Sentence, paper_in
from claims.verdicts import Sizes, Verdict
from mechanisms.query.extensions import leave_out, left_out
from studies.base.settings import ConfigError, nearest

# A longer statement says two things, or how a thing is computed.
MOST_WORDS = 30
_REMOVED = re.compile(r"\bnot (?:judged|run)\b|\bleft out\b")


def _plain(text: str) -> str:
    if not re.fullmatch("[a-z0-9-]{1,80}", text):
        raise ValueError("must be at most 80 small letters, digits and hyphens")
    return text


# A claim's id is the name of its page.
Id = Annotated[str, AfterValidator(_plain)]


class Claim(BaseModel):
    """One statement of a paper.

    Args:
        id: Unique, "<short paper>-<what>" of small letters, digits and hyphens: it names files and
            pages.
        paper: Key of the paper.
        where: Place in the paper.
        kind: What sort of statement it is.
        about: What holds for all claims of the paper.
        statement: What is claimed, in this project's words: one sentence that is true or false.
        expected: The paper's number or order, as text; it names every part of the claim.
        not_run: The words of `expected` that were not judged, each with the reason. They are parts
            with the verdict `not run`.
        reply: What an author of the paper answers to the verdict, with the name and the date.
        reservation: What the paper itself restricts the claim to, or concedes.
        scope: How the claim is read and judged. It cannot remove a part of it.
        judge: Name of a judge in paper_figures/, for a theorem or for one paper's study.
        rule: Name of a rule in claims/ instead; its arguments are fields of the claim.
        arguments: What the judge is given, such as the paper's numbers; its signature says what.
            `!paper NAME` stands for a number that other code reads too, in
            papers/<paper>.py.
        tolerance: Relative, for exact numbers; for judges that take one.
        margin: The smallest difference that matters, for numbers over trials, in their units; for
            judges that take one.
        reason: Why that tolerance or margin.
        sizes: The paper's sizes, as in `Sizes`.
        decided_by: The run that would decide what is inconclusive or not run.
        meaning: One sentence for readers per verdict that can be expected; true of every run.
        in_reference: The same about the numbers of the committed run, for that run alone.
    """

    model_config = STRICT

    id: Id
    paper: str
    about: Paper
    where: str
    kind: Literal["guarantee", "value", "order", "formula", "trend", "cost"]
    statement: Sentence
    expected: str
    not_run: dict[str, str] = {}
    reply: Sentence | Literal[""] = ""
    judge: str = ""
    rule: str = ""
    reservation: str = ""
    scope: str = ""
    arguments: dict[str, Any] = {}
    tolerance: float | None = None
    margin: float | None = None
    reason: str = ""
    sizes: Sizes = Sizes()
    decided_by: str = ""
    meaning: dict[Verdict, Sentence] = {}
    in_reference: dict[Verdict, Sentence] = {}


def all_claims() -> list[Claim]:
    """Every claim, paper by paper in the order of their years.

    The claims of a paper whose file is broken are left out, with a warning; so are those of papers
    with one id for two claims, and those whose judge is in a file that was left out.
    """
    judges, found = all_judges(), {}
    for path in sorted(HOMES.glob("*/claims.yaml"), key=lambda path: (path.parent.name[-4:], path)):
        try:
            found[path] = claims_in(path, judges)
        except ConfigError as error:
            leave_out(shown_path(path), str(error).removeprefix(f"{path}, "))
    return _without_shared_ids(found)


def _without_shared_ids(found: Mapping[Path, Mapping[str, Claim]]) -> list[Claim]:
    """The claims of those papers whose ids are all their own: nobody knows whose one that is not.

    Args:
        found: Of every claims.yaml its claims by their ids.
    """
    uses = Counter(chain.from_iterable(found.values()))
    kept = []
    for path, claims in found.items():
        if twice := next((each for each in claims if uses[each] > 1), None):
            leave_out(
                shown_path(path), f"another paper has the claim {twice} too; rename one of them"
            )
        else:
            kept += claims.values()
    return kept


def claims_in(path: Path, judges: Mapping[str, Judge]) -> dict[str, Claim]:
    """The claims of one file by their ids, without those whose judge was left out.

    Args:
        path: A claims.yaml in the home of its paper.
        judges: Every rule and judge by name.

    Raises:
        ConfigError: The file is no list of claims; a field that the claim or its judge does not
            have, or one with a wrong value; a rule of the ledger that is broken; an id that is used
            twice; a name that papers/<paper>.py does not have.
    """
    broken = left_out(f"paper_figures.{path.parent.name}")
    claims: dict[str, Claim] = {}
    listed = entries(path)
    about = paper_in(next(listed))
    for entry in listed:
        if broken and entry.fields.get("judge", "") not in ("", *judges):
            continue
        claim = _claim(entry, about, judges)
        if claim.id in claims:
            raise entry.error(("id",), "another claim has this id; rename one of them")
        claims[claim.id] = claim
    return claims


def _claim(entry: Entry, about: Paper, judges: Mapping[str, Judge]) -> Claim:
    """The claim, with its rules and the arguments of its judge checked."""
    own, inline = {"paper": entry.path.parent.name, "about": about} | entry.fields, {}
    if "rule" in own:
        inline = {name: own.pop(name) for name in set(own) - set(Claim.model_fields)}
    claim = entry.checked(Claim, own)
    for place, problem in _broken_rules(claim):
        raise entry.error(place, problem)
    name = claim.rule or claim.judge
    if bool(claim.rule) == bool(claim.judge):
        raise entry.error((), "name either a rule or a judge")
    if name not in judges:
        near = nearest(name, judges, "; did you mean {!r}?")
        kind = "rule" if claim.rule else "judge"
        what_next = near or "; see extend/claim.py"
        raise entry.error((kind,), f"there is no {kind} {name!r}{what_next}")
    limits = {"tolerance": claim.tolerance, "margin": claim.margin}
    limits = {name: value for name, value in limits.items() if value is not None}
    if limits and not claim.reason:
        raise entry.error(tuple(limits)[:1], "a tolerance or a margin needs a reason")
    given = (inline or claim.arguments) | limits
    checked = entry.checked(judges[name].schema, given, () if claim.rule else ("arguments",))
    return claim.model_copy(update={"arguments": dict(checked)})


def _broken_rules(claim: Claim) -> Iterator[tuple[tuple, str]]:
    """The rules of the ledger that a claim breaks: a place in its entry, and what to do."""
    if (words := len(claim.statement.split())) > MOST_WORDS:
        problem = (
            f"the statement has {words} words, at most {MOST_WORDS} are allowed; move formulas"
        )
        yield ("statement",), f"{problem} to `expected`"
    if removed := _REMOVED.search(claim.scope):
        problem = f"the scope says {removed[0]!r} and cannot remove a part; name it in `expected`"
        yield ("scope",), f"{problem} and in `not_run`"
    for part in claim.not_run:
        if part not in claim.expected:
            yield ("not_run", part), f"`expected` does not contain {part!r}; name the part there"
    if claim.about.read == "abstract" and claim.rule != "needs_a_run":
        yield ("judge",), "the abstract alone was read; the rule of its claims is needs_a_run"
