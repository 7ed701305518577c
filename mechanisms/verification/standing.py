"""The standing of a mechanism: the verdict on its claim at the settings of the papers.

Settings outside the range of its theorem do not count, because it claims nothing there.

`standings.csv` has the standings that the reference run found; ``python -m site_builder.readme``
writes it from the rows of the study `guarantee`.
"""

import csv
import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mechanisms.verification.verification import HOLDS, LOOSE, REFUTED, UNDECIDED

FILE = Path(__file__).with_name("standings.csv")
SETTINGS = "settings of the papers in the range of its theorem"


@dataclass(frozen=True)
class Standing:
    """A summary of the verdicts on a published claim.

    Args:
        verdict: "refuted" or "undecided" if some setting has this verdict; else the more frequent
            of "holds" and "loose".
        settings: The number of the papers' settings that have this verdict.
        judged: The number of the papers' settings that have any verdict.
    """

    verdict: str
    settings: int
    judged: int

    def __str__(self) -> str:
        others = self.judged - self.settings
        other = {HOLDS: LOOSE, LOOSE: HOLDS}.get(self.verdict)
        rest = f", {other} at {others}" if other and others else ""
        return f"{self.verdict} at {self.places}{rest}"

    @property
    def places(self) -> str:
        """At how many settings the claim has this verdict, in words."""
        return f"{self.settings} of {self.judged} {SETTINGS}"


def standing_by(verdicts: Iterable[str]) -> Standing:
    """Return the standing that follows from the verdicts at all settings, at least one."""
    counted = Counter(verdicts)
    most_frequent = counted.most_common(1)[0][0]
    # One setting at which the claim is not true decides the standing.
    verdict = next((each for each in (REFUTED, UNDECIDED) if each in counted), most_frequent)
    return Standing(verdict, counted[verdict], counted.total())


def standing(key: str) -> Standing | None:
    """Return the standing of a mechanism; None if no setting of a paper has a verdict on it."""
    return _standings().get(key)


@functools.cache
def _standings() -> dict[str, Standing]:
    with FILE.open(encoding="utf-8", newline="") as lines:
        return {
            row["mechanism"]: Standing(row["verdict"], int(row["settings"]), int(row["judged"]))
            for row in csv.DictReader(lines)
        }
