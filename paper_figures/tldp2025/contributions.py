"""What tldp2025's introduction and conclusion say of TLDP, in closed form.

Error at every shape of a tensor, structure of the data, and what weights do to the noise. The
theorems themselves and Table 5 are in theorems.py.
"""

import math

from claims.comparisons import statement, universal
from claims.judged_rows import calibrated, listed
from claims.judges import Delta, Epsilon, Positive, Shape, judge
from claims.verdicts import Finding, Part, Sizes
from mechanisms import Budget
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.query.box_query import box_query
from mechanisms.query.words import rounded_up
from paper_figures.tldp2025.numbers import PIXELS, gaussian_variance
from paper_figures.tldp2025.theorems import ENTRIES, KINDS, OPTIONS, components, tensor_mechanism


@judge
def lower_at_every_shape(
    *, epsilons: list[Epsilon], width: Positive, delta: Delta, shapes: list[Shape]
) -> Finding:
    """Contribution 1: TLDP's expected error against every other one's, at every shape."""
    others = [key for key in ENTRIES if key not in KINDS]
    cases = [(shape, epsilon) for shape in shapes for epsilon in epsilons]
    ratios = {
        (own, other): {
            case: math.sqrt(_loss(own, *case, width, delta) / _loss(other, *case, width, delta))
            for case in cases
        }
        for own in KINDS
        for other in others
    }
    budgets = listed(f"{epsilon:g}" for epsilon in epsilons)
    return Finding(
        parts=[_below_one(own, other, found) for (own, other), found in ratios.items()],
        detail=(
            f"Ratios of sqrt(E||Z||^2) at Delta = {width:g}, epsilon {budgets}, shapes "
            f"{listed('x'.join(map(str, shape)) for shape in shapes)}; noise as published, "
            f"the paper's own Gaussian of eq. (7), MVG (mgm2021's zeta) and IDN at delta "
            f"{delta:g}. With I elements TLDP-L over Laplace is sqrt(1 - p)/I and TLDP-G over "
            "the Gaussian sqrt((1 - p)/I): the gain is that of Theorem 2, and at I = 1 there is "
            "only what the kept values save."
        ),
        calibration="published",
        sizes=Sizes(epsilons=budgets),
    )


def _below_one(own: str, other: str, found: dict[tuple, float]) -> Part:
    """Whether a ratio is below 1 in all cases, with the largest one."""
    (shape, epsilon), ratio = max(found.items(), key=lambda item: item[1])
    return universal(
        f"{KINDS[own]} below {ENTRIES[other]}:",
        [value < 1 for value in found.values()],
        f"at most {rounded_up(ratio)} times, at {'x'.join(map(str, shape))}, epsilon {epsilon:g}",
    )


def _loss(key: str, shape: tuple[int, ...], epsilon: float, width: float, delta: float) -> float:
    """E||Z||^2 on one tensor; the Gaussian's is that of the paper's eq. (7)."""
    if key == "gaussian":
        return math.prod(shape) * gaussian_variance(math.prod(shape), epsilon, width)
    query = box_query(shape, -width / 2, width / 2)
    budget = Budget(epsilon=epsilon, delta=0.0 if key in KINDS else delta)
    return calibrated(key, query, budget, **OPTIONS.get(key, {})).expected_loss()


@judge
def best_subspace(*, shapes: list[Shape], epsilons: list[Epsilon], delta: Delta) -> Finding:
    """Whether IDN's noise along its best direction is below the classic Gaussian's anywhere."""
    parts = []
    for shape in shapes:
        ratios = []
        for epsilon in epsilons:
            query, budget = box_query(shape, *PIXELS), Budget(epsilon=epsilon, delta=delta)
            noise = calibrated("idn", query, budget).noise
            loss = calibrated("gaussian", query, budget).expected_loss()
            ratios.append(least_deviation(noise) / math.sqrt(loss / query.size))
        name = f"{'x'.join(map(str, shape))}, below the classic Gaussian's at some epsilon:"
        found = f"{min(ratios):.3g} to {max(ratios):.3g} times"
        parts.append(statement(name, min(ratios) < 1, found))
    return Finding(
        parts=parts,
        detail=(
            "Least standard deviation of IDN's noise along a direction over that of the classic "
            f"Gaussian's on every element, epsilon {listed(f'{e:g}' for e in epsilons)}, delta "
            f"{delta:g}, noise as published."
        ),
        calibration="published",
    )


def least_deviation(noise: MatrixGaussian) -> float:
    """The least standard deviation that IDN's noise can have along a direction of the rows.

    Theorem 3 of mgm2021 bounds the sum of the precisions of the rows. A known subspace moves
    precision to its directions; a single one can have all of it.
    """
    return float((noise.row_std**-2.0).sum() ** -0.5 * noise.column_std.min())


@judge
def symmetry_kept(
    *, side: int, epsilons: list[Epsilon], widths: list[float], low: float
) -> Finding:
    """How likely a symmetric tensor stays symmetric under TLDP.

    Noise has a density: two elements that were equal stay so only where both are kept. A side x
    side tensor has side (side - 1) elements off its diagonal, so that the probability is p to that
    power.
    """
    parts = []
    exponent = side * (side - 1)
    for key, name in KINDS.items():
        kept = {
            (epsilon, width): exponent
            * tensor_mechanism(key, epsilon, width, side**2).parameters()["log_p"]
            for epsilon in epsilons
            for width in widths
        }
        (epsilon, width), most = max(kept.items(), key=lambda item: item[1])
        parts.append(
            statement(
                f"{name} keeps a symmetric {side} x {side} tensor symmetric:",
                math.exp(most) > low,
                f"with probability {rounded_up(math.exp(most), 2)} at most (epsilon {epsilon:g}, "
                f"Delta = {width:g})",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            f"Epsilon {listed(f'{e:g}' for e in epsilons)}, Delta "
            f"{listed(f'{w:g}' for w in widths)}. Both elements of every pair have to be "
            "kept, as the noise of the others is independent for each component, like the i.i.d. "
            "noise of other mechanisms, for which the probability is 0. The paper's p is a "
            "probability over a density: data in a smaller unit are kept more often."
        ),
        calibration="published",
        sizes=Sizes(epsilons=listed(f"{e:g}" for e in epsilons)),
    )


@judge
def weighted_noise(
    *, epsilon: Epsilon, width: Positive, counts: list[int], weight: float
) -> Finding:
    """Conclusion: whether weights lower TLDP's expected loss."""
    parts = []
    for key, name in KINDS.items():
        ratios = {
            count: tensor_mechanism(key, epsilon, width, count, weight).expected_loss()
            / tensor_mechanism(key, epsilon, width, count).expected_loss()
            for count in counts
        }
        found = listed(
            f"{ratio:.4g} times with {components(count)}" for count, ratio in ratios.items()
        )
        parts.append(universal(f"less noise in {name}-w:", [r < 1 for r in ratios.values()], found))
    return Finding(
        parts=parts,
        detail=(
            f"E||Z||^2 with weight {weight:g} everywhere over that without weights, epsilon "
            f"{epsilon:g}, Delta = {width:g}. A weight w multiplies p by 1 - w and "
            "leaves b and sigma as they are: the ratio is (1 - (1 - w) p)/(1 - p), never below 1."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{epsilon:g}"),
    )
