"""Figure 1 of imgm2022, private features (type II), and the verdict on it."""

import pandas as pd

from claims.comparisons import Signal, equal, order, statement
from claims.intervals import Mean, paired, words
from claims.judged_rows import calibrated, gain, listed, over_budgets, pick, required, tally
from claims.judges import CannotJudge, Delta, Epsilon, Shape, judge
from claims.verdicts import Finding, Part
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from mechanisms import Budget
from mechanisms.query.box_query import box_query
from paper_figures.drawings import Drawn, drawing
from paper_figures.imgm2022.accuracies import (
    draw_accuracies,
    official_accuracies,
    sizes_of,
)
from runs.results import Results

STUDY = "features"


@drawing("imgm2022_fig1", kind="figures", needs=[STUDY])
def figure_1(results: Results) -> Drawn:
    """Accuracy of a head on features released once, over epsilon."""
    return draw_accuracies(
        results.rows,
        STUDY,
        "imgm2022 Figure 1 (type II), private features: test accuracy of a head trained on "
        "features that are released once",
        {
            "records": "released records",
            "public_records": "public records",
            "epochs": "epochs of the head",
            "sampling_rate": "q",
        },
        more="IMGM and the analytic Gaussian have the same distribution; at equal true privacy all "
        "mechanisms here do. Dotted: without noise, and trained on random features",
        note="The network's body is trained on the public "
        "records, which the paper does not mention. It turns every private training record into "
        "features, which are released in batches; test features carry no noise. Adjacency: one "
        "record is replaced, which changes one row by at most 2 per feature; labels are public. "
        "As published, a batch gets (epsilon / q, delta / q), which the paper takes as the "
        "amplified budget of MVG, the analytic Gaussian and IMGM, and which all mechanisms get "
        "here. Every record is released, so sampling amplifies nothing. At equal true privacy the "
        "noise is rescaled until the true delta of the release at epsilon is delta. IMGM and the "
        "analytic Gaussian have the same distribution at either calibration; MVG has equal "
        "precision in all directions, so that at equal true privacy it has their noise. The "
        "classic Gaussian is proved for epsilon < 1 only, and epsilon / q is mostly larger. The "
        "paper states no accuracy in numbers, so there is no marker for it.",
        true="as published",
        floors=MAJORITY,
    )


@judge(studies=(STUDY,))
def imgm_and_analytic(
    results: Results,
    *,
    shapes: dict[str, Shape],
    epsilons: list[Epsilon],
    delta: Delta,
    says: str,
    tolerance: float,
) -> Finding:
    """Whether IMGM can be ahead of, or behind, the analytic Gaussian: they are one distribution.

    Compared at the feature shapes of Table 1, with their standard deviations. Where the run has the
    data sets, the observed differences of accuracies are reported too.
    """
    parts = []
    for dataset, shape in shapes.items():
        query = box_query(shape, -1.0, 1.0)
        ratios = [
            calibrated("imgm", query, budget).expected_loss()
            / calibrated("gaussian-analytic", query, budget).expected_loss()
            for budget in (Budget(epsilon=e, delta=delta) for e in epsilons)
        ]
        one = max(abs(ratio - 1) for ratio in ratios) <= tolerance
        parts.append(
            statement(
                f"{dataset_title(dataset)}, {says}",
                not one,
                f"variances in the ratio {listed(sorted({f'{r:.9g}' for r in ratios}))}",
            )
        )
    return Finding(
        parts=tuple(parts),
        detail=(
            "Both draw i.i.d. Gaussian noise with the standard deviation s / B, where B solves one "
            "equation; equal sensitivities are assumed, as the paper flattens a matrix for the "
            f"analytic Gaussian. {_observed(results.rows, list(shapes))}"
        ).strip(),
        calibration="published",
    )


def _observed(rows: pd.DataFrame, datasets: list[str]) -> str:
    """Differences of accuracies between two names of one noise: chance."""
    found = []
    for dataset in datasets:
        try:
            own = pick(official_accuracies(rows, STUDY), dataset=dataset, calibration="published")
            difference = gain(own, "imgm", "gaussian-analytic")
        except CannotJudge:
            continue
        found.append(
            f"{words(difference)} on {dataset_title(dataset)} over {difference.trials} trials"
        )
    if not found:
        return ""
    return (
        f"Our accuracies of IMGM minus those of the analytic Gaussian: {listed(found)}. By chance, "
        "one in twenty such intervals misses 0."
    )


@judge(studies=(STUDY,))
def features_order(
    results: Results, *, datasets: list[str], random: float, margin: float
) -> Finding:
    """IMGM above MVG, and MVG near random answers, as published."""
    rows = official_accuracies(results.rows, STUDY)
    present = required(
        [dataset for dataset in datasets if dataset in set(rows["dataset"])],
        CannotJudge(f"The results have no features of {listed(datasets)}"),
    )
    missing = [dataset_title(dataset) for dataset in datasets if dataset not in present]
    parts: list[Part] = []
    exact = []
    for dataset in present:
        own, title = rows[rows["dataset"] == dataset], dataset_title(dataset)
        published = pick(own, calibration="published")
        ignorant, imgm, mvg = (
            pick(published, mechanism=key) for key in ("random-answer", "imgm", "mvg")
        )
        # One answer for all records is right as often as its class occurs: no estimate.
        chance = MAJORITY.get(dataset)
        floor = ignorant["value"].mean() if chance is None else chance
        public = own[own["mechanism"] == "non-private"]["value"]
        signal = Signal(
            means=(imgm["value"].mean(), mvg["value"].mean()),
            floor=floor,
            ceiling=None if public.empty else public.mean(),
            margin=margin,
            better="larger",
        )
        above = {f"{title}, IMGM above MVG": gain(published, "imgm", "mvg")}
        parts += order(above, margin=margin, signal=signal)
        level = over_budgets(mvg, set(mvg["epsilon"]))
        apart = paired(level, ignorant)
        if chance is not None:
            apart = Mean(level["value"].to_numpy(float) - chance)
        near = {f"{title}, MVG almost random": apart}
        parts += equal(near, margin=random)
        at_equal_privacy = own[own["calibration"] == "exact"].groupby("mechanism")["value"].mean()
        exact.append(
            f"{title} "
            + ", ".join(f"{at_equal_privacy.get(key, float('nan')):.3g}" for key in ("imgm", "mvg"))
        )
    absent = f" Not run: {listed(missing)}." if missing else ""
    sizes, *others = (sizes_of(results.rows, STUDY, [name]) for name in present)
    return Finding(
        parts=tuple(parts),
        because=tally(parts, sizes.trials),
        detail=(
            "Differences of accuracies averaged over the epsilons of the run, with intervals "
            "over trials, all mechanisms at (epsilon / q, delta / q). Every record is released, so "
            "that sampling amplifies nothing. With the noise rescaled until the release's true "
            f"delta is the claimed one, IMGM and MVG reach {listed(exact)}.{absent}"
        ),
        calibration="both",
        sizes=sizes,
        other_sizes=others,
    )
