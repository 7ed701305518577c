"""Judges of tldp2025 in closed form: its theorems, Table 5, introduction and conclusion.

They cover the privacy of a whole tensor, noise ratios, errors at every shape, the structure of the
data, and the effect of weights on the noise. The worst two tensors differ by Delta in each of the I
components.
"""

import itertools
import math

import numpy as np
import pandas as pd

from claims.comparisons import number, statement, universal
from claims.judged_rows import at_least, calibrated, listed, listed_numbers
from claims.judges import Count, Delta, Epsilon, Positive, Shape, judge
from claims.mechanism_titles import mechanism_title
from claims.verdicts import Finding, Sizes
from mechanisms import AdditiveMechanism, Budget
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.query.box_query import box_query
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.power_law import power
from papers.tldp2025 import (
    PIXELS,
    gaussian_variance,
    stated_errors,
)

KINDS = {"tldp-l": "TLDP-L", "tldp-g": "TLDP-G"}
OPTIONS = {"mvg": {"zeta": "sqrt"}}
# The entries of Table 5 and the mechanisms that stand for them.
ENTRIES = {"laplace": "Laplace", "gaussian": "Gaussian", "mvg": "MVG", "idn": "IDN"} | KINDS


def components(count: int) -> str:
    """Write a number of components as "1 component" or "784 components"."""
    return f"{count:,} component{'s' * (count != 1)}"


def tensor_mechanism(
    key: str, epsilon: float, width: float, count: int, weight: float = 0.0
) -> AdditiveMechanism:
    """Calibrate published TLDP to I = `count` components of range `width` and equal weight."""
    query, budget = box_query((count,), -width / 2, width / 2), Budget(epsilon=epsilon)
    if weight:
        return calibrated(f"{key}-w", query, budget, weights=[weight] * count)
    return calibrated(key, query, budget)


@judge
def bound_on_kl(*, epsilons: list[Epsilon]) -> Finding:
    """Judge Section 3.1: epsilon bounds a KL-divergence, and a divergence of epsilon gives LDP.

    Randomised response on two values attains the log ratio epsilon, and its divergence is
    epsilon tanh(epsilon / 2). Gaussian noise refutes the converse.
    """
    divergences = {epsilon: epsilon * math.tanh(epsilon / 2) for epsilon in epsilons}
    # Gaussian noise with mu^2 / 2 = epsilon has the divergence epsilon, but delta(epsilon) > 0.
    left = [GaussianProfile(mu=math.sqrt(2 * epsilon)).delta(epsilon).lower for epsilon in epsilons]
    return Finding(
        parts=[
            universal(
                "epsilon bounds the divergence of randomised response,",
                [value <= epsilon for epsilon, value in divergences.items()],
                ", ".join(f"{value:.3g} at {e:g}" for e, value in divergences.items()),
            ),
            universal(
                "a divergence of epsilon gives epsilon-LDP,",
                [delta == 0 for delta in left],
                f"Gaussian noise has delta(epsilon) at least {rounded_down(min(left))}",
            ),
        ],
        detail=(
            "KL-divergences of the two outputs for two inputs, at epsilon "
            f"{', '.join(f'{e:g}' for e in epsilons)}. The paper's words are about data before and "
            "after perturbation, which is no pair that its Definition 1 compares."
        ),
    )


@judge
def tensor_guarantee(
    *,
    epsilon: Epsilon,
    width: Positive,
    counts: list[int],
    weight: float = 0.0,
    compared: tuple[Count, ...] = (),
) -> Finding:
    """Judge the pure local privacy of TLDP-L and TLDP-G by the worst two tensors' exact profile."""
    deltas = {
        name + ("-w" if weight else ""): [
            tensor_mechanism(key, epsilon, width, count, weight).profile().delta(epsilon).lower
            for count in counts
        ]
        for key, name in KINDS.items()
    }
    parts = [
        statement(
            f"{name}, claimed {epsilon:g}-LDP:",
            max(values) <= 0,
            f"true delta({epsilon:g}) at least {at_least(values[0])} with {components(counts[0])}",
        )
        for name, values in deltas.items()
    ]
    for (key, name), count in itertools.product(KINDS.items(), compared):
        plain, weighted = (
            tensor_mechanism(key, epsilon, width, count, share).profile().delta(epsilon)
            for share in (0.0, weight)
        )
        smaller = f"{name}-w has a smaller true delta than {name}, with {components(count)}:"
        found = f"{weighted.upper:.3g} in place of {plain.lower:.3g}"
        parts.append(statement(smaller, weighted.upper < plain.lower, found))
    return Finding(
        parts=parts,
        detail=(
            f"Exact profile at epsilon {epsilon:g}, Delta = {width:g}, with "
            f"{listed(map(str, counts))} components; a pure claim has delta 0. The noise alone "
            "gives epsilon times the number of components for TLDP-L, and no pure guarantee for "
            "TLDP-G. A kept value is possible under one tensor only, so delta is at least its "
            "probability at every epsilon. Probabilities whose ratio is below 1 at every output "
            "are impossible, as both sum to 1."
        ),
        calibration="published",
    )


@judge
def noise_ratio(*, epsilon: Epsilon, width: Positive, count: int, tolerance: float) -> Finding:
    """Judge the ratios of Theorem 2, and whether the smaller noise keeps the budget."""
    smaller = {key: tensor_mechanism(key, epsilon, width, count) for key in KINDS}
    query = smaller["tldp-l"].query
    whole = calibrated("laplace", query, Budget(epsilon=epsilon)).parameters()["b"]
    found = {
        "b/b1": smaller["tldp-l"].parameters()["b"] / whole,
        "sigma^2/sigma1^2": smaller["tldp-g"].parameters()["sigma"] ** 2
        / gaussian_variance(count, epsilon, width),
    }
    parts = [number(name, ratio, 1 / count, tolerance) for name, ratio in found.items()]
    for key, mechanism in smaller.items():
        delta = mechanism.profile().delta(epsilon).lower
        words = f"true delta({epsilon:g}) at least {at_least(delta)}"
        parts.append(statement(f"{KINDS[key]} has the same privacy budget", delta <= 0, words))
    return Finding(
        parts=parts,
        detail=(
            f"I = {count}, epsilon {epsilon:g}. b1 is the scale of the Laplace mechanism at l1 "
            "sensitivity I Delta; sigma1 is that of the paper's eq. (7), as no Gaussian noise is "
            "purely private. For that epsilon TLDP-L's noise needs the scale b1 as well, and a "
            "value that is kept breaks the budget at any scale."
        ),
        calibration="published",
    )


@judge
def error_table(
    *,
    epsilons: list[Epsilon],
    width: Positive,
    side: int,
    judged: dict[str, str],
    tolerance: float,
) -> Finding:
    """Judge Table 5: stated errors over sqrt(E||Z||^2) of the noise Z that the paper defines.

    Args:
        judged: The names of the parts by the entries of the table.
    """
    ratios = pd.DataFrame(
        [
            pd.Series(stated_errors((side, side), epsilon, width))
            / pd.Series(_root_errors(side, epsilon, width))
            for epsilon in epsilons
        ]
    )
    return Finding(
        parts=[
            statement(
                name,
                (ratios[key] - 1).abs().max() <= tolerance,
                f"stated over computed {'/'.join(f'{ratio:.3g}' for ratio in ratios[key])}",
            )
            for key, name in judged.items()
        ],
        detail=(
            f"At epsilon {'/'.join(f'{epsilon:g}' for epsilon in epsilons)}, I = {side}x{side}, "
            f"elements in a range of width {width:g}. The entry of DPHSGD is judged in "
            "tldp-t5-dphsgd."
        ),
        calibration="published",
    )


@judge
def constant_factor(
    *, epsilons: list[Epsilon], width: Positive, sides: list[int], clip: Positive, tolerance: float
) -> Finding:
    """Judge the text on DPHSGD by its entry in Table 5 over that of the Gaussian mechanism."""
    over = []
    for side, epsilon in itertools.product(sides, epsilons):
        count = side**2
        dphsgd = clip * width / epsilon * count * math.sqrt(2 * count)
        over.append(dphsgd / stated_errors((side, side), epsilon, width)["gaussian"] / clip)
    return Finding(
        parts=(
            statement(
                "a constant times the Gaussian's",
                max(over) <= (1 + tolerance) * min(over),
                f"at every I and epsilon {max(over):.3g} C",
            ),
            number("that constant over C", over[0], 1.0, tolerance),
        ),
        detail=(
            f"Entries of Table 5 at I = {listed(str(side**2) for side in sides)}, epsilon "
            f"{listed_numbers(epsilons)}."
        ),
    )


@judge
def error_growth(
    *, epsilon: Epsilon, width: Positive, sides: list[int], stated: int, tolerance: float
) -> Finding:
    """Judge how TLDP's error over that of noise on all components changes with I.

    The errors are the entries of Table 5, from which the paper infers the order, and those of the
    noise that it defines and Theorem 2 compares.
    """
    counts = [side**2 for side in sides]
    tables = {
        "by Table 5": [stated_errors((side, side), epsilon, width) for side in sides],
        "by Theorem 2's noise": [_root_errors(side, epsilon, width) for side in sides],
    }
    found = {
        f"{words}, {KINDS[key]} over {ENTRIES[other]}": power(
            [errors[key] / errors[other] for errors in table], counts
        )
        for words, table in tables.items()
        for key, other in (("tldp-l", "laplace"), ("tldp-g", "gaussian"))
    }
    # O(I^stated) is an upper bound, with which a smaller exponent agrees.
    return Finding(
        parts=[
            statement(name, exponent <= stated + tolerance, f"I^{exponent:.3g}")
            for name, exponent in found.items()
        ],
        detail=(
            f"Exponents of I between I = {counts[0]} and {counts[1]} at epsilon {epsilon:g}, "
            "of sqrt(E||Z||^2) of the noise that the paper defines, and of its entries. Table 5 "
            "states sqrt((1 - p) I) for both variants and I sqrt(I) for both mechanisms beside "
            "them; the paper's Gaussian variance grows as I only, and its error as I."
        ),
        calibration="published",
    )


@judge
def baseline_noise(
    *,
    epsilon: Epsilon,
    width: Positive,
    delta: Delta,
    sides: list[int],
    pairs: list[list[str]],
    tolerance: float,
) -> Finding:
    """Judge how much more noise other mechanisms add than TLDP, by the exponent of I."""
    parts = []
    counts = [side**2 for side in sides]
    for other, key in pairs:
        ratios = [
            math.sqrt(
                _loss(other, (side, side), epsilon, width, delta)
                / _loss(key, (side, side), epsilon, width, delta)
            )
            for side in sides
        ]
        exponent = power(ratios, counts)
        found = f"I^{exponent:.3g}, {ratios[-1]:.3g} times at I = {counts[-1]}"
        # O(I) is an upper bound, with which a smaller exponent agrees.
        name = f"{ENTRIES[other]} over {KINDS[key]}"
        parts.append(statement(name, exponent <= 1 + tolerance, found))
    return Finding(
        parts=parts,
        detail=(
            f"Ratios of sqrt(E||Z||^2) at epsilon {epsilon:g} and delta {delta:g}, noise "
            f"as published, MVG with mgm2021's zeta; exponents between I = {counts[0]} and "
            f"{counts[-1]}. Colour images have 3 x 1024 components, where the paper counts 1024."
        ),
        calibration="published",
    )


def loss_of(key: str, shape: tuple[int, ...], epsilon: float, width: float, delta: float) -> float:
    """Return E||Z||^2 of an entry of Table 5 on one tensor; the Gaussian's is that of eq. (7)."""
    if key == "gaussian":
        return math.prod(shape) * gaussian_variance(math.prod(shape), epsilon, width)
    return _loss(key, shape, epsilon, width, delta)


def _loss(key: str, shape: tuple[int, ...], epsilon: float, width: float, delta: float) -> float:
    """Return E||Z||^2 of a mechanism on one tensor; TLDP gets delta 0, which it claims."""
    query = box_query(shape, -width / 2, width / 2)
    budget = Budget(epsilon=epsilon, delta=0.0 if key in KINDS else delta)
    return calibrated(key, query, budget, **OPTIONS.get(key, {})).expected_loss()


def _root_errors(side: int, epsilon: float, width: float) -> dict[str, float]:
    """Return sqrt(E||Z||^2) of the paper's own noise, for the entries of Table 5 without delta.

    For IDN, it is the paper's formula below the table at zeta^2 = I, which removes delta.
    """
    keys = ("laplace", *KINDS, "gaussian")
    found = {key: math.sqrt(loss_of(key, (side, side), epsilon, width, 0.0)) for key in keys}
    return found | {"idn": width * side**2 / (math.sqrt(side**2 + 2 * epsilon) - side)}


@judge
def lower_at_every_shape(
    *, epsilons: list[Epsilon], width: Positive, delta: Delta, shapes: list[Shape]
) -> Finding:
    """Judge Contribution 1: TLDP has less expected error than all others at every shape."""
    others = [key for key in ENTRIES if key not in KINDS]
    parts = []
    for key, other in itertools.product(KINDS, others):
        ratios = {
            case: math.sqrt(loss_of(key, *case, width, delta) / loss_of(other, *case, width, delta))
            for case in itertools.product(shapes, epsilons)
        }
        shape, epsilon = max(ratios, key=ratios.get)
        found = (
            f"at most {rounded_up(ratios[shape, epsilon])} times, at {'x'.join(map(str, shape))}, "
            f"epsilon {epsilon:g}"
        )
        name = f"{KINDS[key]} below {ENTRIES[other]}:"
        parts.append(universal(name, [value < 1 for value in ratios.values()], found))
    budgets = listed_numbers(epsilons)
    return Finding(
        parts=parts,
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


@judge
def best_subspace(*, shapes: list[Shape], epsilons: list[Epsilon], delta: Delta) -> Finding:
    """Judge whether IDN's noise along its best direction is ever below the classic Gaussian's."""
    budgets = [Budget(epsilon=epsilon, delta=delta) for epsilon in epsilons]
    parts = []
    for shape in shapes:
        query = box_query(shape, *PIXELS)
        ratios = [
            least_deviation(calibrated("idn", query, budget).noise)
            / math.sqrt(calibrated("gaussian", query, budget).expected_loss() / query.size)
            for budget in budgets
        ]
        name = f"{'x'.join(map(str, shape))}, below the classic Gaussian's at some epsilon:"
        found = f"{min(ratios):.3g} to {max(ratios):.3g} times"
        parts.append(statement(name, min(ratios) < 1, found))
    return Finding(
        parts=parts,
        detail=(
            "Least standard deviation of IDN's noise along a direction over that of the classic "
            f"Gaussian's on every element, epsilon {listed_numbers(epsilons)}, delta "
            f"{delta:g}, noise as published."
        ),
        calibration="published",
    )


def least_deviation(noise: MatrixGaussian) -> float:
    """Return the least standard deviation that IDN's noise can have along a direction of the rows.

    Theorem 3 of mgm2021 bounds the sum of the precisions of the rows. A known subspace moves
    precision to its directions, and a single direction can have all of it.
    """
    return float((noise.row_std**-2.0).sum() ** -0.5 * noise.column_std.min())


@judge
def symmetry_kept(
    *, side: int, epsilons: list[Epsilon], widths: list[float], low: float
) -> Finding:
    """Judge how likely a symmetric tensor stays symmetric under TLDP.

    The noise has a density, so two equal elements stay equal only if both are kept. A side x side
    tensor has side (side - 1) elements off its diagonal, so the probability is p to that power.
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
        epsilon, width = max(kept, key=kept.get)
        most = math.exp(kept[epsilon, width])
        parts.append(
            statement(
                f"{name} keeps a symmetric {side} x {side} tensor symmetric:",
                most > low,
                f"with probability {rounded_up(most, 2)} at most (epsilon {epsilon:g}, "
                f"Delta = {width:g})",
            )
        )
    query, budget = box_query((side, side), *PIXELS), Budget(epsilon=epsilons[0], delta=1e-5)
    for key in ("laplace", "gaussian"):
        drawn = calibrated(key, query, budget).sample(np.random.default_rng(0), 1)[0]
        lost = not np.any((drawn == drawn.T)[np.triu_indices(side, 1)])
        parts.append(
            statement(
                f"i.i.d. noise of {mechanism_title(key)} loses symmetry:",
                lost,
                "in a draw, as it has a density",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            f"Epsilon {listed_numbers(epsilons)}, Delta "
            f"{listed_numbers(widths)}. Both elements of every pair have to be kept, as "
            "the noise of the others is independent for each component. The paper's p is a "
            "probability over a density: data in a smaller unit are kept more often."
        ),
        calibration="published",
        sizes=Sizes(epsilons=listed_numbers(epsilons)),
    )


@judge
def weighted_noise(
    *, epsilon: Epsilon, width: Positive, counts: list[int], weight: float
) -> Finding:
    """Judge the conclusion's statement that weights lower TLDP's expected loss."""
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
