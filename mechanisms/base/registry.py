"""Find mechanisms: every class with a key in a file of the catalogue, or ``module:Class``.

A new file in the catalogue needs no entry in any list.
"""

import functools
import inspect
import pkgutil
from pathlib import Path

from mechanisms.base.mechanism import GUARANTEES, Mechanism
from mechanisms.query.extensions import leave_out, modules_of
from mechanisms.query.named_code import LoadError, load_named
from mechanisms.query.words import nearest

# The catalogue, which this package does not import.
CATALOGUE = Path(__file__).resolve().parents[1] / "catalogue"
# What a mechanism of the catalogue states beside its key; module:Class needs the first alone.
STATED = ("guarantee", "title", "paper", "theorem")


class UnknownMechanism(ValueError):
    """No mechanism has this key (the message gives the nearest), or module:Class fails to load."""


@functools.cache
def all_mechanisms() -> dict[str, type[Mechanism]]:
    """Return every mechanism of the catalogue by key, in alphabetical order of the keys.

    A file that is broken, has the key of another one or a mechanism that is not complete, is named
    on stderr and left out.
    """
    found: dict[str, type[Mechanism]] = {}
    places = pkgutil.walk_packages([str(CATALOGUE)], "mechanisms.catalogue.")
    for module in modules_of([place.name for place in places if not place.ispkg]):
        own = {
            value.key: value
            for value in vars(module).values()
            if _has_key(value) and value.__module__ == module.__name__
        }
        why = [
            f"{each.__name__} {fault}" for each in own.values() if (fault := _fault(each, STATED))
        ]
        for key in sorted(own.keys() & found.keys()):
            why.append(f"{found[key].__module__} has the key {key!r} too; change one")
        if why:
            leave_out(module.__name__, why[0])
        else:
            found |= own
    return dict(sorted(found.items()))


def get_mechanism(name: str) -> type[Mechanism]:
    """Return the mechanism with this key, or the class behind ``module:Class``.

    Raises:
        UnknownMechanism: No such key (the message gives the nearest), module or class, or a module
            that cannot be imported (the message gives the line).
        TypeError: It is a function, no Mechanism with a key, or not complete.
    """
    if ":" in name:
        return _outside_mechanism(name)
    known = all_mechanisms()
    if name not in known:
        raise UnknownMechanism(
            f"unknown mechanism {name!r}; {nearest(name, known)}`python -m mechanisms list` has "
            "all; one of your own is module:Class"
        )
    return known[name]


def _outside_mechanism(name: str) -> type[Mechanism]:
    try:
        found = load_named(name)
    except LoadError as error:
        raise UnknownMechanism(f"cannot load mechanism {name!r}: {error}") from error
    if inspect.isfunction(found):
        raise TypeError(f"{name} is a function: `audit` takes it with --pair in place of a shape")
    if not _has_key(found):
        raise TypeError(f"{name} must be a Mechanism: a class derived from it that states a key")
    if fault := _fault(found, STATED[:1]):
        raise TypeError(f"{name} {fault}")
    return found


def _has_key(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Mechanism) and hasattr(value, "key")


def _fault(mechanism: type[Mechanism], stated: tuple[str, ...]) -> str:
    """Return what keeps a class with a key from being a mechanism, or ""."""
    if missing := [name for name in stated if not hasattr(mechanism, name)]:
        return f"states no {missing[0]}; add it"
    if mechanism.guarantee not in GUARANTEES:
        return f"states the guarantee {mechanism.guarantee!r}; allowed are {', '.join(GUARANTEES)}"
    if missing := sorted(mechanism.__abstractmethods__):
        return f"does not define {missing[0]}; add it"
    return ""
