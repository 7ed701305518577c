"""Figure 1 of imgm2022, private features (type II), and the verdict on it."""

from __future__ import annotations

import pandas as pd

from paper_figures.drawings import Drawn, drawing
from paper_figures.imgm2022.accuracies import (
    ACCURACY,
    common_epsilons,
    data_and_sources,
    mean_over_epsilons,
    official_accuracies,
    study_numbers,
)
from paper_figures.ledger import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    CannotJudge,
    Claim,
    Finding,
    judge,
)
from paper_figures.over_epsilon import draw_spread, spread_over_trials, true_epsilons
from paper_figures.results import Results
from paper_figures.selections import failed_mechanisms
from paper_figures.verdict_rules import (
    listed,
    mean_interval,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_order,
)

STUDY = "features"


@drawing("imgm2022_fig1", kind="figures", needs=[STUDY])
def figure_1(results: Results) -> Drawn:
    """Accuracy of a head on features released once, over epsilon."""
    spread = spread_over_trials(results.rows, STUDY, ACCURACY[STUDY])
    facts = {
        "records": "released records",
        "public_records": "public records",
        "sampling_rate": "q",
    }
    caption = (
        "imgm2022 Figure 1 (type II), private features: test accuracy of a head trained on "
        f"features that are released once, mean and range over {int(spread['count'].max())} "
        f"trials, delta {spread['delta'].iloc[0]:g}, on {data_and_sources(results.rows, STUDY)}. "
        "At equal true privacy all i.i.d. Gaussian noise is the same. Dotted: without noise, and "
        "answers that ignore the data."
    )
    worth = true_epsilons(spread, "imgm")
    note = (
        f"{study_numbers(results.rows, STUDY, facts)}. The network's body is trained on the public "
        "records, of which the paper says nothing. It turns every private training record into "
        "features, which are released in batches; test features carry no noise. Adjacency: one "
        "record is replaced, which changes one row by at most 2 per feature; labels are public. "
        "As published, a batch gets (epsilon / q, delta / q), which the paper takes for the "
        "amplified budget of MVG, the analytic Gaussian and IMGM, and which all mechanisms get "
        "here. Every record is released, so that sampling amplifies nothing. At equal true privacy "
        "the noise is rescaled until the true delta of the release at epsilon is delta. IMGM and "
        "the analytic Gaussian are one distribution at either calibration. The classic Gaussian is "
        "proved for epsilon < 1 only, which epsilon / q exceeds at most points."
        + (f" True epsilon of IMGM's claims as published: {worth}." if worth else "")
        + failed_mechanisms(results.rows, STUDY, *sorted(set(spread["dataset"])))
    )
    return Drawn(caption, spread, draw_spread(spread, "test accuracy,"), note)


@judge(experiments=(STUDY,))
def features_order(claim: Claim, results: Results) -> Finding:
    """IMGM above the analytic Gaussian above MVG, and MVG near random answers, as published.

    Arguments: datasets; margin, how far above random answers is almost random.
    """
    a = claim.arguments
    rows = official_accuracies(results.rows, STUDY)
    present = [dataset for dataset in a["datasets"] if dataset in set(rows["dataset"])]
    if not present:
        raise CannotJudge(f"The results have no features of {listed(a['datasets'])}")
    missing = [dataset for dataset in a["datasets"] if dataset not in present]
    verdicts, gaps, words, exact, above = [], [], [], [], []
    for dataset in present:
        own = rows[rows["dataset"] == dataset]
        keys = ("imgm", "gaussian-analytic", "mvg")
        epsilons = common_epsilons(
            *(pick(own, mechanism=key, calibration="published") for key in keys)
        )
        imgm, analytic, mvg = (mean_over_epsilons(own, k, "published", epsilons) for k in keys)
        first, second = paired_difference(imgm, analytic), paired_difference(analytic, mvg)
        # Where the two noises are one, an interval off zero is chance.
        one = _one_noise(results.rows, dataset, "imgm", "gaussian-analytic")
        verdicts += [NOT_REPRODUCED] * one
        gaps += [second] if one else [first, second]
        chance = float(
            pick(own, mechanism="random-answer", calibration="published")["value"].mean()
        )
        above.append(mean_interval(mvg["value"]).mean - chance)
        verdicts.append(REPRODUCED if above[-1] <= a["margin"] else NOT_REPRODUCED)
        words.append(f"{dataset}: IMGM - analytic {first}, analytic - MVG {second}")
        at_equal_privacy = (
            mean_interval(mean_over_epsilons(own, k, "exact", epsilons)["value"]).mean for k in keys
        )
        exact.append(f"{dataset} " + ", ".join(f"{mean:.3g}" for mean in at_equal_privacy))
    absent = f" Not run: {listed(missing)}." if missing else ""
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(verdict_on_order(*gaps), *verdicts, *[NOT_RUN] * bool(missing)),
        detail=(
            "Differences of accuracies averaged over the epsilons of the run, with 95% intervals "
            "over trials, all mechanisms at (epsilon / q, delta / q). IMGM's noise and the "
            "analytic Gaussian's have the same standard deviation. MVG is above random answers "
            f"by {listed(f'{gap:+.3g}' for gap in above)}. With the noise rescaled until the "
            "release's true delta is the claimed one, IMGM, the analytic Gaussian and MVG reach "
            f"{listed(exact)}.{absent}"
        ),
        calibration="both",
        trials=int(rows["trial"].nunique()),
    )


def _one_noise(rows: pd.DataFrame, dataset: str, first: str, second: str) -> bool:
    """Whether two i.i.d. Gaussian noises have one standard deviation at every epsilon."""
    wanted = {"experiment": STUDY, "dataset": dataset, "calibration": "published"}
    deviations = (
        pick(rows, mechanism=key, metric="noise_deviation", **wanted).set_index("epsilon")["value"]
        for key in (first, second)
    )
    ratio = next(deviations) / next(deviations)
    return bool(((ratio.dropna() - 1).abs() < 1e-9).all())
