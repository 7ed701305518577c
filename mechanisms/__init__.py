"""Differential-privacy noise for vector-, matrix- and tensor-valued queries.

One file per mechanism, or per family of mechanisms that share a calibration, and rooms for what
they are made of; those for counts alone have the room `counting`. All other packages may import
this one; it imports none of them.
"""

import importlib

from mechanisms.contract.mechanism import AdditiveMechanism, Mechanism
from mechanisms.contract.query import (
    Budget,
    OutOfRangeWarning,
    Query,
    Unsupported,
)
from mechanisms.contract.registry import UnknownMechanism, all_mechanisms, get_mechanism

__all__ = [
    "AdditiveMechanism",
    "Budget",
    "Mechanism",
    "OutOfRangeWarning",
    "Query",
    "UnknownMechanism",
    "Unsupported",
    "all_mechanisms",
    "get_mechanism",
    "verify",
]


def __getattr__(name: str):
    # By name and on first use: the results of a run depend on the files that its modules import,
    # and an audit is not one of them.
    if name == "verify":
        return importlib.import_module("mechanisms.audit.verification").verify
    raise AttributeError(f"module 'mechanisms' has no attribute {name!r}")
