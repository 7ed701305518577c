"""What a child process of a report answers; one process serves all questions, see `report`."""

from mechanisms.report.beside_others import beside_others
from mechanisms.report.sampled import sampled
from mechanisms.report.subject import Subject, what_it_is
from mechanisms.report.truth import truth

_ANSWERS = {each.__name__: each for each in (what_it_is, truth, sampled, beside_others)}


def answer(subject: Subject, question: dict) -> dict:
    """The answer of the function that the question names under `ask`."""
    return _ANSWERS[question["ask"]](subject, question)
