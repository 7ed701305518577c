"""Unpickling with a short list of allowed names.

CIFAR-10 and Cora are published as Python 2 pickles. A pickle is opened only after its checksum
matched, and even then it can call only the few names below.
"""

import collections
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from datasets.fetching.data_error import reading


class _SparseState:
    """Stands in for a pickled scipy.sparse.csr_matrix, and gets its attributes by name."""

    def rebuild(self) -> scipy.sparse.csr_matrix:
        state = vars(self)
        parts = (state["data"], state["indices"], state["indptr"])
        matrix = scipy.sparse.csr_matrix(parts, shape=state["_shape"])
        matrix.check_format(full_check=True)  # scipy trusts the indices that it is given
        return matrix


_ALLOWED: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    # numpy's own helper for unpickling an array, under whichever path this numpy keeps it.
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): _SparseState,
    ("collections", "defaultdict"): collections.defaultdict,
    ("__builtin__", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it calls {module}.{name}, which is not allowed")
        return _ALLOWED[module, name]


def read_pickle(path: Path) -> Any:
    """Return the object in a pickle: a csr matrix, or plain containers and arrays.

    Args:
        path: a file whose checksum was verified. Python 2 strings are read as latin1, which
            keeps the bytes of arrays.

    Raises:
        DataError: the pickle is damaged, or calls a name that is not allowed.
    """
    with reading(path, "the pickle cannot be opened"), path.open("rb") as stream:
        found = _Unpickler(stream, encoding="latin1").load()
        return found.rebuild() if isinstance(found, _SparseState) else found
