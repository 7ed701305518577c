"""Public side information: what a study knows without the private records.

A mechanism declares which of its options take such information, and of which kind, in
`Mechanism.public_information`. A study offers the kinds that it has; `public_options` gives the
mechanism those that it declares. No option is recognised by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mechanisms.base.mechanism import Mechanism

# The mean of public records of the kind that is released, in the shape of the query.
MEAN_RECORD = "mean of public records"
# Elements of each layer of the network whose parameters are released, from the input on.
LAYER_SIZES = "sizes of the network's layers"
# For every element the part of its range that it is clipped to, of the query's shape.
CLIPPING_SHARES = "clipping shares from public records"
# The linear queries on the released histogram, as a Workload over all its cells.
WORKLOAD = "workload of linear queries"


def public_options(
    mechanism: type[Mechanism], known: Mapping[str, Callable[[], Any]]
) -> dict[str, Any]:
    """The options of a mechanism that public side information gives.

    Args:
        mechanism: The class; options whose kind is unknown to the study keep their defaults.
        known: For each kind that the study has a function of no arguments that returns it. It is
            called only where the mechanism declares that kind.
    """
    return {
        option: known[kind]()
        for option, kind in mechanism.public_information.items()
        if kind in known
    }


def takes(mechanism: type[Mechanism], kind: str) -> bool:
    """Whether a mechanism has an option for this kind of public side information."""
    return kind in mechanism.public_information.values()
