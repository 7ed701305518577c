"""Differential-privacy noise for vector-, matrix- and tensor-valued queries.

Each file of `catalogue` has one mechanism, or a family that shares a calibration; its folders have
mechanisms for one kind of query. ARCHITECTURE.md lists the other packages.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # runs.sources reads these imports to find the files that results depend on. Comparison and
    # verification are not among them. Type checkers read `__init__.pyi`.
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

# The modules of the public names, imported on first use: scipy alone takes most of a second.
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
