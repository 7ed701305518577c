"""Judge mvg2018's Experiments II and III by many draws of the published noise.

The draws are needed because the standard error of the paper's 100 trials exceeds the differences
that the paper claims.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from claims.comparisons import Signal, beyond, equal, every, order
from claims.intervals import Mean
from claims.judged_rows import calibrated
from claims.judges import Count, judge
from claims.verdicts import Finding, Sizes
from paper_figures.mvg2018.compared_study import (
    COVARIANCE,
    EXACT_COVARIANCE,
    FIRST_COMPONENT,
    RANDOM_COMPONENT,
    SETTING,
    ComparedStudy,
    treatment_title,
)
from papers.mvg2018 import binary_allocation
from studies.base.treatments import IID

SHARES = (0.55, 0.65, 0.75, 0.85, 0.95)
# How the records of Experiment III may be scaled into [-1, 1]. The study has the first way.
SCALINGS = {
    "columns": "each feature onto [-1, 1]",
    "largest": "all divided by the largest value, as in Experiment I",
}
# X X^T / N of the official records at each scaling, in the loader's order.
MOMENTS = {
    name: np.loadtxt(Path(__file__).parent / f"cardiotocography_{name}.csv", delimiter=",")
    for name in SCALINGS
}
EXACT = MOMENTS["columns"]
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
            in each draw, of shape (draws,). The treatment is the name of a set, or "iid" for equal
            precision, which ignores tau. All treatments and shares use the same normal numbers.
    """

    compared: ComparedStudy
    sets: Mapping[str, list[int]]
    draw: Callable[[str, float, int], np.ndarray]

    def best(self, draws: int, treatment: str | None = None) -> np.ndarray:
        """Return MVG's errors with a treatment, by default the first set, at its best share tau."""
        treatment = treatment or next(iter(self.sets))
        shares = SHARES[:1] if treatment == IID else SHARES
        return min((self.draw(treatment, share, draws) for share in shares), key=np.mean)

    def covers(self, rows: pd.DataFrame) -> bool:
        """Return whether all rows have the paper's data set, shape and budget, as the draws do."""
        setting = self.compared.setting
        matches = rows["dataset"] == self.compared.dataset
        matches &= rows["shape"] == "x".join(map(str, setting.query.shape))
        for name in ("epsilon", "delta"):
            matches &= np.isclose(rows[name], getattr(setting.budget, name), atol=0)
        return bool(matches.all())

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
    exact, setting, options = np.array(EXACT_COVARIANCE), FIRST_COMPONENT.setting, {}
    if treatment != IID:
        options["precision"] = binary_allocation(len(exact), COMPONENT.sets[treatment], share)
    noise = calibrated("mvg", setting.query, setting.budget, mode="equimodal", **options)
    answers = exact + noise.sample(np.random.default_rng(0), draws)
    # The paper takes the first left singular vector of the release.
    component = np.linalg.eigh(answers @ answers.swapaxes(1, 2))[1][:, :, -1]
    captured = np.einsum("ki,ij,kj->k", component, exact, component)
    return np.linalg.eigvalsh(exact)[-1] - captured


@cache
def record_errors(
    treatment: str, share: float, draws: int, mechanism: str = "mvg", scaling: str = "columns"
) -> np.ndarray:
    """Return the RSS (eq. 5) of MVG's Algorithm 1, or of a mechanism with i.i.d. Gaussian noise.

    Gaussian noise with i.i.d. columns has the same law under every rotation of the records. So m
    columns can hold the data. The other columns are pure noise, and enter through their Wishart
    matrix, which is drawn by Bartlett's decomposition. The other arguments are those of
    `DrawnStudy.draw`.
    """
    setting, size, options = COVARIANCE.setting, len(EXACT), {}
    if treatment != IID:
        precision = binary_allocation(size, RECORDS.sets[treatment], share)
        options = {"mode": "unimodal", "precision": precision}
    noise = calibrated(mechanism, setting.query, setting.budget, **options).noise
    deviations = noise.row_std * noise.column_std[0] if mechanism == "mvg" else noise.sigma
    deviations = np.broadcast_to(deviations, size)[:, None]
    rng = np.random.default_rng(0)
    counts = [min(_AT_ONCE, draws - done) for done in range(0, draws, _AT_ONCE)]
    return np.concatenate([_errors_of(rng, MOMENTS[scaling], deviations, n) for n in counts])


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


def gaussian_lead(draws: int, scaling: str) -> Mean:
    """Return the RSS of the classic Gaussian minus the RSS of MVG at its best share tau."""
    drawn = replace(RECORDS, draw=partial(record_errors, scaling=scaling))
    return Mean(record_errors(IID, SHARES[0], draws, "gaussian", scaling) - drawn.best(draws))


COMPONENT = DrawnStudy(
    compared=FIRST_COMPONENT,
    # The indices are the numbers of the anchors, which the paper counts from 0.
    sets={"anc0-anc3": [0, 3], "anc0": [0], "anc3": [3], "anc1-anc2": [1, 2]},
    draw=component_errors,
)
RECORDS = DrawnStudy(
    compared=COVARIANCE,
    # The first set is FHR, ASV and ALV; the wrong set has all other features.
    sets={"fhr-asv-alv": [0, 7, 9], "wrong": [i for i in range(len(EXACT)) if i not in (0, 7, 9)]},
    draw=record_errors,
)
DRAWN = {each.compared.numeral: each for each in (COMPONENT, RECORDS)}


@judge
def drawn_error(*, margin: float, draws: Count) -> Finding:
    """Judge whether MVG's error in Table 4 is below a random component's by more than the margin.

    MVG has its best share tau. With many draws, the least of five means is no matter of chance.
    """
    best = COMPONENT.best(draws)
    lead = Mean(RANDOM_COMPONENT - best)
    return Finding(
        parts=[beyond("a random component above MVG", lead, margin=margin)],
        detail=(
            "Algorithm 2 with the published zeta and the largest gamma, on the exact covariance of "
            f"the first 2,021 records. Mean errors: MVG at its best share {best.mean():.4f}; a "
            f"random component {RANDOM_COMPONENT:.4f}."
        ),
        calibration="published",
        sizes=COMPONENT.sizes(draws),
    )


@judge
def drawn_directions(
    *, numeral: Literal["II", "III"], above: list[tuple[str, str]], margin: float, draws: Count
) -> Finding:
    """Judge whether the first set of each pair has the larger error (Figure 4, middle and right).

    The error of each set is taken at its best share tau, as in the paper (Section 7.1.3).
    """
    drawn = DRAWN[numeral]
    found = {name: drawn.best(draws, name) for pair in above for name in pair}
    effects, signals = {}, {}
    for worse, better in above:
        name = f"{treatment_title(worse)} above {treatment_title(better)}"
        effects[name] = Mean(found[worse] - found[better])
        signals[name] = signal_of(drawn.compared, found[worse], found[better], margin)
    return Finding(
        parts=order(effects, margin=margin, signal=signals),
        detail=(
            "The published zeta and the largest gamma, the same normals behind every set, each at "
            "its best share tau. Figure 4 has the mean errors."
        ),
        calibration="published",
        sizes=drawn.sizes(draws),
    )


def signal_of(study: ComparedStudy, first: np.ndarray, second: np.ndarray, margin: float) -> Signal:
    """Return the signal that tells whether either of two errors beats a random component's."""
    return Signal(
        means=(float(first.mean()), float(second.mean())),
        floor=study.exact_floor,
        margin=margin,
        floor_words="a random component",
        better="smaller",
    )


@judge
def close_to_noiseless(*, margins: dict[str, float], draws: dict[str, Count]) -> Finding:
    """Judge whether MVG is close to the baseline without noise in Experiments II and III.

    The claim is contradicted if MVG is not close in one of them.

    Args:
        margins: The largest excess over the noiseless error that counts as close, by study.
        draws: The number of draws, by study.
    """
    parts = []
    for drawn, error in ((COMPONENT, "error"), (RECORDS, "RSS")):
        study, name = drawn.compared, f"{drawn.compared.numeral}: {error} above the noiseless one"
        best = Mean(drawn.best(draws[study.name]))
        parts += equal({name: best}, margin=margins[study.name])
    return Finding(
        parts=[every("close in II and III", parts)],
        detail=f"{SETTING}. By draws of the noise at the best share tau.",
        calibration="published",
    )
