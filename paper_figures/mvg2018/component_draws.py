"""The error of MVG's principal component by many draws of its noise: Figure 4, middle, and Table 4.

The paper's 100 trials have a standard error above the differences that it claims. The query has 16
elements, so that a hundred thousand draws take a second.
"""

from functools import cache

import numpy as np

from claims.comparisons import Signal, beyond, order
from claims.intervals import Mean
from claims.judged_rows import calibrated
from claims.judges import Count, judge
from claims.verdicts import Finding, Sizes
from paper_figures.mvg2018.compared_study import treatment_title
from paper_figures.mvg2018.first_component import (
    ANCHORS,
    EXACT_COVARIANCE,
    FIRST_COMPONENT,
    RANDOM_COMPONENT,
)
from paper_figures.mvg2018.numbers import binary_allocation
from studies.base.treatments import IID

SHARES = (0.55, 0.65, 0.75, 0.85, 0.95)
RIGHT = "anc0-anc3"
EXACT = np.array(EXACT_COVARIANCE)
DRAWN = (
    "Algorithm 2 with the published zeta and the largest gamma, on the exact covariance of the "
    "first 2,021 records; the same {draws:,} draws of standard normals for every set and share tau"
)


@cache
def errors(treatment: str, share: float, draws: int) -> np.ndarray:
    """lambda_1 - v^T C v of MVG's component in each draw, (draws,), with the published noise.

    Args:
        treatment: A name in ANCHORS, or "iid" for equal precision.
        share: tau; without a meaning for equal precision.
        draws: Releases; the same normals are behind every treatment and share.
    """
    size = len(EXACT)
    precision = [1 / size] * size
    if treatment != IID:
        precision = binary_allocation(size, ANCHORS[treatment], share)
    setting = FIRST_COMPONENT.setting
    options = {"mode": "equimodal", "precision": precision}
    noise = calibrated("mvg", setting.query, setting.budget, **options)
    answers = EXACT + noise.sample(np.random.default_rng(0), draws)
    # The paper takes the component by an SVD: the first left singular vector of the release.
    component = np.linalg.eigh(answers @ answers.swapaxes(1, 2))[1][:, :, -1]
    captured = np.einsum("ki,ij,kj->k", component, EXACT, component)
    return np.linalg.eigvalsh(EXACT)[-1] - captured


def over_shares(treatment: str, draws: int) -> np.ndarray:
    """The same as the mean over all shares tau."""
    shares = SHARES[:1] if treatment == IID else SHARES
    return np.mean([errors(treatment, share, draws) for share in shares], axis=0)


@judge
def drawn_directions(*, others: list[str], margin: float, draws: Count) -> Finding:
    """Figure 4, middle: whether the component does better with the right anchors than with others.

    The error is the mean over all shares tau.
    """
    right = over_shares(RIGHT, draws)
    found = {name: over_shares(name, draws) for name in others}
    effects = {
        f"{treatment_title(name)} above {treatment_title(RIGHT)}": Mean(values - right)
        for name, values in found.items()
    }
    signals = {
        name: Signal(
            means=(right.mean(), values.mean()),
            floor=RANDOM_COMPONENT,
            margin=margin,
            floor_words="a random component",
            better="smaller",
        )
        for name, values in zip(effects, found.values(), strict=True)
    }
    listed = [f"{treatment_title(name)} {values.mean():.4f}" for name, values in found.items()]
    equal_precision = over_shares(IID, draws).mean()
    return Finding(
        parts=order(effects, margin=margin, signal=signals),
        detail=(
            f"{DRAWN.format(draws=draws)}. Mean errors: {treatment_title(RIGHT)} "
            f"{right.mean():.4f}, {', '.join(listed)}, equal precision {equal_precision:.4f}, a "
            f"random component {RANDOM_COMPONENT:.4f}."
        ),
        calibration="published",
        sizes=drawn_sizes(draws),
    )


@judge
def drawn_error(*, margin: float, draws: Count) -> Finding:
    """Table 4: whether MVG's error at its best share is below a random component's by the margin.

    With so many draws, the least mean over five shares is not chosen by chance.
    """
    share = min(SHARES, key=lambda tau: errors(RIGHT, tau, draws).mean())
    best = errors(RIGHT, share, draws)
    lead = Mean(RANDOM_COMPONENT - best)
    return Finding(
        parts=[beyond("a random component above MVG", lead, margin=margin)],
        detail=(
            f"{DRAWN.format(draws=draws)}. Mean errors: MVG at its best share, {share:g}, "
            f"{best.mean():.4f}; a random component {RANDOM_COMPONENT:.4f}."
        ),
        calibration="published",
        sizes=drawn_sizes(draws),
    )


def drawn_sizes(draws: int) -> Sizes:
    """What a verdict on these draws rests on."""
    setting = FIRST_COMPONENT.setting
    records = round(1 / setting.budget.delta)
    return Sizes(
        dataset="movement_aal",
        records=records,
        trials=draws,
        epsilons=f"{setting.budget.epsilon:g}",
    )
