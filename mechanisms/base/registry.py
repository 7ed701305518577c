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


class UnknownMechanism(ValueError):
    """No mechanism has this key (the message gives the nearest), or module:Class fails to load."""


@functools.cache
def all_mechanisms() -> dict[str, type[Mechanism]]:
    """Return every mechanism of the catalogue by key, in alphabetical order of the keys.

    A file that is broken, or has the key of another one, is named on stderr and left out.
    """
    found: dict[str, type[Mechanism]] = {}
    places = pkgutil.walk_packages([str(CATALOGUE)], "mechanisms.catalogue.")
    for module in modules_of([place.name for place in places if not place.ispkg]):
        own = {
            value.key: value
            for value in vars(module).values()
            if _is_mechanism(value) and value.__module__ == module.__name__
        }
        if taken := sorted(own.keys() & found.keys()):
            why = f"{found[taken[0]].__module__} has the key {taken[0]!r} too; change one"
            leave_out(module.__name__, why)
        else:
            found |= own
    return dict(sorted(found.items()))


def get_mechanism(name: str) -> type[Mechanism]:
    """Return the mechanism with this key, or the class behind ``module:Class``.

    Raises:
        UnknownMechanism: No such key (the message gives the nearest), module or class, or a module
            that cannot be imported (the message gives the line).
        TypeError: It is a function or no Mechanism, or states no key or no valid guarantee.
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
    if not _is_mechanism(found) or found.guarantee not in GUARANTEES:
        raise TypeError(f"{name} must be a Mechanism with a key and a guarantee in {GUARANTEES}")
    return found


def _is_mechanism(value: object) -> bool:
    return (
        inspect.isclass(value)
        and issubclass(value, Mechanism)
        and not inspect.isabstract(value)
        and hasattr(value, "key")
    )
