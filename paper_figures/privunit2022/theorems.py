"""privunit2022: the error of PrivUnitG against other noise of the same local privacy."""

from claims.comparisons import statement
from claims.judged_rows import calibrated
from claims.judges import Epsilon, judge
from claims.verdicts import Finding
from mechanisms import AdditiveMechanism, Budget
from mechanisms.catalogue.privunit import PrivUnitG
from mechanisms.query.box_query import box_query


@judge
def local_error(*, others: list[str], sides: list[int], epsilons: list[Epsilon]) -> Finding:
    """Expected squared error of PrivUnitG over that of purely private noise on a whole tensor."""
    parts = []
    for other in others:
        ratios = {}
        for side in sides:
            query = box_query((side, side), 0.0, 1.0)
            for epsilon in epsilons:
                budget = Budget(epsilon=epsilon)
                own = calibrated("privunit-g", query, budget)
                noise = calibrated(other, query, budget)
                assert isinstance(own, PrivUnitG)
                assert isinstance(noise, AdditiveMechanism)
                ratios[f"{side}x{side}, epsilon {epsilon:g}"] = (
                    own.expected_error() / noise.expected_loss()
                )
        found = "; ".join(f"{name}: {ratio:.3g} times" for name, ratio in ratios.items())
        parts.append(statement(f"below {other}", max(ratios.values()) < 1, found))
    return Finding(
        parts=parts,
        detail=(
            "Expected squared error in closed form, of answers in a box and in the worst place of "
            "it. All mechanisms are purely epsilon-LDP for the whole tensor."
        ),
        calibration="published",
    )
