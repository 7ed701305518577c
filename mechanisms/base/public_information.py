"""Public side information: what a study knows without the private records.

`Mechanism.public_information` names the options that take such information, each with its kind. A
study offers the kinds that it has, and `public_options` passes those that the mechanism names. The
name of an option says nothing about its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mechanisms.base.mechanism import Mechanism

# The mean of public records that resemble the released ones, in the shape of the query.
MEAN_RECORD = "mean of public records"
# The number of parameters in each layer of the released network, from input to output.
LAYER_SIZES = "sizes of the network's layers"
# The share of its range to which each element is clipped, in the shape of the query.
CLIPPING_SHARES = "clipping shares from public records"
# The linear queries on the released histogram, as a Workload over all its cells.
WORKLOAD = "workload of linear queries"


def public_options(
    mechanism: type[Mechanism], known: Mapping[str, Callable[[], Any]]
) -> dict[str, Any]:
    """Return the options of a mechanism that public side information sets, with their values.

    Args:
        mechanism: The class.
        known: A function without arguments for each kind of information that the study has. It is
            called only if the mechanism takes that kind.
    """
    return {
        option: known[kind]()
        for option, kind in mechanism.public_information.items()
        if kind in known
    }


def takes(mechanism: type[Mechanism], kind: str) -> bool:
    """Whether a mechanism has an option for this kind of public side information."""
    return kind in mechanism.public_information.values()
