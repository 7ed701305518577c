"""The titles of mechanisms in figures and findings."""

import functools
from collections.abc import Iterable

from mechanisms import Mechanism, UnknownMechanism, all_mechanisms, get_mechanism

# The mechanisms of a config's `also` by the keys under which they stand in rows.
OWN: dict[str, type[Mechanism]] = {}


def name_own(also: Iterable[str]) -> None:
    """Let this process know the mechanisms of a config's `also`, module:Class, by their keys."""
    OWN.update({found.key: found for found in map(get_mechanism, also)})


@functools.cache
def variants() -> dict[str, tuple[type[Mechanism], str, tuple[str, str, int]]]:
    """Return the class, the changed option and the look of each variant of the shipped configs."""
    return {
        name: (found, *stated)
        for found in all_mechanisms().values()
        for name, stated in found.variants.items()
    }


def class_of(name: str) -> type[Mechanism] | None:
    """Return the class behind a key, module:Class or a variant's name; None if it is unknown."""
    if name in variants():
        return variants()[name][0]
    try:
        return get_mechanism(name)
    except UnknownMechanism:
        return None


def mechanism_title(name: str) -> str:
    """Return the title of a mechanism, given as its key, as module:Class or as a variant's name.

    A variant that is defined only in a user's config keeps its name.
    """
    found = class_of(name) or OWN.get(name)
    if found is None:
        return name
    return f"{found.title} ({variants()[name][1]})" if name in variants() else found.title
