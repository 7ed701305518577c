"""What tldp2025's introduction and conclusion say of TLDP, in closed form.

Error at every shape of a tensor, structure of the data, and what weights do to the noise. The
theorems themselves and Table 5 are in theorems.py.
"""

from __future__ import annotations

import math

from claims.judged_rows import calibrated, listed, rounded_up
from claims.ledger import Claim, judge
from claims.rules import statement, universal
from claims.verdicts import Finding, Part, Sizes
from mechanisms import Budget
from mechanisms.query.box_query import box_query
from paper_figures.tldp2025.numbers import gaussian_variance
from paper_figures.tldp2025.theorems import ENTRIES, KINDS, OPTIONS, tensor_mechanism
from runs.results import Results


@judge()
def lower_at_every_shape(claim: Claim, results: Results) -> Finding:
    """Contribution 1: TLDP's expected error against every other one's, at every shape and epsilon.

    Arguments: epsilons; width, Delta; delta, of MVG and IDN; shapes, of two axes.
    """
    a = claim.arguments
    others = [key for key in ENTRIES if key not in KINDS]
    cases = [(tuple(shape), epsilon) for shape in a["shapes"] for epsilon in a["epsilons"]]
    ratios = {
        (own, other): {
            case: math.sqrt(_loss(own, *case, a) / _loss(other, *case, a)) for case in cases
        }
        for own in KINDS
        for other in others
    }
    epsilons = listed(f"{epsilon:g}" for epsilon in a["epsilons"])
    return Finding(
        parts=[_below_one(own, other, found) for (own, other), found in ratios.items()],
        detail=(
            f"Ratios of sqrt(E||Z||^2) at Delta = {a['width']:g}, epsilon {epsilons}, shapes "
            f"{listed('x'.join(map(str, shape)) for shape in a['shapes'])}; noise as published, "
            f"the paper's own Gaussian of eq. (7), MVG (mgm2021's zeta) and IDN at delta "
            f"{a['delta']:g}. With I elements TLDP-L over Laplace is sqrt(1 - p)/I and TLDP-G over "
            "the Gaussian sqrt((1 - p)/I): the gain is that of Theorem 2, and at I = 1 there is "
            "only what the kept values save."
        ),
        calibration="published",
        sizes=Sizes(epsilons=epsilons),
    )


def _below_one(own: str, other: str, found: dict[tuple, float]) -> Part:
    """Whether a ratio is below 1 in all cases, with the largest one."""
    (shape, epsilon), ratio = max(found.items(), key=lambda item: item[1])
    return universal(
        f"{KINDS[own]} below {ENTRIES[other]}:",
        [value < 1 for value in found.values()],
        f"at most {rounded_up(ratio)} times, at {'x'.join(map(str, shape))}, epsilon {epsilon:g}",
    )


def _loss(key: str, shape: tuple[int, ...], epsilon: float, a: dict) -> float:
    """E||Z||^2 on one tensor; the Gaussian's is that of the paper's eq. (7)."""
    if key == "gaussian":
        return math.prod(shape) * gaussian_variance(math.prod(shape), epsilon, a["width"])
    query = box_query(shape, -a["width"] / 2, a["width"] / 2)
    budget = Budget(epsilon=epsilon, delta=0.0 if key in KINDS else a["delta"])
    return calibrated(key, query, budget, **OPTIONS.get(key, {})).expected_loss()


@judge()
def symmetry_kept(claim: Claim, results: Results) -> Finding:
    """How likely a symmetric tensor stays symmetric under TLDP.

    Noise has a density: two elements that were equal stay so only where both are kept. A side x
    side tensor has side (side - 1) elements off its diagonal, so that the probability is p to that
    power.

    Arguments: side; epsilons; widths, values of Delta; low, up to which a probability counts as
    "extremely low".
    """
    a, parts = claim.arguments, []
    exponent = a["side"] * (a["side"] - 1)
    for key, name in KINDS.items():
        kept = {
            (epsilon, width): exponent
            * tensor_mechanism(key, epsilon, width, a["side"] ** 2).parameters()["log_p"]
            for epsilon in a["epsilons"]
            for width in a["widths"]
        }
        (epsilon, width), most = max(kept.items(), key=lambda item: item[1])
        parts.append(
            statement(
                f"{name} keeps a symmetric {a['side']} x {a['side']} tensor symmetric:",
                math.exp(most) > a["low"],
                f"with probability {rounded_up(math.exp(most), 2)} at most (epsilon {epsilon:g}, "
                f"Delta = {width:g})",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            f"Epsilon {listed(f'{e:g}' for e in a['epsilons'])}, Delta "
            f"{listed(f'{w:g}' for w in a['widths'])}. Both elements of every pair have to be "
            "kept, as the noise of the others is independent for each component, like the i.i.d. "
            "noise of other mechanisms, for which the probability is 0. The paper's p is a "
            "probability over a density: data in a smaller unit are kept more often."
        ),
        calibration="published",
        sizes=Sizes(epsilons=listed(f"{e:g}" for e in a["epsilons"])),
    )


@judge()
def weighted_noise(claim: Claim, results: Results) -> Finding:
    """Conclusion: whether weights lower TLDP's expected loss.

    Arguments: epsilon; width, Delta; counts, values of I; weight, of every component.
    """
    a, parts = claim.arguments, []
    for key, name in KINDS.items():
        ratios = {
            count: tensor_mechanism(
                key, a["epsilon"], a["width"], count, a["weight"]
            ).expected_loss()
            / tensor_mechanism(key, a["epsilon"], a["width"], count).expected_loss()
            for count in a["counts"]
        }
        found = listed(f"{ratio:.4g} times at I = {count}" for count, ratio in ratios.items())
        parts.append(universal(f"less noise in {name}-w:", [r < 1 for r in ratios.values()], found))
    return Finding(
        parts=parts,
        detail=(
            f"E||Z||^2 with weight {a['weight']:g} everywhere over that without weights, epsilon "
            f"{a['epsilon']:g}, Delta = {a['width']:g}. A weight w multiplies p by 1 - w and "
            "leaves b and sigma as they are: the ratio is (1 - (1 - w) p)/(1 - p), never below 1."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{a['epsilon']:g}"),
    )
