"""Judge mvg2018's Experiments II and III by many draws of the published noise.

The draws are needed because the standard error of the paper's 100 trials exceeds the differences
that the paper claims.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from claims.comparisons import Signal, beyond, equal, every, order
from claims.intervals import Mean
from claims.judged_rows import calibrated, select
from claims.judges import Count, judge
from claims.verdicts import Finding, Outcome, Sizes
from paper_figures.mvg2018.compared_study import (
    COVARIANCE,
    FIRST_COMPONENT,
    SETTING,
    ComparedStudy,
    treatment_title,
)
from paper_figures.mvg2018.theorems import noise_alone
from paper_figures.selections import outcome_fields
from papers.mvg2018 import binary_allocation
from studies.base.treatments import IID

SHARES = (0.55, 0.65, 0.75, 0.85, 0.95)
# How records may be scaled into [-1, 1]. Experiment III has the first way, and I the second.
SCALINGS = {
    "columns": "each feature onto [-1, 1]",
    "largest": "all divided by the largest value",
}
_FOLDER = Path(__file__).parent
# X X^T / N of the official records in the loader's order: the first 2,021 of Experiment II, and all
# of Experiment III at each scaling.
EXACT_COVARIANCE = np.loadtxt(_FOLDER / "movement_aal.csv", delimiter=",")
MOMENTS = {
    name: np.loadtxt(_FOLDER / f"cardiotocography_{name}.csv", delimiter=",") for name in SCALINGS
}
# The number of draws that are held in memory at once.
_AT_ONCE = 4000


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnStudy:
    """A study whose error is judged by draws of the noise, beside its trials.

    Args:
        compared: The study.
        sets: The indices of informative directions, by the name of the set. The paper's set is
            first.
        draw: A function of a treatment, a share tau and a number of draws. It returns MVG's error
            in each draw, of shape (draws,). The treatment is the name of a set, "iid" for equal
            precision, or "gaussian" for the classic Gaussian in place of MVG; these two ignore tau.
            All treatments and shares use the same normal numbers.
        floor: The mean error of a random answer, in closed form.
    """

    compared: ComparedStudy
    sets: Mapping[str, list[int]]
    draw: Callable[[str, float, int], np.ndarray]
    floor: float

    def best(self, draws: int, treatment: str | None = None) -> np.ndarray:
        """Return MVG's errors with a treatment, by default the first set, at its best share tau."""
        treatment = treatment or next(iter(self.sets))
        shares = SHARES if treatment in self.sets else SHARES[:1]
        return min((self.draw(treatment, share, draws) for share in shares), key=np.mean)

    def signal(self, first: np.ndarray, second: np.ndarray, margin: float) -> Signal:
        """Return the signal that tells whether either of two errors beats a random answer's."""
        return Signal(
            means=(float(first.mean()), float(second.mean())),
            floor=self.floor,
            margin=margin,
            floor_words="a random answer",
            better="smaller",
        )

    def covers(self, rows: pd.DataFrame) -> bool:
        """Return whether all rows have the paper's data set, shape and budget, as the draws do."""
        setting, budget = self.compared.setting, self.compared.setting.budget
        covered = select(
            rows,
            dataset=self.compared.dataset,
            shape="x".join(map(str, setting.query.shape)),
            epsilon=budget.epsilon,
            delta=budget.delta,
        )
        return len(covered) == len(rows)

    def sizes(self, draws: int) -> Sizes:
        """Return the sizes behind a verdict by draws."""
        budget = self.compared.setting.budget
        return Sizes(
            dataset=self.compared.dataset,
            records=round(1 / budget.delta),
            trials=draws,
            epsilons=f"{budget.epsilon:g}",
        )


@cache
def component_errors(treatment: str, share: float, draws: int) -> np.ndarray:
    """Return lambda_1 - v^T C v for the component v that MVG's Algorithm 2 releases.

    The arguments are those of `DrawnStudy.draw`.
    """
    exact, setting, options = EXACT_COVARIANCE, FIRST_COMPONENT.setting, {}
    if treatment != IID:
        options["precision"] = binary_allocation(len(exact), COMPONENT.sets[treatment], share)
    noise = calibrated("mvg", setting.query, setting.budget, mode="equimodal", **options)
    answers = exact + noise.sample(np.random.default_rng(0), draws)
    # The paper takes the first left singular vector of the release.
    component = np.linalg.eigh(answers @ answers.swapaxes(1, 2))[1][:, :, -1]
    captured = np.einsum("ki,ij,kj->k", component, exact, component)
    return np.linalg.eigvalsh(exact)[-1] - captured


@cache
def record_errors(treatment: str, share: float, draws: int, scaling: str) -> np.ndarray:
    """Return the RSS (eq. 5) of MVG's Algorithm 1, or of the classic Gaussian.

    Gaussian noise with i.i.d. columns has the same law under every rotation of the records. So m
    columns can hold the data. The other columns are pure noise, and enter through their Wishart
    matrix, which is drawn by Bartlett's decomposition. The other arguments are those of
    `DrawnStudy.draw`.
    """
    setting, size, options = COVARIANCE.setting, len(MOMENTS[scaling]), {}
    if treatment in RECORDS.sets:
        precision = binary_allocation(size, RECORDS.sets[treatment], share)
        options = {"mode": "unimodal", "precision": precision}
    mechanism = "gaussian" if treatment == "gaussian" else "mvg"
    noise = calibrated(mechanism, setting.query, setting.budget, **options).noise
    deviations = noise.row_std * noise.column_std[0] if mechanism == "mvg" else noise.sigma
    deviations = np.broadcast_to(deviations, size)[:, None]
    rng = np.random.default_rng(0)
    return np.concatenate(
        [
            _errors_of(rng, MOMENTS[scaling], deviations, min(_AT_ONCE, draws - done))
            for done in range(0, draws, _AT_ONCE)
        ]
    )


def _errors_of(
    rng: np.random.Generator, exact: np.ndarray, deviations: np.ndarray, draws: int
) -> np.ndarray:
    """Draw the RSS, given the noise's standard deviation of each row, shape (m, 1)."""
    size, records = len(exact), COVARIANCE.setting.query.shape[1]
    # A feature may be as small as rounding; what is added is far below the noise.
    data = np.linalg.cholesky(records * exact + 1e-9 * np.eye(size))
    with_data = data + deviations * rng.standard_normal((draws, size, size))
    triangle = np.tril(rng.standard_normal((draws, size, size)), -1)
    freedom = records - size - np.arange(size)
    triangle[:, range(size), range(size)] = np.sqrt(rng.chisquare(freedom, (draws, size)))
    rest = deviations * triangle
    released = with_data @ with_data.swapaxes(1, 2) + rest @ rest.swapaxes(1, 2)
    directions = np.linalg.eigh(released)[1][:, :, ::-1]
    captured = np.einsum("kij,kij->kj", directions, exact @ directions)
    return ((np.linalg.eigvalsh(exact)[::-1] - captured) ** 2).sum(axis=1)


def random_rss(exact: np.ndarray) -> float:
    """Return the mean RSS of random orthonormal directions, given the covariance of shape (m, m).

    A uniform direction captures tr(C) / m on average, with the variance
    2 (tr(C^2) - tr(C)^2 / m) / (m (m + 2)).
    """
    size = len(exact)
    return float((np.sum(exact**2) - np.trace(exact) ** 2 / size) * (1 + 2 / (size + 2)))


COMPONENT = DrawnStudy(
    compared=FIRST_COMPONENT,
    # The indices are the numbers of the anchors, which the paper counts from 0.
    sets={"anc0-anc3": [0, 3], "anc0": [0], "anc3": [3], "anc1-anc2": [1, 2]},
    draw=component_errors,
    # A uniform direction v has E v v^T = I / 4.
    floor=float(np.linalg.eigvalsh(EXACT_COVARIANCE)[-1] - np.trace(EXACT_COVARIANCE) / 4),
)
DRAWN = {
    "II": {"the records as published": COMPONENT},
    "III": {
        SCALINGS[scaling]: DrawnStudy(
            compared=COVARIANCE,
            # The first set is FHR, ASV and ALV; the wrong set has all other features.
            sets={"fhr-asv-alv": [0, 7, 9], "wrong": [*range(1, 7), 8, *range(10, len(exact))]},
            draw=partial(record_errors, scaling=scaling),
            floor=random_rss(exact),
        )
        for scaling, exact in MOMENTS.items()
    },
}
RECORDS = DRAWN["III"][SCALINGS["columns"]]
SCALING_CHOICE = "the scaling of Cardiotocography into [-1, 1]"


@judge
def drawn_ahead_of_a_guess(
    *, numeral: Literal["II", "III"], margin: float, draws: Count
) -> Finding:
    """Judge whether MVG's error is below a random answer's by more than the margin.

    MVG has its best share tau. With many draws, the least of five means is no matter of chance. In
    III, the guess may also be the best answer without data.
    """
    outcomes, detail = [], f"{SETTING}. A random answer's mean error is known in closed form."
    for words, drawn in DRAWN[numeral].items():
        lead = Mean(drawn.floor - drawn.best(draws))
        parts = (beyond("a random answer above MVG", lead, margin=margin),)
        outcomes.append(Outcome(choice=f"a random answer, {words}", parts=parts))
    if numeral == "III":
        blind = noise_alone(query="covariance")
        outcomes.append(Outcome(choice="the best answer without data", parts=blind.parts))
        detail = f"{detail} {blind.detail}"
    return Finding(
        detail=detail,
        calibration="published",
        sizes=drawn.sizes(draws),
        **outcome_fields(f"what the guess is, and {SCALING_CHOICE}", outcomes),
    )


@judge
def drawn_directions(
    *, numeral: Literal["II", "III"], above: list[tuple[str, str]], margin: float, draws: Count
) -> Finding:
    """Judge whether the first set of each pair has the larger error (Figure 4, middle and right).

    The error of each set is taken at its best share tau, as in the paper (Section 7.1.3).
    """
    outcomes = []
    for words, drawn in DRAWN[numeral].items():
        effects, signals = {}, {}
        for pair in above:
            worse, better = (drawn.best(draws, name) for name in pair)
            name = " above ".join(map(treatment_title, pair))
            effects[name] = Mean(worse - better)
            signals[name] = drawn.signal(worse, better, margin)
        parts = tuple(order(effects, margin=margin, signal=signals))
        outcomes.append(Outcome(choice=words, parts=parts))
    return Finding(
        detail=(
            "The published zeta and the largest gamma, the same normals behind every set, each at "
            "its best share tau. Figure 4 has the mean errors."
        ),
        calibration="published",
        sizes=drawn.sizes(draws),
        **outcome_fields(SCALING_CHOICE, outcomes),
    )


@judge
def close_to_noiseless(*, margins: dict[str, float], draws: Count) -> Finding:
    """Judge whether MVG is close to the baseline without noise in Experiments II and III.

    The claim is contradicted if MVG is not close in one of them.

    Args:
        margins: The largest excess over the noiseless error that counts as close, by numeral.
    """
    parts = []
    for numeral, margin in margins.items():
        for words, drawn in DRAWN[numeral].items():
            name = f"error above the noiseless one in {numeral}, {words}"
            parts += equal({name: Mean(drawn.best(draws))}, margin=margin)
    return Finding(
        parts=[every("close in II and III", parts)],
        detail=f"{SETTING}. By draws of the noise at the best share tau.",
        calibration="published",
    )
