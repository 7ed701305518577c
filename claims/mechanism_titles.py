"""What a mechanism is called in figures and findings."""

import functools

from mechanisms import Mechanism, UnknownMechanism, all_mechanisms, get_mechanism


@functools.cache
def variants() -> dict[str, tuple[type[Mechanism], str, tuple[str, str, int]]]:
    """Variants of the shipped configs: the class, what the variant changes, and the look."""
    return {
        name: (found, *stated)
        for found in all_mechanisms().values()
        for name, stated in found.variants.items()
    }


def class_of(name: str) -> type[Mechanism] | None:
    """The class behind a key, module:Class or a variant's name; None where it is not known."""
    if name in variants():
        return variants()[name][0]
    try:
        return get_mechanism(name)
    except UnknownMechanism:
        return None


def mechanism_title(name: str) -> str:
    """The title of a mechanism, given as its key, as module:Class or as a variant's name.

    A variant that the suite does not know keeps its name: only its config says what it is.
    """
    found = class_of(name)
    if found is None:
        return name
    return f"{found.title} ({variants()[name][1]})" if name in variants() else found.title
