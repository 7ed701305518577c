"""One style for every figure: a mechanism has the same colour, marker and title everywhere.

The colours come from Okabe and Ito (2008) and from Paul Tol's muted scheme, which colour-blind
readers can tell apart. The markers make the same distinction without colour.
"""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

from claims.mechanism_titles import class_of, mechanism_title, variants
from claims.verdicts import CALIBRATION_TITLES

# The width of a figure that spans both columns of a two-column paper, in inches.
PAGE = 7.0
CALIBRATION_LINES = {"published": "-", "exact": "--"}


@dataclass(frozen=True)
class Look:
    """The colour, marker and title of a mechanism."""

    colour: str
    marker: str
    title: str

    @property
    def line(self) -> dict[str, str]:
        """The keyword arguments of `Axes.plot` for a line of the mechanism."""
        return {"color": self.colour, "marker": self.marker, "label": self.title}

    def at(self, calibration: str) -> dict[str, str]:
        """Return the arguments of `Axes.plot` for a calibration: dashed and hollow if exact."""
        return self.line | {
            "label": f"{self.title}, {CALIBRATION_TITLES[calibration]}",
            "linestyle": CALIBRATION_LINES[calibration],
            "markerfacecolor": "white" if calibration == "exact" else self.colour,
        }


# Titles of mechanisms whose noise in a study is not that of their theorem, by study, key and
# calibration.
_TITLES_IN = {
    ("dpsgd", "gaussian", "published"): "DPSGD (Gaussian, noise multiplier by RDP)",
    ("dpsgd", "gaussian", "exact"): "DPSGD (Gaussian, rescaled)",
}
# Colours and markers for mechanisms that state no look.
_SPARE = [
    (colour, marker)
    for marker in ("d", "8", "H", "p", "X", "P")
    for colour in ("#6699CC", "#EE8866", "#77AADD", "#AA4466", "#999944")
]


def _stated_look(name: str) -> tuple[str, str, float]:
    """Return a mechanism's colour, its marker and its place in legends.

    A mechanism that states no look gets a colour and a marker by a hash of its name, not by its
    position. Two such mechanisms may look alike, but adding one never changes the look of another.
    """
    found = class_of(name)
    stated = variants()[name][2] if name in variants() else found and found.look
    if stated:
        return stated
    spare = int(hashlib.sha256(name.encode()).hexdigest(), 16) % len(_SPARE)
    return *_SPARE[spare], math.inf


def add_own_mechanisms(compared: Iterable[str], mechanisms: Iterable[str]) -> list[str]:
    """Return the mechanisms that a figure compares, followed by the reader's own.

    A mechanism counts as the reader's own if the package lacks it or if it states no look.
    """
    others = (name for name in mechanisms if _stated_look(name)[2] == math.inf)
    return list(dict.fromkeys([*compared, *others]))


def title_in(study: str, mechanism: str, calibration: str) -> str:
    """Return the title of a mechanism in a study, which may use other noise than its theorem."""
    return _TITLES_IN.get((study, mechanism, calibration)) or mechanism_title(mechanism)


def look(mechanism: str) -> Look:
    """Return the look of a mechanism or of a variant that a config defines."""
    colour, marker, _ = _stated_look(mechanism)
    return Look(colour, marker, mechanism_title(mechanism))


def legend_order(mechanisms: Iterable[str]) -> list[str]:
    """Return the distinct mechanisms, by the place that they state and then the others by name."""
    return sorted(set(mechanisms), key=lambda name: (_stated_look(name)[2], name))
