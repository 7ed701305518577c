"""Writers of file formats that several official data sets use."""

import io
import pickle
import struct

from toy_data_set import tar_bytes


def tar_of(path, members, mode="w:gz"):
    path.write_bytes(tar_bytes(members, mode))


class _Python2Pickler(pickle._Pickler):
    """Writes bytes as the plain strings of Python 2."""

    dispatch = pickle._Pickler.dispatch.copy()

    def save_bytes(self, value):
        self.write(pickle.BINSTRING + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes


def python2_pickle(value):
    """Pickle a value as Python 2 did with the numpy and scipy of 2015, like these files."""
    buffer = io.BytesIO()
    _Python2Pickler(buffer, protocol=2).dump(value)
    return (
        buffer.getvalue()
        .replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
        .replace(b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n")
    )
