"""Judges: functions whose keyword arguments are what a claim in claims.yaml has to state.

A judge of a theorem stands in the home of its paper. A rule is a judge that decides claims of any
paper, and stands in this package. Both are found by their decorator.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

import claims
from claims.discovery import paper_modules
from claims.verdicts import Finding
from mechanisms.query.extensions import leave_out
from runs.results import Results

STRICT = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]
Epsilon = Positive
Delta = Annotated[float, Field(ge=0, lt=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
Shape = tuple[Count, ...]


class CannotJudge(Exception):
    """The results at hand do not let a claim be judged; the message is the reason.

    Raised by judges; the claim's verdict is then `not run`.
    """


@dataclass(frozen=True)
class Judge:
    """A function that decides claims, and the studies whose results it reads.

    It takes the results of these studies, if there are any, and keyword arguments. One with the
    argument `study` reads that study, and those that its argument `beside` names.
    """

    name: str
    studies: tuple[str, ...]
    timings: tuple[str, ...]
    function: Callable[..., Finding]

    @property
    def reads_results(self) -> bool:
        """Whether a run decides; closed forms decide other claims, alike in every run."""
        return bool(self.studies or self.timings) or "study" in self.schema.model_fields

    def read_studies(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The studies whose rows it reads for a claim with these arguments."""
        if self.studies or not self.reads_results:
            return self.studies
        return arguments["study"], *(arguments.get("beside") or ())

    def tables(self, arguments: Mapping[str, Any]) -> list[str]:
        """The files of a run that it reads for a claim with these arguments."""
        files = [f"{study}.parquet" for study in self.read_studies(arguments)]
        return files + [f"{study}.timings.parquet" for study in self.timings]

    @cached_property
    def schema(self) -> type[BaseModel]:
        """What a claim has to state: the keyword arguments with their types and defaults."""
        types = get_type_hints(self.function, include_extras=True)
        fields = {
            name: (
                types.get(name, Any),
                ... if parameter.default is parameter.empty else parameter.default,
            )
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }
        return create_model(self.name, __config__=STRICT, **fields)

    def decide(self, results: Results | None, arguments: dict[str, Any]) -> Finding:
        """The finding on a claim with these arguments, which fit the schema."""
        read = (results,) if self.reads_results else ()
        return self.function(*read, **arguments)


def judge(
    function: Callable[..., Finding] | None = None,
    *,
    studies: Iterable[str] = (),
    timings: Iterable[str] = (),
):
    """Declare a function as the judge of its own name.

    It takes the results first where it names studies or timings, which it then reads, or has the
    argument `study`.
    """

    def declare(function: Callable[..., Finding]) -> Callable[..., Finding]:
        function.judge = Judge(function.__name__, tuple(studies), tuple(timings), function)
        return function

    return declare if function is None else declare(function)


def rule_modules() -> list[ModuleType]:
    """The modules of this package, which have the rules."""
    names = [info.name for info in pkgutil.iter_modules(claims.__path__)]
    return [importlib.import_module(f"claims.{name}") for name in names]


def judges_in(modules: Iterable[ModuleType]) -> dict[str, Judge]:
    """Every judge of these modules by name; a module with a name that is taken is left out."""
    judges: dict[str, Judge] = {}
    for module in modules:
        functions = [value for value in vars(module).values() if isinstance(value, FunctionType)]
        declared = (
            vars(each).get("judge") for each in functions if each.__module__ == module.__name__
        )
        own = {each.name: each for each in declared if isinstance(each, Judge)}
        if taken := judges.keys() & own.keys():
            leave_out(module.__name__, f"another judge is called {min(taken)}; rename this one")
        else:
            judges |= own
    return judges


def all_judges() -> dict[str, Judge]:
    """Every rule and every judge of a paper by name."""
    return judges_in([*rule_modules(), *paper_modules()])
