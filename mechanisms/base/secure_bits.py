"""Random numbers of the operating system for numpy's generators.

Numpy takes random words from a struct of four C functions (numpy/random/bitgen.h). Here they are
Python functions that read `os.urandom`, which is cryptographically secure: no answer tells anything
of later noise, and there is no seed. A word takes about a microsecond, a hundred times as long as
one of numpy's own.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from array import array

import numpy as np

# Words that are read at once.
AT_ONCE = 1 << 12
_UINT64 = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
_UINT32 = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)
_DOUBLE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)


class _Struct(ctypes.Structure):
    _fields_ = [
        ("state", ctypes.c_void_p),
        ("next_uint64", _UINT64),
        ("next_uint32", _UINT32),
        ("next_double", _DOUBLE),
        ("next_raw", _UINT64),
    ]


class SecureBits:
    """A bit generator for `numpy.random.Generator`. It has no state to copy, pickle or repeat."""

    _all: weakref.WeakSet[SecureBits] = weakref.WeakSet()

    def __init__(self) -> None:
        # Words that are still to be given out.
        self._words = array("Q")
        self.lock = threading.Lock()
        self._struct = _Struct(
            None,
            _UINT64(lambda state: self._word()),
            _UINT32(lambda state: self._word() >> 32),
            _DOUBLE(lambda state: (self._word() >> 11) * 2.0**-53),
            _UINT64(lambda state: self._word()),
        )
        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype = ctypes.py_object
        new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.capsule = new_capsule(ctypes.addressof(self._struct), b"BitGenerator", None)
        self._all.add(self)

    def _word(self) -> int:
        if not self._words:
            self._words.frombytes(os.urandom(8 * AT_ONCE))
        return self._words.pop()

    def __reduce__(self):
        raise TypeError("a secure generator has no state to copy or pickle: make a new one")

    def spawn(self, n_children: int):
        raise TypeError("secure generators are independent without being spawned: make new ones")

    @classmethod
    def _after_fork(cls) -> None:
        """Both processes hold the words that are left: the child reads new ones."""
        for bits in cls._all:
            bits._words = array("Q")


os.register_at_fork(after_in_child=SecureBits._after_fork)


class SecureGenerator(np.random.Generator):
    """Numpy's own would hand its bit generator to a constructor that knows numpy's alone."""

    def __reduce__(self):
        return self.bit_generator.__reduce__()


def secure_generator() -> SecureGenerator:
    """A generator whose numbers come from the operating system, different in every call."""
    return SecureGenerator(SecureBits())
