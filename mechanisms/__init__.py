"""Differential-privacy noise for vector-, matrix- and tensor-valued queries.

Mechanisms are in `catalogue`, one file each or for a family that shares a calibration; those for
one kind of query are in its folders. ARCHITECTURE.md lists the other rooms.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Read by runs.sources, which finds the files that results depend on. The comparison and the
    # audit are not among them. Type checkers read `__init__.pyi`.
    from mechanisms.base.mechanism import AdditiveMechanism, Mechanism  # noqa: F401
    from mechanisms.base.registry import (  # noqa: F401
        UnknownMechanism,
        all_mechanisms,
        get_mechanism,
    )
    from mechanisms.query.query import (  # noqa: F401
        Budget,
        Inconsistent,
        OutOfRangeWarning,
        Query,
        RefutedWarning,
        Unsupported,
    )

# Imported on first use: scipy alone takes most of a second.
_HOMES = {
    "AdditiveMechanism": "mechanisms.base.mechanism",
    "Budget": "mechanisms.query.query",
    "Inconsistent": "mechanisms.query.query",
    "Mechanism": "mechanisms.base.mechanism",
    "OutOfRangeWarning": "mechanisms.query.query",
    "Query": "mechanisms.query.query",
    "RefutedWarning": "mechanisms.query.query",
    "UnknownMechanism": "mechanisms.base.registry",
    "Unsupported": "mechanisms.query.query",
    "all_mechanisms": "mechanisms.base.registry",
    "compare": "mechanisms.comparison.advisor",
    "distance_to_no_data": "mechanisms.comparison.no_data",
    "get_mechanism": "mechanisms.base.registry",
    "verify": "mechanisms.verification.verification",
}

__all__ = list(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'mechanisms' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
