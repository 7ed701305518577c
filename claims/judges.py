"""Judges: functions that decide claims. A claim in claims.yaml states its judge's arguments.

A judge is in the folder of its paper, or in this package if it decides claims of any paper. The
decorator `judge` makes both discoverable.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Annotated, Any, get_type_hints

from pydantic import Field, create_model

import claims
from claims.discovery import declared, paper_modules
from claims.paper import Record
from claims.verdicts import Finding, not_run
from runs.results import Results

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]
Epsilon = Positive
Delta = Annotated[float, Field(ge=0, lt=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
Shape = tuple[Count, ...]


class CannotJudge(Exception):
    """The results do not suffice to decide a claim; the message is the reason.

    The verdict on the claim is then `not run`.
    """


@dataclass(frozen=True)
class Judge:
    """A function that decides claims, and the studies whose results it reads.

    A judge with the argument `study` reads that study, and the studies that its argument `beside`
    names.

    Args:
        name: The name of the function, which claims.yaml states.
        studies: The studies whose rows the function reads, whatever its arguments.
        timings: The studies whose timings the function reads.
        function: The function. It takes the results, if it reads any, and keyword arguments.
    """

    name: str
    studies: tuple[str, ...]
    timings: tuple[str, ...]
    function: Callable[..., Finding]

    @property
    def reads_results(self) -> bool:
        """Whether the function reads the results of a run."""
        return bool(self.studies or self.timings) or "study" in self.schema.model_fields

    def read_studies(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the studies whose rows the function reads if it has these arguments."""
        if self.studies or not self.reads_results:
            return self.studies
        return arguments["study"], *(arguments.get("beside") or ())

    def tables(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return the names of the files in results/<run>/studies/ that the function reads."""
        files = [f"{study}.parquet" for study in self.read_studies(arguments)]
        return files + [f"{study}.timings.parquet" for study in self.timings]

    @cached_property
    def schema(self) -> type[Record]:
        """A model of the keyword arguments of the function, with their types and defaults."""
        types = get_type_hints(self.function, include_extras=True)
        fields = {
            name: (
                types.get(name, Any),
                ... if parameter.default is parameter.empty else parameter.default,
            )
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }
        return create_model(self.name, __base__=Record, **fields)

    def decide(self, results: Results | None, arguments: dict[str, Any]) -> Finding:
        """Judge a claim with these arguments, which must fit the schema."""
        read = (results,) if self.reads_results else ()
        return self.function(*read, **arguments)


def judge(
    function: Callable[..., Finding] | None = None,
    *,
    studies: Iterable[str] = (),
    timings: Iterable[str] = (),
):
    """Declare a function as a judge.

    The function takes the results as its first argument if it reads any, that is, if `studies` are
    given here or if it has the keyword argument `study`. `timings` come beside one of these.

    Raises:
        TypeError: `studies` is a string.
    """
    if isinstance(studies, str):
        raise TypeError(f"studies must be a tuple of names, such as ({studies!r},), not a string")

    def declare(function: Callable[..., Finding]) -> Callable[..., Finding]:
        function.judge = Judge(function.__name__, tuple(studies), tuple(timings), function)
        return function

    return declare if function is None else declare(function)


@judge
def needs_a_run(*, missing: str) -> Finding:
    """Return the finding `not run`, for a claim that nothing in this suite decides yet.

    With this judge the claim still appears in the ledger.

    Args:
        missing: A sentence that says what is missing.
    """
    return not_run(missing)


def shared_modules() -> list[ModuleType]:
    """Return the modules of this package, some of which have judges for claims of any paper."""
    names = [info.name for info in pkgutil.iter_modules(claims.__path__)]
    return [importlib.import_module(f"claims.{name}") for name in names]


def all_judges() -> dict[str, Judge]:
    """Return every judge by name."""
    return declared([*shared_modules(), *paper_modules()], "judge")
