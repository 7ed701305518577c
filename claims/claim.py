"""Claims as data: the entries of paper_figures/<paper>/claims.yaml, and their checks."""

import re
from collections import Counter
from collections.abc import Mapping
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

# A longer statement makes two claims, or says how something is computed.
MOST_WORDS = 30
_REMOVED = re.compile(r"\bnot (?:judged|run)\b|\bleft out\b")


def _plain(text: str) -> str:
    if not re.fullmatch("[a-z0-9-]{1,80}", text):
        raise ValueError("must be at most 80 small letters, digits and hyphens")
    return text


# A claim's id names its page on the site.
Id = Annotated[str, AfterValidator(_plain)]


class Claim(BaseModel):
    """One statement of a paper.

    Args:
        id: A unique "<short paper>-<topic>" of small letters, digits and hyphens, which names files
            and pages.
        paper: The key of the paper.
        where: The place in the paper.
        kind: The sort of statement.
        about: The facts that all claims of the paper share.
        statement: The claim in this project's words, as one sentence that is true or false.
        expected: The paper's number or order, as text; it names every part of the claim.
        not_run: The words of `expected` that were not judged, each with the reason. They become
            parts with the verdict `not run`, except a network or a data set that the run has.
        reply: The answer of an author of the paper to the verdict, with the name and the date.
        reservation: The restrictions or concessions that the paper itself makes.
        scope: The way in which the claim is read and judged. It cannot remove a part of the claim.
        judge: The name of a judge in the paper's folder, or of one in claims/ for any paper.
        arguments: The keyword arguments of the judge, such as the paper's numbers. `!paper NAME`
            stands for a number in papers/<paper>.py that other code reads too.
        tolerance: The relative tolerance of exact numbers, for judges that take one.
        margin: The smallest difference that matters between numbers over trials, in their units,
            for judges that take one.
        reason: The reason for that tolerance or margin.
        sizes: The paper's sizes.
        decided_by: The run that would decide parts that are inconclusive or not run.
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
    judge: str
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
    """Return every claim, paper by paper in the order of their years.

    Three kinds of claims are left out, each with a warning: those of a paper whose file is broken,
    those of papers that share an id, and those whose judge is in a file that was left out.
    """
    judges, found = all_judges(), {}
    for path in sorted(HOMES.glob("*/claims.yaml"), key=lambda path: (path.parent.name[-4:], path)):
        try:
            found[path] = claims_in(path, judges)
        except ConfigError as error:
            leave_out(shown_path(path), str(error).removeprefix(f"{path}, "))
    return _without_shared_ids(found)


def _without_shared_ids(found: Mapping[Path, Mapping[str, Claim]]) -> list[Claim]:
    """Return the claims of the papers that share no id with another paper.

    Args:
        found: The claims of every claims.yaml, by their ids.
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
    """Read the claims of one file by their ids, except those whose judge was left out.

    Args:
        path: A claims.yaml in the folder of its paper.
        judges: Every judge by name.

    Raises:
        ConfigError: The file is not a list of claims; a field is unknown to the claim and its judge
            or has a wrong value; a claim breaks a rule of the ledger; an id is used twice; or
            papers/<paper>.py lacks a name.
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
    """Build the claim, and check it and the arguments of its judge."""
    fields = {"paper": entry.path.parent.name, "about": about} | entry.fields
    claim = entry.validate(Claim, fields)
    _check_rules(entry, claim)
    if claim.judge not in judges:
        what_next = nearest(claim.judge, judges, "; did you mean {!r}?") or "; see extend/claim.py"
        raise entry.error(("judge",), f"there is no judge {claim.judge!r}{what_next}")
    limits = claim.model_dump(include={"tolerance", "margin"}, exclude_none=True)
    if limits and not claim.reason:
        raise entry.error(tuple(limits)[:1], "a tolerance or a margin needs a reason")
    schema = judges[claim.judge].schema
    checked = entry.validate(schema, claim.arguments | limits, ("arguments",))
    return claim.model_copy(update={"arguments": dict(checked)})


def _check_rules(entry: Entry, claim: Claim) -> None:
    """Raise ConfigError with a remedy if a claim breaks a rule of the ledger."""
    if (words := len(claim.statement.split())) > MOST_WORDS:
        raise entry.error(
            ("statement",),
            f"the statement has {words} words, at most {MOST_WORDS} are allowed; move formulas to "
            "`expected`",
        )
    if removed := _REMOVED.search(claim.scope):
        raise entry.error(
            ("scope",),
            f"the scope says {removed[0]!r} and cannot remove a part; name it in `expected` and in "
            "`not_run`",
        )
    for part in claim.not_run:
        if part not in claim.expected:
            raise entry.error(
                ("not_run", part), f"`expected` does not contain {part!r}; name the part there"
            )
    if claim.about.read == "abstract" and claim.judge != "needs_a_run":
        raise entry.error(
            ("judge",), "only the abstract was read; use the judge needs_a_run for its claims"
        )
