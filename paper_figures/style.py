"""One look for every figure: a mechanism has the same colour, marker and title everywhere.

The colours come from Okabe and Ito (2008) and from Paul Tol's muted scheme, which colour-blind
readers can tell apart. The markers carry the same distinction without colour.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from mechanisms import Mechanism, UnknownMechanism, get_mechanism

# Inches: one column of a two-column paper, and both.
COLUMN, PAGE = 3.4, 7.0
CALIBRATION_LINES = {"published": "-", "exact": "--"}
CALIBRATION_TITLES = {"published": "as published", "exact": "at equal true privacy"}


@dataclass(frozen=True)
class Look:
    """Colour, marker and title of a mechanism."""

    colour: str
    marker: str
    title: str


_LOOKS = {
    "non-private": ("#000000", "s"),
    "r1smg": ("#D55E00", "o"),
    "gaussian": ("#E69F00", "^"),
    "gaussian-analytic": ("#0072B2", "s"),
    "gaussian-per-element": ("#999933", "p"),
    "mvg": ("#009E73", "D"),
    "mvg-sqrt": ("#66BB66", "d"),
    "mgm": ("#CC79A7", "v"),
    "udn": ("#AA4499", "P"),
    "idn": ("#56B4E9", "*"),
    "imgm": ("#332288", "X"),
    "tvg": ("#C71585", "h"),
    "moments-accountant": ("#AA4466", "v"),
    "laplace": ("#882255", "<"),
    "l2": ("#117733", ">"),
    "spherical-gamma": ("#44AA99", "h"),
    "exponential": ("#EE3377", "1"),
    "jl": ("#6F4C9B", "2"),
    "hb": ("#CC6677", "d"),
    "dawa": ("#4477AA", "8"),
    "dawa-published": ("#BBCC33", "H"),
    "matrix-mechanism": ("#661100", "+"),
    "matrix-mechanism-cvxpy": ("#DDCC77", "4"),
    "matrix-mechanism-l1": ("#994455", "1"),
    "mod-sulq": ("#33BBEE", ">"),
    "analyze-gauss": ("#AAAA00", "<"),
    "wishart": ("#99DDFF", "s"),
    "ppca": ("#222255", "*"),
    "tldp-l": ("#E7298A", "P"),
    "tldp-g": ("#225555", "X"),
    "tldp-l-w": ("#FFAABB", "p"),
    "tldp-g-w": ("#7777CC", "H"),
    "llagp": ("#BB5566", "v"),
    "dphsgd": ("#004488", "8"),
    "product-noise": ("#5E2CA5", "D"),
    "plrv-o": ("#A0522D", "<"),
    "correlated-gaussian": ("#1F77B4", "P"),
    "elliptic-gaussian": ("#5DA5DA", "X"),
    "inid-gaussian": ("#8C6D31", "v"),
    "inid-laplace": ("#AD494A", "^"),
    "privunit-g": ("#2F4F4F", "*"),
    "gaussian-sketch": ("#9467BD", "p"),
    "discrete-gaussian": ("#17789A", "d"),
    "skellam": ("#6B8E23", "h"),
    "k-norm": ("#B8860B", "8"),
    "staircase": ("#004D40", "P"),
    "random-answer": ("#888888", "x"),
    "factorisation": ("#3B5BA5", "s"),
    "factorisation-identity": ("#000000", "^"),
    "factorisation-tree": ("#999933", "p"),
    "factorisation-bisr": ("#CC79A7", "v"),
    "factorisation-blt": ("#E69F00", "D"),
    "factorisation-bandmf": ("#009E73", "o"),
    "factorisation-dense": ("#D55E00", "*"),
    "factorisation-banded": ("#7B3294", "h"),
}
# Variants that the shipped configs define: the class's key and what the variant changes.
_VARIANTS = {
    "mvg-sqrt": ("mvg", "square root"),
    "factorisation-identity": ("factorisation", "identity"),
    "factorisation-tree": ("factorisation", "binary tree"),
    "factorisation-bisr": ("factorisation", "BISR"),
    "factorisation-blt": ("factorisation", "BLT"),
    "factorisation-bandmf": ("factorisation", "BandMF"),
    "factorisation-dense": ("factorisation", "dense"),
    "factorisation-banded": ("factorisation", "banded"),
}
# By study and key: mechanisms whose noise in that study is not that of their theorem.
_TITLES_IN = {
    ("dpsgd", "gaussian"): {
        "published": "DPSGD (Gaussian, noise multiplier by RDP)",
        "exact": "DPSGD (Gaussian, rescaled)",
    },
}
# For mechanisms that the suite does not know. The name decides, not the position: two of them may
# look alike, but one never changes the look of another.
_SPARE = [
    (colour, marker)
    for marker in ("d", "8", "H", "1", "2", "3")
    for colour in ("#6699CC", "#EE8866", "#77AADD", "#AA4466", "#999944")
]


def class_of(name: str) -> type[Mechanism] | None:
    """The class behind a key, module:Class or a variant's name; None where it is not known."""
    key, _ = _VARIANTS.get(name, (name, ""))
    try:
        return get_mechanism(key)
    except UnknownMechanism:
        return None


def mechanism_title(name: str) -> str:
    """The title of a mechanism, given as its key, as module:Class or as a variant's name.

    A variant that the suite does not know keeps its name: only its config says what it is.
    """
    found = class_of(name)
    if found is None:
        return name
    return f"{found.title} ({_VARIANTS[name][1]})" if name in _VARIANTS else found.title


def title_in(study: str, mechanism: str, calibration: str) -> str:
    """The title of a mechanism as a study uses it."""
    titles = _TITLES_IN.get((study, mechanism))
    return titles[calibration] if titles else mechanism_title(mechanism)


def look(mechanism: str) -> Look:
    """How a mechanism (or a variant of the config) is drawn."""
    title = mechanism_title(mechanism)
    if mechanism in _LOOKS:
        return Look(*_LOOKS[mechanism], title)
    spare = int(hashlib.sha256(mechanism.encode()).hexdigest(), 16) % len(_SPARE)
    return Look(*_SPARE[spare], title)


def in_order(mechanisms: Iterable[str]) -> list[str]:
    """Mechanisms in the order of legends: as listed here, then the others by name."""
    present = set(mechanisms)
    return [m for m in _LOOKS if m in present] + sorted(present - set(_LOOKS))
