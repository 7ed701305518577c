"""Seeds from names: the same names give the same random numbers, in any order of execution."""

import hashlib
import json


def seed_of(*names: object) -> int:
    """Return a 63-bit seed from the sha256 of the JSON text of `names` (strings and numbers)."""
    text = json.dumps(names, allow_nan=False)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
