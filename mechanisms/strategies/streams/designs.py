"""The factorisations by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from mechanisms.strategies.streams import closed_forms, optimised_toeplitz
from mechanisms.strategies.streams.factorisation import Factorisation
from mechanisms.strategies.streams.optimal_banded import optimal_banded
from mechanisms.strategies.streams.optimal_stream import optimal_factorisation
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload


@dataclass(frozen=True, kw_only=True)
class Design:
    """Which factorisation, for what.

    Args:
        family: One of `FAMILIES`.
        workload: A.
        participation: What BandMF, BLT and banded are optimised for.
        bands: p of BandMF (bands of C) and BISR (bands of C^-1), or None for the power of two, or
            n, with the least mean error. Of banded (bands of C), or None for twice the separation.
        buffers: Buffers of BLT.
    """

    family: str
    workload: StreamWorkload
    participation: Participation
    bands: int | None
    buffers: int


def _bandmf(design: Design) -> Factorisation:
    return _best_bands(
        design,
        lambda bands: optimised_toeplitz.banded(design.workload, bands, design.participation),
    )


def _banded(design: Design) -> Factorisation:
    """Where nothing restricts the bands, what is found faster and for more steps."""
    steps = design.workload.steps
    if design.participation.most(steps) == 1 and (design.bands or steps) >= steps:
        return optimal_factorisation(design.workload)
    return optimal_banded(design.workload, design.bands, design.participation)


def _bisr(design: Design) -> Factorisation:
    return _best_bands(
        design, lambda bands: closed_forms.banded_inverse_root(design.workload, bands)
    )


def _blt(design: Design) -> Factorisation:
    return optimised_toeplitz.buffered(design.workload, design.buffers, design.participation)


def _best_bands(design: Design, made: Callable[[int], Factorisation]) -> Factorisation:
    if design.bands is not None:
        return made(design.bands)
    steps = design.workload.steps
    tried = [made(1 << power) for power in range((steps - 1).bit_length() + 1)]
    return min(tried, key=lambda each: each.error(design.workload, design.participation).mean)


FAMILIES: dict[str, Callable[[Design], Factorisation]] = {
    "square-root": lambda design: closed_forms.square_root(design.workload),
    "identity": lambda design: closed_forms.identity(design.workload),
    "bandmf": _bandmf,
    "bisr": _bisr,
    "blt": _blt,
    "tree": lambda design: closed_forms.binary_tree(design.workload),
    "banded": _banded,
    "dense": lambda design: optimal_factorisation(design.workload),
}


# All budgets and both calibrations share one search.
@lru_cache(maxsize=4)
def factorisation(design: Design) -> Factorisation:
    """The factorisation of a design."""
    return FAMILIES[design.family](design)
