"""Factorisations that need no optimiser: identity, square roots, and the binary tree."""

import numpy as np

from mechanisms.strategies.streams.factorisation import DenseFactorisation, ToeplitzFactorisation
from mechanisms.strategies.streams.stream_workload import StreamWorkload, impulse


def identity(workload: StreamWorkload) -> ToeplitzFactorisation:
    """C = I, B = A: independent noise on every step."""
    unit = impulse(workload.steps)
    return ToeplitzFactorisation(column=unit, inverse=unit)


def square_root(workload: StreamWorkload) -> ToeplitzFactorisation:
    """B = C = A^(1/2); of prefix sums with the coefficients binom(2k, k) / 4^k.

    Fichtenberger, Henzinger and Upadhyay 2023 (arXiv:2202.11205); with momentum Kalinin and Lampert
    2024 (arXiv:2405.13763).
    """
    return ToeplitzFactorisation(column=workload.root(), inverse=workload.inverse_root())


def banded_inverse_root(workload: StreamWorkload, bands: int) -> ToeplitzFactorisation:
    """BISR: C^-1 is the first `bands` coefficients of A^(-1/2) (arXiv:2505.12128).

    A step's noise is a sum over the last `bands` draws.
    """
    inverse = workload.inverse_root()
    inverse[bands:] = 0.0
    return ToeplitzFactorisation.of_inverse(inverse)


def binary_tree(workload: StreamWorkload) -> DenseFactorisation:
    """C holds the sums of all nodes of the binary tree over the steps: H_2.

    B is the least-squares estimate from all nodes (Honaker 2015), which the lower-triangular factor
    of X makes step by step. Steps beyond n, up to a power of two, are zero: X_ij counts the nodes
    above both i and j.
    """
    size = workload.steps
    index = np.arange(size)
    # Steps i and j part at the highest bit in which they differ.
    parted = np.frexp((index[:, None] ^ index).astype(float))[1]
    levels = int(size - 1).bit_length() + 1
    return DenseFactorisation(gram=(levels - parted).astype(float))
