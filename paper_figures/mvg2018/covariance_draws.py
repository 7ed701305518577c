"""The RSS of Experiment III by many draws of noise: Figure 4, right, and Table 5.

The paper's 100 trials have a standard error above the differences that it claims. Gaussian noise
with i.i.d. columns has the same law under every rotation of the records. So m columns can hold the
data, and the others, pure noise, enter by their Wishart matrix, which is drawn by Bartlett's
decomposition.
"""

from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from claims.comparisons import Signal, order
from claims.intervals import Mean
from claims.judged_rows import calibrated
from claims.judges import Count, judge
from claims.verdicts import Finding
from paper_figures.mvg2018 import component_draws
from paper_figures.mvg2018.compared_study import treatment_title
from paper_figures.mvg2018.component_draws import SHARES
from paper_figures.mvg2018.covariance import COVARIANCE
from paper_figures.mvg2018.first_component import FIRST_COMPONENT
from paper_figures.mvg2018.numbers import binary_allocation
from paper_figures.mvg2018.orders import error_above
from runs.results import Results
from studies.base.treatments import IID

# X X^T / N of the official records, each feature mapped onto [-1, 1], in the order of the loader.
EXACT = np.loadtxt(Path(__file__).parent / "cardiotocography_covariance.csv", delimiter=",")
RIGHT = "fhr-asv-alv"
# FHR, ASV and ALV among the features, and all others.
INFORMATIVE = {RIGHT: [0, 7, 9], "wrong": [i for i in range(len(EXACT)) if i not in (0, 7, 9)]}
_AT_ONCE = 4000


@cache
def errors(mechanism: str, treatment: str, share: float, draws: int) -> np.ndarray:
    """RSS (eq. 5) of each draw of the published noise, (draws,).

    Args:
        mechanism: "mvg" (Algorithm 1), or another with i.i.d. Gaussian noise.
        treatment: A name in INFORMATIVE, or "iid" for equal precision.
        share: tau; without a meaning for equal precision.
        draws: Releases; the same normals are behind every mechanism, treatment and share.
    """
    setting, size = COVARIANCE.setting, len(EXACT)
    options = {}
    if treatment != IID:
        precision = binary_allocation(size, INFORMATIVE[treatment], share)
        options = {"mode": "unimodal", "precision": precision}
    noise = calibrated(mechanism, setting.query, setting.budget, **options).noise
    deviations = noise.row_std * noise.column_std[0] if mechanism == "mvg" else noise.sigma
    deviations = np.broadcast_to(deviations, size)[:, None]
    rng = np.random.default_rng(0)
    counts = [min(_AT_ONCE, draws - done) for done in range(0, draws, _AT_ONCE)]
    return np.concatenate([_errors_of(rng, deviations, count) for count in counts])


def _errors_of(rng: np.random.Generator, deviations: np.ndarray, draws: int) -> np.ndarray:
    size, records = len(EXACT), COVARIANCE.setting.query.shape[1]
    data = np.linalg.cholesky(records * EXACT)
    with_data = data + deviations * rng.standard_normal((draws, size, size))
    triangle = np.tril(rng.standard_normal((draws, size, size)), -1)
    freedom = records - size - np.arange(size)
    triangle[:, range(size), range(size)] = np.sqrt(rng.chisquare(freedom, (draws, size)))
    rest = deviations * triangle
    released = with_data @ with_data.swapaxes(1, 2) + rest @ rest.swapaxes(1, 2)
    directions = np.linalg.eigh(released)[1][:, :, ::-1]
    captured = np.einsum("kij,kij->kj", directions, EXACT @ directions)
    return ((np.linalg.eigvalsh(EXACT)[::-1] - captured) ** 2).sum(axis=1)


def over_shares(treatment: str, draws: int) -> np.ndarray:
    """MVG's RSS in each draw, the mean over all shares tau."""
    shares = SHARES[:1] if treatment == IID else SHARES
    return np.mean([errors("mvg", treatment, share, draws) for share in shares], axis=0)


# By the numeral of a study: the study, and the draws of its error.
DRAWN = {
    "II": (FIRST_COMPONENT, component_draws.over_shares),
    "III": (COVARIANCE, over_shares),
}


@judge
def drawn_directions(
    *, numeral: Literal["II", "III"], above: list[tuple[str, str]], margin: float, draws: Count
) -> Finding:
    """Figure 4, middle and right: whether the first error of each pair of sets is the larger one.

    The error is the mean over all shares tau.
    """
    compared, draw = DRAWN[numeral]
    found = {name: draw(name, draws) for pair in above for name in pair}
    effects, signals = {}, {}
    for worse, better in above:
        name = f"{treatment_title(worse)} above {treatment_title(better)}"
        effects[name] = Mean(found[worse] - found[better])
        signals[name] = Signal(
            means=(found[worse].mean(), found[better].mean()),
            floor=compared.exact_floor,
            margin=margin,
            floor_words=compared.floor_words,
            better="smaller",
        )
    means = [f"{treatment_title(name)} {values.mean():.4f}" for name, values in found.items()]
    return Finding(
        parts=order(effects, margin=margin, signal=signals),
        detail=(
            f"{draws:,} draws of the release with the published zeta and the largest gamma, the "
            "same normals behind every set; the error is the mean over all shares tau. Mean "
            f"errors: {', '.join(means)}."
        ),
        calibration="published",
        sizes=component_draws.drawn_sizes(draws, compared),
    )


@judge(studies=("covariance",))
def drawn_covariance_order(
    results: Results, *, others: list[str], margin: float, draws: Count
) -> Finding:
    """Table 5: MVG at its best share against the Gaussian by draws, the others by the study."""
    best = min((errors("mvg", RIGHT, share, draws) for share in SHARES), key=np.mean)
    gaussian = errors("gaussian", IID, 0.0, draws)
    lead = order({"Classic Gaussian above MVG": Mean(gaussian - best)}, margin=margin)
    rest = error_above(results, study="covariance", others=others, margin=margin)
    return Finding(
        parts=[*lead, *rest.parts],
        detail=(
            f"The Gaussian by {draws:,} draws: mean RSS {gaussian.mean():.3f}, MVG "
            f"{best.mean():.3f}. The others by the study: {rest.detail}"
        ),
        calibration=rest.calibration,
        sizes=rest.sizes,
        other_sizes=[component_draws.drawn_sizes(draws, COVARIANCE)],
    )
