"""Claims as data: the entries of paper_figures/<paper>/claims.yaml, and their checks."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from claims.discovery import HOMES
from claims.judges import Judge, all_judges
from claims.paper import Paper, Record, Sentence, entries
from claims.verdicts import Sizes, Verdict
from studies.base.settings import ConfigError, nearest, read_settings, refuse_unknown
from studies.base.yaml_file import errors_in

# A longer statement makes two claims, or says how something is computed.
MOST_WORDS = 30


def _known_sizes(value: Any) -> Any:
    if isinstance(value, dict):
        refuse_unknown("", value, [field.name for field in dataclasses.fields(Sizes)])
    return value


class Claim(Record):
    """One statement of a paper.

    Args:
        id: A unique "<short paper>-<topic>" of small letters, digits and hyphens. It names the
            claim's files and its page on the site.
        paper: The key of the paper.
        where: The place in the paper.
        kind: The sort of statement.
        about: The facts that all claims of the paper share.
        statement: The claim in this project's words, as one sentence that is true or false.
        expected: The paper's number or order, as text; it names every part of the claim.
        not_run: Words of `expected` that name parts which were not judged, each with the reason.
            They become parts with the verdict `not run`, except for the name of a network or a data
            set that the run has.
        reply: The answer of an author of the paper to the verdict, with the name and the date.
        reservation: The restrictions or concessions that the paper itself makes.
        scope: The way in which the claim is read and judged. It cannot remove a part of the claim.
        judge: The name of a judge in the paper's folder, or of one in claims/.
        arguments: The keyword arguments of the judge, such as the paper's numbers. `!paper NAME`
            stands for a number in papers/<paper>.py that other code reads too.
        tolerance: The relative tolerance of exact numbers, for judges that take one.
        margin: The smallest difference that matters between numbers over trials, in their units,
            for judges that take one.
        reason: The reason for that tolerance or margin.
        sizes: The paper's sizes.
        decided_by: The run that would decide parts that are inconclusive or not run.
        meaning: For each verdict that can be expected, a sentence for readers that is true of every
            run.
        in_reference: For each verdict, a sentence for readers about the numbers of the committed
            run. It replaces the one in `meaning` in that run.
    """

    id: Annotated[str, Field(pattern="^[a-z0-9-]{1,80}$")]
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
    sizes: Annotated[Sizes, BeforeValidator(_known_sizes)] = Sizes()
    decided_by: str = ""
    meaning: dict[Verdict, Sentence] = {}
    in_reference: dict[Verdict, Sentence] = {}

    @property
    def limits(self) -> dict[str, float]:
        """The tolerance and the margin, if they are stated."""
        return self.model_dump(include={"tolerance", "margin"}, exclude_none=True)

    def check(self) -> None:
        """Check the rules of the ledger.

        Raises:
            ConfigError: The claim breaks a rule; the message has a remedy.
        """
        words = len(self.statement.split())
        if words > MOST_WORDS:
            raise ConfigError(
                f"it has {words} words, at most {MOST_WORDS} are allowed; move formulas to "
                "`expected`",
                "statement",
            )
        for part in self.not_run:
            if part not in self.expected:
                problem = "`expected` does not contain it; name the part there"
                raise ConfigError(problem, f"not_run.{part}")
        if self.about.read == "abstract" and self.judge != "needs_a_run":
            problem = "only the abstract was read; use the judge needs_a_run for its claims"
            raise ConfigError(problem, "judge")
        if not self.reason:
            for limit in self.limits:
                raise ConfigError("it needs a reason", limit)


def all_claims() -> list[Claim]:
    """Return every claim, paper by paper in the order of their years.

    Raises:
        ConfigError: The file of a paper is wrong (see `claims_in`), or has an id that another
            paper's file has too.
    """
    judges, found = all_judges(), {}
    for path in sorted(HOMES.glob("*/claims.yaml"), key=lambda path: (path.parent.name[-4:], path)):
        own = claims_in(path, judges)
        if taken := found.keys() & own.keys():
            problem = f"another paper has the claim {min(taken)} too; rename it here"
            raise ConfigError(f"paper_figures/{path.parent.name}/claims.yaml: {problem}")
        found |= own
    return list(found.values())


def claims_in(path: Path, judges: Mapping[str, Judge]) -> dict[str, Claim]:
    """Read a file, and return its claims by id.

    Args:
        path: The claims.yaml of a paper.
        judges: Every judge by name.

    Raises:
        ConfigError: The file is not a list of claims; a claim names a judge that does not exist; a
            field or an argument is unknown, missing or has a wrong value; a claim breaks a rule of
            the ledger; an id is used twice; or papers/<paper>.py lacks a name.
    """
    claims: dict[str, Claim] = {}
    first, *others = entries(path)
    with errors_in(path):
        shared = {"paper": path.parent.name, "about": read_settings(Paper, first, "0")}
        for index, fields in enumerate(others, start=1):
            claim = _claim(shared | fields, str(index), judges)
            if claim.id in claims:
                problem = "another claim has this id; rename one of them"
                raise ConfigError(problem, f"{index}.id")
            claims[claim.id] = claim
    return claims


def _claim(fields: Mapping[str, Any], path: str, judges: Mapping[str, Judge]) -> Claim:
    """Build a claim, whose index in its file is `path`, and check the arguments of its judge."""
    claim = read_settings(Claim, fields, path)
    if claim.judge not in judges:
        what_next = nearest(claim.judge, judges, "did you mean {!r}?") or "see extend/claim.py"
        raise ConfigError(f"there is no judge {claim.judge!r}; {what_next}", f"{path}.judge")
    try:
        checked = read_settings(judges[claim.judge].schema, claim.arguments | claim.limits)
    except ConfigError as error:
        above = "" if error.key in ("tolerance", "margin") else "arguments"
        raise error.below(path, above) from None
    return claim.model_copy(update={"arguments": dict(checked)})
