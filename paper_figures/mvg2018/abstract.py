"""What mvg2018 says of all its experiments together, in its abstract and Section 1."""

from dataclasses import replace

from claims.comparisons import equal, order
from claims.intervals import Mean
from claims.judges import Count, judge
from claims.verdicts import Finding
from paper_figures.mvg2018.compared_study import MVG, at_best_share, judged_treatment, select
from paper_figures.mvg2018.comparison_findings import SETTING, difference, signal_of
from paper_figures.mvg2018.component_draws import RIGHT, SHARES, errors
from paper_figures.mvg2018.covariance import COVARIANCE
from paper_figures.mvg2018.first_component import FIRST_COMPONENT
from paper_figures.mvg2018.noise_alone import useful
from paper_figures.mvg2018.regression import REGRESSION
from paper_figures.style import mechanism_title
from runs.results import Results


def _useful_parts():
    """Experiments I and III, whose releases are noise."""
    return [
        replace(part, name=f"{study.numeral}: {part.name}")
        for study in (REGRESSION, COVARIANCE)
        for part in [useful(study.setting)]
    ]


@judge(studies=("first_component",))
def all_experiments(results: Results, *, others: list[str], margin: float) -> Finding:
    """MVG ahead of the others in every experiment: its usefulness in I and III, its order in II."""
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
    return Finding(
        parts=[*_useful_parts(), *parts],
        detail=f"{SETTING}. I and III by proof, II by errors minus MVG's at its best share tau.",
        calibration="published",
        sizes=FIRST_COMPONENT.sizes(scores),
    )


@judge
def close_to_noiseless(*, margin: float, draws: Count) -> Finding:
    """MVG close to the baseline without noise in every experiment."""
    best = min((errors(RIGHT, share, draws) for share in SHARES), key=lambda each: each.mean())
    effect = {"II: MVG's error above the noiseless one": Mean(best)}
    return Finding(
        parts=[*_useful_parts(), *equal(effect, margin=margin)],
        detail=f"{SETTING}. I and III by proof, II by {draws:,} draws at the best share tau.",
        calibration="published",
    )
