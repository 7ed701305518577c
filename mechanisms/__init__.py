"""Differential-privacy noise for vector-, matrix- and tensor-valued queries."""

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
]
