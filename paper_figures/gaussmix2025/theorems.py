"""gaussmix2025: how much variance its privacy bound asks for, beside the bounds before it."""

import math

from claims.comparisons import universal
from claims.judges import Delta, judge
from claims.verdicts import Finding, Part
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.gaussmix2025.sketch import EPSILONS, LEAST, ROWS, SKETCHES, added_variances

EARLIER, GAUSSMIX = SKETCHES


@judge
def tighter_bound(*, delta: Delta, share: float) -> Finding:
    """Whether GaussMix asks for less variance than the bounds before it, and how far it is off.

    All bounds are on one mechanism: the smaller the w that suffices, the tighter the bound.
    """
    values = {(row["noise"], row["rows"], row["epsilon"]): row for row in added_variances(delta)}
    places = [place[1:] for place in values if place[0] == LEAST]
    own = [values[GAUSSMIX, *place]["added"] for place in places]
    earlier = {
        "Blocki et al. 2012": [values[EARLIER, *place]["added"] for place in places],
        "Sheffet 2017": [sheffet(*place, delta) for place in places],
    }
    over = {name: [values[name, *place]["over_least"] for place in places] for name in SKETCHES}
    return Finding(
        parts=[
            _less_variance(name, [a / b for a, b in zip(own, theirs, strict=True)], share)
            for name, theirs in earlier.items()
        ],
        detail=(
            f"w^2, the variance added in every direction, for r = {', '.join(map(str, ROWS))} and "
            f"{len(EPSILONS)} epsilons from {EPSILONS[0]:g} to {EPSILONS[-1]:g}, delta {delta:g}, "
            "one record of norm at most B added or removed. Over the least w^2 that the exact "
            f"privacy profile allows: GaussMix {rounded_down(min(over[GAUSSMIX]))} to "
            f"{rounded_up(max(over[GAUSSMIX]))} times, Blocki et al. 2012 "
            f"{rounded_down(min(over[EARLIER]))} to {rounded_up(max(over[EARLIER]))} times."
        ),
        calibration="published",
    )


def _less_variance(earlier: str, ratios: list[float], share: float) -> Part:
    found = f"{rounded_down(min(ratios), 2)} to {rounded_up(max(ratios), 2)} times"
    return universal(f"less variance than {earlier}", [each < share for each in ratios], found)


def sheffet(rows: int, epsilon: float, delta: float) -> float:
    """w^2 / B^2 of Sheffet 2017 as the authors of GaussMix compute it in their published code."""
    log = math.log(8 / delta)
    return 4 / epsilon * (math.sqrt(2 * rows * log) + log)
