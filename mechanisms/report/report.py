"""The report on a subject: questions to child processes, each within a limit of time and memory."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from mechanisms.comparison.limited_process import LimitedProcess, NoAnswer
from mechanisms.report.standard_queries import COMPARED, DELTA, EPSILONS, FAMILIES, SIZES
from mechanisms.report.subject import FUNCTION, MECHANISM, PROGRAM, Subject, digest
from mechanisms.report.truth import FAILED, UNSUPPORTED

# Seconds for an import, for one query and budget, for all of them, for all families, for an audit,
# and for a comparison: less than ten minutes in all.
IMPORT, CELL, CELLS, SERVED, AUDIT, COMPARISON = 30.0, 20.0, 200.0, 60.0, 180.0, 110.0
# Address space of a child, of which libraries take about one.
MEMORY = 4 << 30
# Comparisons: the first families that are served.
COMPARISONS = 2


class NoReport(ValueError):
    """Nothing can be said about the subject; the message is one line that says why."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was found.

    Args:
        subject, about: What the report is about, and what its file says of it.
        digest: SHA-256 of its file, or None.
        query: The family of the cells in words. epsilons, sizes, delta: Their grid.
        cells: By (epsilon, size), what `truth` or `sampled` answers.
        families: By words of a family, what `truth` answers at M = 64; empty for a stated query.
        comparisons: By words of the query, what `beside_others` answers.
        seconds: How long it took.
    """

    subject: Subject
    about: dict
    digest: str | None
    query: str
    epsilons: list[float]
    sizes: list[int]
    delta: float
    cells: dict[tuple[float, int], dict]
    families: dict[str, dict]
    comparisons: dict[str, dict]
    seconds: float

    def count(self, *verdicts: str) -> int:
        """How many cells have one of these verdicts."""
        return sum(cell["verdict"] in verdicts for cell in self.cells.values())


@dataclass
class _Questions:
    """Asks child processes about a subject, and says on the way what is done."""

    subject: Subject
    process: LimitedProcess
    tell: Callable[[str], None]

    def ask(self, what: str, questions: list[dict], each: float, together: float) -> list[dict]:
        """An answer to each question; a failed cell where the child gives none."""
        answers, end = [], time.monotonic() + together
        for place, question in enumerate(questions):
            self.tell(f"{what.replace('_', ' ')}: {place + 1} of {len(questions)}")
            left = min(each, end - time.monotonic())
            try:
                if left <= 0:
                    raise NoAnswer("was not asked: the report has no time left")
                answers.append(self.process.ask(question | {"ask": what}, left))
            except NoAnswer as reason:
                fault = f"{self.subject.given} {reason}"
                answers.append({"verdict": FAILED, "why": f"it {reason}", "fault": fault})
        return answers


def report_on(
    subject: Subject,
    *,
    stated: dict | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    sizes=SIZES,
    epsilons=EPSILONS,
    others: bool = True,
    tell: Callable[[str], None] = lambda line: None,
) -> Report:
    """Report on a class, a function or a program, in at most ten minutes.

    Args:
        subject: See `subject.subject_of` and `subject.program`.
        stated: Fields of the `Query` that it answers; None for the standard queries. A function or
            a program needs it, and `epsilon`.
        epsilon: The claim of a function or a program; None for a class, which is calibrated.
        delta: Of the claim, or of the budgets of a class; None for 0, or for 1e-5 of a class.
        sizes, epsilons: The grid of a class.
        others: Whether to compare with all mechanisms.
        tell: Is called with a line on what is done.

    Raises:
        NoReport: It cannot be imported, or serves no query.
    """
    begun = time.monotonic()
    with (
        tempfile.TemporaryFile() as printed,
        LimitedProcess(
            "mechanisms.report.answers:answer", subject, memory=MEMORY, output=printed, alone=True
        ) as process,
    ):
        questions = _Questions(subject, process, tell)
        about = {"kind": PROGRAM, "title": subject.given, "about": ""}
        if not subject.is_program:
            (about,) = questions.ask("what_it_is", [{}], IMPORT, IMPORT)
        if "fault" in about:
            raise NoReport(about["fault"])
        if delta is None:
            delta = DELTA if about["kind"] == MECHANISM else 0.0
        if about["kind"] != MECHANISM:
            found = _of_outputs(questions, about, stated, epsilon, delta, others)
        else:
            found = _of_a_mechanism(questions, stated, epsilon, delta, sizes, epsilons, others)
    return Report(
        subject=subject,
        about=about,
        digest=digest(subject),
        delta=delta,
        seconds=time.monotonic() - begun,
        **found,
    )


def _of_outputs(questions, about, stated, epsilon, delta, others) -> dict:
    if stated is None or epsilon is None:
        raise NoReport(
            f"{questions.subject.given} is a {about['kind']}: state what it answers and claims, "
            "such as --shape 1 --l2-sensitivity 1 --epsilon 1"
        )
    question = {"stated": stated, "epsilon": epsilon, "delta": delta, "kind": about["kind"]}
    question["function"] = about["kind"] == FUNCTION
    answers = questions.ask("sampled", [question], AUDIT, AUDIT)
    words, size = _words_of(stated)
    compared = {}
    if others:
        asked = questions.ask("beside_others", [question], COMPARISON, COMPARISON)
        compared[words] = asked[0]
    return {
        "query": words,
        "epsilons": [epsilon],
        "sizes": [size],
        "cells": {(epsilon, size): answers[0]},
        "families": {},
        "comparisons": compared,
    }


def _of_a_mechanism(questions, stated, epsilon, delta, sizes, epsilons, others) -> dict:
    epsilons = list(epsilons) if epsilon is None else [epsilon]
    audits = len(epsilons) * len(sizes) + len(FAMILIES)
    given = {"delta": delta, "audits": audits, "kind": MECHANISM}
    if stated is not None:
        words, size = _words_of(stated)
        asked, families, sizes = {words: {"stated": stated}}, {}, [size]
    else:
        tried = [
            given | {"family": name, "size": COMPARED, "epsilon": epsilons[len(epsilons) // 2]}
            for name in FAMILIES
        ]
        answers = questions.ask("truth", tried, CELL, SERVED)
        families = dict(zip((each.words for each in FAMILIES.values()), answers, strict=True))
        asked = {
            FAMILIES[name].words: {"family": name}
            for name, answer in zip(FAMILIES, answers, strict=True)
            if answer["verdict"] not in (UNSUPPORTED, FAILED)
        }
        if not asked:
            reasons = dict.fromkeys(answer["why"] for answer in answers)
            raise NoReport(
                f"{questions.subject.given} serves none of the standard queries; state yours with "
                f"--shape and its sensitivities. Reasons: {'; '.join(reasons)}"
            )
    words, query = next(iter(asked.items()))
    grid = [(epsilon, size) for epsilon in epsilons for size in sizes]
    cells = questions.ask(
        "truth",
        [given | query | {"epsilon": epsilon, "size": size} for epsilon, size in grid],
        CELL,
        CELLS,
    )
    compared = {}
    if others:
        middle = {"epsilon": 1.0 if 1.0 in epsilons else epsilons[0], "size": COMPARED}
        for name, each in list(asked.items())[:COMPARISONS]:
            tell_what = given | each | middle
            (answer,) = questions.ask("beside_others", [tell_what], COMPARISON, COMPARISON)
            compared[name if stated is not None else f"{name}, M = {COMPARED}"] = answer
    return {
        "query": words,
        "epsilons": epsilons,
        "sizes": list(sizes),
        "cells": dict(zip(grid, cells, strict=True)),
        "families": families,
        "comparisons": compared,
    }


def _words_of(stated: dict) -> tuple[str, int]:
    """A stated query in words, and the number of its elements."""
    size = 1
    for axis in stated["shape"]:
        size *= axis
    rest = ", ".join(
        f"{name.replace('_', ' ')} {f'{value:g}' if isinstance(value, float) else value}"
        for name, value in stated.items()
        if name != "shape" and value is not None
    )
    return f"an answer of shape {'x'.join(map(str, stated['shape']))}, {rest}", size
