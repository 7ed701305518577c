"""What mvg2018 says of all its experiments together, in its abstract and Section 1."""

import numpy as np

from claims.comparisons import equal, every, order
from claims.intervals import Mean
from claims.judges import Count, judge
from claims.verdicts import Finding
from paper_figures.mvg2018.compared_study import MVG, at_best_share, judged_treatment, select
from paper_figures.mvg2018.comparison_findings import SETTING, difference, signal_of
from paper_figures.mvg2018.component_draws import RIGHT, SHARES, errors
from paper_figures.mvg2018.covariance import COVARIANCE
from paper_figures.mvg2018.covariance_draws import RIGHT as RECORDS_RIGHT
from paper_figures.mvg2018.covariance_draws import errors as of_records
from paper_figures.mvg2018.first_component import FIRST_COMPONENT
from paper_figures.style import mechanism_title
from runs.results import Results
from studies.base.treatments import IID


@judge(studies=("first_component",))
def all_experiments(results: Results, *, others: list[str], margin: float, draws: Count) -> Finding:
    """MVG ahead of the others in every experiment: one in which it is not contradicts that.

    II by the study, III by draws of the Gaussian's noise and MVG's. The order in I depends on the
    kernel of the regression.
    """
    scores = FIRST_COMPONENT.scores(FIRST_COMPONENT.judged_rows(results.rows))
    published = select(scores, calibration="published")
    right = judged_treatment(scores, FIRST_COMPONENT)
    ours = at_best_share(select(published, mechanism=MVG, treatment=right))
    frames = {
        f"II: {mechanism_title(key)} above MVG": select(published, mechanism=key) for key in others
    }
    parts = order(
        {name: difference(frame, ours) for name, frame in frames.items()},
        margin=margin,
        signal={
            name: signal_of(FIRST_COMPONENT, results.rows, ours, f) for name, f in frames.items()
        },
    )
    records = Mean(of_records("gaussian", IID, SHARES[0], draws) - _best_of_records(draws))
    parts += order({"III: Classic Gaussian above MVG": records}, margin=margin)
    return Finding(
        parts=[every("ahead in every experiment", parts)],
        detail=f"{SETTING}. Errors minus MVG's at its best share tau, III by {draws:,} draws.",
        calibration="published",
        sizes=FIRST_COMPONENT.sizes(scores),
    )


def _best_of_records(draws: int) -> np.ndarray:
    """MVG's RSS in Experiment III at its best share tau."""
    return min((of_records("mvg", RECORDS_RIGHT, share, draws) for share in SHARES), key=np.mean)


@judge
def close_to_noiseless(*, margins: dict[str, float], draws: dict[str, Count]) -> Finding:
    """MVG close to the baseline without noise: one experiment in which it is not contradicts that.

    Args:
        margins: The largest error above the noiseless one that is close, by study.
        draws: By study.
    """
    component, records = FIRST_COMPONENT.name, COVARIANCE.name
    best = min((errors(RIGHT, share, draws[component]) for share in SHARES), key=np.mean)
    parts = [
        *equal({"II: error above the noiseless one": Mean(best)}, margin=margins[component]),
        *equal(
            {"III: RSS above the noiseless one": Mean(_best_of_records(draws[records]))},
            margin=margins[records],
        ),
    ]
    return Finding(
        parts=[every("close in every experiment", parts)],
        detail=f"{SETTING}. By draws of the noise at the best share tau.",
        calibration="published",
    )
