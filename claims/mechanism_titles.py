"""The titles of mechanisms in figures and findings."""

import functools
from collections.abc import Iterable

from mechanisms import Mechanism, UnknownMechanism, all_mechanisms, get_mechanism

# The mechanisms of a config's `also`, by their keys in rows.
OWN: dict[str, type[Mechanism]] = {}


def name_own(also: Iterable[str]) -> None:
    """Add the mechanisms of a config's `also`, each given as module:Class, to OWN."""
    OWN.update({found.key: found for found in map(get_mechanism, also)})


@functools.cache
def variants() -> dict[str, tuple[type[Mechanism], str, tuple[str, str, int]]]:
    """Return the class, the changed option and the look of each shipped variant, by its name."""
    return {
        name: (found, *stated)
        for found in all_mechanisms().values()
        for name, stated in found.variants.items()
    }


def class_of(name: str) -> type[Mechanism] | None:
    """Return the class of a key, module:Class or a variant's name; None if the name is unknown."""
    if name in variants():
        return variants()[name][0]
    try:
        return get_mechanism(name)
    except UnknownMechanism:
        return None


def mechanism_title(name: str) -> str:
    """Return the title of a mechanism, given by its key, as module:Class or by a variant's name.

    The title of a name that is unknown, such as a variant in a user's config, is the name.
    """
    found = class_of(name) or OWN.get(name)
    if found is None:
        return name
    return f"{found.title} ({variants()[name][1]})" if name in variants() else found.title
