"""A plan as a YAML file, read strictly: every mistake is one line with file, line and remedy."""

import dataclasses
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from mechanisms.base.mechanism import CALIBRATIONS, SCALES, Mechanism
from mechanisms.base.registry import get_mechanism
from mechanisms.plans.plan import ADJACENCIES, Entry, Parallel, Release, Search
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.finite_profile import GuaranteeProfile, PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.sampling.poisson_sampling import LEAST_RATE
from mechanisms.query.query import ADJACENCIES as STATED
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.words import nearest
from mechanisms.query.written_numbers import number_in, whole_number_in
from mechanisms.query.yaml_file import ConfigError, located, read_yaml

_KINDS = ("mechanism", "gaussian", "laplace", "guarantee", "parallel", "search")
_SHARED = ("name", "times", "rate", "adjacency", "fixed")
_MOST = 10**9  # releases of one kind, records of a group, and elements along an axis


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a plan file says.

    Attributes:
        names, releases: Of the entries, in order.
        epsilons, deltas: Where the total is asked for.
        rates: False positive rates of an attack, whose true positive rate is asked for.
        budget: Which the noise has to meet, or None.
    """

    names: tuple[str, ...]
    releases: tuple[Entry, ...]
    adjacency: str = "add-remove"
    group: int = 1
    epsilons: tuple[float, ...] = ()
    deltas: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()
    budget: Budget | None = None


def read_plan(path: Path | str) -> Plan:
    """The plan of a file; ConfigError with the file, the line and what is allowed."""
    content = read_yaml(path)
    try:
        return _plan(_Section(content, ""))
    except ConfigError as error:
        raise located(error, path) from None


class _Section:
    """A mapping of the file, whose keys are taken one by one."""

    def __init__(self, content: Any, path: str) -> None:
        self.path = path
        if not isinstance(content, dict):
            raise ConfigError(f"{path or 'a plan'} must be a mapping, got {content!r}", path)
        self.content = content

    def below(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def allow(self, *names: str) -> None:
        """Refuse every key that is none of the names."""
        for key in self.content:
            if key not in names:
                raise ConfigError(
                    f"unknown key {self.below(str(key))}; {nearest(key, names)}allowed are "
                    f"{', '.join(names)}",
                    self.below(str(key)),
                )

    def take(self, key: str, read: Callable[[Any], Any], allowed: str, default: Any = ...) -> Any:
        """The value of a key; `read` raises TypeError or ValueError where it is not `allowed`."""
        if key not in self.content:
            if default is ...:
                raise ConfigError(f"{self.below(key)} is missing; it must be {allowed}", self.path)
            return default
        try:
            return read(self.content[key])
        except (TypeError, ValueError, OverflowError):
            raise ConfigError(
                f"{self.below(key)} must be {allowed}, got {self.content[key]!r}", self.below(key)
            ) from None

    def section(self, key: str) -> Self:
        return _Section(self.content.get(key), self.below(key))

    def sections(self, key: str) -> list[Self]:
        found = self.content.get(key)
        if not isinstance(found, list) or not found:
            raise ConfigError(
                f"{self.below(key)} must be a list of releases, got {found!r}",
                self.below(key) if key in self.content else self.path,
            )
        return [_Section(each, f"{self.below(key)}[{i}]") for i, each in enumerate(found)]


def _number(low: float, high: float, *, ends: bool = False) -> Callable[[Any], float]:
    """A reader of numbers between low and high; YAML reads 1e-5 as text."""

    def read(value: Any) -> float:
        if isinstance(value, bool):
            raise TypeError
        found = number_in(str(value))
        if not (low < found < high or (ends and found in (low, high) and math.isfinite(found))):
            raise ValueError
        return found

    return read


_positive = _number(0.0, math.inf)
_rate = _number(LEAST_RATE, 1.0, ends=True)
_scale = _number(*SCALES, ends=True)
_probability = _number(0.0, 1.0)


def _count(value: Any) -> int:
    found = whole_number_in(str(value))
    if not 1 <= found <= _MOST:
        raise ValueError
    return found


def _one_of(*names: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in names:
            raise ValueError
        return value

    return read


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _several(read: Callable[[Any], float]) -> Callable[[Any], tuple[float, ...]]:
    return lambda value: tuple(
        read(each) for each in (value if isinstance(value, list) else [value])
    )


def _plan(top: _Section) -> Plan:
    top.allow("adjacency", "group", "epsilon", "delta", "attack", "budget", "releases")
    adjacency = top.take("adjacency", _one_of(*ADJACENCIES), " or ".join(ADJACENCIES), "add-remove")
    names, releases = [], []
    for i, section in enumerate(top.sections("releases")):
        release = _entry(section)
        names.append(section.take("name", str, "a name", f"{_kind(section)} {i + 1}"))
        releases.append(release)
    return Plan(
        names=tuple(names),
        releases=tuple(releases),
        adjacency=adjacency,
        group=top.take("group", _count, "a whole number from 1 to 10^9", 1),
        epsilons=top.take(
            "epsilon", _several(_number(0.0, math.inf, ends=True)), "numbers >= 0", ()
        ),
        deltas=top.take("delta", _several(_probability), "numbers in (0, 1)", ()),
        rates=top.take("attack", _several(_probability), "false positive rates in (0, 1)", ()),
        budget=_only_budget(top.section("budget")) if "budget" in top.content else None,
    )


def _only_budget(section: _Section) -> Budget:
    section.allow("epsilon", "delta")
    return _budget(section)


def _budget(section: _Section) -> Budget:
    return _checked(
        section,
        Budget,
        epsilon=section.take("epsilon", _positive, "a number > 0"),
        delta=section.take("delta", _number(0.0, 1.0, ends=True), "a number in [0, 1)", 0.0),
    )


def _kind(section: _Section) -> str:
    given = [kind for kind in _KINDS if kind in section.content]
    if len(given) != 1:
        raise ConfigError(
            f"{section.path} must have exactly one of {', '.join(_KINDS)}, got "
            f"{' and '.join(given) or 'none'}",
            section.path,
        )
    return given[0]


def _entry(section: _Section) -> Entry:
    kind = _kind(section)
    if kind == "parallel":
        section.allow("name", kind)
        return Parallel(tuple(_entry(each) for each in section.sections(kind)))
    if kind == "search":
        section.allow("name", kind)
        inner = section.section(kind)
        inner.allow("runs", "eta", "releases")
        return _checked(
            inner,
            Search,
            releases=tuple(_entry(each) for each in inner.sections("releases")),
            runs=inner.take("runs", _positive, "the mean number of runs, > 0"),
            eta=inner.take(
                "eta",
                lambda value: None if value == "poisson" else _number(-1.0, math.inf)(value),
                "a number > -1, or poisson",
                1.0,
            ),
        )
    own = ("query", "epsilon", "delta", "calibration", "options") if kind == "mechanism" else ()
    section.allow(kind, *own, *_SHARED)
    return _checked(
        section,
        Release,
        of=_mechanism(section) if kind == "mechanism" else _profile(section, kind),
        times=section.take("times", _count, "a whole number from 1 to 10^9", 1),
        rate=section.take("rate", _rate, f"a number in [{LEAST_RATE:g}, 1]", 1.0),
        adjacency=section.take("adjacency", _one_of(*STATED), " or ".join(STATED), None),
        fixed=section.take("fixed", _flag, "true or false", False),
    )


def _profile(section: _Section, kind: str) -> PrivacyProfile:
    if kind == "guarantee":
        budget = _only_budget(section.section(kind))
        above = PureProfile(largest=budget.epsilon)
        if budget.delta:
            above = GuaranteeProfile(largest=budget.epsilon, told=budget.delta)
        return BoundedProfile(above=above)
    least, most = SCALES
    allowed = f"the scale of the noise over the sensitivity, from {least:g} to {most:g}"
    scale = section.take(kind, _scale, allowed)
    if kind == "gaussian":
        return GaussianProfile(mu=1 / scale)
    return LaplaceProfile(l1_sensitivity=1.0, scale=scale)


def _mechanism(section: _Section) -> Mechanism:
    asked = section.section("query")
    asked.allow(*(field.name for field in dataclasses.fields(Query)))
    sizes = asked.take("shape", _several(_count), "sizes such as 10 or [89, 89]")
    given = {name: _as_number(value) for name, value in asked.content.items()}
    query = _checked(asked, Query, **given | {"shape": sizes})
    key = section.take("mechanism", str, "a mechanism's key, or module:Class")
    calibration = section.take(
        "calibration", _one_of(*CALIBRATIONS), " or ".join(CALIBRATIONS), "published"
    )
    options = section.section("options").content if "options" in section.content else {}
    budget = _budget(section)
    with warnings.catch_warnings():
        # That a theorem does not hold at this budget: the profile is that of the noise.
        warnings.simplefilter("ignore")
        return _checked(
            section, lambda: get_mechanism(key).calibrate(query, budget, calibration, **options)
        )


def _as_number(value: Any) -> Any:
    """A text such as 1e-5 as a number; anything else as it is."""
    try:
        return number_in(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _checked(section: _Section, make: Callable, **arguments):
    """What `make` returns, or its error at the place of the section."""
    try:
        return make(**arguments)
    except Unsupported as reason:
        raise ConfigError(f"{section.path}: it {reason}", section.path) from None
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{section.path}: {error}", section.path) from None
