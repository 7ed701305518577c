"""A function or a program against its claim, by its outputs alone."""

import math
import shlex

import numpy as np

from mechanisms.black_box.output_sources import load_function
from mechanisms.black_box.program_source import from_program
from mechanisms.query.query import Query
from mechanisms.report.pairs_audit import audit_pairs
from mechanisms.report.subject import Subject
from mechanisms.report.truth import FAILED, audited_verdict, failure, query_of
from mechanisms.verification.neighbours import resting_value

# Of the audit, and outputs by which the error is measured.
SECONDS, OUTPUTS, MEASURED = 90.0, 30_000, 1000


def sampled(subject: Subject, question: dict) -> dict:
    """The audit of a function or a program at one query and budget, for a child process.

    Returns:
        As `truth.truth`; `measured` is the root mean square difference of outputs from the value
        that they answer, and its standard error, where outputs have the value's shape.
    """
    try:
        return _sampled(subject, question)
    except ValueError as error:
        return {"verdict": FAILED, "why": " ".join(str(error).split())}
    except BaseException as error:
        return failure(error, subject.name)


def _sampled(subject: Subject, question: dict) -> dict:
    query = query_of(question)
    if question["function"]:
        release = load_function(subject.name, "value", "rng")
    else:
        release = shlex.split(subject.name)
    found = audit_pairs(
        release, query, question["epsilon"], question["delta"],
        audits=1, seconds=SECONDS, most=OUTPUTS, text=subject.text,
    )  # fmt: skip
    return audited_verdict(found) | _error(release, query, subject.text)


def _error(release, query: Query, text: bool) -> dict:
    """The root mean square error at one value, measured."""
    rest = resting_value(query)
    if rest is None:
        return {}
    rng = np.random.default_rng(1)
    if callable(release):
        outputs = np.array([release(rest.copy(), rng) for _ in range(MEASURED)], float)
    else:
        outputs = from_program(release, rest, text=text)(rng, MEASURED)
    if outputs.shape[1:] != rest.shape:
        return {}
    squares = ((outputs - rest) ** 2).reshape(MEASURED, -1).mean(axis=1)
    rmse = math.sqrt(squares.mean())
    error = squares.std(ddof=1) / math.sqrt(MEASURED) / (2 * rmse) if rmse else 0.0
    return {"measured": [rmse, float(error)]}
