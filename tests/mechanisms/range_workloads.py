"""Workloads of ranges, as matrices with a name that tests can show."""

import numpy as np

from mechanisms.strategies.workload import Explicit


class Ranges(Explicit):
    """Ranges from the cells `first` to the cells `last`, both (q,)."""

    def __init__(self, name, cells, first, last):
        places = np.arange(cells)
        inside = (places >= first[:, None]) & (places <= last[:, None])
        super().__init__(inside.astype(int))
        self.name = name

    def __repr__(self):
        return self.name


def windows(cells, width):
    """Return all ranges of one width."""
    first = np.arange(cells - width + 1)
    return Ranges(f"windows({cells}, {width})", cells, first, first + width - 1)


def random_ranges(cells, queries, seed=0):
    """Return ranges whose ends are drawn uniformly, then ordered."""
    ends = np.random.default_rng(seed).integers(cells, size=(queries, 2))
    return Ranges(f"random_ranges({cells}, {queries}, {seed})", cells, *np.sort(ends, axis=1).T)
