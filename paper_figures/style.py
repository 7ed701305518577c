"""One look for every figure: a mechanism has the same colour, marker and title everywhere.

The colours come from Okabe and Ito (2008) and from Paul Tol's muted scheme, which colour-blind
readers can tell apart. The markers carry the same distinction without colour.
"""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

from claims.mechanism_titles import class_of, mechanism_title, variants
from claims.verdicts import CALIBRATION_TITLES

# Inches: both columns of a two-column paper.
PAGE = 7.0
CALIBRATION_LINES = {"published": "-", "exact": "--"}


@dataclass(frozen=True)
class Look:
    """Colour, marker and title of a mechanism."""

    colour: str
    marker: str
    title: str

    @property
    def line(self) -> dict[str, str]:
        """What `Axes.plot` is given for a line of the mechanism."""
        return {"color": self.colour, "marker": self.marker, "label": self.title}

    def at(self, calibration: str) -> dict[str, str]:
        """The same for a line at one calibration: dashed and open at equal true privacy."""
        return self.line | {
            "label": f"{self.title}, {CALIBRATION_TITLES[calibration]}",
            "linestyle": CALIBRATION_LINES[calibration],
            "markerfacecolor": "white" if calibration == "exact" else self.colour,
        }


# By study and key: mechanisms whose noise in that study is not that of their theorem.
_TITLES_IN = {
    ("dpsgd", "gaussian"): {
        "published": "DPSGD (Gaussian, noise multiplier by RDP)",
        "exact": "DPSGD (Gaussian, rescaled)",
    },
}
# For mechanisms that state no look.
_SPARE = [
    (colour, marker)
    for marker in ("d", "8", "H", "1", "2", "3")
    for colour in ("#6699CC", "#EE8866", "#77AADD", "#AA4466", "#999944")
]


def _stated_look(name: str) -> tuple[str, str, float]:
    """Colour, marker and place in legends.

    The name decides on those of mechanisms that state none, not the position: two of them may look
    alike, but one never changes the look of another.
    """
    found = class_of(name)
    stated = variants()[name][2] if name in variants() else found and found.look
    if stated:
        return stated
    spare = int(hashlib.sha256(name.encode()).hexdigest(), 16) % len(_SPARE)
    return *_SPARE[spare], math.inf


def with_own(compared: Iterable[str], mechanisms: Iterable[str]) -> list[str]:
    """Of the mechanisms in some rows those that a figure compares, and those of the reader's own.

    The latter are all that the package does not have, or that state no look.
    """
    own = (name for name in mechanisms if _stated_look(name)[2] == math.inf)
    return list(dict.fromkeys([*compared, *own]))


def title_in(study: str, mechanism: str, calibration: str) -> str:
    """The title of a mechanism as a study uses it."""
    titles = _TITLES_IN.get((study, mechanism))
    return titles[calibration] if titles else mechanism_title(mechanism)


def look(mechanism: str) -> Look:
    """How a mechanism (or a variant of the config) is drawn."""
    colour, marker, _ = _stated_look(mechanism)
    return Look(colour, marker, mechanism_title(mechanism))


def in_order(mechanisms: Iterable[str]) -> list[str]:
    """Mechanisms in the order of legends: by the place that they state, then the others by name."""
    return sorted(set(mechanisms), key=lambda name: (_stated_look(name)[2], name))
