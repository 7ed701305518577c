"""gaussmix2025: how much variance its privacy bound asks for, beside the bound before it."""

from claims.comparisons import universal
from claims.judges import Delta, judge
from claims.verdicts import Finding
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.gaussmix2025.sketch import EPSILONS, LEAST, ROWS, SKETCHES, added_variances

EARLIER, GAUSSMIX = SKETCHES


@judge
def tighter_bound(*, delta: Delta, share: float) -> Finding:
    """Whether GaussMix asks for less variance than the bound before it, and how far both are off.

    Both bounds are on one mechanism: the smaller the w that suffices, the tighter the bound.
    """
    values = {(row["noise"], row["rows"], row["epsilon"]): row for row in added_variances(delta)}
    places = [place[1:] for place in values if place[0] == LEAST]
    ratios = [
        values[GAUSSMIX, *place]["added"] / values[EARLIER, *place]["added"] for place in places
    ]
    over = {name: [values[name, *place]["over_least"] for place in places] for name in SKETCHES}
    return Finding(
        parts=[
            universal(
                "less variance",
                [ratio < share for ratio in ratios],
                f"{rounded_down(min(ratios), 2)} to {rounded_up(max(ratios), 2)} times",
            )
        ],
        detail=(
            f"w^2, the variance added in every direction, for r = {', '.join(map(str, ROWS))} and "
            f"{len(EPSILONS)} epsilons from {EPSILONS[0]:g} to {EPSILONS[-1]:g}, delta {delta:g}, "
            "one record of norm at most B added or removed. Over the least w^2 that the exact "
            f"privacy profile allows: GaussMix {rounded_down(min(over[GAUSSMIX]))} to "
            f"{rounded_up(max(over[GAUSSMIX]))} times, the bound before it "
            f"{rounded_down(min(over[EARLIER]))} to {rounded_up(max(over[EARLIER]))} times."
        ),
        calibration="published",
    )
